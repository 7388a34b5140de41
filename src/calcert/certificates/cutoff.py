"""Theorem 9: in every range of scores, the scores add up to the positives; with no assumption.

The rows of a cell are known, their order inside it is not. Its rows of label 0 push the running sum of x - y up, those
of label 1 push it down: whatever the order, the sum stays between what it was less all the latter and what it was plus
all the former. Rows of one listed score are in no order, and move the sum in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, any_rows, plain_rows, proved_for
from calcert.certificates.limits.cluster_moments import range_squares
from calcert.certificates.limits.deviations import Limit, iid_limit
from calcert.certificates.limits.sampling_term import largest_mean_terms
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.cluster_lower import CHANGES, clusters_lower, lower_with_bets, range_patterns
from calcert.certificates.witnesses.listed_witnesses import FOR_RANGES
from calcert.certificates.witnesses.random_splits import middles, net_of, worst_gain
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_one_of
from calcert.kernels.signs import best_run, furthest
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class Excess:
    """Shares of all rows: x summed over the rows of label 0 of each point, 1 - x over those of label 1.

    `single` where every point is one score.
    """

    above: Floats
    below: Floats
    single: bool

    @classmethod
    @lru_cache(maxsize=2)
    def of(cls, summary: Summary) -> Excess:
        """Of the rows of a Summary: by listed score where there are any, else by cell."""
        points = summary.points
        score, count = points.positions, points.count
        return cls(count[:, 0] * score[:, 0] / summary.n, count[:, 1] * (1 - score[:, 1]) / summary.n, points.exact)

    @cached_property
    def net(self) -> Floats:
        """The sum of x - y over the rows of each point."""
        return self.above - self.below

    @cached_property
    def up(self) -> Floats:
        """The most that the running sum can rise above what it was, inside each point."""
        return np.maximum(self.net, 0.0) if self.single else self.above

    @cached_property
    def down(self) -> Floats:
        """The most that the running sum can fall below what it was, inside each point."""
        return np.maximum(-self.net, 0.0) if self.single else self.below

    def rounding(self, sums: int) -> float:
        """Charged for adding up so many running sums: each is wrong by less than one unit in the last place a point."""
        return ROUNDING + sums * (self.net.size + 16) * float(np.finfo(float).eps)


def at_edges(excess: Excess) -> Excess:
    """The same rows, every point taken for one score: what can be seen without looking inside cells."""
    return Excess(excess.above, excess.below, single=True)


Side = Literal["either", "too high", "too low"]

QUANTITY: dict[Side, str] = {
    "either": "cutoff calibration error",
    "too high": "cutoff calibration error of scores that are too high",
    "too low": "cutoff calibration error of scores that are too low",
}

SIGN: dict[Side, int] = {"either": 0, "too high": 1, "too low": -1}


@proved_for(any_rows)
def cutoff(summary: Summary, *, side: Side = "either", delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the sums of scores in all ranges: how far they are from the number of positives, per row of all rows.

    The bound R applies to every range at once, whatever its ends, from a single score to all of them:

    * Where a share p of the rows has its score in the range, the mean score there is within R / p of the share of
      positives there.
    * Acting on scores from t on, where an action pays Y - t, leaves at most R a row to be gained: by any other
      threshold, and by any rule that acts with a probability that never falls as the score rises.

    Guarantee
        With probability at least 1 - delta over the rows, E[(X - Y) 1{X in I}] is at most upper in size for all ranges
        I at once; likewise, over the rows and the random split set by the seed, for lower and some range. Nothing is
        assumed of the score distribution or the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.
    Terms
        ``plug-in``: the same for the rows, over ranges that end where cells do; ``discretisation``: what ranges that
        end inside cells may add, and rounding; ``sampling``.

    Parameters
    ----------
    side
        "either"; or "too high" for ranges in which the scores promise more positives than there are, "too low" for
        those in which they promise fewer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.cutoff(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.164 to 0.169; the truth is 0.167
    """
    check_one_of("side", side, tuple(QUANTITY))
    terms, lower = upper_terms(summary, delta, side), cutoff_lower(summary, delta, seed, side)
    return Certificate.of(summary, QUANTITY[side], terms, lower, delta, theorem="Theorem 9", parameters={"seed": seed})


