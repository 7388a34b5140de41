"""Curves, as blocks and as pictures: bands and score tables, which hold a calibration curve, and decision curves."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import at_least, at_most, confidence, given, number, percent_sure, rows_text
from calcert.show.block import Block, Column, Paragraph, Table, Verdict, numbers
from calcert.show.canvas import BLUE, FAINT, FLAT, INK, ORANGE, RED, axes_for, draw_band, draw_diagonal, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.band import CalibrationBand
    from calcert.certificates.decision_curve import DecisionCurve
    from calcert.certificates.miscalibrated_ranges import RangeMean
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable

STRETCHES = 10
RARE = 0.005
"""The share of perturbed scores below the first stretch, and above the last."""

SHOWN = 24
"""Single scores, or thresholds, in a table; all are in the frame and the JSON."""


def band_blocks(band: CalibrationBand) -> list[Block]:
    """The band over ten stretches of perturbed scores, from the lowest to the highest that are common."""
    part = band.thinned(STRETCHES, _common_scores(band))
    shown = numbers("perturbed score, about", "at least", "at most", "estimate")
    for place, (lower, upper, estimate) in enumerate(zip(part.lower, part.upper, part.estimate, strict=True)):
        stretch = f"{part.edges[place]:.2g} to {part.edges[place + 1]:.2g}"
        shown.add(stretch, at_least(lower), at_most(upper), number(estimate))
    return [
        Paragraph(f"{rows_text(band.n)}; probability of label 1 given the perturbed score, {band.noise.words}"),
        shown,
        Paragraph("From the lowest to the highest perturbed score, but for half a percent of the rows on either side."),
        *(Paragraph(_of_end(end)) for end in band.ends if end.upper - end.lower < 1),
        Paragraph(
            f"All bounds hold together with probability {confidence(band.delta)}; estimates, in the middle, do not."
        ),
    ]


def _of_end(end: RangeMean) -> str:
    """What is known of perturbed scores next to 0 or 1, of which the band says nothing."""
    near = f"within {end.high - end.low:.2g} of {round(end.low)}"
    return f"Perturbed scores {near}: mean probability at least {at_least(end.lower)}, at most {at_most(end.upper)}."


def _common_scores(band: CalibrationBand) -> tuple[float, float]:
    """The perturbed scores between which all but few rows are."""
    share = np.cumsum(band.negative + band.positive)
    if not share[-1] > 0:
        return 0.0, 1.0
    low, high = np.searchsorted(share / share[-1], (RARE, 1 - RARE))
    return float(band.edges[low]), float(band.edges[high + 1])


def monotone_blocks(band: MonotoneBand) -> list[Block]:
    """The band at eleven scores, what it assumes, and where it is off; or where rows refute what it assumes."""
    lead = Paragraph(f"{rows_text(band.n)}; probability of label 1 given the score")
    sure = confidence(band.delta)
    if band.refuted_at is not None:
        where = number(band.refuted_at)
        refuted = f"The rows refute a probability that never falls as the score rises: near {where} it falls."
        return [lead, Verdict(refuted), Paragraph(f"That holds with probability {sure}; no band does.")]
    shown, places = numbers("score", "at least", "at most"), np.linspace(0.0, 1.0, 11)
    for score, lower, upper in zip(places, *band.at(places), strict=True):
        shown.add(f"{score:.1f}", at_least(lower), at_most(upper))
    promise = "Assumes that the probability never falls as the score rises. All limits hold together with probability"
    return [lead, shown, *map(Paragraph, [f"{promise} {sure}.", *_range_lines(band)])]


def score_lines(found: ScoreTable) -> Table:
    """What each score said and what happened, with limits and what is proven."""
    shown = numbers("said", "rows", "happened", "at least", "at most", "proven", most=SHOWN, many="scores")
    values = (found.score, found.rows, found.estimate, found.lower, found.upper)
    for score, rows, share, lower, upper in zip(*values, strict=True):
        proven = _proven(float(score), float(lower), float(upper))
        cells = (given(float(score)), f"{int(rows):,}", number(float(share)), at_least(lower), at_most(upper), proven)
        shown.add(*cells)
    return shown


def score_table_blocks(found: ScoreTable) -> list[Block]:
    """The lines of all scores, and what they promise."""
    sure = confidence(found.delta)
    promise = f"Nothing is assumed. All limits hold together with probability {sure}; of other scores nothing is said."
    return [
        Paragraph(f"{rows_text(found.n)}; probability of label 1 at each score"),
        score_lines(found),
        *map(Paragraph, [few_scores_line(found), promise, *(_range_lines(found) if found.score.size > SHOWN else [])]),
    ]


def few_scores_line(found: ScoreTable) -> str:
    """Why few scores need no assumption."""
    size = found.score.size
    values = "one value" if size == 1 else f"{size:,} values"
    return f"The scores take {values}, so that the L1 error is certified without an assumption (Theorem 4)."


def _proven(score: float, lower: float, upper: float) -> str:
    """To which side a score is off for certain, and by how much."""
    if upper < score:
        return f"too high by {at_least(score - upper)}"
    return f"too low by {at_least(lower - score)}" if lower > score else "nothing"


def _range_lines(found: MonotoneBand | ScoreTable) -> list[str]:
    lines = [f"  {part}" for part in found.miscalibrated_ranges]
    return ["Score ranges with certified miscalibration:", *lines] if lines else []


def monotone_picture(band: MonotoneBand, ax: Axes | None = None) -> Figure:
    """The band over all scores, with what it assumes in the title, or that rows refute it."""
    with axes_for(ax) as axes:
        title, colour = "Calibration curve, assuming that the\nfrequency never falls as the score rises", INK
        if band.refuted_at is None:
            label = f"{percent_sure(band.delta)} band, simultaneous"
            draw_band(axes, band.edges, band.lower[:-1], band.upper[1:], label)
        else:
            where = f"rises: it falls near {band.refuted_at:.3g}"
            title, colour = f"The rows refute a probability that never falls as the score\n{where}", RED
        axes.set_title(title, loc="left", color=colour)
        _frame_curve(axes)
        axes.set_xlabel("score")
        return figure_of(axes)


def table_picture(table: ScoreTable, ax: Axes | None = None) -> Figure:
    """The scores of the table, each with its limits."""
    with axes_for(ax) as axes:
        draw_score_table(axes, table)
        axes.set_xlabel("score")
        return figure_of(axes)


def draw_score_table(axes: Axes, table: ScoreTable) -> None:
    """Each single score as a point between its limits."""
    label = f"{percent_sure(table.delta)} limits, all together"
    axes.vlines(table.score, table.lower, table.upper, color=BLUE, lw=2.0, alpha=0.6, label=label)
    axes.plot(table.score, table.estimate, "o", color=BLUE, ms=4.5, label="share of label 1")
    scores = f"{table.score.size} scores" if table.score.size > 1 else f"score {given(float(table.score[0]))}"
    axes.set_title(f"Probability of label 1 at the {scores};\nnothing is assumed, or said of other scores")
    _frame_curve(axes)


def _frame_curve(axes: Axes) -> None:
    draw_diagonal(axes, (0, 1), "no error")
    axes.set(xlim=(0, 1), ylim=(0, 1), ylabel="probability of label 1")
    axes.legend(loc="upper left")


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
