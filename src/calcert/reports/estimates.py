"""Plain facts of the rows and point estimates: familiar numbers, without any guarantee."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.score_groups import brier
from calcert.summary.summary import Summary

Floats = NDArray[np.float64]

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def estimates(summary: Summary) -> dict[str, float]:
    """Base rate, mean score, Brier score, ECE with 15 equal-width bins, AUROC, and what reviewers ask for by name.

    Scores count as the middle of what their cell allows, so that the values are good to about 1e-4. The noise floor of
    ECE is about what it would be on average if the scores were the true chances. Observed over expected is the base
    rate over the mean score. Calibration intercept and slope are of the logistic regression of labels on the log-odds
    of scores, the intercept with a slope of 1: 0 and 1 where all is well, a slope below 1 where scores are too extreme.
    They are not there (NaN) where scores are 0 or 1, where one label is all there is, or where nothing fits.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned.

    Examples
    --------
    >>> calcert.estimates(calcert.summarize([0.2, 0.8], [0, 1]))["AUROC"]
    1.0
    """
    return {
        "base rate": summary.base_rate,
        "mean score": summary.mean_score,
        "Brier score": brier(summary.points, summary.n),
        "ECE (15 bins)": ece(summary),
        "noise floor of ECE": ece_floor(summary),
        "AUROC": auroc(summary),
        "observed over expected": summary.base_rate / summary.mean_score if summary.mean_score > 0 else math.nan,
        "calibration intercept": calibration_intercept(summary),
        "calibration slope": calibration_slope(summary),
    }


def ece(summary: Summary, bins: int = 15) -> float:
    """The binned calibration error with equal-width bins; it depends on the bins and bounds nothing."""
    points = summary.points
    score = points.positions
    which = np.minimum((score * bins).astype(np.int64), bins - 1)
    excess = (points.count * score).ravel()
    excess -= (points.count * [0, 1]).ravel()
    return float(np.abs(np.bincount(which.ravel(), excess, bins)).sum() / summary.n)


def ece_floor(summary: Summary, bins: int = 15) -> float:
    """About the mean of :func:`ece` over labels drawn with the scores as their chances: what noise alone shows."""
    points = summary.points
    score = points.positions
    which = np.minimum((score * bins).astype(np.int64), bins - 1)
    variance = np.bincount(which.ravel(), (points.count * score * (1 - score)).ravel(), bins)
    return float(np.sqrt(2 / np.pi * variance).sum() / summary.n)


def calibration_intercept(summary: Summary) -> float:
    """The a for which log-odds of scores plus a add up to the positives.

    Examples
    --------
    >>> round(calibration_intercept(calcert.summarize([0.5] * 4, [1, 1, 1, 0])), 4)
    1.0986
    """
    return _logistic(summary, lambda z: np.ones((z.size, 1)), np.array([0.0]), offset=1.0)


def calibration_slope(summary: Summary) -> float:
    """The slope of the logistic regression of labels on the log-odds of scores."""
    return _logistic(summary, lambda z: np.stack([z, np.ones_like(z)], axis=1), np.array([1.0, 0.0]), offset=0.0)


def _logistic(summary: Summary, design: Callable[[Floats], Floats], start: Floats, *, offset: float) -> float:
    """The first coefficient of the most likely logistic regression (Newton's method); NaN where there is none."""
    rows = summary.points.count.ravel().astype(float)
    score = summary.points.positions.ravel()[rows > 0]
    label = np.tile([0.0, 1.0], len(summary.points.count))[rows > 0]
    rows = rows[rows > 0]
    if label.min() == label.max() or score.min() <= 0 or score.max() >= 1:
        return math.nan
    odds = np.log(score) - np.log1p(-score)
    columns, found = design(odds), start
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(offset * odds + columns @ found, -700, 700)))
        slope = columns.T @ (rows * (label - chance))
        curvature = np.einsum("ij,i,ik->jk", columns, rows * chance * (1 - chance), columns)
        if not np.linalg.cond(curvature) < 1e12:
            return math.nan
        step = np.linalg.solve(curvature, slope)
        found = found + step
        if np.abs(step).max() < 1e-9:
            return float(found[0])
    return math.nan


def net_benefit(summary: Summary, threshold: float) -> float:
    """True positives less false ones, these weighed by the odds of the threshold, per row, if all above it are treated.

    Scores in the cell of the threshold count as above it.

    Examples
    --------
    >>> net_benefit(calcert.summarize([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1]), 0.5)
    0.0
    """
    negative, positive = summary.points.count[summary.points.high >= threshold].sum(axis=0)
    return float(positive - negative * threshold / (1 - threshold)) / summary.n


def auroc(summary: Summary) -> float:
    """The chance that a row of label 1 outscores one of label 0, ties half; NaN with one label only."""
    negative, positive = summary.points.count.T.astype(float)
    pairs = negative.sum() * positive.sum()
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


def fingerprint(summary: Summary) -> str:
    """A short name for the rows: the same for the same scores and labels in any order, from any source.

    The first 16 hexadecimal digits of the SHA-256 of the integers of their Summary, eight bytes each, the lowest first:
    cells, counts and offsets and, for rows in clusters or with weights, what is added up over these.

    Examples
    --------
    >>> morning, evening = calcert.summarize([0.2, 0.7], [0, 1]), calcert.summarize([0.7, 0.2], [1, 0])
    >>> fingerprint(morning) == fingerprint(evening)
    True
    """
    digest = hashlib.sha256()
    beside = () if summary.units is None else (summary.units.pairs,)
    for array in (summary.cell, summary.count, summary.offset, *beside):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()[:16]
