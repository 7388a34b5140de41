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

BLOCK = 1 << 15
"""Rows that are located at once: what is found on the way stays in memory near the processor."""


def count_few(x: NDArray[Any], y: NDArray[Any]) -> Summary | None:
    """The Summary of rows in memory; None where one of them is none."""
    if not ((x >= 0) & (x <= 1) & ((y == 0) | (y == 1))).all():
        return None
    few = x.size <= SORTED
    order = np.argsort(x) if few else slice(None)
    score, label = x[order].astype(np.float64) + 0.0, y[order].astype(np.int64)  # -0.0 is the score 0.0
    cell, inside = np.empty(score.size, np.int64), np.empty(score.size)
    for start in range(0, score.size, BLOCK):
        here = slice(start, start + BLOCK)
        cell[here], inside[here] = cells.locate((score[here] * cells.UNIT).astype(np.int64))
    found, place = _runs(cell) if few else (np.arange(cells.CELLS), cell)
    count, offset = _sums(place, label, found.size), _sums(place, label, found.size, inside)  # below 2^53, so exact
    if not few:
        found = np.flatnonzero(across_labels(count))
        count, offset = count[found], offset[found]
    bits = score.view(np.int64)
    # Many distinct scores show themselves in the first rows, mostly.
    if not few and np.unique(bits[: 2 * DISTINCT_LIMIT]).size > DISTINCT_LIMIT:
        return Summary(found, count, offset, None, None)
    distinct, place = _runs(bits) if few else np.unique(bits, return_inverse=True)
    if distinct.size > DISTINCT_LIMIT:
        return Summary(found, count, offset, None, None)
    return Summary(found, count, offset, distinct, _sums(place, label, distinct.size))


def _runs(values: Integers) -> tuple[Integers, Integers]:
    """The different ones of sorted values, and for each row its place among them."""
    new = np.diff(values, prepend=-1) != 0
    return values[new], np.cumsum(new) - 1


def _sums(place: Integers, label: Integers, places: int, of: NDArray[Any] | None = None) -> Integers:
    """Rows by place and label, or what they add up to."""
    return np.bincount(2 * place + label, of, 2 * places).astype(np.int64).reshape(-1, 2)
