"""A plan as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import number, rows_text, span
from calcert.show.blocks.block import Block, Paragraph, Verdict, numbers

if TYPE_CHECKING:
    from calcert.reports.plan import Plan


def plan_blocks(found: Plan) -> list[Block]:
    """The answer in a sentence, and the bounds to expect at some numbers of rows."""
    now, shown = found.now, numbers("rows", "at least, about", "at most, about")
    for size, lower, upper in zip(found.sizes, found.lowers, found.uppers, strict=True):
        style = "bold" if upper <= found.target else ""
        shown.add(f"{size:,}", number(round(lower, 4)), number(upper), style=style)
    return [
        Paragraph(now.about),
        Paragraph(f"Certified now, from {rows_text(now.n)}: {span(now.lower, now.upper)}."),
        Verdict(found.answer()),
        shown,
        Paragraph("What to expect if the error is as estimated."),
    ]
