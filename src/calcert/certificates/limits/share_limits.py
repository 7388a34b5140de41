"""Limits for shares, and for the mean of a gain that takes three values (Lemma T).

Limits for a mean probability come from how many trials fell on 1 (Theorems 13 and 14). For equal trials they are those
of Clopper and Pearson (1934). Trials that differ fall on few 1s, or on many, less often than equal ones of the same
mean probability, as long as few means at least one fewer than expected (Hoeffding 1956). A limit that never excludes a
mean within one of the count is therefore theirs as well. Weights take likelihood ratios, averaged over Jeffreys' prior
(Theorem 8).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.limits.deviations import normal_quantile
from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.few_values import at_most, largest_shares
from calcert.kernels.search import crossing

SLACK = 1e-9
"""Relative widening of every limit, far more than the search for it is wrong by; 1e-12 of it absolute."""

FEW = 16.0
"""From so many trials on Stirling's series is good to 1e-13."""

ALL = 700.0
"""A divergence that no share but 1 is known to reach."""

TINY = 1e-300

STEPS = 12
"""Ten leave less than rounding of what is spent, from 1e-8 to everything and for shares as close to 0 and 1 as any."""


def share_upper(hits: Integers, trials: Integers, delta: ArrayLike) -> Floats:
    """D4: upper limits for the mean probability of independent trials, `hits` of which fell on 1.

    Guarantee
        With probability at least 1 - delta the mean of the probabilities is at most the result, whether they differ or
        not.
    """
    hits, trials, delta = np.broadcast_arrays(np.asarray(hits), np.asarray(trials), delta)
    limit = np.ones(hits.shape)
    some = hits < trials
    found = np.empty(int(some.sum()))
    some_hits, some_trials, level = (np.asarray(of[some], np.float64) for of in (hits, trials, delta))
    largest_shares(some_hits, some_trials, level, found)
    limit[some] = found
    limit = np.maximum(limit * (1 + SLACK) + 1e-12, (hits + 1) / trials)
    return np.asarray(np.where(hits < trials, np.minimum(limit, 1.0), 1.0))


def share_lower(hits: Integers, trials: Integers, delta: ArrayLike) -> Floats:
    """D4, the other tail."""
    return 1 - share_upper(np.asarray(trials) - hits, trials, delta)


def share_limits(hits: Floats, misses: Floats, evidence: Floats | float) -> tuple[Floats, Floats]:
    """The shares c that weighted Bernoulli trials do not exclude: those with likelihood ratio at most exp(evidence).

    Guarantee
        With hits = sum of w y and misses = sum of w (1 - y) over independent rows, weights w in [0, 1], the share
        E[sum w y] / E[sum w] lies outside the limits with probability at most exp(-evidence).
    """
    total = hits + misses
    share = hits / np.maximum(total, 1e-300)
    allowed = (evidence + _averaging(hits, misses)) * (1 + 1e-6) / np.maximum(total, 1e-300) + 1e-14
    return 1 - _largest_share(1 - share, allowed), _largest_share(share, allowed)


def _averaging(hits: Floats, misses: Floats) -> Floats:
    """What averaging the likelihood over Jeffreys' prior costs against the likeliest p, as a logarithm.

    The distribution has density 1 / (pi sqrt(p (1 - p))), so that this is ln pi and the logarithm of the likelihood at
    its best, less ln B(hits + 1/2, misses + 1/2). By Stirling's formula what is large cancels, and remainders are left.
    """
    total = hits + misses
    n = np.maximum(total, FEW)
    found = np.log(n * (math.pi / 2)) / 2 + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5) - 1 / (1680 * n**7)
    found = np.asarray(found - _remainder(hits) - _remainder(misses))
    few = total < FEW
    a, b, n = hits[few], misses[few], total[few]
    found[few] = _x_log_x(a) + _x_log_x(b) - _x_log_x(n) + math.log(math.pi)
    found[few] -= log_gamma(a + 0.5) + log_gamma(b + 0.5) - log_gamma(n + 1)
    return found


def _remainder(number: Floats) -> Floats:
    """ln Gamma(z + 1/2) - z ln z + z - ln(2 pi) / 2."""
    z = np.maximum(number, FEW)
    found = np.asarray(-1 / (24 * z) + 7 / (2880 * z**3) - 31 / (40320 * z**5) + 127 / (215040 * z**7))
    z = number[number < FEW]
    found[number < FEW] = log_gamma(z + 0.5) - _x_log_x(z) + z - math.log(2 * math.pi) / 2
    return found


def log_gamma(values: Floats) -> Floats:
    """ln Gamma of values from 1/2 on, to 1e-13: by Stirling's series for those that are larger by `FEW`."""
    x, factors = values + FEW, values.copy()
    for step in range(1, int(FEW)):
        factors *= values + step
    series = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
    return np.asarray((x - 0.5) * np.log(x) - x + math.log(2 * math.pi) / 2 + series - np.log(factors))


def _x_log_x(values: Floats) -> Floats:
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def _largest_share(share: Floats, allowed: Floats) -> Floats:
    """The largest c with kl(share, c) <= allowed, from above.

    The divergence is convex and rises from the share on, so that Newton's steps that begin above end above.
    """
    rest, spent = 1 - share, np.minimum(allowed, ALL)
    own = _x_log_x(share) + _x_log_x(rest)
    # It is at least 2 (c - share)^2 (Pinsker), and at least what it is without the logarithm of c.
    found = np.minimum(share + np.sqrt(spent / 2), 1 - np.exp((own - spent) / np.maximum(rest, TINY)))
    for _ in range(STEPS):
        far = np.maximum(1 - found, TINY)
        # Rounding is below 1e-15, less than `allowed` has to spare.
        over = np.maximum(own - share * np.log(np.maximum(found, TINY)) - rest * np.log(far) - spent, 0.0)
        found = np.maximum(found - over * found * far / np.maximum(found - share, TINY), share)
    # The last difference was rounded, perhaps down.
    return np.where(allowed >= ALL, 1.0, np.nextafter(found, 1.0))


CELL = 0.02
"""The root of the number of rows that are expected to take part is cut into cells of this width, each with a test."""

SPENT = 0.02
"""The share of delta for the limits of the probability to take part."""


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
        """For all cells between the limits of that probability, which fail with probability at most SPENT delta.

        `delta` is at most 1/2: a tilt is not negative.
        """
        n, pay, spent = gain.n, gain.pay, SPENT * delta / 2
        lowest = float(share_lower(np.array(gain.least), np.array(n), spent))
        highest = float(share_upper(np.array(gain.most), np.array(n), spent))
        first, last = math.floor(math.sqrt(n * lowest) / CELL), math.ceil(math.sqrt(n * highest) / CELL)
        ends: Floats = (np.arange(first, last + 1) * CELL) ** 2 / n
        # The tilt depends on the cell and not on the rows, so that each hypothesis has one test. It is how the normal
        # limit for the total grows with the number of rows that take part.
        steep = -normal_quantile(delta) / 2 * np.sqrt(pay * (1 - pay) / (n * ends[1:]))
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
