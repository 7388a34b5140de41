"""Results of one or a few numbers, as blocks and as pictures: the ratio, the sides, the test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import at_least, at_most, confidence, number, percent_sure, rounded_up, rows_text
from calcert.show.block import Block, Paragraph, numbers
from calcert.show.canvas import (
    BLUE,
    DASHED,
    FLAT,
    INK,
    RED,
    WIDTH,
    axes_for,
    draw_bar,
    figure_of,
    list_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def ratio_picture(found: Ratio, ax: Axes | None = None) -> Figure:
    """The interval as a bar, the ratio of the rows as a dot, and a dashed line at 1, where a calibrated one is."""
    with axes_for(ax, (WIDTH, 1.5)) as axes:
        bounded = [value for value in (found.upper, found.estimate) if math.isfinite(value)]
        right = 1.15 * max([1.0, found.lower, *bounded])
        draw_bar(axes, found.lower, min(found.upper, right), 0)
        axes.plot([found.estimate], [0], "o", color=INK, ms=5)
        if found.upper > right:
            axes.plot([right], [0], ">", color=BLUE, ms=6, clip_on=False)
        axes.axvline(1.0, color=INK, lw=1.0, ls=DASHED)
        axes.set(yticks=[], ylim=(-0.5, 0.5), xlim=(0, right), xlabel="observed over expected positives")
        axes.set_title(f"{percent_sure(found.delta)} interval, and the ratio of the rows", loc="left")
        return figure_of(axes)


def sides_picture(found: Sides, ax: Axes | None = None) -> Figure:
    """A bar from the lower to the upper bound of each side."""
    with axes_for(ax, (WIDTH, 2.7)) as axes:
        for place, side in enumerate(vars(found).values()):
            draw_bar(axes, side.lower, side.upper, place)
        list_names(axes, [name.replace("_", " ") for name in vars(found)])
        right = 1.08 * max(side.upper for side in vars(found).values())
        axes.set(xlim=(0, right), xlabel="part of the L1 calibration error")
        sure = confidence(found.too_high.delta)
        axes.set_title(f"How much of the error goes to each side,\neach bound with probability {sure}", loc="left")
        return figure_of(axes)


def p_value_picture(found: CalibrationTest, ax: Axes | None = None) -> Figure:
    """How many of the draws from the scores err in a range by so much or more; the labels that were seen as a line."""
    with axes_for(ax, FLAT) as axes:
        share = np.linspace(1.0, 0.0, len(found.drawn))
        axes.plot(found.drawn, share, color=BLUE, lw=1.8, label="labels drawn from the scores")
        axes.axvline(found.statistic, color=RED, lw=1.8, ls="--", label="labels that were seen")
        right = 1.15 * max(found.drawn[-1], found.statistic, 1e-12)
        axes.set(xlim=(0, right), ylim=(0, 1), xlabel="worst score range: cutoff error per row")
        axes.set_ylabel("share of draws beyond")
        axes.set_title(f"Perfect calibration: p-value {rounded_up(found.p_value)}", loc="left")
        axes.legend(loc="upper right")
        return figure_of(axes)
