"""Rows that are few, counted with NumPy alone: a few million take less time than importing numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.summary import Summary

SORTED = 1 << 17
"""Up to so many rows, sorting them takes no longer than a table of all cells."""


def count_few(x: NDArray[Any], y: NDArray[Any]) -> Summary | None:
    """The Summary of rows in memory; None where one of them is none."""
    if not ((x >= 0) & (x <= 1) & ((y == 0) | (y == 1))).all():
        return None
    few = x.size <= SORTED
    order = np.argsort(x) if few else slice(None)
    score, label = x[order].astype(np.float64) + 0.0, y[order].astype(np.int64)  # -0.0 is the score 0.0
    cell, inside = cells.locate((score * cells.UNIT).astype(np.int64))
    found, place = _runs(cell) if few else _in_table(cell)
    slot = 2 * place + label
    count = np.bincount(slot, minlength=2 * found.size).reshape(-1, 2)
    offset = np.bincount(slot, inside, 2 * found.size).astype(np.int64).reshape(-1, 2)  # below 2^53, so exact
    bits = score.view(np.int64)
    # Many distinct scores show themselves in the first rows, mostly.
    if not few and np.unique(bits[: 2 * DISTINCT_LIMIT]).size > DISTINCT_LIMIT:
        return Summary(found, count, offset, None, None)
    distinct, place = _runs(bits) if few else np.unique(bits, return_inverse=True)
    if distinct.size > DISTINCT_LIMIT:
        return Summary(found, count, offset, None, None)
    listed = np.bincount(2 * place + label, minlength=2 * distinct.size).reshape(-1, 2)
    return Summary(found, count, offset, distinct, listed)


def _runs(values: Integers) -> tuple[Integers, Integers]:
    """The different ones of sorted values, and for each row its place among them."""
    new = np.diff(values, prepend=-1) != 0
    return values[new], np.cumsum(new) - 1


def _in_table(cell: Integers) -> tuple[Integers, Integers]:
    """The cells that hold rows, and for each row the place of its cell among them."""
    held = np.bincount(cell, minlength=cells.CELLS) > 0
    return np.flatnonzero(held), (np.cumsum(held) - 1)[cell]
