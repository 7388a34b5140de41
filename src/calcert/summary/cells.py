"""Where a score lives: the fixed partition of [0, 1] into cells.

A score is read as the integer ``floor(score * 2**40)``, which binary floating point computes exactly, so that every
engine agrees to the last bit. Cells are 2^-14 wide in the middle and four bits finer each time the distance to the
nearer end falls below 2^-4, 2^-8 and 2^-12 (2^-26 wide at the ends), because real scores crowd there. Score exactly 1
has a cell of its own. Cell numbers grow with the score, and the partition is symmetric about 1/2.

========================  ==========  =====================
distance to nearer end    cell width  cells on each side
========================  ==========  =====================
below 2^-12               2^-26       16384
2^-12 to 2^-8             2^-22       15360
2^-8 to 2^-4              2^-18       15360
2^-4 to 1/2               2^-14       7168
========================  ==========  =====================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SCORE_BITS = 40
"""A score is known to 2^-40: the integer part of score * 2^40."""

UNIT = 1 << SCORE_BITS
HALF = UNIT >> 1
RESOLUTION = 2.0**-SCORE_BITS

TIER_BITS = (28, 32, 36)
"""Distances below 2^28, 2^32, 2^36 units (2^-12, 2^-8, 2^-4) have finer cells."""

FINEST_SHIFT = 14
TIER_CELLS = 15360
LOWER_HALF = 16384 + 2 * TIER_CELLS + 7168
CELL_OF_ONE = 2 * LOWER_HALF
CELLS = CELL_OF_ONE + 1

WIDEST = 1 << 26
"""Width of the widest cells, in units: every cell lies between two neighbouring multiples of it."""

DISTINCT_LIMIT = 4096
"""Distinct scores are listed exactly up to this number."""

BITS_OF_ONE = int(np.float64(1.0).view(np.int64))
"""Floats that are not negative are ordered as their bits: scores in [0, 1] are the integers from 0 to this."""


def locate(units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cell number and offset inside the cell of scores given in units of 2^-40."""
    upper = units >= HALF
    distance = np.where(upper, UNIT - 1 - units, units)
    tier = sum((distance >= (1 << bits)).astype(np.int64) for bits in TIER_BITS)
    shift = FINEST_SHIFT + 4 * tier
    cell = (distance >> shift) + TIER_CELLS * tier
    cell = np.where(upper, CELL_OF_ONE - 1 - cell, cell)
    offset = units & ((np.int64(1) << shift) - 1)
    one = units == UNIT
    return np.where(one, CELL_OF_ONE, cell), np.where(one, 0, offset)


def bounds(cell: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Left edge and width of cells, in units of 2^-40; the cell of score 1 has width 0."""
    upper = cell >= LOWER_HALF
    mirrored = np.where(upper, CELL_OF_ONE - 1 - cell, cell)
    tier = np.clip((mirrored - 1024) // TIER_CELLS, 0, 3)
    shift = FINEST_SHIFT + 4 * tier
    left = (mirrored - TIER_CELLS * tier) << shift
    width = np.int64(1) << shift
    left = np.where(upper, UNIT - left - width, left)
    one = cell == CELL_OF_ONE
    return np.where(one, UNIT, left), np.where(one, 0, width)


class Piece(NamedTuple):
    """A stretch of [0, 1] of equal cells: from score `start` on, the cell is floor(score * scale) + base."""

    start: float
    scale: int
    base: int


def _pieces() -> tuple[Piece, ...]:
    ends = [1 << bits for bits in TIER_BITS]
    starts = np.array([0, *ends, *(UNIT - end for end in reversed(ends))])
    cell, _ = locate(starts)
    _, width = bounds(cell)
    return tuple(
        Piece(start * RESOLUTION, UNIT // wide, number - start // wide)
        for start, wide, number in zip(starts.tolist(), width.tolist(), cell.tolist(), strict=True)
    )


PIECES = _pieces()
"""The partition as query engines compute it, exactly and without bit operations, in increasing order of score.

Score 1 needs no case of its own: the last piece takes it to the cell after all others.
"""
