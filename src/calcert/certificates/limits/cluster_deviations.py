"""Deviations of sums over independent clusters: the limits behind Theorems U1, U2, U3 and LU.

Two readings. *Fixed*: given the weights of the clusters, whatever these are, clusters are independent, and no two need
have the same distribution. *Population*: clusters are drawn independently from one distribution, and none weighs more
than was declared before. Everything here is in quanta of weight; gains are the sums over a cluster of weight times gain
of a row (theory, clusters).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from calcert.certificates.limits.cluster_moments import Gains, LargeGains, gains_of, large_gains, second_limit
from calcert.certificates.limits.deviations import SPLIT, invert, mean_lower, mean_upper, normal_quantile
from calcert.kernels.limits import bernstein, gaussian_sharp
from calcert.kernels.search import SLACK, crossing, largest_candidate
from calcert.perturbation.noise import Noise
from calcert.summary.clusters import Clusters
from calcert.summary.summary import Summary

BERRY_ESSEEN = 0.56
"""Shevtsova (2010): the constant for independent variables that need not be of one distribution."""

THIRD = 4 / 3
"""A centred variable has at most so much of the third absolute moment that it had before (Lemma D3T)."""

STRETCHES = (0.96, 0.87, 0.65, 0.0)
"""Where D3U cuts the variances that may be: as shares of the largest."""

POPULATION_SPLIT = 0.9
"""The share of delta spent on the mean where weights are random: their moments are to be paid for, too."""

BISECTIONS = 60


@dataclass(frozen=True)
class FixedWeights:
    """Clusters whose weights are given, scaled to a mean weight of 1."""

    number: int
    heaviest: float
    spread: float
    second: float
    third: float = math.inf

    @classmethod
    def of(
        cls, summary: Summary, clusters: Clusters, squares: float, delta: float, noise: Noise | None = None
    ) -> FixedWeights:
        """From at least the sum of squared gains of the rows: Lemma QU at `delta`, half of it where sums are paired."""
        half = delta if clusters.pair_sums is None else delta / 2
        return cls.knowing(
            summary, clusters, second_limit(clusters, squares, half), large_gains(clusters, delta - half, noise)
        )

    @classmethod
    def knowing(
        cls, summary: Summary, clusters: Clusters, second: float, large: Sequence[LargeGains] = ()
    ) -> FixedWeights:
        """From limits for the sums of mean squares, and of large gains."""
        number, mean = clusters.number, summary.n / clusters.number
        scale, heaviest = number * mean**2, clusters.largest / mean * (1 + SLACK)
        q = second / scale * (1 + SLACK)
        return cls(
            number=number,
            heaviest=heaviest,
            spread=float(clusters.squares) / scale * (1 + SLACK),
            second=q,
            third=min((found.share * heaviest * q + found.beyond / (scale * mean) for found in large), default=math.inf)
            * (1 + SLACK),
        )

    @classmethod
    def for_lists(
        cls, summary: Summary, clusters: Clusters, squares: float, delta: float, noise: Noise | None = None
    ) -> Callable[[float, float], FixedWeights]:
        """For many gains at once: from the squares of one of them and its share, what is known of it."""
        if clusters.pair_sums is None:
            whole = cls.of(summary, clusters, squares, delta)
            return lambda own, share: whole
        # Half for large gains, a quarter for all gains by their size, a quarter for each by its pair sums.
        second, large = second_limit(clusters, squares, delta / 4), large_gains(clusters, delta / 2, noise)
        return lambda own, share: cls.knowing(
            summary, clusters, min(second, second_limit(clusters, min(own, squares), share * delta / 4)), large
        )

    def limit(self, variance: float, delta: float) -> float:
        """How far the mean of centred gains may be from 0: D2, D3U, Hoeffding."""
        return min(
            bernstein(variance, 2 * self.heaviest, self.number, delta),
            self._sharp(variance, delta),
            self.hoeffding(2.0, delta),
        )

    def grouped_limit(self, variance: float, delta: float) -> float:
        """The same where signs depend on all scores (U3): D2, and Hoeffding for label and score apart."""
        return min(bernstein(variance, 2 * self.heaviest, self.number, delta), self.hoeffding(1.0, delta))

    def hoeffding(self, proxy: float, delta: float) -> float:
        """The limit for variables with variance proxies of so many halves of their squared weights."""
        return math.sqrt(proxy * math.log(1 / delta) * self.spread / self.number) * (1 + SLACK)

    def upper(self, seen: float, delta: float, *, grouped: bool = False) -> float:
        """Theorem U1 or U3: the largest c not refuted where the rows show `seen`."""
        limit = self.grouped_limit if grouped else self.limit
        return invert(seen, self.second, self.number, delta, lambda v, bound, n, d: limit(v, d))

    def lower(self, seen: float, delta: float) -> float:
        """Theorem LU: what is certain of a mean of which the rows show `seen`."""
        return seen - self.limit(self.second, delta)

    def _sharp(self, variance: float, delta: float) -> float:
        """D3U: Bernstein where the variance is small, normal tail and Berry-Esseen error where it is larger."""
        if variance <= 0:
            return math.inf
        bound, n = 2 * self.heaviest, self.number

        def excess(e: float) -> float:
            left = n * e * e / (2 * math.log(1 / delta)) - bound * e / 3
            if left <= 0:
                return math.inf
            tail, most = 0.0, variance
            for share in STRETCHES:
                least = max(share * variance, left)
                error = self._constant(least) / math.sqrt(n)
                tail = max(tail, math.erfc(e * math.sqrt(n / (2 * most))) / 2 + error)
                if least == left:
                    break
                most = least
            return math.log(tail / delta) + SLACK

        high = bernstein(variance, bound, n, delta)
        if excess(high) > 0:
            return math.inf
        least = 2 * math.log(1 / delta) * bound / (3 * n) * (1 + 1e-6)
        low = max(-normal_quantile(delta) * math.sqrt(variance / n), least)
        return crossing(excess, low, high)[1] * (1 + SLACK) if low < high else high

    def _constant(self, variance: float) -> float:
        """The Berry-Esseen constant times the third moments, where the variance is at least this (D3U)."""
        lopsided = 1 + math.sqrt(max(self.second / variance - 1, 0.0))
        return BERRY_ESSEEN * min(
            self.heaviest * min(2.0, lopsided) / math.sqrt(variance),
            THIRD * self.third / (variance * math.sqrt(variance)),  # D3T
        )


@dataclass(frozen=True)
class DrawnWeights:
    """Clusters drawn from one distribution, none heavier than `cap`: its moments, seen and limited."""

    number: int
    mean: float
    cap: float
    gains: Gains
    squares: float
    level: float
    gain_limit: float
    square_limit: float
    mean_limit: float

    @classmethod
    def of(cls, summary: Summary, clusters: Clusters, gains: Gains, delta: float) -> DrawnWeights:
        """From the rows."""
        number = clusters.number
        return cls.from_moments(
            number, summary.n / number, float(clusters.squares) / number, clusters.cap, gains, delta
        )

    @classmethod
    def from_moments(
        cls, number: int, mean: float, squares: float, cap: float, gains: Gains, delta: float
    ) -> DrawnWeights:
        """From the means of W and of W^2 and a bound on W.

        D1 for E R^2, E W^2 and E W at delta / 6 each; delta / 2 is left for :meth:`direct`.
        """
        level = delta / 6
        return cls(
            number=number,
            mean=mean,
            cap=cap,
            gains=gains,
            squares=squares,
            level=delta / 2,
            gain_limit=gains.cap**2 * mean_upper(gains.squares / number / gains.cap**2, number, level),
            square_limit=cap**2 * mean_upper(squares / cap**2, number, level),
            mean_limit=cap * mean_lower(mean / cap, number, level),
        )

    def direct(self, c: float) -> float:
        """At least E (R + c W)^2, by D1 for the one number c that is the truth."""
        top = (self.gains.cap + c * self.cap) ** 2
        seen = (self.gains.squares + 2 * c * self.gains.mixed) / self.number + c * c * self.squares
        return top * mean_upper(seen / top, self.number, self.level)

    def apart(self, a: float, b: float) -> float:
        """At least the variance of c W - A for all c in [a, b] if E A = c E W; a = 0 asks nothing of E A."""
        weight = max(self.square_limit - self.mean_limit**2, 0.0)
        gain = max(self.gain_limit - (a * self.mean_limit) ** 2, 0.0)
        return (math.sqrt(gain) + b * math.sqrt(weight)) ** 2

    def limit(self, variance: float, c: float, delta: float) -> float:
        """How far the mean of c W - A, over the mean weight, may be from 0: D2, D3, Hoeffding."""
        bound = self.gains.cap + c * self.cap
        found = min(
            bernstein(variance, bound, self.number, delta),
            gaussian_sharp(variance, bound, self.number, delta),
            self.cap * math.sqrt(2 * math.log(1 / delta) / self.number),
        )
        return found / self.mean * (1 + SLACK)

    def upper(self, seen: float, delta: float) -> float:
        """Theorem U2: the largest c not refuted where the rows show `seen`."""

        def excess(a: float, b: float) -> float:
            return a - self.limit(min(self.direct(b), self.apart(a, b)), b, delta) - seen

        return largest_candidate(excess, min(max(seen, 0.0), 1.0), 1.0)

    def lower(self, seen: float, delta: float) -> float:
        """Theorem LU: the largest c such that everything below it is refuted."""

        def refuted(c: float) -> bool:
            return seen - c > self.limit(min(self.direct(c), self.apart(0.0, c)), c, delta)

        # What refutes c refutes everything below it: limits grow with c.
        low, high = 0.0, max(seen, 0.0)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if refuted(middle) else (low, middle)
        return low


def weights_of(
    summary: Summary, clusters: Clusters, delta: float, noise: Noise | None = None, squares: float = math.inf
) -> tuple[FixedWeights | DrawnWeights, float]:
    """The reading that was declared, its moments paid for, and the share of delta that is left for a mean.

    `squares` is at least the sum of the squared gains of the rows, for each gain of a class (Lemma PS).
    """
    gains = gains_of(summary, clusters, noise)
    gains = replace(gains, squares=min(gains.squares, squares))
    if clusters.design.population:
        return DrawnWeights.of(summary, clusters, gains, (1 - POPULATION_SPLIT) * delta), POPULATION_SPLIT
    return FixedWeights.of(summary, clusters, gains.squares, (1 - SPLIT) * delta, noise), SPLIT
