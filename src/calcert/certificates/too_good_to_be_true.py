"""Rows that agree with the scores better than fresh rows of a calibrated classifier do.

A map that was fitted on the very rows that are certified makes scores look calibrated, and every bound is false. Two
rules notice it (theory, "Too good to be true"). They are warnings, not certificates: a map may be fitted on the rows
and go unnoticed.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.few_values import tail
from calcert.summary.points import across_labels
from calcert.summary.summary import Summary

RARE = 1e-6
"""Agreement of this probability under calibration is too good to be true."""

ENOUGH = 50
"""Sums are compared for so many distinct scores or more: with fewer, a sum takes too few values to be told apart."""

SINGLE = 2.0**-25
"""How far a decimal may lie from itself in single precision: decimals that were stored so are decimals."""


@lru_cache(maxsize=2)  # Warnings and verdict ask the same.
def is_too_good(summary: Summary) -> bool:
    """True where plain rows agree with the scores better than fresh ones can; False where that is not known.

    Guarantee
        If E[Y|X] = X and rows are independent, the first rule is true with probability at most 1e-6, for every number
        of rows and whatever the scores. The second compares sums, and is about as rare unless sums of the scores crowd
        at whole numbers.

    Examples
    --------
    >>> from calcert.certificates.too_good_to_be_true import is_too_good
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(1, 20, 1_000) / 20
    >>> y = rng.random(1_000) < x
    >>> fitted = np.array([y[x == score].mean() for score in x])
    >>> is_too_good(calcert.summarize(x, y)), is_too_good(calcert.summarize(fitted, y))
    (False, True)
    """
    if summary.clusters is not None or summary.n == 0:
        return False
    return range_probability(summary) < RARE or sums_agree(summary)


def range_probability(summary: Summary) -> float:
    """At least the probability, under calibration, of running sums of x - y with a range no larger than these have.

    Each step of the sums is one distinct score, so that the step is within the range: given the scores, the numbers of
    positives are independent binomials. Where scores are too many to be listed it is 1.
    """
    if summary.distinct_count is None:
        return 1.0
    rows, score = across_labels(summary.distinct_count), summary.values
    sums = np.cumsum(rows * score - summary.distinct_count[:, 1])
    # Rounding of the sums counts as range.
    rounding = 1e-9 + 2.0**-52 * summary.n * rows.size
    spread = max(float(sums.max()), 0.0) - min(float(sums.min()), 0.0) + rounding
    variance = rows * score * (1 - score)
    counted = variance >= 1
    rows, score, variance = rows[counted], score[counted], variance[counted]
    # By Chebyshev's inequality, and ln(1 - u) >= -1.39 u up to 1/2: ordinary rows need no binomials.
    escaping = variance / spread**2
    if not rows.size or (escaping.max() <= 0.5 and 1.39 * escaping.sum() < -math.log(RARE)):
        return 1.0
    return float(np.exp(np.log(_near_the_mean(rows, score, spread)).sum()))


def _near_the_mean(rows: Integers, score: Floats, distance: float) -> Floats:
    """The probabilities that binomials lie within a distance of their means; never 0, and rounded up."""
    first = np.maximum(np.ceil(rows * score - distance), 0.0)
    last = np.minimum(np.floor(rows * score + distance), rows)
    missed = [
        tail(beyond + 1, number, share) + tail(number - least + 1, number, 1 - share)
        for least, beyond, number, share in zip(first, last, rows, score, strict=True)
    ]
    # Tails are rounded up by less.
    return np.clip(1 - np.array(missed) + 1e-6, 1e-6, 1.0)


def sums_agree(summary: Summary) -> bool:
    """True where the scores add up to the number of positives to a millionth of its standard deviation.

    Maximum likelihood makes it so. By itself it happens where scores are few, or multiples of one step: then the sum
    is a whole number too often.
    """
    known = summary.cell.size if summary.distinct is None else summary.distinct.size
    points = summary.points
    deviation = math.sqrt(float((points.count * points.positions * (1 - points.positions)).sum()))
    if known < ENOUGH or deviation < 1:
        return False
    gap = abs(float((points.count * points.positions).sum()) - summary.positives)
    close = RARE * deviation
    return gap + summary.n * summary.resolution < close and not _on_lattice(summary, deviation, close / summary.n)


def _on_lattice(summary: Summary, deviation: float, close: float) -> bool:
    """True where all scores are, nearly, multiples of one step, and such sums meet with more than the probability.

    Multiples of 1 / q add up to the number of positives with a probability of about 0.4 / (q deviation). Of scores that
    are not listed the sums of each cell are known, which are multiples where the scores are.
    """
    if summary.distinct_count is None:
        held = summary.count > 0
        sums, rows = summary.score_sum[held], summary.count[held]
    else:
        sums, rows = summary.values, np.ones(summary.values.size, np.int64)
    steps = np.arange(1.0, 0.4 / RARE / deviation)
    allowed = max(close, SINGLE) + summary.resolution
    for value, number in zip(sums.tolist(), rows.tolist(), strict=True):
        steps = steps[np.abs(steps * value - np.rint(steps * value)) <= steps * number * allowed]
        if not steps.size:
            return False
    return bool(steps.size)