def upper_terms(summary: Summary, delta: float, side: Side = "either", limit: Limit = iid_limit) -> dict[str, float]:
    """The terms of the upper bound of Theorem 9 at confidence 1 - delta; `limit` bounds the deviation of the mean."""
    excess = Excess.of(summary)
    seen = largest_sum(at_edges(excess), side)
    hidden = largest_sum(excess, side) - seen + excess.rounding(2)
    return largest_mean_terms(summary, seen, hidden, delta, limit, range_squares)


def largest_sum(excess: Excess, side: Side = "either") -> float:
    """At least the largest sum of x - y over a range, whatever the order of rows inside cells; exact for listed scores.

    "too low" asks for the largest sum of y - x, "either" for the larger of the two.
    """
    rise, fall = furthest(excess.above, excess.below, excess.single)
    return float({"too high": rise, "too low": fall, "either": max(rise, fall)}[side])


def cutoff_lower(summary: Summary, delta: float, seed: int, side: Side = "either") -> Lower:
    """A lower bound for the cutoff calibration error at confidence 1 - delta: bets on the worst range so far."""
    if summary.clusters is not None:
        patterns = range_patterns(summary, side)
        if side != "either":
            return Lower(clusters_lower(summary, patterns, delta))
        # A bet is on as many ranges as its signs have stretches.
        return lower_with_bets(summary, patterns, 1.0 + CHANGES, delta)
    points = middles(summary)

    def witness(known: Integers, last: Integers) -> Floats:
        first, stop, sign = best_run(net_of(points, known), SIGN[side])
        signs = np.zeros(points.low.size)
        signs[first:stop] = sign
        return worst_gain(points, signs)

    # That no range is much too high says nothing of those too low: only both sides together are near calibration.
    beside = FOR_RANGES if side == "either" else None
    return lower_limit(summary, delta, seed, in_turn(witness), beside=beside, splits=random_splits.splits(points, seed))


def widest_run(net: Floats, side: Side = "either") -> tuple[int, int, int]:
    """The run of points with the largest sum of `net`, or of its negative, and the sign of that sum."""
    return best_run(net, SIGN[side])


@dataclass(frozen=True)
class WorstRange:
    """The range of scores whose sum is furthest from its number of positives, in these rows; an estimate.

    That *some* range is as bad as the lower bound of :func:`calcert.bounds.cutoff` is certain; which one is not.

    Attributes
    ----------
    low, high
        The range, ends included.
    expected, observed
        The sum of its scores and the number of its positives.
    rows
        The number of its rows.

    Examples
    --------
    >>> calcert.bounds.worst_range(calcert.summarize([0.25, 0.5, 0.75, 0.75], [0, 1, 0, 0]))
    WorstRange(low=0.75, high=0.75, expected=1.5, observed=0, rows=2)
    """

    low: float
    high: float
    expected: float
    observed: int
    rows: int


@proved_for(plain_rows)
def worst_range(summary: Summary, *, side: Side = "either") -> WorstRange:
    """The range of scores that is furthest off in these rows: where to look first. An estimate, without guarantee.

    Parameters
    ----------
    side
        As in :func:`calcert.bounds.cutoff`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> eta = 1 / (1 + ((1 - x) / x) ** 0.7)
    >>> worst = calcert.bounds.worst_range(calcert.summarize(x, rng.random(100_000) < eta))
    >>> print(f"{worst.low:.2f} to {worst.high:.2f}: {worst.observed:,} positives, {worst.expected:,.0f} expected")
    0.00 to 0.54: 17,157 positives, 14,458 expected
    """
    check_one_of("side", side, tuple(QUANTITY))
    points, excess = summary.points, Excess.of(summary)
    first, stop, _ = widest_run(excess.net, side)
    inside = slice(first, max(stop, first + 1))
    count = points.count[inside]
    return WorstRange(
        low=float(points.low[inside][0]),
        high=float(points.high[inside][-1]),
        expected=float(count[:, 1].sum() + summary.n * excess.net[inside].sum()),
        observed=int(count[:, 1].sum()),
        rows=int(count.sum()),
    )
