"""Plain facts of the rows that a reader of a report asks for: quantiles of the scores, log loss. No guarantees."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from calcert.summary.counts import Summary

Floats = NDArray[np.float64]

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def score_quantiles(summary: Summary, levels: tuple[float, ...] = LEVELS) -> dict[float, float]:
    """The smallest score at or below which a share `level` of the rows lies, to the width of a cell.

    Examples
    --------
    >>> score_quantiles(calcert.summarize([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]), (0.5, 0.75))
    {0.5: 0.2, 0.75: 0.3}
    """
    points = summary.points
    rows = points.count.sum(axis=1)
    mean = (points.count * points.positions).sum(axis=1) / rows
    below = np.cumsum(rows)
    # A level such as 0.07 times n may exceed a whole number by rounding alone.
    place = np.searchsorted(below, np.asarray(levels) * summary.n * (1 - 1e-12))
    return dict(zip(levels, mean[np.minimum(place, mean.size - 1)].tolist(), strict=True))


def log_loss(summary: Summary) -> float:
    """The mean of -ln(score of the label that occurred); infinite where a score of 0 or 1 was wrong.

    Examples
    --------
    >>> round(log_loss(calcert.summarize([0.5, 0.5], [0, 1])), 4)
    0.6931
    """
    position = summary.points.positions
    negative, positive = summary.points.count.T
    total = xlogy(positive, position[:, 1]).sum() + xlogy(negative, 1 - position[:, 0]).sum()
    return float(-total / summary.n)


def fingerprint(summary: Summary) -> str:
    """A short name for the rows: the same for the same scores and labels in any order, from any source.

    Examples
    --------
    >>> morning, evening = calcert.summarize([0.2, 0.7], [0, 1]), calcert.summarize([0.7, 0.2], [1, 0])
    >>> fingerprint(morning) == fingerprint(evening)
    True
    """
    digest = hashlib.sha256()
    for array in (summary.cell, summary.count, summary.offset):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()[:16]
