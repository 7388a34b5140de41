"""A plan, as blocks and as a picture: bounds against the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import given, number, rows_about, rows_text, span
from calcert.show.block import Block, Paragraph, Verdict, numbers
from calcert.show.canvas import BLUE, FAINT, FLAT, INK, RED, axes_for, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def plan_picture(wanted: Plan, ax: Axes | None = None) -> Figure:
    """How the bounds would go with the number of rows: estimates, and the bounds certified now.

    How to read it: the lines are estimates, the two large marks are certified. Where the upper line meets the dotted
    target is about how many rows it takes; the shaded numbers are likely, too.
    """
    with axes_for(ax, FLAT) as axes:
        axes.plot(wanted.sizes, wanted.uppers, color=BLUE, marker="o", ms=3.5, label="at most (estimate)")
        axes.plot(wanted.sizes, wanted.lowers, color=RED, marker="s", ms=3.5, ls="--", label="at least (estimate)")
        now = (wanted.now.n, wanted.now.n), (wanted.now.lower, wanted.now.upper)
        axes.plot(*now, color=INK, marker="D", ms=6, ls="none", label="certified now")
        axes.axhline(wanted.target, color=INK, ls=":", lw=1.2, label=f"target {given(wanted.target)}")
        axes.set_xscale("log")
        found = "is out of reach"
        if wanted.fewest is not None:
            likely = (wanted.fewest, wanted.most or axes.get_xlim()[1])
            axes.axvspan(*likely, color=FAINT, alpha=0.2, lw=0, label="rows that are likely to do")
            found = f"takes {rows_about(wanted.fewest)} rows or more"
        if wanted.rows is not None:
            axes.axvline(wanted.rows, color=FAINT, ls=":", lw=1.2)
            found = f"takes about {rows_about(wanted.rows)} rows"
        axes.set_ylim(bottom=0)
        axes.set(xlabel="rows", ylabel=wanted.now.quantity)
        axes.set_title(f"At most {given(wanted.target)} {found} (estimate)", loc="left")
        axes.legend(loc="best")
        return figure_of(axes)
