"""Reliability diagrams: of the current scores, dots over a certified band and a histogram; and of perturbed ones."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.number_text import percent_sure
from calcert.reports.estimates import means_in_groups, score_quantiles
from calcert.show.canvas import BLUE, FAINT, INK, ORANGE, RED, axes_below, axes_for, draw_band, draw_diagonal, figure_of
from calcert.show.certificate_words import interval
from calcert.show.curves import draw_score_table
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.band import CalibrationBand
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable
    from calcert.perturbation.noise import Noise
    from calcert.reports.report import Report

BINS = 50
STEPS = 400
"""Of the histogram, and of bands between two scores: finer than a pixel on a page, and a small file."""

WIDEST_GAP = 6
"""Of bins: the band goes on between rows that are no further apart, so that few rows do not cut it into stripes."""

DENSITY_BINS = 64
"""Of the perturbed scores of either label, below the curve: so wide that a crowded score leaves the others visible."""

PER_DOT, MOST_DOTS = 200, 20
"""Rows that deserve a dot, and dots that a picture has room for."""

LUMP = 0.005
"""Scores of exactly 0 or 1 with more of the rows than this have a mark of their own."""

CROWDED = 20
"""A bin with so many times the usual number of rows makes the axis of the histogram logarithmic."""


def reliability(report: Report, ax: Axes | None = None) -> Axes:
    """The share of label 1 at the current scores, in its certified band, over a histogram of the scores.

    How to read it: dots are shares of label 1 among rows with similar scores, diamonds those of scores of exactly 0 or
    1. A classifier without error lies on the dashed diagonal. The band holds the whole true curve, if that never falls
    as the score rises; up to 40 distinct scores have limits each that assume nothing. Where the diagonal is outside,
    scores are off. Nothing is drawn where there are no rows, and no band for rows in clusters or with weights.

    Parameters
    ----------
    report
        What :func:`calcert.certify` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000) / 10
    >>> ax = reliability(calcert.certify(x, rng.random(5000) < x))
    >>> print(f"{ax.get_title(loc='left')}, up to {ax.get_xlim()[1]:.2f}")
    Label 1 given the score, up to 0.11
    """
    rows = report.known_rows("reliability diagram")
    shown = fitting(rows)
    with axes_for(ax) as axes:
        top = shown[1]
        if report.has_few_scores:
            table: ScoreTable = report.curve  # type: ignore[assignment]
            draw_score_table(axes, table)
            top = max(top, float(np.quantile(table.upper, 0.9)))
        else:
            top = max(top, _draw_many(axes, report, rows, shown))
            draw_diagonal(axes, shown, "no error")
        axes.set_title("Label 1 given the score", loc="left")
        axes.set_ylabel("share of label 1")
        margin = 0.02 * (shown[1] - shown[0])
        low = shown[0] if shown[0] > 0 else -margin
        axes.legend(loc="upper left")
        _draw_histogram(axes_below(axes, 0.25), rows, shown)
        axes.set_xlim(shown[0] - margin, shown[1] + margin)
        axes.set_ylim(low, min(top, 1.0) + margin)
        # Ticks beyond the ends would be words on top of others.
        axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= min(top, 1.0) + margin])
        return axes


def reliability_description(report: Report) -> str:
    """The picture for somebody who cannot see it."""
    return (
        f"Share of label 1 against the score, {report.n:,} rows, with the diagonal of no error; below, a histogram of "
        f"the scores. {report.verdict.sentence}"
    )


def fitting(rows: Summary) -> tuple[float, float]:
    """All scores, or where 99% of them fill less than half of [0, 1], the stretch that these are in."""
    low, high = score_quantiles(rows, (0.005, 0.995)).values()
    margin = 0.05 * (high - low)
    low, high = max(low - margin, 0.0), min(high + margin, 1.0)
    if not 0 < high - low <= 0.5:
        return 0.0, 1.0
    return (0.0 if low < 0.2 * high else low), (1.0 if 1 - high < 0.2 * (1 - low) else high)


def _draw_many(axes: Axes, report: Report, rows: Summary, shown: tuple[float, float]) -> float:
    """Dots over a band where there is one; the highest of them."""
    top = 0.0
    if rows.clusters is None:
        band: MonotoneBand = report.curve  # type: ignore[assignment]
        if band.refuted_at is None:
            top = _draw_monotone(axes, band, rows, shown)
        else:
            where = f"the share of label 1 falls near {band.refuted_at:.3g}: no band"
            axes.plot([], [], " ", label=where)
    inside, lumps = split_lumps(rows)
    if inside is not None:
        score, share = means_in_groups(inside, min(max(inside.n // PER_DOT, 5), MOST_DOTS))
        axes.plot(score, share, "o", color=BLUE, ms=4.5, label="rows with similar scores")
        seen = share[(score >= shown[0]) & (score <= shown[1])]
        top = max([top, *seen.tolist()])
    for score_at, number, positives in lumps:
        label = f"{number:,} rows at {score_at:g}"
        axes.plot(score_at, positives / number, "D", color=ORANGE, ms=7, mec=INK, clip_on=False, label=label)
    return top


def split_lumps(rows: Summary) -> tuple[Summary | None, list[tuple[float, int, int]]]:
    """The rows apart from large lumps at exactly 0 and 1, and score, rows and positives of each of these."""
    count, lumps = rows.count, []
    kept = np.ones(rows.cell.size, bool)
    for score, place in ((0.0, 0), (1.0, -1)):
        exact = rows.left[place] == score and not rows.offset[place].any()
        number = int(count[place].sum())
        if exact and number > LUMP * rows.n:
            kept[place] = False
            lumps.append((score, number, int(count[place, 1])))
    if not lumps or not kept.any():
        return (rows if kept.any() else None), lumps
    return Summary(rows.cell[kept], count[kept], rows.offset[kept], None, None), lumps


def _draw_monotone(axes: Axes, band: MonotoneBand, rows: Summary, shown: tuple[float, float]) -> float:
    """The band, where there are rows; how high it is over most of them."""
    edges = np.linspace(*shown, STEPS + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    lower, upper = band.at(middle)
    there = _has_rows(rows, edges)
    lower, upper = np.where(there, lower, np.nan), np.where(there, upper, np.nan)
    draw_band(axes, edges, lower, upper, f"{percent_sure(band.delta)} band, if the curve never falls")
    return float(np.quantile(upper[there], 0.9)) if there.any() else 0.0


def _has_rows(rows: Summary, edges: Floats) -> Floats:
    """Which steps have rows, or lie between neighbouring rows that are near each other."""
    near = np.histogram(rows.points.low, BINS, (edges[0], edges[-1]), weights=rows.points.count.sum(axis=1))[0] > 0
    held = np.flatnonzero(near)
    for before, after in pairwise(held):
        near[before:after] |= after - before <= WIDEST_GAP
    return np.repeat(near, STEPS // BINS)


def _draw_histogram(axes: Axes, rows: Summary, shown: tuple[float, float]) -> None:
    """Rows by score, those of label 1 dark; the first and the last bin hold what is beyond them."""
    points = rows.points
    edges = np.linspace(*shown, BINS + 1)
    count = np.stack(
        [np.histogram(np.clip(points.positions[:, y], *shown), edges, weights=points.count[:, y])[0] for y in (0, 1)]
    )
    total = count.sum(axis=0)
    axes.stairs(total, edges, fill=True, color=FAINT, alpha=0.45, lw=0, label="all rows")
    axes.stairs(count[1], edges, fill=True, color=BLUE, alpha=0.75, lw=0, label="label 1")
    if total.max() > CROWDED * np.median(total[total > 0]):
        axes.set_yscale("log")
        axes.set_ylim(0.7, 10 * float(total.max()))
    else:
        axes.set_ylim(0, 1.45 * float(total.max()))
        axes.set_yticks([tick for tick in axes.get_yticks() if tick <= total.max() and tick == int(tick)])
    axes.set_ylabel("rows")
    axes.set_xlabel("score")
    axes.legend(loc="upper center", ncols=2)


def perturbed_curve(report: Report, ax: Axes | None = None) -> Axes:
    """The calibration curve of the perturbed classifier in its band, over the densities of both labels.

    How to read it: the curve is the estimated probability of label 1 at each perturbed score; without error it is the
    dashed diagonal. The band holds the whole true curve, with probability at least 1 - delta: where it
    leaves the diagonal outside, the classifier is off there. A mark next to 0 or 1 is the mean probability there,
    between its limits. Below: where the perturbed scores of either label are.

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
    >>> ax = perturbed_curve(calcert.certify(x, rng.random(5000) < x, settings=calcert.Settings(odds=1 / 16)))
    >>> print(ax.get_title(loc="left"))
    Calibration error of perturbed scores:
    certified at most 0.0297
    """
    title = f"Calibration error of perturbed scores:\ncertified {interval(report.perturbed)}"
    return _draw_in_band(ax, report.band, shown_scores(report.summary, report.settings.noise), title)


def perturbed_description(report: Report) -> str:
    """The reliability picture for somebody who cannot see it."""
    c = report.perturbed
    return (
        f"Estimate of label 1 against the perturbed score, with a {percent_sure(c.delta)} simultaneous band and "
        f"the diagonal of perfect calibration; {c.n:,} rows. The calibration error is certified {interval(c)}."
    )


def band_picture(band: CalibrationBand, ax: Axes | None = None) -> Figure:
    """The band over all perturbed scores."""
    return figure_of(_draw_in_band(ax, band, (0.0, 1.0), "Probability of label 1 given the perturbed score"))


def shown_scores(summary: Summary | None, noise: Noise) -> tuple[float, float]:
    """All scores, or where they fill less than half of [0, 1], and not one point of it, the stretch of 99% of them."""
    assert summary is not None  # Or there would be no band.
    low, high = score_quantiles(summary, (0.005, 0.995)).values()
    margin = 2 * float(noise.mean_shift([low, high]).max()) + 0.05 * (high - low)
    low, high = max(low - margin, 0.0), min(high + margin, 1.0)
    if not 0 < high - low <= 0.5:
        return 0.0, 1.0
    return (0.0 if low < 0.2 * high else low), (1.0 if 1 - high < 0.2 * (1 - low) else high)


def _draw_in_band(ax: Axes | None, band: CalibrationBand, shown: tuple[float, float], title: str) -> Axes:
    """The band between two perturbed scores; returns the axes of the curve."""
    with axes_for(ax) as axes:
        # Thin only what is shown, or a picture of rare events would be a few coarse steps.
        part = band.thinned(STEPS, shown)
        _draw_perturbed_band(axes, part)
        _draw_ends(axes, band)
        axes.set_title(title, loc="left")
        _draw_densities(axes_below(axes, 0.25), band.thinned(DENSITY_BINS, shown))
        axes.set_xlim(shown)
        axes.set_ylim(shown[0], max(shown[1], min(1.2 * _largest_usual(part), 1.0)))
        return axes


def _largest_usual(band: CalibrationBand) -> float:
    """The probability of label 1 that the estimate exceeds for one row in two hundred."""
    known = ~np.isnan(band.estimate)
    if not known.any():  # All rows have scores 0 and 1, which are left unperturbed.
        return 1.0
    weights = (band.negative + band.positive)[known]
    return float(np.quantile(band.estimate[known], 0.995, weights=weights, method="inverted_cdf"))


def _draw_perturbed_band(axes: Axes, band: CalibrationBand) -> None:
    draw_band(axes, band.edges, band.lower, band.upper, f"{percent_sure(band.delta)} band, simultaneous")
    axes.plot(band.t, band.estimate, color=BLUE, lw=1.8, label="estimate, no guarantee")
    draw_diagonal(axes, (0, 1), "perfect calibration")
    axes.set_ylabel("probability of label 1")


def _draw_ends(axes: Axes, band: CalibrationBand) -> None:
    """The mean probability at perturbed scores next to 0 and 1, where known: a band has no width there."""
    ends = [end for end in band.ends if end.upper - end.lower < 1]
    if ends:
        place, estimate = [round(end.low) for end in ends], np.array([end.estimate for end in ends])
        room = np.abs([[end.lower, end.upper] for end in ends] - estimate[:, None]).T
        label = f"perturbed score within {ends[0].high - ends[0].low:g} of 0 or 1: mean, {percent_sure(band.delta)}"
        axes.errorbar(place, estimate, room, fmt="D", color=ORANGE, ms=5, capsize=4, clip_on=False, label=label)
    axes.legend(loc="upper left")


def _draw_densities(axes: Axes, band: CalibrationBand) -> None:
    """Both labels, each to its own peak: the rarer one would else be a flat line."""
    for label, share, colour, line in (
        ("label 0", band.negative, FAINT, "--"),
        ("label 1", band.positive, RED, "-"),
    ):
        density = share / np.diff(band.edges)
        height = density / max(float(density.max()), 1e-300)
        axes.stairs(height, band.edges, fill=True, color=colour, alpha=0.18, lw=0)
        axes.stairs(height, band.edges, color=colour, ls=line, lw=1.3, label=label)
    axes.set(ylim=(0, 1.45), yticks=[], ylabel="density", xlabel="perturbed score")
    axes.legend(loc="upper center", ncols=2)
