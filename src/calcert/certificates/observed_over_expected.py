"""Theorem 11, ratio: how many positives there are to an expected one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from calcert.certificates.certificate import proved_for, unweighted_rows
from calcert.certificates.in_the_large import rows_at_ends
from calcert.certificates.limits.cluster_deviations import FixedWeights
from calcert.certificates.limits.cluster_moments import gains_of, second_limit, signs_squares
from calcert.certificates.limits.deviations import SPLIT, Squares, iid_limit, mean_upper, refutes, share_for_mean
from calcert.foundation.array_types import Floats
from calcert.foundation.result import Result
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_one_of, complement
from calcert.kernels.search import SLACK, RuledOut, largest_candidate
from calcert.summary.clusters import Clusters
from calcert.summary.summary import Summary

FEW = 90
"""With fewer rows than that, bets are on the gains themselves; the number of rows alone decides."""

STRETCHES = 4096
"""Second moments of ratios are known by stretch, of so many from 0 to infinity."""

PLACES = np.arange(33) / 32
"""Where rows are put for the second moments of a ratio: a row between two of them is split, its score kept."""


@dataclass(frozen=True)
class Ratio(Result):
    """Observed over expected positives: `lower` <= E Y / E X <= `upper` with probability 1 - delta, both at once.

    Attributes
    ----------
    observed, expected
        The number of positives among the rows and the sum of their scores.
    lower, upper
        The interval; infinity where the rows do not bound the ratio from above.
    confidence, n
        The probability with which the interval holds, and the number of rows.

    Examples
    --------
    >>> ratio = calcert.bounds.observed_over_expected(calcert.summarize([0.2, 0.4] * 500, [0, 1] * 500))
    >>> ratio.observed, round(ratio.expected), round(ratio.estimate, 3)
    (500, 300, 1.667)
    """

    kind: ClassVar = "ratio"
    noun: ClassVar = "the ratio"
    derived: ClassVar = ("estimate",)

    observed: int
    expected: float
    lower: float
    upper: float
    confidence: float
    n: int

    @property
    def estimate(self) -> float:
        """Observed over expected of the rows; NaN where nothing is expected."""
        return self.observed / self.expected if self.expected > 0 else math.nan

    def __post_init__(self) -> None:
        if not (0 <= self.lower <= self.upper and self.expected >= 0 and 0 < self.confidence < 1):
            wanted = "0 <= lower <= upper and a confidence between 0 and 1"
            raise ValueError(f"a ratio must have {wanted}; got {vars(self)}.")

    def _rows(self) -> list[dict[str, Any]]:
        return [vars(self) | {"estimate": self.estimate}]


Side = Literal["both", "at most"]
"""Which limits are asked for; the upper one alone may have all of delta."""


@proved_for(unweighted_rows)
def observed_over_expected(summary: Summary, *, delta: float = 0.05, side: Side = "both") -> Ratio:
    """Certify how many positives there are to each that the scores promise: E Y / E X.

    Guarantee
        With probability at least 1 - delta over the rows, lower <= E Y / E X <= upper, both at once. Nothing is assumed
        of the score distribution but that it is not all at 0.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes. Weights and soft labels are refused.

    Parameters
    ----------
    side
        "at most" for the upper limit alone, which is smaller then; the lower one is 0. It is what prudence asks of
        probabilities of default: observed is at most so much of expected.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> ratio = calcert.bounds.observed_over_expected(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{ratio.lower:.3f} to {ratio.upper:.3f}; the truth is 0.667")
    0.660 to 0.670; the truth is 0.667
    """
    check_one_of("side", side, get_args(Side))
    excess = excess_of_ratios(summary, delta, side)
    mean, rate = summary.mean_score, summary.base_rate
    seen = (rate / mean / 2 if rate <= mean else 1 - mean / rate / 2) if max(mean, rate) > 0 else 0.5
    # The ratios that the rows do not exclude need not be an interval: the last on either side are its ends.
    lowest = 0.0 if side == "at most" else 1 - largest_candidate(lambda a, b: excess(1 - b, 1 - a), 1 - seen, 1.0)
    highest = largest_candidate(excess, seen, 1.0)
    return Ratio(
        observed=summary.positives,
        expected=summary.mean_score * summary.n,
        lower=ratio_at(lowest),
        upper=ratio_at(highest),
        confidence=complement(delta),
        n=summary.n,
    )


def weights(place: float) -> tuple[float, float]:
    """What label and score count for at a place."""
    return min(1.0, 2 - 2 * place), min(2 * place, 1.0)


def excess_of_ratios(summary: Summary, delta: float, side: Side = "both") -> RuledOut:
    """Positive where no ratio between two places can be true, places from 0 to 1 being ratios from 0 to infinity.

    At the true ratio r the gain Y - r X, or Y / r - X where r exceeds 1, has mean 0 and is at most 1 in size. Ratios
    that are too large have gains below 0, and those alone are looked for where the `side` is "at most".
    """
    tails = 1 if side == "at most" else 2
    if summary.clusters is not None:
        return _excess_in_clusters(summary, summary.clusters, delta, tails)
    n, mean, rate = summary.n, summary.mean_score, summary.base_rate
    position, rows = rows_at_ends(summary.points)
    square, both = float((rows * position**2).sum()) / n, float(summary.score_sum[:, 1].sum()) / n
    if n >= FEW:
        position, rows = PLACES, np.stack([_at_places(position, of_label) for of_label in rows])
    shares, kept = rows.ravel() / n, share_for_mean(n) * delta

    def extremes(a: float, b: float) -> tuple[Floats, Floats]:
        """The largest that gain and its opposite can be, for all ratios from a to b: a row for each label."""
        (most_y, least_x), (least_y, most_x) = weights(a), weights(b)
        most = np.concatenate([-least_x * position, most_y - least_x * position])
        least = np.concatenate([-most_x * position, least_y - most_x * position])
        return most + 2 * ROUNDING, 2 * ROUNDING - least

    @cache
    def limit_of_second(first: int, last: int) -> float:
        """The limit for the second moment of all ratios between two places, in stretches: a search asks often."""
        a, b = first / STRETCHES, last / STRETCHES
        (most_y, least_x), (least_y, most_x) = weights(a), weights(b)
        second = most_y**2 * rate - 2 * least_y * least_x * both + most_x**2 * square + 4 * ROUNDING
        return Squares(min(second, 1.0), shares, np.maximum(*extremes(a, b)) ** 2).upper(n, delta)

    @cache
    def excess(a: float, b: float) -> float:
        if n < FEW:
            return max(refutes(0.0, gain, shares, n, delta / tails) for gain in extremes(a, b)[:tails])
        (most_y, least_x), (least_y, most_x) = weights(a), weights(b)
        below, above = least_x * mean - most_y * rate, least_y * rate - most_x * mean
        second = limit_of_second(math.floor(a * STRETCHES), math.ceil(b * STRETCHES))
        return max((below, above)[:tails]) - 2 * ROUNDING - iid_limit(second, 1.0, n, kept / tails)

    return excess


def _excess_in_clusters(summary: Summary, clusters: Clusters, delta: float, tails: int) -> RuledOut:
    """The same for rows in clusters, whose gains add up to at most their size (theory, "The ratio in clusters")."""
    n, mean, rate, number = summary.n, summary.mean_score, summary.base_rate, clusters.number
    low, high = summary.left, summary.left + summary.width
    of_zero, of_one = clusters.pairs.T
    gap = math.sqrt(min(gains_of(summary, clusters).squares, signs_squares(clusters, changes=0)))
    scores, labels = math.sqrt(float(((of_zero + of_one) * high**2).sum())), math.sqrt(float(of_one.sum()))

    def squares(a: float, b: float) -> float:
        """At least the sum of the squared gains of the clusters, for all ratios between two places."""
        (most_y, least_x), (least_y, most_x) = weights(a), weights(b)
        ones = np.maximum((most_y - least_x * low) ** 2, (least_y - most_x * high) ** 2)
        by_row = float((of_zero * (most_x * high) ** 2 + of_one * ones).sum())
        apart = max(abs(most_y - least_x), abs(least_y - most_x))
        by_gap = min(most_y * gap + apart * scores, most_x * gap + apart * labels) ** 2
        return min(by_row, by_gap) * (1 + SLACK) + SLACK * float(clusters.squares)

    @cache
    def limit(first: int, last: int) -> float:
        seen, kept, spent = squares(first / STRETCHES, last / STRETCHES), SPLIT * delta, (1 - SPLIT) * delta
        if clusters.design.population:
            whole = number * clusters.cap**2
            second = mean_upper(min(seen / whole, 1.0), number, spent)
            return clusters.cap * iid_limit(second, 1.0, number, kept / tails) * number / n
        known = FixedWeights.knowing(summary, clusters, second_limit(clusters, seen, spent))
        return known.limit(known.second, kept / tails)

    def excess(a: float, b: float) -> float:
        (most_y, least_x), (least_y, most_x) = weights(a), weights(b)
        off = max((least_x * mean - most_y * rate, least_y * rate - most_x * mean)[:tails])
        return off - 2 * ROUNDING - limit(math.floor(a * STRETCHES), math.ceil(b * STRETCHES))

    return excess


def _at_places(position: Floats, rows: Floats) -> Floats:
    """So many rows at each of `PLACES`, the mean position kept."""
    steps = PLACES.size - 1
    left = np.minimum(np.floor(position * steps), steps - 1).astype(np.int64)
    part = position * steps - left
    both = np.bincount(left, rows * (1 - part), steps + 1) + np.bincount(left + 1, rows * part, steps + 1)
    return np.asarray(both, np.float64)


def ratio_at(place: float) -> float:
    """The ratio at a place."""
    return 2 * place if place <= 0.5 else math.inf if place >= 1 else 1 / (2 - 2 * place)
