"""D6: limits for the mean probability of independent trials in two strata, which the strata's own means make narrower.

Clopper and Pearson's limits allow for trials that are all alike, whose number of successes varies most. Where scores
tell trials apart, few are alike, and one stratum of low scores and one of high ones show most of that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from calcert.certificates.limits.deviations import normal_quantile
from calcert.foundation.array_types import Floats
from calcert.kernels.search import crossing
from calcert.kernels.strata import may_reach, reaches
from calcert.summary.cells import RESOLUTION
from calcert.summary.summary import Summary

FINEST = 0.001
"""The mean probability of a stratum is tried in steps that move the expected successes by this part of their variance.

So far the limit is moved outward where a step may not be ruled out. That is little where there are few rows.
"""

WORTH = 0.95
"""Two strata are looked at where trials as likely as their mean scores vary less than trials alike by this factor."""

LEAST_LEVEL = 1e-7
"""Tails are summed to 1e-10, so that smaller levels would be lost in what is added to them."""

MOST_ROWS = 20_000
"""Of more rows the distribution takes long to sum, and any limit is narrow."""


class Strata(NamedTuple):
    """Rows of low and of high scores, by the scores alone: how many, and the mean score of each."""

    rows: tuple[float, float]
    mean: tuple[float, float]
    hits: tuple[float, float]

    @classmethod
    def of(cls, summary: Summary) -> Strata | None:
        """Cut where the means of both are furthest apart for their sizes; None where that is not worth it."""
        rows, score = summary.count.sum(axis=1), _score_sums(summary)
        below, sums = np.cumsum(rows)[:-1], np.cumsum(score)[:-1]
        n, total = float(rows.sum()), float(score.sum())
        if not below.size or n > MOST_ROWS:
            return None
        apart = (sums - below * (total / n)) ** 2 / (below * (n - below))
        cut = int(apart.argmax())
        mean, alike = (sums[cut] / below[cut], (total - sums[cut]) / (n - below[cut])), total * (1 - total / n)
        if alike - n * apart[cut] > WORTH * alike:
            return None
        hits = float(summary.count[: cut + 1, 1].sum())
        return cls(
            (float(below[cut]), n - float(below[cut])),
            (float(mean[0]), float(mean[1])),
            (hits, summary.positives - hits),
        )

    @property
    def opposite(self) -> Strata:
        """The same with labels and scores turned round."""
        rows, mean, hits = self
        return Strata(rows, (1 - mean[0], 1 - mean[1]), (rows[0] - hits[0], rows[1] - hits[1]))

    def is_worth(self, level: float) -> bool:
        """True where so many rows vary that the weights of the strata are not far apart; the scores decide."""
        return level >= LEAST_LEVEL and math.sqrt(self._variance) >= -2 * normal_quantile(level)

    @property
    def _variance(self) -> float:
        return math.fsum(n * p * (1 - p) for n, p in zip(self.rows, self.mean, strict=True))

    def lower(self, level: float) -> float:
        """A lower limit for the mean probability of label 1 over all rows, given the scores, where it `is_worth` that.

        Guarantee
            It exceeds the mean probability with probability at most `level`, whatever the probabilities. Weights are
            positive because `is_worth`, which the scores alone decide, holds.
        """
        spread, size = math.sqrt(self._variance), math.fsum(self.rows)
        # How the normal limit grows with the variance: a hypothesis with larger variance expects fewer weighted hits.
        tilt = -normal_quantile(level) / (2 * spread)
        weights = [1 - tilt * (1 - 2 * p) for p in self.mean]
        # The stratum that varies more comes first: its tail is the exact one.
        one = int(self.rows[1] * self.mean[1] * (1 - self.mean[1]) > self._variance / 2)
        first, others, weight = self.rows[one], self.rows[1 - one], weights[1 - one] / weights[one]
        total, expected = self.hits[one] + weight * self.hits[1 - one], self.rows[one] * self.mean[one]
        scores = math.fsum(n * p for n, p in zip(self.rows, self.mean, strict=True))

        def missing(successes: float) -> float:
            """Positive where so many expected successes seem too few, spread as the scores are."""
            in_first = expected + (successes - scores) * first / size
            in_first = min(max(in_first, successes - others, 0.0), first, successes)
            return math.log(
                level / reaches(total, first, in_first / first, others, (successes - in_first) / others, weight)
            )

        if missing(0.0) <= 0:
            return 0.0
        step = FINEST * self._variance
        limit, finest = crossing(missing, 0.0, size, step / 4 / size)[0] - step, step / first
        while limit > 0 and may_reach(total, first, others, limit, weight, level, finest):
            limit -= step
            step *= 2
        return max(limit, 0.0) / size * (1 - 1e-12)


def _score_sums(summary: Summary) -> Floats:
    """The sum of the scores of each cell, whatever the labels."""
    count, offset = summary.count.sum(axis=1), summary.offset.sum(axis=1)
    return np.asarray(summary.left * count + offset * RESOLUTION, np.float64)
