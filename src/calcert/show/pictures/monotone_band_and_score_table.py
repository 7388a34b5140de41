"""A band for a calibration curve that never falls, or the limits of a few single scores, as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import given, percent_sure
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, INK, RED, axes_for, figure_of

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable


def monotone_picture(band: MonotoneBand, ax: Axes | None = None) -> Figure:
    """The band over all scores, with what it assumes in the title."""
    with axes_for(ax, "reliability") as axes:
        draw_monotone_band(axes, band)
        axes.set_xlabel("score")
        return figure_of(axes)


def table_picture(table: ScoreTable, ax: Axes | None = None) -> Figure:
    """The scores of the table, each with its limits."""
    with axes_for(ax, "reliability") as axes:
        draw_score_table(axes, table)
        axes.set_xlabel("score")
        return figure_of(axes)


def draw_monotone_band(axes: Axes, band: MonotoneBand) -> None:
    """The band, or in the title that rows refute what it assumes."""
    if band.refuted_at is None:
        label = f"{percent_sure(band.delta)} band, simultaneous"
        lower, upper = band.lower[:-1], band.upper[1:]
        axes.stairs(upper, band.edges, baseline=lower, fill=True, color=BLUE, alpha=0.22, lw=0, label=label)
        for edge in (lower, upper):
            axes.stairs(edge, band.edges, baseline=None, color=BLUE, lw=0.6)
    axes.set_title(
        "Calibration curve, assuming that the\nfrequency never falls as the score rises"
        if band.refuted_at is None
        else f"The rows refute a probability that never falls as the score\nrises: it falls near {band.refuted_at:.3g}",
        loc="left",
        color=INK if band.refuted_at is None else RED,
    )
    frame_of_the_curve(axes)


def draw_score_table(axes: Axes, table: ScoreTable) -> None:
    """Each single score as a point between its limits."""
    label = f"{percent_sure(table.delta)} limits, all together"
    axes.vlines(table.score, table.lower, table.upper, color=BLUE, lw=2.0, alpha=0.6, label=label)
    axes.plot(table.score, table.estimate, "o", color=BLUE, ms=4.5, label="share of label 1")
    scores = f"{table.score.size} scores" if table.score.size > 1 else f"score {given(float(table.score[0]))}"
    axes.set_title(f"Probability of label 1 at the {scores};\nnothing is assumed, or said of other scores")
    frame_of_the_curve(axes)


def frame_of_the_curve(axes: Axes) -> None:
    """The diagonal of perfect calibration, and axes from 0 to 1."""
    axes.plot((0, 1), (0, 1), color=INK, lw=1.0, ls=(0, (5, 3)), label="no error")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_ylabel("probability of label 1")
    axes.legend(loc="upper left")
