"""Results of one or a few numbers as blocks: the ratio, the sides, the test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calcert.foundation.number_text import at_least, at_most, confidence, number, rounded_up, rows_text
from calcert.show.blocks.block import Block, Paragraph, numbers

if TYPE_CHECKING:
    from calcert.certificates.calibration_test import CalibrationTest
    from calcert.certificates.observed_over_expected import Ratio
    from calcert.certificates.sides import Sides


def ratio_blocks(found: Ratio) -> list[Block]:
    """The ratio of the rows between its bounds."""
    shown = numbers("observed", "expected", "ratio", "at least", "at most")
    upper = "unbounded" if math.isinf(found.upper) else rounded_up(found.upper)
    expected = f"{found.expected:,.1f}" if found.expected >= 1 else number(found.expected)
    shown.add(f"{found.observed:,}", expected, number(found.estimate), at_least(found.lower), upper)
    return [
        Paragraph(f"{rows_text(found.n)}; observed over expected positives"),
        shown,
        Paragraph(
            f"Nothing is assumed. Both bounds hold together with probability {confidence(found.delta)} (Theorem 11)."
        ),
    ]


def sides_blocks(found: Sides) -> list[Block]:
    """A line a side."""
    shown, any_side = numbers("scores are", "by at least", "by at most"), found.too_high
    for name, side in vars(found).items():
        shown.add(name.replace("_", " "), at_least(side.lower), at_most(side.upper))
    sure = confidence(any_side.delta)
    return [
        Paragraph(f"{rows_text(any_side.n)}; sides of the L1 calibration error of the classifier {any_side.subject}"),
        shown,
        Paragraph(f"Nothing is assumed. Each bound holds with probability {sure} ({any_side.theorem})."),
    ]


def p_value_blocks(found: CalibrationTest) -> list[Block]:
    """The p-value, and what it was computed from."""
    shown = numbers("p-value", "worst score range", "median of the draws", "draws")
    median = number(found.drawn[len(found.drawn) // 2])
    shown.add(rounded_up(found.p_value), number(found.statistic), median, f"{found.draws:,}")
    return [
        Paragraph(f"{rows_text(found.n)}; is every score the probability of label 1?"),
        shown,
        Paragraph("Independent rows are assumed and nothing else; a large p-value certifies nothing (Theorem 15)."),
    ]
