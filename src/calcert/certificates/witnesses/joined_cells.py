"""Blocks: cells put together where they are finer than the rows can tell, for Theorem 6 and for witnesses.

At a distance x from the nearer end of [0, 1] the mean label of n rows is known to about the root of x / n, so blocks
are as wide as a constant times the root of x. The constant depends on n and on nothing else of the rows. Which cells
hold rows does not move the edges of blocks, so that witnesses may be told them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from calcert.summary import cells
from calcert.summary.points import Partition, Points, joined
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
