"""Lemma T: limits for the mean of a gain that takes three values, by its exact distribution."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from calcert.certificates.limits.deviations import normal_quantile
from calcert.certificates.limits.share_limits import share_lower, share_upper
from calcert.foundation.array_types import Floats
from calcert.kernels.few_values import at_most
from calcert.kernels.search import crossing

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
