"""Pair sums: how gains of rows of one cluster go together in different places, added up over clusters.

The sum of squared gains of clusters is what deviations are made of. From the size of gains alone it must be taken as if
all rows of a cluster gained in one direction. Pair sums know better: sums over clusters of products of what two places
hold of w (x - y). Two grids of places are kept, nodes between which a row is shared and bins that hold it whole.
Everything is a 64-bit integer, so that parts add up exactly (theory of the clusters, pair sums).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.refusal import Argument, TooLarge
from calcert.kernels.clusters import add_products
from calcert.summary.design import GAIN

if TYPE_CHECKING:
    from calcert.summary.clusters import Clusters

STEP_BITS = 12
"""w (x - y) is known to half of 2^-12 of a quantum."""

STEP = 1 << STEP_BITS

HEAVIEST_SQUARES = 1 << 37
"""Squares of weights of clusters add up to less than this: then pair sums stay in 64 bits."""

LOG_ODDS = np.concatenate([np.arange(-96, -48) / 16, np.arange(-96, 97) / 32, np.arange(49, 97) / 16])
"""Where nodes are: thirty-seconds up to odds of e^3 either way, then sixteenths up to e^6."""

NODES = np.concatenate([[0.0], np.round(2.0**20 / (1 + np.exp(-LOG_ODDS))) / 2**20, [1.0]])
"""Scores between which rows are shared."""

TAILS = 2.0 ** -np.arange(14, 0, -2)
"""Edges near 0: four times as far each, from 2^-14 to 1/4."""

EDGES = np.unique(np.concatenate([np.arange(1, 128) / 128, TAILS, 1 - TAILS]))
"""Edges of bins: 128ths, and finer near the ends."""

SHARES = np.arange(1, 6) / 8
"""Shares of its weight beyond which the gain of a cluster counts as large."""

BEYOND = 32
"""Third powers are known to this part of a quantum's."""

SIGNS = np.array(list(product((1, -1), repeat=4)))
"""Bets: a sign for each quarter of the scores. Quarters are made of whole bins."""

BET_SIZES = 0.98 * 4.0 ** -np.arange(14)
"""Of a bet, by the inverse of a quantum of weight."""

LOGARITHM = 1 << 24
"""Logarithms are known to this part of one."""

BLOCK = 1 << 20
"""Rows that are paired at a time, all of whose clusters are whole."""

