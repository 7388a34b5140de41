"""The calibration curve before and after a map, from the same rows, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.requirements import needed_for_reports
from calcert.reports.estimates import means_in_groups
from calcert.show.pictures.canvas import BLUE, FAINT, ORANGE, axes_for, figure_of

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.recalibrate import Recalibration

GROUPS = 20
"""Of rows, each with a dot for its share of label 1."""


def recalibration_picture(found: Recalibration, ax: Axes | None = None) -> Figure:
    """Shares of label 1 in groups of held-out rows, before and after the map, and the map itself as a line.

    How to read it: dots on the diagonal are calibrated. Shares are estimates; the bounds are in the text. Without the
    rows, as after a round trip through JSON, the map alone is drawn.
    """
    with axes_for(ax, "reliability") as axes:
        axes.plot([0, 1], [0, 1], color=FAINT, lw=1)
        score = np.linspace(0.0, 1.0, 1_001)
        axes.plot(score, found.map.mapped(score), color=ORANGE, lw=1.2, ls="--", label="the map")
        for report, colour, mark, words in (
            (found.before, ORANGE, "s", "before: shares of label 1"),
            (found.report, BLUE, "o", "after: shares of label 1"),
        ):
            if report.summary is not None:
                axes.plot(*means_in_groups(report.summary, GROUPS), mark, color=colour, ms=4, label=words)
        axes.set_title("Before and after recalibration, on held-out rows\n(estimates)")
        axes.set_xlabel("score")
        axes.set_ylabel("share of label 1")
        axes.legend(loc="upper left")
        return figure_of(axes)
