"""What a witness may know of the rows: blocks of cells, and how many rows of each a random split puts into each batch.

At a distance x from the nearer end of [0, 1] the mean label of n rows is known to about the root of x / n, so blocks
are as wide as a constant times the root of x. The constant depends on n and on nothing else of the rows. Which cells
hold rows does not move the edges of blocks, so that witnesses may be told them.

All rows are split several times, and more often if their table of counts may well come again: then its splits decide
for all who see it. Few rows are drawn one by one; many by three random bits each, from one stream: a word splits 21
rows, three words split 64 of a pile at once.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.bets import IN_A_WORD, MANY, split_up
from calcert.summary import cells
from calcert.summary.points import Partition, Points, across_labels, joined
from calcert.summary.summary import Summary

FOR_WITNESSES = 5e-4
"""Blocks for lower bounds are as wide as this times the root of the distance from the nearer end: 2^-12 in the middle.
"""


def blocks(summary: Summary, scale: float) -> Points:
    """The cells put together up to widths of `scale` times the root of x, rounded down to a power of two."""
    return joined(summary.cell, summary.count, summary.offset, _partition(_rings(scale)))


@lru_cache(maxsize=4)
def middles(summary: Summary, scale: float = FOR_WITNESSES) -> Points:
    """Such blocks for witnesses, with all rows in their middles: as much as is known of a part of the rows."""
    known = blocks(summary, scale)
    return replace(known, fraction=np.full(known.count.shape, 0.5))


def _rings(scale: float) -> tuple[int, ...]:
    """Logarithms of the widths of blocks, in units of 2^-40, by the bits of the distance from the nearer end."""
    widest = cells.SCORE_BITS + math.log2(scale)
    wanted = [math.floor(widest + (bits - cells.SCORE_BITS) / 2) for bits in range(41)]
    # Distances of different bits are never put together, so that a block has one width.
    return tuple(min(max(width, 0), max(bits - 1, 0)) for bits, width in enumerate(wanted))


@lru_cache(maxsize=8)
def _partition(rings: tuple[int, ...]) -> Partition:
    number = np.arange(cells.CELL_OF_ONE)
    left, wide = cells.bounds(number)
    upper = number >= cells.LOWER_HALF
    near = np.where(upper, cells.UNIT - left - wide, left)
    across = np.maximum(wide, np.int64(1) << np.array(rings)[np.frexp(near.astype(np.float64))[1]])
    start = near & -across
    edge = np.where(upper, cells.UNIT - start - across, start)
    # Score 1 has a cell of its own, of width 0, and a block likewise.
    last = float(cells.UNIT)
    return np.append(edge, last), np.append(edge + across, last), np.append(left - edge, 0.0)


Words = NDArray[np.uint64]


class Parts(NamedTuple):
    """What part of the rows each batch of a split gets: a choice by their number alone.

    Few rows are drawn one by one, into batches with these parts; of more rows and of many each eighth goes to a batch.
    """

    few: tuple[int, ...]
    more: tuple[int, ...]
    many: tuple[int, ...]


ALIKE = Parts((1, 1, 1, 1), (0, 0, 1, 1, 2, 2, 3, 3), (0, 0, 1, 1, 1, 1, 1, 1))
GROWING = Parts((3, 4, 5, 8), (0, 1, 1, 2, 2, 3, 3, 3), (0, 0, 1, 1, 1, 2, 2, 2))
TRIED = Parts((3, 4, 5, 8), (0, 1, 2, 2, 2, 3, 3, 3), (0, 1, 2, 2, 2, 3, 3, 3))
"""Alike, or more for better witnesses; of many rows a quarter teaches most of what there is to learn.

Witnesses that are chosen by how others did before want some batches to be tried on.
"""

MORE_ROWS, MANY_ROWS = 5_000, 50_000

SPLITS, OF_MANY, OF_LIKELY = 3, 2, 16
"""One split may be unlucky for a likely table of counts, and then is for all that have it; the mean of 16 seldom is."""

LIKELY = 1e-3
"""Tables that no distribution gives this probability are split three times, or twice if they are of many rows."""


@lru_cache(maxsize=2)
def splits(points: Points, seed: int, parts: Parts = ALIKE) -> Integers:
    """Every row of the points drawn into one of some batches independently, once for all statements that look at them.

    Returns the counts per split and batch, shape (splits, batches, points, 2); the batches of a split add up to the
    counts. The draws are seeded by the seed and a digest of points and counts: with the seed alone, data sets that
    differ a little would be split almost alike, and one unlucky split would be unlucky for all of them. How many splits
    there are may depend on the rows, because splits are alike and know nothing of them (theory, "The seed").
    """
    count = points.count
    rng = np.random.default_rng([seed, 0, *np.frombuffer(_digest(points), np.uint32).tolist()])
    rows, likely = int(count.sum()), largest_probability(count) > LIKELY
    if rows >= MANY_ROWS:
        return in_eighths(count, rng, parts.many, OF_LIKELY if likely else OF_MANY)
    number = OF_LIKELY if likely else SPLITS
    if rows >= MORE_ROWS:
        return in_eighths(count, rng, parts.more, number)
    owner = np.repeat(np.arange(count.size), count.ravel())
    batch_of = np.repeat(np.arange(len(parts.few)), parts.few)
    batch = batch_of[rng.integers(0, batch_of.size, (number, owner.size))] + len(parts.few) * np.arange(number)[:, None]
    places = np.bincount((batch * count.size + owner).ravel(), minlength=number * len(parts.few) * count.size)
    return places.reshape(number, len(parts.few), *count.shape)


def largest_probability(count: Integers) -> float:
    """At least the probability of this table of counts under any distribution, by Stirling's formula."""
    rows, piles = int(count.sum()), count[:64]
    likely = math.log(2 * math.pi * rows) - float(np.log(2 * math.pi * piles[piles > 0]).sum())
    return math.exp(likely / 2 + 1 / (12 * rows))


def _digest(points: Points) -> bytes:
    """A digest of where points begin and of their counts, each in as few bytes as the largest needs."""
    size = np.min_scalar_type(int(points.count.max()))
    found = hashlib.sha256(size.char.encode() + points.count.astype(size).tobytes())
    found.update(points.low.tobytes())
    return found.digest()


def in_eighths(count: Integers, rng: np.random.Generator, batch_of: tuple[int, ...], number: int) -> Integers:
    """Splits into eighths, each of which goes to a batch: shape (number, batches, points, 2)."""
    piles, into = count.ravel(), np.array(batch_of)
    parts = np.bincount(into)
    batches = np.zeros((number, parts.size, piles.size), np.int64)
    many = np.flatnonzero(piles > MANY)
    words = -(-int(piles.sum() - piles[many].sum()) // IN_A_WORD)
    for split in batches:
        split[:, many] = rng.multinomial(piles[many], parts / into.size).T
        split_up(piles, rng.integers(0, 1 << 64, words, np.uint64), into, split)
    return batches.reshape(number, parts.size, *count.shape)


def net_of(points: Points, known: Integers) -> Floats:
    """The sum of x - y over the known rows of each point, all in its middle: what the signs of a witness go by."""
    return np.asarray((points.low + points.high) / 2 * across_labels(known) - known[:, 1])


def worst_gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst, gain = np.where(f >= 0, points.low, points.high), np.empty((f.size, 2))
    gain[:, 0], gain[:, 1] = f * worst, f * (worst - 1)
    return gain
