"""A decision curve as blocks."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from calcert.foundation.number_text import given, percent_sure, rows_text
from calcert.show.blocks.block import Block, Column, Paragraph, Table

if TYPE_CHECKING:
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
