"""The calibration curve of a report as it is, over the scores of both labels, as a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from calcert.foundation.requirements import needed_for_reports
from calcert.reports.estimates import means_in_groups
from calcert.show.pictures.canvas import BLUE, FAINT, RED, axes_below, axes_for
from calcert.show.pictures.monotone_band_and_score_table import draw_monotone_band, draw_score_table
from calcert.summary.summary import Summary

with needed_for_reports():
    from matplotlib.axes import Axes

if TYPE_CHECKING:
    from calcert.reports.report import Report

BINS = 64
"""Of the scores of either label, below the curve."""

GROUPS = 20
"""Of rows, each with a dot for its share of label 1."""

DRAW: dict[str, Callable[[Axes, Any], None]] = {"monotone band": draw_monotone_band, "score table": draw_score_table}
"""By the kind of the curve."""


def curve_as_it_is(report: Report, ax: Axes | None = None) -> Axes:
    """The calibration curve of the classifier as it is, over the scores of both labels.

    How to read it: few distinct scores are points, each with limits that hold together, and nothing is said between
    them. Else there is a band that holds the curve everywhere at once if the chance of label 1 never falls as the score
    rises; the title says so. Where rows refute it, that is said instead, and no band is drawn. Dots are the shares of
    label 1 in groups of equally many rows: an estimate. Where the diagonal is outside, the classifier is off. Below:
    where the scores are.

    Parameters
    ----------
    report
        What :func:`calcert.certify` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> ax = curve_as_it_is(calcert.certify(x, rng.random(5000) < x))
    >>> print(ax.get_title(loc="left"))
    Calibration curve as it is, assuming that
    the chance never falls as the score rises
    """
    with axes_for(ax, "reliability") as axes:
        curve, rows = report.curve, report.summary
        assert rows is not None  # Or there would be no curve.
        single = curve.kind == "score table"
        DRAW[curve.kind](axes, curve)
        if not single:
            score, share = means_in_groups(rows, GROUPS)
            axes.plot(score, share, "o", color=BLUE, ms=3.5, label="shares in groups of rows, no guarantee")
        axes.legend(loc="upper left")
        _draw_scores_as_they_are(axes_below(axes, 0.25), rows, single)
        return axes


def _draw_scores_as_they_are(axes: Axes, rows: Summary, single: bool) -> None:
    """Rows of both labels, each to its own peak."""
    points = rows.points
    for y, colour, line in ((0, FAINT, "--"), (1, RED, "-")):
        if single:
            place, height = points.low + (0.004 if y else -0.004), points.count[:, y] / max(points.count[:, y].max(), 1)
            axes.vlines(place, 0, height, color=colour, ls=line, lw=1.6, label=f"label {y}")
            continue
        count, edges = np.histogram(points.positions[:, y], BINS, (0.0, 1.0), weights=points.count[:, y])
        height = count / max(float(count.max()), 1e-300)
        axes.stairs(height, edges, fill=True, color=colour, alpha=0.18, lw=0)
        axes.stairs(height, edges, color=colour, ls=line, lw=1.3, label=f"label {y}")
    axes.set_ylim(0, 1.45)
    axes.set_yticks([])
    axes.set_ylabel("rows")
    axes.set_xlabel("score")
    axes.legend(loc="upper center", ncols=2)
