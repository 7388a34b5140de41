"""Lower bounds for units, from fixed lists of gains and from bets; nothing is thrown and nothing is learnt.

Theorem LU: a list of gains is fixed in advance, each with its share of delta: whichever shows most on the rows shows at
least that much of the error, less its own sampling limit. Signs of K groups of scores are 2^K gains, and the best of
them for the rows gains the sum of what each group gains in size, so that none need be tried.

Theorem PU: bets on whole units have a sign for each quarter of the scores and a stake, all fixed in advance. A bet owns
the product over units of 1 + stake (A - q W). If its mean gain is at most q, that has a mean of at most 1, whatever the
laws of the units are; so has the average over all bets, which is evidence against an error of q or less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from calcert.certificates.betting import LARGEST_LOGARITHM
from calcert.certificates.betting import ROUNDING as LOST
from calcert.certificates.certificate import Lower
from calcert.certificates.deviations import SPLIT
from calcert.certificates.unit_deviations import FixedWeights, weights_of
from calcert.certificates.unit_squared_gains import (
    any_squares,
    gains_of,
    group_squares,
    run_squares,
    served_form,
    signs_squares,
)
from calcert.foundation.array_types import Floats
from calcert.serving.coordinate import coordinate_of
from calcert.serving.grid import ROUNDING
from calcert.serving.grid_view import unlikely_ends
from calcert.serving.noise import Noise
from calcert.summary.pair_sums import SIGNS, STAKES, TAILS, PairSums
from calcert.summary.summary import Summary
from calcert.summary.units import Units

EDGES = np.unique(np.concatenate([np.arange(1, 16) / 16, TAILS, 1 - TAILS]))
"""Edges of the groups of ranges and crossings: sixteenths, and finer near the ends. All are edges of cells."""

PARTITIONS = (
    *(np.arange(1, groups) / groups for groups in (1, 2, 4, 8, 16)),
    np.concatenate([TAILS[::2][:-1], [0.5], 1 - TAILS[::2][:-1][::-1]]),
    np.concatenate([TAILS, [0.5], 1 - TAILS[::-1]]),
)
"""Edges of groups with signs of their own: equal ones, and two partitions that are finer near the ends."""

USED = 5
"""Stakes of each bet: the largest at which nothing can be lost for good, a quarter of it, and so on."""

CHANGES = np.abs(np.diff(SIGNS, axis=1)).sum(axis=1) // 2
"""How often the signs of each bet change."""

AT_HALF = (CHANGES == 1) & (SIGNS[:, 1] != SIGNS[:, 2])
SHARES = np.where((CHANGES == 0) | AT_HALF, 1 / 6, 1 / 36)
"""A third for one sign, a third for a change at 1/2, a third for all others, both signs of each."""

MOST = 0.999
"""Of what a unit may cost a bet."""

BISECTIONS = 50

EVERY = np.ones(SIGNS.shape[0])
"""What no bet gains more of than once."""


class Pattern(NamedTuple):
    """The most that gains of a list show on the rows, what is charged taken off, and the share of delta of each.

    `squares` is at least the sum over units of the squared gains of the rows, for every gain of the list (Lemma PS).
    """

    seen: float
    share: float
    squares: Callable[[Units], float] = any_squares


def units_lower(summary: Summary, patterns: Iterable[Pattern], delta: float, noise: Noise | None = None) -> float:
    """A lower bound at confidence 1 - delta for a quantity that no gain of the lists exceeds in the mean, in size."""
    units = summary.units
    if units is None:
        raise ValueError("summary must be of units; got plain rows")
    if units.design.population:
        weights, share = weights_of(summary, units, delta, noise)
        found = [weights.lower(seen, share * delta * part) for seen, part, _ in patterns]  # LU
    else:
        squares = gains_of(summary, units, noise).squares
        known = FixedWeights.for_lists(summary, units, squares, (1 - SPLIT) * delta, noise)
        # LU, with pair sums LUP
        found = [known(own(units), part).lower(seen, SPLIT * delta * part) for seen, part, own in patterns]
    return max([0.0, *found])


def error_patterns(summary: Summary) -> list[Pattern]:
    """Signs of groups of scores, for the L1 error as it is."""
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
    """Runs of neighbouring groups, for the largest miscount: how the cumulated excess rises and falls between edges."""
    total = np.concatenate([[0.0], np.cumsum(group_sums(summary, EDGES))])
    rise, fall = (total - np.minimum.accumulate(total)).max(), (np.maximum.accumulate(total) - total).max()
    runs = total.size * (total.size - 1) / 2
    squares = partial(run_squares, edges=EDGES)
    if side == "either":
        return [Pattern(float(max(rise, fall)) - ROUNDING, 1 / (2 * runs), squares)]
    if summary.units is not None and summary.units.design.population:
        return []  # LU needs every gain with its negative there.
    return [Pattern(float(rise if side == "too high" else fall) - ROUNDING, 1 / runs, squares)]


def gap_pattern(summary: Summary) -> Pattern:
    """The two gains x - y and y - x."""
    return Pattern(abs(summary.mean_score - summary.base_rate) - ROUNDING, 1 / 2, partial(signs_squares, changes=0))


def group_sums(summary: Summary, edges: Floats) -> Floats:
    """The sum of x - y over the rows of each group, a share of all rows."""
    excess = summary.score_sum.sum(axis=1) - summary.count[:, 1]
    return np.bincount(np.searchsorted(edges, summary.left, "right"), excess, edges.size + 1) / summary.n


def served_patterns(summary: Summary, noise: Noise) -> list[Pattern]:
    """Signs of groups of served scores, for the L1 error of the classifier that serves with noise."""
    where = coordinate_of(noise)
    assert summary.units is not None
    # By the number of units: that of rows may depend on labels where clusters differ in size.
    view, grid = where.joined(summary), where.grid_for(summary.units.number)
    # End rows with the unlikely label are left out, and may gain 1 each.
    hidden = where.hidden(view, grid) + sum(unlikely_ends(view)) / view.n
    if hidden >= 1:
        return []
    sums = [np.zeros(edges.size + 1) for edges in PARTITIONS]
    for place, served, positive, rounding in grid.densities(grid.masses(view.places, view.n)):
        t = where.score(place)
        gap = t * served - positive
        # Groups are made of whole grid cells, which the noise and the number of units decide.
        area, middle = (gap[:-1] + gap[1:]) * grid.step / 2, where.score((place[:-1] + place[1:]) / 2)
        for found, edges in zip(sums, PARTITIONS, strict=True):
            found += np.bincount(np.searchsorted(edges, middle, "right"), area, edges.size + 1)
        hidden += where.broken_line(gap, grid) + 3 * rounding * float(place[-1] - place[0])
    each = 1 / len(PARTITIONS)
    squares = partial(served_form, summary, noise=noise)
    return [Pattern(float(np.abs(found).sum()) - hidden, each / 2.0**found.size, squares) for found in sums]


def lower_with_bets(summary: Summary, patterns: Iterable[Pattern], times: Floats, delta: float) -> Lower:
    """A lower bound at confidence 1 - delta from lists and, where pair sums are kept, from bets; and evidence.

    Guarantee
        As :func:`units_lower` for the lists. If the mean gain of each bet is at most `times` its entry times Q, which
        may be infinite, and Q = 0 is calibration, the bets are right as well, and their evidence against Q = 0 has a
        mean of at most 1 if that is true. Each has half of delta.
    """
    units = summary.units
    if units is None or units.pair_sums is None:
        return Lower(units_lower(summary, patterns, delta))
    bets = Bets.of(summary, units, units.pair_sums)
    return Lower(
        max(units_lower(summary, patterns, delta / 2), bets.limit(times, delta / 2)),
        math.exp(min(bets.owned(0.0, EVERY), LARGEST_LOGARITHM)),
    )


@dataclass(frozen=True)
class Bets:
    """What bets own against an error of 0, in logarithms, and stakes times the largest weight."""

    wealth: Floats
    stake: Floats
    weights: float

    @classmethod
    def of(cls, summary: Summary, units: Units, sums: PairSums) -> Bets:
        """Stakes go by the largest weight there may be: that of these units if weights are given, else the declared."""
        heaviest = units.heaviest
        used = np.flatnonzero(STAKES * heaviest <= STAKES[0])[:USED]
        wealth = sums.logarithms[:, used] + np.log(SHARES / USED)[:, None]
        return cls(wealth, np.asarray(STAKES[used] * heaviest, np.float64), summary.n / heaviest)

    def owned(self, q: float, times: Floats) -> float:
        """At most the logarithm of what all bets own against an error of q."""
        # 1 + s (A - q W) >= (1 + s A) (1 - s q W / (1 - s w)), and the logarithm of the last is concave in W.
        lost = self.stake * times[:, None] * q / (1 - self.stake)
        # Bets that could lose everything, or nearly, are left out.
        left = np.where(lost < MOST, self.wealth + self.weights * np.log1p(-np.minimum(lost, MOST)), -math.inf)
        highest = float(left.max(initial=-math.inf))
        return highest + math.log(float(np.exp(left - highest).sum())) - LOST if highest > -math.inf else highest

    def limit(self, times: Floats, delta: float) -> float:
        """The largest q that is refuted."""
        there = np.isfinite(times)
        kept = replace(self, wealth=self.wealth[there])
        if kept.owned(0.0, times[there]) < math.log(1 / delta):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if kept.owned(middle, times[there]) >= math.log(1 / delta) else (low, middle)
        return low
