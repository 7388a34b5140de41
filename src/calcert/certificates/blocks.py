"""Blocks: cells put together where they are finer than the rows can tell, for Theorem 6.

At a distance x from the nearer end of [0, 1] the mean label of n rows is known to about the root of x / n, so blocks
are as wide as a constant times the root of x. The constant depends on n and on nothing else of the rows. Which cells
hold rows does not move the edges of blocks, so that witnesses may be told them.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from calcert.summary.cells import SCORE_BITS
from calcert.summary.counts import Points, Summary

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def blocks(summary: Summary, scale: float) -> Points:
    """The cells put together up to widths of `scale` times the root of x, rounded down to a power of two."""
    rings = np.zeros(SCORE_BITS + 1, np.int64)
    for ring in range(1, SCORE_BITS + 1):
        # Distances from 2^(ring - 1) to 2^ring units of 2^-40 are never put together with others.
        wanted = math.floor(SCORE_BITS + math.log2(scale) + (ring - SCORE_BITS) / 2)
        rings[ring] = min(max(wanted, 0), ring - 1)
    return Points(*join(summary.cell, summary.count, summary.offset, rings))


@numba.njit(cache=True)
def join(cell: Integers, count: Integers, offset: Integers, rings: Integers) -> tuple[Floats, Floats, Floats, Integers]:
    """Low and high end of the blocks that hold rows, mean position inside per label, and rows per label.

    `rings` holds the logarithms of the widths of blocks by the bits of the distance from the nearer end. Edges of cells
    are those of :func:`calcert.summary.cells.bounds`, which is the same map, written for reading.
    """
    unit = 2.0**-40
    found, last, bits = 0, -1, 0
    for i in range(cell.size):
        _, start, _, bits = _block(cell[i], rings, bits)
        if start != last:
            found, last = found + 1, start
    low, high = np.empty(found), np.empty(found)
    inside, rows = np.zeros((found, 2)), np.zeros((found, 2), np.int64)
    found, last, bits = -1, -1, 0
    for i in range(cell.size):
        left, start, end, bits = _block(cell[i], rings, bits)
        if start != last:
            found, last = found + 1, start
            low[found], high[found] = start * unit, end * unit
        for y in range(2):
            inside[found, y] += float(left - start) * count[i, y] + offset[i, y]
            rows[found, y] += count[i, y]
    for i in range(found + 1):
        for y in range(2):
            inside[i, y] *= unit / (max(high[i] - low[i], unit) * max(rows[i, y], 1))
    return low, high, inside, rows


@numba.njit(cache=True)
def _block(cell: int, rings: Integers, bits: int) -> tuple[int, int, int, int]:
    """Left edge of a cell, both edges of its block, and the bits of its distance from the nearer end, in units.

    `bits` is that of the cell before, from which it is seldom far.
    """
    if cell == 108544:
        return 1 << 40, 1 << 40, 1 << 40, bits
    upper = cell >= 54272
    number = 108543 - cell if upper else cell
    tier = min(max((number - 1024) // 15360, 0), 3)
    shift = 14 + 4 * tier
    near = (number - 15360 * tier) << shift
    while near >> bits:
        bits += 1
    while bits > 0 and not near >> (bits - 1):
        bits -= 1
    wide = 1 << max(shift, rings[bits])
    start = near & -wide
    if upper:
        return (1 << 40) - near - (1 << shift), (1 << 40) - start - wide, (1 << 40) - start, bits
    return near, start, start + wide, bits
