"""Point estimates from a Summary: familiar numbers, without any guarantee."""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.score_groups import brier
from calcert.summary.counts import Summary


def estimates(summary: Summary) -> dict[str, float]:
    """Base rate, mean score, Brier score, ECE with 15 equal-width bins, and AUROC.

    Scores count as the middle of what their cell allows, so that the values are good to about 1e-4.

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
        "AUROC": auroc(summary),
    }


def ece(summary: Summary, bins: int = 15) -> float:
    """The binned calibration error with equal-width bins; it depends on the bins and bounds nothing."""
    points = summary.points
    score = points.positions
    which = np.minimum((score * bins).astype(np.int64), bins - 1)
    excess = (points.count * score).ravel()
    excess -= (points.count * [0, 1]).ravel()
    return float(np.abs(np.bincount(which.ravel(), excess, bins)).sum() / summary.n)


def auroc(summary: Summary) -> float:
    """The chance that a row of label 1 outscores one of label 0, ties half; NaN with one label only."""
    negative, positive = summary.points.count.T.astype(float)
    pairs = negative.sum() * positive.sum()
    if pairs == 0:
        return math.nan
    below = np.cumsum(negative) - negative
    return float((positive * (below + negative / 2)).sum() / pairs)
