"""Sums over the cells of a Summary, one pass each: by block, and by stretch of nearly equal scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.compiled import compiled
from calcert.summary.cells import RESOLUTION

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def by_block(
    cell: Integers, count: Integers, offset: Integers, left: Floats, right: Floats, inside: Floats
) -> tuple[Floats, Floats, Floats, Integers]:
    """Both edges of the blocks that hold rows as scores, how far rows are on the way, and their number, per label.

    `left`, `right` and `inside` say of every cell that there is where its block lies, and the cell in it.
    """
    low, high = np.empty(cell.size), np.empty(cell.size)
    way, rows = np.zeros((cell.size, 2)), np.zeros((cell.size, 2), np.int64)
    block, edge = -1, -1.0
    for i in range(cell.size):
        c = cell[i]
        if left[c] != edge:
            edge, block = left[c], block + 1
            low[block], high[block] = edge, right[c]
        for y in range(2):
            rows[block, y] += count[i, y]
            # From the left edge of the block, first to the cell and then inside it.
            way[block, y] += count[i, y] * inside[c] + offset[i, y]
    for k in range(block + 1):
        for y in range(2):
            way[k, y] /= max(high[k] - low[k], 1.0) * max(rows[k, y], 1)
        low[k] *= RESOLUTION
        high[k] *= RESOLUTION
    return low[: block + 1], high[: block + 1], way[: block + 1], rows[: block + 1]


@compiled
def by_place(cell: Integers, count: Integers, offset: Integers, left: Floats, place: Integers, places: int) -> Floats:
    """Rows, sums of their scores, and positives, by what `place` says of every cell; `left` of those that hold rows."""
    sums = np.zeros((3, places))
    for i in range(cell.size):
        p = place[cell[i]]
        zeros, ones = count[i, 0], count[i, 1]
        sums[0, p] += zeros + ones
        sums[1, p] += (left[i] * zeros + offset[i, 0] * RESOLUTION) + (left[i] * ones + offset[i, 1] * RESOLUTION)
        sums[2, p] += ones
    return sums
