"""The calibration curve as it is: a band for a curve that never falls, or the limits of a few single scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from calcert.foundation.number_text import given, percent_sure
from calcert.foundation.requirements import needed_for_reports
from calcert.reports.estimates import means_in_groups
from calcert.show.pictures.canvas import axes_below, axes_for, figure_of
from calcert.show.pictures.palette import BLUE, FAINT, INK, RED
from calcert.summary.summary import Summary

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable
    from calcert.reports.report import Report

BINS = 64
GROUPS = 20


def monotone_picture(band: MonotoneBand, ax: Axes | None = None) -> Figure:
    """The band over all scores, with what it assumes in the title."""
    with axes_for(ax, "reliability") as axes:
        _draw_band(axes, band)
        axes.set_xlabel("score")
        return figure_of(axes)


def table_picture(table: ScoreTable, ax: Axes | None = None) -> Figure:
    """The scores of the table, each with its limits."""
    with axes_for(ax, "reliability") as axes:
        _draw_table(axes, table)
        axes.set_xlabel("score")
        return figure_of(axes)


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


def _draw_band(axes: Axes, band: MonotoneBand) -> None:
    if band.refuted_at is None:
        label = f"{percent_sure(band.delta)} band, everywhere at once"
        lower, upper = band.lower[:-1], band.upper[1:]
        axes.stairs(upper, band.edges, baseline=lower, fill=True, color=BLUE, alpha=0.22, lw=0, label=label)
        for edge in (lower, upper):
            axes.stairs(edge, band.edges, baseline=None, color=BLUE, lw=0.6)
    axes.set_title(
        "Calibration curve as it is, assuming that\nthe chance never falls as the score rises"
        if band.refuted_at is None
        else f"The rows refute a chance that never falls as the score\nrises: it falls near {band.refuted_at:.3g}",
        loc="left",
        color=INK if band.refuted_at is None else RED,
    )
    _draw_frame(axes)


def _draw_table(axes: Axes, table: ScoreTable) -> None:
    label = f"{percent_sure(table.delta)} limits, all together"
    axes.vlines(table.score, table.lower, table.upper, color=BLUE, lw=2.0, alpha=0.6, label=label)
    axes.plot(table.score, table.estimate, "o", color=BLUE, ms=4.5, label="share of label 1, no guarantee")
    scores = f"{table.score.size} scores" if table.score.size > 1 else f"score {given(float(table.score[0]))}"
    axes.set_title(f"Chance of label 1 at the {scores}, as they are;\nnothing is assumed, or said of other scores")
    _draw_frame(axes)


DRAW: dict[str, Callable[[Axes, Any], None]] = {"monotone band": _draw_band, "score table": _draw_table}
"""By the kind of the curve."""


def _draw_frame(axes: Axes) -> None:
    axes.plot((0, 1), (0, 1), color=INK, lw=1.0, ls=(0, (5, 3)), label="perfect calibration")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_ylabel("chance of label 1")
    axes.legend(loc="upper left")


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
