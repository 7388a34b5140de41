"""The reliability diagram of the current scores: dots over a certified band, and a histogram of the scores below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.number_text import percent_sure
from calcert.reports.estimates import means_in_groups, score_quantiles
from calcert.show.bands_and_score_table import draw_score_table
from calcert.show.canvas import BLUE, FAINT, INK, ORANGE, axes_below, axes_for, draw_band, draw_diagonal
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable
    from calcert.reports.report import Report

BINS = 50
STEPS = 400
"""Of the histogram, and of the band between two scores."""

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
    near[1:-1] |= near[:-2] & near[2:]
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
