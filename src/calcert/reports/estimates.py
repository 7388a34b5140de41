"""Plain facts of the rows and point estimates: familiar numbers, without any guarantee."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calcert.certificates.limits.sampling_term import brier
from calcert.foundation.array_types import Floats, Integers
from calcert.sources.rows import Rows
from calcert.summary import cells
from calcert.summary.design import GAIN
from calcert.summary.points import Points
from calcert.summary.summary import Summary

FEW_SCORES = 40
"""So many distinct scores are drawn and judged one by one."""

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

ENOUGH_VARIANCE, ENOUGH_SHARE = 20, 1 / 8
"""Which error shows is known if the number of labels 1 varies so much, given scores, also next to not given them."""


def estimates(scores: Any, labels: Any = None) -> dict[str, float]:
    """Base rate, mean score, Brier score, ECE with 15 equal-width bins, AUROC, and what reviewers ask for by name.

    Scores count as the middle of what their cell allows, so that the values are good to about 1e-4. The noise floor of
    ECE is about what it would be on average if the scores were the true probabilities. Observed over expected is the
    base rate over the mean score. Calibration intercept and slope are of the logistic regression of labels on the
    log-odds of scores, the intercept with a slope of 1: 0 and 1 where all is well, a slope below 1 for overconfident
    scores. They are not there (NaN) where scores are 0 or 1, where one label is all there is, or where nothing fits.

    Parameters
    ----------
    scores, labels
        The rows: all that :func:`calcert.summarize` takes.

    Examples
    --------
    >>> calcert.estimates([0.2, 0.8], [0, 1])["AUROC"]
    1.0
    """
    summary = Rows.of(scores, labels).summary()
    return {
        "base rate": summary.base_rate,
        "mean score": summary.mean_score,
        "Brier score": brier(summary.points, summary.n),
        "ECE (15 bins)": ece(summary),
        "noise floor of ECE": ece_floor(summary),
        "AUROC": auroc(summary),
        "observed over expected": summary.base_rate / summary.mean_score if summary.mean_score > 0 else math.nan,
        "calibration intercept": calibration_regression(summary, slope=False),
        "calibration slope": calibration_regression(summary, slope=True),
    }


def ece(summary: Summary, bins: int = 15) -> float:
    """The binned calibration error with equal-width bins; it depends on the bins and bounds nothing."""
    points = summary.points
    excess = points.count * points.positions
    excess[:, 1] -= points.count[:, 1]
    return float(np.abs(_in_bins(points, excess, bins)).sum() / summary.n)


def ece_floor(summary: Summary, bins: int = 15) -> float:
    """About the mean of :func:`ece` over labels drawn with the scores as their probabilities: what noise alone shows.

    Labels are drawn independently, one for each row. Rows inside clusters count with their mean weight.
    """
    points, clusters = summary.points, summary.clusters
    squares: Any = points.count
    if clusters is not None and clusters.design.clustered:
        squares = squares * (summary.n / clusters.rows)
    elif clusters is not None:
        points, squares = (
            summary.cell_points,
            clusters.pairs,
        )  # The squared weights of rows, which are their own clusters.
    variance = squares * points.positions * (1 - points.positions)
    return float(np.sqrt(2 / np.pi * _in_bins(points, variance, bins)).sum() / summary.n)


def _in_bins(points: Points, values: Floats, bins: int) -> Floats:
    """Sums over the points of each bin of what is given per point and label; both labels rise with the points."""
    sums = np.zeros(bins)
    for score, value in zip(points.positions.T, values.T, strict=True):
        first = np.searchsorted(score * bins, np.arange(bins))
        first[0] = 0
        # Of a bin without points it would be the value at its first point, that of the next bin or the 0 at the end.
        sums += np.where(np.diff(first, append=score.size) > 0, np.add.reduceat(np.append(value, 0.0), first), 0.0)
    return sums


@lru_cache(maxsize=2)
def auroc(summary: Summary) -> float:
    """The probability that a row of label 1 outscores one of label 0, ties half; NaN with one label only."""
    negative, positive = summary.points.count.T
    pairs = float(negative.sum()) * float(positive.sum())
    if pairs == 0:
        return math.nan
    below = np.cumsum(negative) - negative
    return float((positive * (below + negative / 2)).sum() / pairs)


def score_quantiles(summary: Summary, levels: tuple[float, ...] = LEVELS) -> dict[float, float]:
    """The smallest score at or below which a share `level` of the rows lies, to the width of a cell.

    Examples
    --------
    >>> score_quantiles(calcert.summarize([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]), (0.5, 0.75))
    {0.5: 0.2, 0.75: 0.3}
    """
    points = summary.points
    rows = points.count.sum(axis=1)
    mean = (points.count * summary.points.positions).sum(axis=1) / rows
    below = np.cumsum(rows)
    # A level such as 0.07 times n may exceed a whole number by rounding alone.
    place = np.searchsorted(below, np.asarray(levels) * summary.n * (1 - 1e-12))
    return dict(zip(levels, mean[np.minimum(place, mean.size - 1)].tolist(), strict=True))


def means_in_groups(summary: Summary, groups: int) -> tuple[Floats, Floats]:
    """Mean score and share of label 1 in groups of about equally many rows with neighbouring scores."""
    points = summary.points
    rows = points.count.sum(axis=1)
    group = np.minimum(((np.cumsum(rows) - rows / 2) / summary.n * groups).astype(np.int64), groups - 1)
    total, hits = np.bincount(group, rows, groups), np.bincount(group, points.count[:, 1], groups)
    score = np.bincount(group, (points.count * points.positions).sum(axis=1), groups)
    there = total > 0
    return score[there] / total[there], hits[there] / total[there]


def log_loss(summary: Summary) -> float:
    """The mean of -ln(score of the label that occurred); infinite where a score of 0 or 1 was wrong.

    Examples
    --------
    >>> round(log_loss(calcert.summarize([0.5, 0.5], [0, 1])), 4)
    0.6931
    """
    right = np.stack([1 - summary.points.positions[:, 0], summary.points.positions[:, 1]], axis=1)
    rows, seen = summary.points.count, summary.points.count > 0
    with np.errstate(divide="ignore"):
        return float(-(rows[seen] * np.log(right[seen])).sum() / summary.n)


def design_effect(summary: Summary) -> float:
    """How many rows in clusters tell as little as one independent row of equal weight; an estimate."""
    clusters = summary.clusters
    if clusters is None:
        return 1.0
    if clusters.gain_squares == 0:
        return 1.0
    independent = max(brier(summary.points, summary.n), 1e-300) / clusters.rows
    # By Cauchy and Schwarz it is at most the second, which counts where rounding of tiny gains is all there is to see.
    return min(
        clusters.gain_squares / GAIN**2 / summary.n**2 / independent, clusters.largest * clusters.rows / summary.n
    )


def sample_words(summary: Summary) -> str:
    """How many rows there are, and what rows in clusters or with weights count for."""
    clusters, shown = summary.clusters, f"{summary.rows:,} row{'s' * (summary.rows != 1)}"
    if clusters is None:
        return shown
    if clusters.design.only_soft:
        return f"{shown}{clusters.words}"
    effect = design_effect(summary)
    most = f", none of more than {clusters.largest * clusters.design.quantum:g}" if clusters.design.clustered else ""
    return (
        f"{shown}{clusters.words}{most}; they count as {clusters.rows / max(effect, 1e-300):,.0f} independent rows "
        f"(design effect {effect:.3g})"
    )


def detectable_error(summary: Summary, delta: float) -> float | None:
    """About the error in one direction that so many plain rows detect half of the time; None where not known."""
    points, n = summary.points, summary.n
    ones = float((points.count * points.positions).sum())
    variance = float((points.count * points.positions * (1 - points.positions)).sum())
    if variance < max(ENOUGH_VARIANCE, ENOUGH_SHARE * ones * (1 - ones / n)):
        return None
    return math.sqrt(2 * variance * math.log(1 / delta)) / n


def calibration_regression(summary: Summary, *, slope: bool) -> float:
    """The most likely slope, or intercept at a slope of 1, of labels on log-odds of scores; NaN where none is.

    Examples
    --------
    >>> round(calibration_regression(calcert.summarize([0.5] * 4, [1, 1, 1, 0]), slope=False), 4)
    1.0986
    """
    rows, score, label = _by_odds(summary)
    if label.min() == label.max() or score.min() <= 0 or score.max() >= 1:
        return math.nan
    odds = np.log(score) - np.log1p(-score)
    tilt, shift = 1.0, 0.0
    for _ in range(50):  # Newton's method.
        probability = 1 / (1 + np.exp(-np.clip(tilt * odds + shift, -700, 700)))
        missed, weight = rows * (label - probability), rows * probability * (1 - probability)
        of_shift, across = float(missed.sum()), float(weight.sum())
        of_tilt, mixed, along = 0.0, 0.0, across
        if slope:
            products = missed * odds, weight * odds, weight * odds**2
            of_tilt, mixed, along = (float(product.sum()) for product in products)
        spread = across * along - mixed**2
        # About the ratio of what fits least well to what fits best.
        if not spread > 1e-12 * (across + along) ** 2 > 0:
            return math.nan
        step = (across * of_tilt - mixed * of_shift) / spread, (along * of_shift - mixed * of_tilt) / spread
        tilt, shift = tilt + step[0], shift + step[1]
        if max(map(abs, step)) < 1e-9:
            return tilt if slope else shift
    return math.nan


@lru_cache(maxsize=2)
def _by_odds(summary: Summary) -> tuple[Floats, Floats, Floats]:
    """Rows, their mean score and their label, by listed score or by stretches of about equal odds."""
    if summary.is_finite:
        count, total = summary.points.count, summary.points.count * summary.points.positions
    else:
        start = np.flatnonzero(np.diff(_stretch_of_cells()[summary.cell], prepend=-1))
        count, total = (np.add.reduceat(part, start, axis=0) for part in (summary.count, summary.score_sum))
    held = count.ravel() > 0
    rows = count.ravel()[held].astype(np.float64)
    return rows, total.ravel()[held] / rows, np.tile([0.0, 1.0], len(count))[held]


@lru_cache(maxsize=1)
def _stretch_of_cells() -> Integers:
    """For every cell a number that rises with the log-odds of its middle, by 64 for each unit; score 1 has the last."""
    left, width = cells.bounds(np.arange(cells.CELL_OF_ONE))
    middle = (left + width / 2) / cells.UNIT
    return np.append(np.floor(64 * (np.log(middle) - np.log1p(-middle))) + 2**11, 2**12).astype(np.int64)
