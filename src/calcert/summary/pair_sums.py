"""Pair sums: how gains of rows of one unit go together in different places, added up over units.

The sum of squared gains of units is what deviations are made of. From the size of gains alone it must be taken as if
all rows of a unit gained in one direction. Pair sums know better: sums over units of products of what two places hold
of w (x - y). Two grids of places are kept, nodes between which a row is shared and bins that hold it whole. Everything
is a 64-bit integer, so that parts add up exactly (theory of the units, pair sums).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from calcert.foundation.array_types import Floats, Integers

STEP_BITS = 12
"""w (x - y) is known to half of 2^-12 of a quantum."""

STEP = 1 << STEP_BITS

HEAVIEST_SQUARES = 1 << 37
"""Squares of weights of units add up to less than this: then pair sums stay in 64 bits."""

LOG_ODDS = np.concatenate([np.arange(-96, -48) / 16, np.arange(-96, 97) / 32, np.arange(49, 97) / 16])
"""Where nodes are: thirty-seconds up to odds of e^3 either way, then sixteenths up to e^6."""

NODES = np.concatenate([[0.0], np.round(2.0**20 / (1 + np.exp(-LOG_ODDS))) / 2**20, [1.0]])
"""Scores between which rows are shared."""

TAILS = 2.0 ** -np.arange(14, 0, -2)
"""Edges near 0: four times as far each, from 2^-14 to 1/4."""

EDGES = np.unique(np.concatenate([np.arange(1, 128) / 128, TAILS, 1 - TAILS]))
"""Edges of bins: 128ths, and finer near the ends."""

SHARES = np.arange(1, 6) / 8
"""Shares of its weight beyond which the gain of a unit counts as large."""

BEYOND = 32
"""Third powers are known to this part of a quantum's."""

SIGNS = np.array(list(product((1, -1), repeat=4)))
"""Bets: a sign for each quarter of the scores. Quarters are made of whole bins."""

STAKES = 0.98 * 4.0 ** -np.arange(14)
"""Of a bet, by the inverse of a quantum of weight."""

LOGARITHM = 1 << 24
"""Logarithms are known to this part of one."""

BINS = EDGES.size + 1
SIZES = (NODES.size * (NODES.size + 1) // 2, BINS * (BINS + 1) // 2, BINS, SHARES.size, SIGNS.shape[0] * STAKES.size)
LENGTH = sum(SIZES)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over units, one after another in `values`: upper triangles for nodes and bins, then three rows of sums.

    In quanta: of a_j a_k, a the part of w (x - y) that a node or bin holds, to 2^-24; of the squares of w |x - y| of
    each bin, to 2^-24 and rounded up; of (R - s W)_+ R^2 for each share s, to 1/32 and rounded up; and of the
    logarithms of 1 + stake A for each bet and each stake up to 0.98 over the largest W, to 2^-24 and rounded down.
    """

    values: Integers

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    @classmethod
    def of(cls, nodes: Integers, bins: Integers, *sums: Integers) -> PairSums:
        """From whole matrices, and the sums that follow them."""
        upper = [table[np.triu_indices(len(table))] for table in (nodes, bins)]
        return cls(np.concatenate([*upper, *(np.ravel(each) for each in sums)]).astype(np.int64))

    @cached_property
    def nodes(self) -> Floats:
        """Sums of a_j a_k over units, for nodes."""
        return _whole(self._part(0), NODES.size)

    @cached_property
    def bins(self) -> Floats:
        """The same for bins."""
        return _whole(self._part(1), BINS)

    @cached_property
    def gains(self) -> Floats:
        """At least the sum over units of the square of w |x - y| of each bin."""
        return self._part(2) / STEP**2

    @cached_property
    def beyond(self) -> Floats:
        """At least the sum over units of (R - s W)_+ R^2, for each share s."""
        return self._part(3) / BEYOND

    @cached_property
    def logarithms(self) -> Floats:
        """At most the sum over units of ln(1 + stake A), for each bet and stake; stakes too large for a unit are 0."""
        return self._part(4).reshape(SIGNS.shape[0], STAKES.size) / LOGARITHM

    def plus(self, other: PairSums) -> PairSums:
        """Pair sums of two parts of the rows; whether they fit 64 bits was seen to."""
        return PairSums(self.values + other.values)

    def _part(self, which: int) -> Integers:
        start = sum(SIZES[:which])
        return self.values[start : start + SIZES[which]]


def _whole(upper: Integers, size: int) -> Floats:
    table = np.zeros((size, size))
    table[np.triu_indices(size)] = upper / STEP**2
    return table + np.triu(table, 1).T


def check_pair_sums(sums: PairSums, squares: int, number: int) -> None:
    """Refuse pair sums that are those of no units; ValueError in words that fit after "is damaged: "."""
    if sums.values.shape != (LENGTH,):
        raise ValueError(f"pair_sums must be {LENGTH:,} integers; got shape {sums.values.shape}")
    within = squares < HEAVIEST_SQUARES
    for table in (sums.nodes, sums.bins):
        size = np.diagonal(table)
        within &= bool((size >= 0).all()) and bool((table**2 <= np.outer(size, size) * (1 + 1e-9)).all())
    within &= bool((np.diagonal(sums.bins) <= sums.gains).all() and (sums.gains <= 1.01 * squares).all())
    within &= bool((np.diff(sums.beyond) <= 0).all() and (sums.beyond >= 0).all())
    within &= bool((sums.logarithms <= math.log(1 + STAKES[0]) * number).all())
    if not within:
        raise ValueError("pair_sums must be sums of products over units; got some that no units have")
