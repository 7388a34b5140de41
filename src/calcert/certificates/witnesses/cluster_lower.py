"""Lower bounds for clusters: lists of gains (Theorem LU) and bets on clusters (Theorem PU); no row is learnt from.

A list of gains is fixed in advance, each at its Bonferroni level: whichever shows most on the rows shows at least that
much of the error, less its own sampling limit. Signs of K groups of scores are 2^K gains, and the best of them for the
rows gains the sum of what each group gains in size, so that none need be tried. For the distance from calibration gains
are tilts, which change sides at fixed pivots and are as steep and as large between them as admissible pairs may be.

Bets have a sign for each quarter of the scores and a size, all fixed in advance. The wealth of a bet is the product
over clusters of 1 + size (A - q W). If its mean gain is at most q, that has a mean of at most 1, whatever the
distributions of the clusters are; so has the average over all bets, which is evidence against an error of q or less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from calcert.certificates.certificate import Lower
from calcert.certificates.limits.cluster_deviations import FixedWeights, weights_of
from calcert.certificates.limits.cluster_moments import (
    any_squares,
    gains_of,
    group_squares,
    perturbed_form,
    run_squares,
    signs_squares,
    tilt_squares,
)
from calcert.certificates.limits.deviations import SPLIT
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import LOG_ROUNDING, ROUNDING
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid_view import unlikely_ends
from calcert.perturbation.noise import Noise
from calcert.summary.clusters import Clusters
from calcert.summary.pair_sums import BET_SIZES, SIGNS, TAILS, PairSums
from calcert.summary.summary import Summary

EDGES = np.unique(np.concatenate([np.arange(1, 16) / 16, TAILS, 1 - TAILS]))
"""Edges of the groups of ranges and crossings: sixteenths, and finer near the ends. All are edges of cells."""

PARTITIONS = (
    *(np.arange(1, groups) / groups for groups in (1, 2, 4, 8, 16)),
    np.concatenate([TAILS[::2][:-1], [0.5], 1 - TAILS[::2][:-1][::-1]]),
    np.concatenate([TAILS, [0.5], 1 - TAILS[::-1]]),
)
"""Edges of groups with signs of their own: equal ones, and two partitions that are finer near the ends."""


class Pattern(NamedTuple):
    """The most that gains of a list show on the rows, what is charged taken off, and the share of delta of each.

    `squares` is at least the sum over clusters of the squared gains of the rows, for every gain of the list (Lemma PS).
    """

    seen: float
    share: float
    squares: Callable[[Clusters], float] = any_squares


def clusters_lower(summary: Summary, patterns: Iterable[Pattern], delta: float, noise: Noise | None = None) -> float:
    """A lower bound at confidence 1 - delta for a quantity that no gain of the lists exceeds in the mean, in size."""
    clusters = summary.clusters
    if clusters is None:
        raise ValueError("summary must be of clusters; got plain rows")
    if clusters.design.population:
        weights, share = weights_of(summary, clusters, delta, noise)
        found = [weights.lower(seen, share * delta * part) for seen, part, _ in patterns]  # LU
    else:
        squares = gains_of(summary, clusters, noise).squares
        known = FixedWeights.for_lists(summary, clusters, squares, (1 - SPLIT) * delta, noise)
        # LU, with pair sums LUP
        found = [known(own(clusters), part).lower(seen, SPLIT * delta * part) for seen, part, own in patterns]
    return max([0.0, *found])


def error_patterns(summary: Summary) -> list[Pattern]:
    """Signs of groups of scores, for the L1 error of the current scores."""
    each = 1 / len(PARTITIONS)
    return [
        Pattern(
            float(np.abs(group_sums(summary, edges)).sum()) - ROUNDING,
            each / 2.0 ** (edges.size + 1),
            partial(group_squares, edges=edges),
        )
        for edges in PARTITIONS
    ]


def range_patterns(summary: Summary, side: str) -> list[Pattern]:
    """Runs of neighbouring groups, for the cutoff calibration error: how the cumulated excess rises and falls."""
    total = np.concatenate([[0.0], np.cumsum(group_sums(summary, EDGES))])
    rise, fall = (total - np.minimum.accumulate(total)).max(), (np.maximum.accumulate(total) - total).max()
    runs = total.size * (total.size - 1) / 2
    squares = partial(run_squares, edges=EDGES)
    if side == "either":
        return [Pattern(float(max(rise, fall)) - ROUNDING, 1 / (2 * runs), squares)]
    if summary.clusters is not None and summary.clusters.design.population:
        return []  # LU needs every gain with its negative there.
    return [Pattern(float(rise if side == "too high" else fall) - ROUNDING, 1 / runs, squares)]


def gap_pattern(summary: Summary) -> Pattern:
    """The two gains x - y and y - x."""
    return Pattern(abs(summary.mean_score - summary.base_rate) - ROUNDING, 1 / 2, partial(signs_squares, changes=0))


def group_sums(summary: Summary, edges: Floats) -> Floats:
    """The sum of x - y over the rows of each group, a share of all rows."""
    excess = summary.score_sum.sum(axis=1) - summary.count[:, 1]
    return np.bincount(np.searchsorted(edges, summary.left, "right"), excess, edges.size + 1) / summary.n


def perturbed_patterns(summary: Summary, noise: Noise) -> list[Pattern]:
    """Signs of groups of perturbed scores, for the L1 error of the classifier with noise."""
    where = coordinate_of(noise)
    assert summary.clusters is not None
    # By the number of clusters: that of rows may depend on labels where clusters differ in size.
    view, grid = where.joined(summary), where.grid_for(summary.clusters.number)
    # End rows with the unlikely label are left out, and may gain 1 each.
    hidden = where.hidden(view, grid) + sum(unlikely_ends(view)) / view.n
    if hidden >= 1:
        return []
    sums = [np.zeros(edges.size + 1) for edges in PARTITIONS]
    for place, density, positive, rounding in grid.densities(grid.masses(view.places, view.n)):
        t = where.score(place)
        gap = t * density - positive
        # Groups are made of whole grid cells, which the noise and the number of clusters decide.
        area, middle = (gap[:-1] + gap[1:]) * grid.step / 2, where.score((place[:-1] + place[1:]) / 2)
        for found, edges in zip(sums, PARTITIONS, strict=True):
            found += np.bincount(np.searchsorted(edges, middle, "right"), area, edges.size + 1)
        hidden += where.broken_line(gap, grid) + 3 * rounding * float(place[-1] - place[0])
    each = 1 / len(PARTITIONS)
    squares = partial(perturbed_form, summary, noise=noise)
    return [Pattern(float(np.abs(found).sum()) - hidden, each / 2.0**found.size, squares) for found in sums]


def tilt_patterns(summary: Summary) -> list[Pattern]:
    """Calibration in the large, without a pivot, with half of delta; a quarter each for tilts with one and with two."""
    gap = gap_pattern(summary)
    middle = summary.left + summary.width / 2
    # A pair changes by no more than the score does, and a row is at most half a cell away.
    count = summary.count.sum(axis=1)
    hidden = float((count * summary.width).sum()) / 2 / summary.n + ROUNDING
    excess = (count * middle - summary.count[:, 1]) / summary.n
    size, first = np.array([largest_tilt(middle, pivot) for pivot in EDGES]), np.searchsorted(middle, EDGES)
    one = max(abs(_tilt_gain(size[k] * excess, first[k : k + 1])) for k in range(EDGES.size))
    two = 0.0
    for a in range(EDGES.size - 1):
        both = np.minimum(size[a], size[a + 1 :]) * excess
        two = max(two, *(abs(_tilt_gain(both[b - a - 1], first[[a, b]])) for b in range(a + 1, EDGES.size)))
    return [
        gap._replace(share=gap.share / 2),
        Pattern(one - hidden, 1 / (8 * EDGES.size), tilt_squares),
        Pattern(two - hidden, 1 / (8 * math.comb(EDGES.size, 2)), tilt_squares),
    ]


def largest_tilt(x: Floats, pivot: float) -> Floats:
    """The largest |f| at each score that an admissible tilt can have if it is 0 at the pivot."""
    return np.where(x >= pivot, _tilt_right_of(x, pivot), _tilt_right_of(1 - x, 1 - pivot))


def _tilt_right_of(x: Floats, pivot: float) -> Floats:
    """To the right of the pivot: g1 = f (1 - x) rises as fast as it may, until g0 = -f x falls as fast as it may."""
    if pivot < 0.5:
        turn = 1 - math.sqrt((1 - pivot) / 2)
        early, kept = (x - pivot) / np.maximum(1 - x, 1 - turn), 2 * turn**2
    else:
        turn, early, kept = pivot, np.zeros(x.shape), pivot
    return np.maximum(np.where(x < turn, early, 1 - kept / np.maximum(x, turn)), 0.0)


def _tilt_gain(excess: Floats, first: Integers) -> float:
    """The sum of the excess under signs that change at the cells given, one or two of them."""
    stop = int(first[1]) if first.size > 1 else excess.size
    return float(excess.sum() - 2 * excess[int(first[0]) : stop].sum())


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
    limit = max(clusters_lower(summary, patterns, delta / 2), bets.limit(times, delta / 2))
    return Lower.of(limit, bets.log_wealth(0.0, EVERY))


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
