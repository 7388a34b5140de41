"""Theorem PU: bets on whole clusters, a lower bound and evidence against calibration; no row is learnt from.

Bets have a sign for each quarter of the scores and a size, all fixed in advance. The wealth of a bet is the product
over clusters of 1 + size (A - q W). If its mean gain is at most q, that has a mean of at most 1, whatever the
distributions of the clusters are; so has the average over all bets, which is evidence against an error of q or less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from calcert.certificates.certificate import Lower
from calcert.certificates.clusters.cluster_gain_lists import Pattern, clusters_lower
from calcert.certificates.witnesses.betting import LARGEST_LOGARITHM, LOG_ROUNDING
from calcert.foundation.array_types import Floats
from calcert.summary.clusters import Clusters
from calcert.summary.pair_sums import BET_SIZES, SIGNS, PairSums
from calcert.summary.summary import Summary

USED = 5
"""Sizes of each bet: the largest at which nothing can be lost for good, a quarter of it, and so on."""

CHANGES = np.abs(np.diff(SIGNS, axis=1)).sum(axis=1) // 2
"""How often the signs of each bet change."""

AT_HALF = (CHANGES == 1) & (SIGNS[:, 1] != SIGNS[:, 2])
SHARES = np.where((CHANGES == 0) | AT_HALF, 1 / 6, 1 / 36)
"""A third for one sign, a third for a change at 1/2, a third for all others, both signs of each."""

MOST = 0.999
"""Of what a cluster may cost a bet."""

BISECTIONS = 50

EVERY = np.ones(SIGNS.shape[0])
"""What no bet gains more of than once."""


def lower_with_bets(summary: Summary, patterns: Iterable[Pattern], times: Floats, delta: float) -> Lower:
    """A lower bound at confidence 1 - delta from lists and, where pair sums are kept, from bets; and evidence.

    Guarantee
        As :func:`clusters_lower` for the lists. If the mean gain of each bet is at most `times` its entry times Q,
        which may be infinite, and Q = 0 is calibration, the bets are right as well, and their evidence against Q = 0
        has a mean of at most 1 if that is true. Each has half of delta.
    """
    clusters = summary.clusters
    if clusters is None or clusters.pair_sums is None:
        return Lower(clusters_lower(summary, patterns, delta))
    bets = Bets.of(summary, clusters, clusters.pair_sums)
    return Lower(
        max(clusters_lower(summary, patterns, delta / 2), bets.limit(times, delta / 2)),
        math.exp(min(bets.log_wealth(0.0, EVERY), LARGEST_LOGARITHM)),
    )


@dataclass(frozen=True)
class Bets:
    """The wealth of bets against an error of 0, in logarithms, and bet sizes times the largest weight."""

    wealth: Floats
    size: Floats
    weights: float

    @classmethod
    def of(cls, summary: Summary, clusters: Clusters, sums: PairSums) -> Bets:
        """Bets go by the largest possible weight: of these clusters if weights are given, else the declared one."""
        heaviest = clusters.heaviest
        used = np.flatnonzero(BET_SIZES * heaviest <= BET_SIZES[0])[:USED]
        wealth = sums.logarithms[:, used] + np.log(SHARES / USED)[:, None]
        return cls(wealth, np.asarray(BET_SIZES[used] * heaviest, np.float64), summary.n / heaviest)

    def log_wealth(self, q: float, times: Floats) -> float:
        """At most the logarithm of the wealth of all bets against an error of q."""
        # 1 + s (A - q W) >= (1 + s A) (1 - s q W / (1 - s w)), and the logarithm of the last is concave in W.
        lost = self.size * times[:, None] * q / (1 - self.size)
        # Bets that could lose everything, or nearly, are left out.
        left = np.where(lost < MOST, self.wealth + self.weights * np.log1p(-np.minimum(lost, MOST)), -math.inf)
        highest = float(left.max(initial=-math.inf))
        return (
            highest + math.log(float(np.exp(left - highest).sum())) - LOG_ROUNDING if highest > -math.inf else highest
        )

    def limit(self, times: Floats, delta: float) -> float:
        """The largest q that is refuted."""
        there = np.isfinite(times)
        kept = replace(self, wealth=self.wealth[there])
        if kept.log_wealth(0.0, times[there]) < math.log(1 / delta):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            refuted = kept.log_wealth(middle, times[there]) >= math.log(1 / delta)
            low, high = (middle, high) if refuted else (low, middle)
        return low
