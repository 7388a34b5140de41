"""Results of one or a few numbers, as pictures: the ratio, the sides, the test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import confidence, percent_sure, rounded_up
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, INK, RED, axes_for, figure_of

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.certificates.calibration_test import CalibrationTest
    from calcert.certificates.observed_over_expected import Ratio
    from calcert.certificates.sides import Sides


def ratio_picture(found: Ratio, ax: Axes | None = None) -> Figure:
    """The interval as a bar, the ratio of the rows as a dot, and a dashed line at 1, where a calibrated one is."""
    with axes_for(ax, "interval") as axes:
        bounded = [value for value in (found.upper, found.estimate) if math.isfinite(value)]
        right = 1.15 * max([1.0, found.lower, *bounded])
        axes.plot([found.lower, min(found.upper, right)], [0, 0], color=BLUE, lw=5.0, solid_capstyle="butt")
        axes.plot([found.estimate], [0], "o", color=INK, ms=5)
        if found.upper > right:
            axes.plot([right], [0], ">", color=BLUE, ms=6, clip_on=False)
        axes.axvline(1.0, color=INK, lw=1.0, ls=(0, (5, 3)))
        axes.set_yticks([])
        axes.set_ylim(-0.5, 0.5)
        axes.set_xlim(0, right)
        axes.set_xlabel("observed over expected positives")
        axes.set_title(f"{percent_sure(found.delta)} interval, and the ratio of the rows", loc="left")
        return figure_of(axes)


def sides_picture(found: Sides, ax: Axes | None = None) -> Figure:
    """A bar from the lower to the upper bound of each side."""
    with axes_for(ax, "terms") as axes:
        for place, side in enumerate(vars(found).values()):
            axes.plot([side.lower, side.upper], [place, place], color=BLUE, lw=5.0, solid_capstyle="butt")
        axes.set_yticks(range(4), [name.replace("_", " ") for name in vars(found)])
        axes.set_ylim(3.5, -0.5)
        axes.set_xlim(0, 1.08 * max(side.upper for side in vars(found).values()))
        axes.set_xlabel("part of the L1 calibration error")
        sure = confidence(found.too_high.delta)
        axes.set_title(f"How much of the error goes to each side,\neach bound with probability {sure}", loc="left")
        return figure_of(axes)


def p_value_picture(found: CalibrationTest, ax: Axes | None = None) -> Figure:
    """How many of the draws from the scores err in a range by so much or more; the labels that were seen as a line."""
    with axes_for(ax, "plan") as axes:
        share = np.linspace(1.0, 0.0, len(found.drawn))
        axes.plot(found.drawn, share, color=BLUE, lw=1.8, label="labels drawn from the scores")
        axes.axvline(found.statistic, color=RED, lw=1.8, ls="--", label="labels that were seen")
        axes.set_xlim(0, 1.15 * max(found.drawn[-1], found.statistic, 1e-12))
        axes.set_ylim(0, 1)
        axes.set_xlabel("worst score range: cutoff error per row")
        axes.set_ylabel("share of draws beyond")
        axes.set_title(f"Perfect calibration: p-value {rounded_up(found.p_value)}", loc="left")
        axes.legend(loc="upper right")
        return figure_of(axes)
