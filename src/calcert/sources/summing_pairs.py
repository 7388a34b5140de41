"""Pair sums of rows in memory: what places hold of each unit, and the products of any two places added up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.summary.pair_sums import (
    BEYOND,
    BINS,
    EDGES,
    HEAVIEST_SQUARES,
    LOGARITHM,
    NODES,
    SHARES,
    SIGNS,
    STAKES,
    STEP,
    PairSums,
)
from calcert.summary.units import GAIN, Units

BLOCK = 1 << 20
"""Rows that are paired at a time, all of whose units are whole."""


def pair_sums(x: Floats, label: Integers, weight: Integers, cluster: Integers, units: Units) -> PairSums:
    """From rows of one label each: scores, labels, weights in quanta and clusters; and what is known of all units."""
    # Importing it takes a while: only those who ask for pair sums pay.
    from scipy.sparse import csr_matrix

    if units.squares >= HEAVIEST_SQUARES:
        raise OverflowError(
            "pair_sums must have clusters whose squared weights add up to less than 2^37; got clusters of up to "
            f"{units.largest * units.design.quantum:g}. Leave pair_sums out, or pass a larger weight_unit."
        )
    nodes, bins = np.zeros((NODES.size, NODES.size), np.int64), np.zeros((BINS, BINS), np.int64)
    within, beyond = np.zeros(BINS, np.int64), np.zeros(SHARES.size, np.int64)
    bets = np.zeros((SIGNS.shape[0], STAKES.size), np.int64)
    # Wealth must not be lost whatever a unit does: its A is at most its weight in size.
    stakes = np.flatnonzero(STAKES * units.largest <= STAKES[0])
    for rows, unit in _blocks(cluster):
        score, w, number = x[rows], weight[rows], int(unit[-1]) + 1
        value = np.rint(score * STEP).astype(np.int64) - label[rows] * STEP
        left, way = _between(score)
        moved = w * np.rint(value * way).astype(np.int64)
        there = np.concatenate([unit, unit]), np.concatenate([left, left + 1])
        nodes += _products(csr_matrix((np.concatenate([w * value - moved, moved]), there), (number, NODES.size)))
        where = unit, np.searchsorted(EDGES, score, "right")
        bins += _products(csr_matrix((w * value, where), (number, BINS)))
        # Rounding |x - y| to the nearest step is made up for by one step more.
        large = csr_matrix((w * (np.abs(value) + 1), where), (number, BINS))
        within += np.asarray(large.power(2).sum(axis=0), np.int64).ravel()
        heavy = np.bincount(unit, w)[:, None]
        far = np.where(label[rows], 1 - np.floor(score * GAIN) / GAIN, np.ceil(score * GAIN) / GAIN)
        gain = np.bincount(unit, w * far)[:, None]
        over = np.maximum(gain - SHARES * heavy, 0.0) * gain**2
        beyond += np.ceil(over * BEYOND).astype(np.int64).sum(axis=0)
        quarters = np.bincount(4 * unit + np.minimum((4 * score).astype(np.int64), 3), w * value, 4 * number)
        # Less than what was earned, by the half step that each row may have been rounded up.
        earned = np.maximum(quarters.reshape(-1, 4) @ SIGNS.T / STEP - heavy / (2 * STEP), -heavy)
        for stake in stakes:
            bets[:, stake] += np.floor(np.log1p(STAKES[stake] * earned) * LOGARITHM - 1).astype(np.int64).sum(axis=0)
    return PairSums.of(nodes, bins, within, beyond, bets)


def _blocks(cluster: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Rows of some units at a time, and the number of each one's unit among them."""
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


def _products(held: Any) -> Integers:
    """Sums over units of products of what any two places hold."""
    return np.asarray((held.T @ held).todense(), np.int64)
