"""Blocks of scores, by which memories remember rows, and how fast they forget them."""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.summary import cells
from calcert.summary.summary import Summary

CELLS_PER_BLOCK = 64
BLOCKS = cells.CELLS // CELLS_PER_BLOCK + 1
"""Blocks are 1/256 wide in the middle of [0, 1] and finer near its ends, as cells are."""

HALF_LIVES = (4_000.0, 32_000.0, math.inf)
"""Rows after which a memory has forgotten half: one for sudden changes, one for slow ones, one for none at all."""


def kept_after(rows: int) -> Floats:
    """The share of what each memory knows that is left after so many more rows."""
    return np.array([2.0 ** -(rows / half_life) for half_life in HALF_LIVES])


def block_of(batch: Summary) -> Integers:
    """The block of each of the batch's points."""
    if not batch.is_finite:
        return batch.cell // CELLS_PER_BLOCK
    cell, _ = cells.locate(np.floor(batch.values * cells.UNIT).astype(np.int64))
    return cell // CELLS_PER_BLOCK


def per_block(batch: Summary) -> Floats:
    """Rows, sum of x - y and sum of (x - y)^2 per block, the last from the mean score of each cell."""
    block, rows = batch.cell // CELLS_PER_BLOCK, batch.count.sum(axis=1)
    score = batch.score_sum.sum(axis=1)
    mean = score / rows
    square = batch.count[:, 0] * mean**2 + batch.count[:, 1] * (1 - mean) ** 2
    return np.stack([np.bincount(block, values, BLOCKS) for values in (rows, score - batch.count[:, 1], square)])
