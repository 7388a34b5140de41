"""Lemma T: limits for the mean of a gain that takes three values, by its exact distribution."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from calcert.certificates.limits.deviations import normal_quantile
from calcert.certificates.limits.root_search import crossing
from calcert.certificates.limits.share_limits import share_lower, share_upper
from calcert.foundation.array_types import Floats
from calcert.foundation.compiled import compiled_later, in_kernels

CELL = 0.02
"""The root of the number of rows that are expected to take part is cut into cells of this width, each with a test."""

SPENT = 0.02
"""The share of delta for the limits of the probability to take part."""

FAR = 5.5
"""Numbers of rows that take part, further out than so many standard deviations, are charged in full."""

SLACK, ROUNDED = 1e-7, 1e-10
"""Widening of tails, relative and absolute: more than distribution functions and the sums over them are wrong by."""

TINY = 1e-250
"""Smaller probabilities are not carried from one number of rows to the next, but computed anew."""


class Gain(NamedTuple):
    """What n rows show of the mean of a gain that is `pay`, pay - 1 or 0.

    `total` is at least what the rows gain together, and `least` and `most` enclose the number that take part, by
    gaining or losing.
    """

    total: float
    least: float
    most: float
    n: int
    pay: float

    def upper(self, delta: float, floor: float = -math.inf) -> float:
        """An upper limit for the mean at confidence 1 - delta; `floor`, or the mean of the rows, if it is larger.

        Guarantee
            The mean exceeds the result with probability at most delta.
        """
        tests, limit = Tests.of(self, delta), max(floor, self.total / self.n)
        while (cell := tests.first_above(limit)) is not None:
            end = float(tests.end[cell])
            limit = end if tests.excess(end, cell) > 0 else crossing(tests.excess, limit, end, 1e-5, (cell,))[1]
        return limit

    def may_exceed(self, mean: float, delta: float) -> bool:
        """True where the upper limit is above `mean`: that takes less than to compute it."""
        return Tests.of(self, delta).first_above(mean) is not None


class Tests(NamedTuple):
    """A test for each cell of the probability to take part, of what else the mean may be.

    Rows that take part count `tilt` beside their gain: `seen` is what they show of that, and `level` that of the tests.
    """

    gain: Gain
    level: float
    low: Floats
    high: Floats
    tilt: Floats
    seen: Floats

    @classmethod
    def of(cls, gain: Gain, delta: float) -> Tests:
        """For all cells between the limits of that probability, which fail with probability at most SPENT delta."""
        n, pay, spent = gain.n, gain.pay, SPENT * delta / 2
        lowest = float(share_lower(np.array(gain.least), np.array(n), spent))
        highest = float(share_upper(np.array(gain.most), np.array(n), spent))
        ends = np.arange(math.floor(math.sqrt(n * lowest) / CELL), math.ceil(math.sqrt(n * highest) / CELL) + 1)
        ends = (ends * CELL) ** 2 / n
        # The tilt depends on the cell and not on the rows, so that each hypothesis has one test. It is how the normal
        # limit for the total grows with the number of rows that take part.
        steep = normal_quantile(1 - delta) / 2 * np.sqrt(pay * (1 - pay) / (n * ends[1:]))
        tilt = np.minimum(steep, (1 - pay) / 2)
        low, high = np.maximum(ends[:-1], lowest) * (1 - 1e-15), np.minimum(ends[1:], highest) * (1 + 1e-15)
        return cls(gain, (1 - SPENT) * delta, low, high, tilt, gain.total + tilt * gain.most)

    @property
    def end(self) -> Floats:
        """The largest mean there can be."""
        return self.gain.pay * np.minimum(self.high, 1.0)

    def _worst(self, mean: Any, low: Any, high: Any) -> tuple[Any, Any]:
        """At most so many gain and at least so many lose in all of a cell: totals are smaller then."""
        loses = np.minimum(np.maximum(high * self.gain.pay - mean, 0.0), 1.0)
        return np.minimum(np.maximum(mean + low * (1 - self.gain.pay), 0.0), 1 - loses), loses

    def first_above(self, mean: float) -> int | None:
        """A cell in which more than this mean may be true, hopeful ones first; none where all tests rule that out."""
        n, pay = self.gain.n, self.gain.pay + self.tilt
        gains, loses = self._worst(mean, self.low, self.high)
        far = n * (gains * pay - loses * (1 - pay)) - self.seen
        spread = n * (gains * pay**2 + loses * (1 - pay) ** 2)
        # Bernstein's inequality rules out most of them at once.
        ruled_out = (far > 1e-6 * n) & (far * far > -2 * math.log(self.level) * (spread + far / 3))
        left = np.flatnonzero(~ruled_out & (mean < self.end))
        left = left[np.argsort((far / np.sqrt(spread + 1e-9))[left])]
        columns = (column[left].tolist() for column in (self.seen, gains, loses, pay))
        for cell, seen, wins, losses, pays in zip(left.tolist(), *columns, strict=True):
            if at_most(seen, wins, losses, float(n), pays) > self.level:
                return int(cell)
        return None

    def excess(self, mean: float, cell: int) -> float:
        """Positive where the mean may be true and the probability to take part in the cell."""
        gains, loses = self._worst(mean, self.low[cell], self.high[cell])
        pay = self.gain.pay + self.tilt[cell]
        tail = at_most(float(self.seen[cell]), float(gains), float(loses), float(self.gain.n), float(pay))
        return math.log(max(tail, 1e-300) / self.level)


@compiled_later
def at_most(total: float, gains: float, loses: float, n: float, pay: float) -> float:
    """The probability that n rows gain at most `total` together, or a little more.

    It is summed over the number N of rows that take part. The distribution function of Binomial(N, gains / share) at
    total + (1 - pay) N changes from one N to the next by a multiple of a probability, and by another where the whole
    part of total + (1 - pay) N grows.
    """
    share, total = gains + loses, total + 1e-9 * n
    if share <= 0:
        return 1.0 if total >= 0 else 0.0
    chance = min(gains / share, 1.0)
    spread = FAR * math.sqrt(n * share * max(1 - share, 0.0)) + 8
    first = max(math.floor(n * share - spread), 0.0) if share < 1 else n
    last = min(math.ceil(n * share + spread), n) if share < 1 else n
    weight, most, below, here = probability(first, n, share), -1.0, 0.0, -1.0
    added = covered = 0.0
    for taking in range(int(first), int(last) + 1):
        now = math.floor(total + (1 - pay) * taking)
        if now < 0 or now >= taking:
            below, here = 0.0 if now < 0 else 1.0, -1.0
        elif here < TINY:
            here, below = probability(now, taking, chance), at_most_so_many(now, taking, chance)
        else:
            below -= chance * here
            here *= taking / (taking - most) * (1 - chance)
            if now > most:
                here *= (taking - most) / now * chance / (1 - chance)
                below += here
        most = now
        added += weight * min(max(below, 0.0), 1.0)
        covered += weight
        if share < 1:
            weight *= (n - taking) / (taking + 1.0) * share / (1 - share)
    # Logarithms of factorials are rounded relative to their size, some n ln n.
    return (added + max(1 - covered, 0.0)) * (1 + SLACK + 2e-15 * n * math.log(n + 2)) + ROUNDED


@in_kernels
def at_most_so_many(most: float, coins: float, chance: float) -> float:
    """The probability of at most `most` successes, from the shorter of both tails."""
    if chance <= 0 or chance >= 1:
        return 1.0 if chance <= 0 else 0.0
    odds = chance / (1 - chance)
    upper = most >= coins * chance
    k = most + 1 if upper else most
    term = probability(k, coins, chance)
    total = 0.0
    while 0 <= k <= coins and term > 1e-18 * total:
        total += term
        term *= (coins - k) / (k + 1) * odds if upper else k / (coins - k + 1) / odds
        k += 1 if upper else -1
    return 1 - total if upper else total


@in_kernels
def probability(hits: float, coins: float, chance: float) -> float:
    """That of so many successes."""
    if chance <= 0 or chance >= 1:
        return 1.0 if hits == (0 if chance <= 0 else coins) else 0.0
    ways = math.lgamma(coins + 1.0) - math.lgamma(hits + 1.0) - math.lgamma(coins - hits + 1.0)
    return math.exp(ways + hits * math.log(chance) + (coins - hits) * math.log1p(-chance))
