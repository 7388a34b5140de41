"""Published numbers beside certificates, as a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.number_text import at_least, at_most, number, rows_text
from calcert.show.text.tables import table

if TYPE_CHECKING:
    from calcert.published.compare import Comparison


def published_view(comparison: Comparison) -> RenderableType:
    """A section a classifier, a line a method; the certified numbers are bold."""
    shown = table()
    shown.add_column("method")
    shown.add_column("at least", justify="right", no_wrap=True)
    shown.add_column("at most", justify="right", no_wrap=True)
    shown.add_column("what it promises")
    subject = None
    for line in comparison.lines:
        if line.subject != subject:
            subject = line.subject
            if shown.rows:
                shown.add_section()
            shown.add_row(Text(f"The classifier {subject}", style="italic"))
        ours = line.lower is not None
        shown.add_row(
            line.method,
            "-" if line.lower is None else at_least(line.lower),
            at_most(line.value) if line.bounds else f"about {number(line.value)}",
            line.promise,
            style="bold" if ours else "",
        )
    return Group(Text(f"{rows_text(comparison.report.n)}"), Text(""), shown)
