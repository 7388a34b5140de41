"""A plan as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.number_text import at_least, at_most, number, rows_text
from calcert.show.text.tables import columns

if TYPE_CHECKING:
    from calcert.reports.plan import Plan


def plan_view(found: Plan) -> RenderableType:
    """The answer in a sentence, and the bounds to expect at some numbers of rows."""
    now, shown = found.now, columns("rows", "at least, about", "at most, about")
    for size, lower, upper in zip(found.sizes, found.lowers, found.uppers, strict=True):
        style = "bold" if upper <= found.target else ""
        shown.add_row(f"{size:,}", number(lower), number(upper), style=style)
    return Group(
        Text(f"{now.quantity} of the classifier {now.subject}"),
        Text(f"Certified now, from {rows_text(now.n)}: at least {at_least(now.lower)}, at most {at_most(now.upper)}."),
        Text(found.answer(), style="bold"),
        Text(""),
        shown,
        Text("What to expect if the error is as estimated."),
    )
