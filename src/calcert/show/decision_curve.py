"""A decision curve, as blocks and as a picture."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from calcert.foundation.number_text import given, percent_sure, rows_text
from calcert.show.block import Block, Column, Paragraph, Table
from calcert.show.canvas import BLUE, FAINT, FLAT, INK, ORANGE, axes_for, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.decision_curve import DecisionCurve

SHOWN = 24
"""Thresholds in a table; all are in the frame and the JSON."""


def decision_blocks(curve: DecisionCurve) -> list[Block]:
    """A line a threshold: net benefit between its limits, that of acting on all, and what is proven."""
    names = ("threshold", "at least", "at most", "estimate", "act on all")
    shown = Table([*map(Column, names), Column("proven", of_words=True)], most=SHOWN, many="thresholds")
    columns = (curve.threshold, curve.lower, curve.upper, curve.net_benefit, curve.act_on_all, curve.proven)
    for t, lower, upper, estimate, everybody, proven in zip(*columns, strict=True):
        shown.add(
            given(float(t)),
            _outward(lower, "ROUND_FLOOR"),
            _outward(upper, "ROUND_CEILING"),
            f"{estimate:.4f}",
            f"{everybody:.4f}",
            proven,
        )
    sure = percent_sure(curve.delta)
    return [
        Paragraph(f"{rows_text(curve.n)}; net benefit of acting on scores from each threshold on"),
        shown,
        Paragraph(
            f"All limits hold at once with {sure} confidence, and so do all comparisons with acting on all rows. "
            "Acting on none has net benefit 0. Nothing is assumed (Theorem 17)."
        ),
    ]


def _outward(value: float, direction: str) -> str:
    """Four decimals, rounded away from the middle."""
    return str(Decimal(repr(float(value))).quantize(Decimal("0.0001"), rounding=direction))


def decision_picture(curve: DecisionCurve, ax: Axes | None = None) -> Figure:
    """Net benefit between its limits at each threshold, beside acting on all rows and on none."""
    with axes_for(ax, FLAT) as axes:
        t = curve.threshold
        label = f"{percent_sure(curve.delta)} limits, simultaneous"
        axes.vlines(t, curve.lower, curve.upper, color=BLUE, lw=2.0, alpha=0.6, label=label)
        axes.plot(t, curve.net_benefit, "o-", color=BLUE, ms=4, lw=0.8, label="scores from the threshold on, estimate")
        axes.plot(t, curve.act_on_all, "s--", color=ORANGE, ms=3, lw=1.0, label="all rows, estimate")
        axes.axhline(0, color=INK, lw=1.0, ls=":", label="no rows")
        lowest, top = min(min(curve.lower), 0.0), max(*curve.upper, *curve.act_on_all)
        # Acting on all soon costs far more than anything else in the figure.
        ends = lowest - 0.15 * (top - lowest), top + 0.05 * (top - lowest)
        axes.set(ylim=ends, xlabel="threshold", ylabel="net benefit per row")
        axes.legend(loc="best", edgecolor=FAINT)
        return figure_of(axes)
