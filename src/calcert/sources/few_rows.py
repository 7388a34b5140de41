"""Rows that are few, counted with NumPy alone: a few million take less time than importing numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.points import across_labels
from calcert.summary.summary import Summary

SORTED = 1 << 17
"""Up to so many rows, sorting them takes no longer than a table of all cells."""

BLOCK = 1 << 17
"""Rows that are put into the table at once: what is found on the way stays in memory near the processor."""

FIRST = 1 << cells.TIER_BITS[-1]
"""From here to as far from 1, in units, all cells are of the widest kind."""

MIDDLE = int(cells.locate(np.array([FIRST]))[0][0]) - (FIRST >> 26)


def count_few(x: NDArray[Any], y: NDArray[Any]) -> Summary:
    """The Summary of rows in memory that were checked: scores in [0, 1] and labels 0 or 1."""
    return _sorted(x, y) if x.size <= SORTED else _in_table(x, y)


def _sorted(x: NDArray[Any], y: NDArray[Any]) -> Summary:
    order = np.argsort(x)
    score, label = x[order].astype(np.float64) + 0.0, y[order].astype(np.int64)  # -0.0 is the score 0.0
    cell, inside = cells.locate((score * cells.UNIT).astype(np.int64))
    found, place = _runs(cell)
    count, offset = _sums(place, label, found.size), _sums(place, label, found.size, inside)
    distinct, place = _runs(score.view(np.int64))
    if distinct.size > DISTINCT_LIMIT:
        return Summary(found, count, offset, None, None)
    return Summary(found, count, offset, distinct, _sums(place, label, distinct.size))


def _in_table(x: NDArray[Any], y: NDArray[Any]) -> Summary:
    count, offset = np.zeros((2, cells.CELLS, 2), np.int64)
    for start in range(0, x.size, BLOCK):
        units = (x[start : start + BLOCK].astype(np.float64) * cells.UNIT).astype(np.int64)
        # Most rows lie where all cells have one width; the general map is for the others.
        cell, inside = (units >> 26) + MIDDLE, units & (cells.WIDEST - 1)
        others = np.flatnonzero((units < FIRST) | (units >= cells.UNIT - FIRST))
        cell[others], inside[others] = cells.locate(units[others])
        label = y[start : start + BLOCK].astype(np.int64)
        count += _sums(cell, label, cells.CELLS)
        offset += _sums(cell, label, cells.CELLS, inside)
    found = np.flatnonzero(across_labels(count))
    bits = (x.astype(np.float64) + 0.0).view(np.int64)
    # Many distinct scores show themselves in the first rows, mostly.
    if np.unique(bits[: 2 * DISTINCT_LIMIT]).size <= DISTINCT_LIMIT:
        distinct, place = np.unique(bits, return_inverse=True)
        if distinct.size <= DISTINCT_LIMIT:
            listed = _sums(place, y.astype(np.int64), distinct.size)
            return Summary(found, count[found], offset[found], distinct, listed)
    return Summary(found, count[found], offset[found], None, None)


def _runs(values: Integers) -> tuple[Integers, Integers]:
    """The different ones of sorted values, and for each row its place among them."""
    new = np.diff(values, prepend=-1) != 0
    return values[new], np.cumsum(new) - 1


def _sums(place: Integers, label: Integers, places: int, of: Integers | None = None) -> Integers:
    """Rows by place and label, or what they add up to: below 2^53, so that doubles hold it."""
    return np.bincount(2 * place + label, of, 2 * places).astype(np.int64).reshape(-1, 2)