BINS = EDGES.size + 1
SIZES = (NODES.size * (NODES.size + 1) // 2, BINS * (BINS + 1) // 2, BINS, SHARES.size, SIGNS.shape[0] * BET_SIZES.size)
PAIR_SUMS = sum(SIZES)
"""How many integers there are in all."""


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over clusters, one after another in `values`: upper triangles for nodes and bins, then three rows of sums.

    In quanta: of a_j a_k, a the part of w (x - y) that a node or bin holds, to 2^-24; of the squares of w |x - y| of
    each bin, to 2^-24 and rounded up; of (R - s W)_+ R^2 for each share s, to 1/32 and rounded up; and of the
    logarithms of 1 + size A for each bet and each size up to 0.98 over the largest W, to 2^-24 and rounded down.
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
        """Sums of a_j a_k over clusters, for nodes."""
        return _whole(self._part(0), NODES.size)

    @cached_property
    def bins(self) -> Floats:
        """The same for bins."""
        return _whole(self._part(1), BINS)

    @cached_property
    def gains(self) -> Floats:
        """At least the sum over clusters of the square of w |x - y| of each bin."""
        return self._part(2) / STEP**2

    @cached_property
    def beyond(self) -> Floats:
        """At least the sum over clusters of (R - s W)_+ R^2, for each share s."""
        return self._part(3) / BEYOND

    @cached_property
    def logarithms(self) -> Floats:
        """At most the sum over clusters of ln(1 + size A), for each bet and size; 0 where a size is too large."""
        return self._part(4).reshape(SIGNS.shape[0], BET_SIZES.size) / LOGARITHM

    def _part(self, which: int) -> Integers:
        start = sum(SIZES[:which])
        return self.values[start : start + SIZES[which]]


def _whole(upper: Integers, size: int) -> Floats:
    table = np.zeros((size, size))
    table[np.triu_indices(size)] = upper / STEP**2
    return table + np.triu(table, 1).T


def pair_sums_of_rows(x: Floats, label: Integers, weight: Integers, cluster: Integers, clusters: Clusters) -> PairSums:
    """From rows of one label each: scores, labels, weights in quanta, clusters; and what is known of all of them."""
    if clusters.squares >= HEAVIEST_SQUARES:
        got = f"clusters of up to {clusters.largest * clusters.design.quantum:g}"
        wanted, pairs = "must have clusters whose squared weights add up to less than 2^37", Argument("pair_sums")
        out = ("Leave ", pairs, " out, or pass a larger ", Argument("weight_unit"), ".")
        raise TooLarge(pairs, wanted, got, "", out)
    nodes, bins = np.zeros((NODES.size, NODES.size), np.int64), np.zeros((BINS, BINS), np.int64)
    within, beyond = np.zeros(BINS, np.int64), np.zeros(SHARES.size, np.int64)
    bets = np.zeros((SIGNS.shape[0], BET_SIZES.size), np.int64)
    # Wealth must not be lost whatever a cluster does: its A is at most its weight in size.
    sizes = np.flatnonzero(BET_SIZES * clusters.largest <= BET_SIZES[0])
    for rows, own in _blocks(cluster):
        score, w, number = x[rows], weight[rows], int(own[-1]) + 1
        value = np.rint(score * STEP).astype(np.int64) - label[rows] * STEP
        left, way = _between(score)
        moved = w * np.rint(value * way).astype(np.int64)
        into = np.searchsorted(EDGES, score, "right")
        add_products(own, np.stack([left, left + 1], 1), np.stack([w * value - moved, moved], 1), nodes)
        add_products(own, into[:, None], (w * value)[:, None], bins)
        # Rounding |x - y| to the nearest step is made up for by one step more.
        place, same = np.unique(own * BINS + into, return_inverse=True)
        large = np.bincount(same, w * (np.abs(value) + 1)).astype(np.int64)
        np.add.at(within, place % BINS, large**2)
        heavy = np.bincount(own, w)[:, None]
        far = np.where(label[rows], 1 - np.floor(score * GAIN) / GAIN, np.ceil(score * GAIN) / GAIN)
        gain = np.bincount(own, w * far)[:, None]
        over = np.maximum(gain - SHARES * heavy, 0.0) * gain**2
        beyond += np.ceil(over * BEYOND).astype(np.int64).sum(axis=0)
        quarters = np.bincount(4 * own + np.minimum((4 * score).astype(np.int64), 3), w * value, 4 * number)
        # Less than what was earned, by the half step that each row may have been rounded up.
        earned = np.maximum(quarters.reshape(-1, 4) @ SIGNS.T / STEP - heavy / (2 * STEP), -heavy)
        for size in sizes:
            bets[:, size] += np.floor(np.log1p(BET_SIZES[size] * earned) * LOGARITHM - 1).astype(np.int64).sum(axis=0)
    return PairSums.of(nodes, bins, within, beyond, bets)


def _blocks(cluster: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Rows of some clusters at a time, and the number of each one's cluster among them."""
    order = np.argsort(cluster, kind="stable")
    ordered = cluster[order]
    start = 0
    while start < cluster.size:
        stop = int(np.searchsorted(ordered, ordered[min(start + BLOCK, cluster.size) - 1], "right"))
        yield order[start:stop], np.cumsum(np.diff(ordered[start:stop], prepend=ordered[start]) != 0)
        start = stop


def _between(x: Floats) -> tuple[Integers, Floats]:
    """The node to the left of each score, and how far it is on the way to the next."""
    left = np.minimum(np.searchsorted(NODES, x, "right") - 1, NODES.size - 2)
    return left, (x - NODES[left]) / (NODES[left + 1] - NODES[left])
