"""The kernels of :mod:`calcert.sources.count_numba` once more, in NumPy: slower by the row, but ready at once.

Importing numba takes longer than a few million rows take here, which is most of the time of a command on a small file.
Rows that are few are sorted, and no table of all cells is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.summary import Summary

CHUNK = (1 << 19) - 1
OFFSET_BITS = 45
SLOTS = 1 << 14
FIRST = 1 << cells.TIER_BITS[-1]
"""From here to as far from 1, in units, all cells are of the widest kind."""

MIDDLE = int(cells.locate(np.array([FIRST]))[0][0]) - (FIRST >> 26)
BLOCK = 1 << 16
"""Rows at a time, so that what is computed on the way stays in the cache."""


def fill(scores: NDArray[Any], labels: NDArray[Any], packed: NDArray[np.uint64]) -> int:
    """As :func:`calcert.sources.count_numba.fill`."""
    bad = ~((scores >= 0) & (scores <= 1) & ((labels == 0) | (labels == 1)))
    if bad.any():
        return int(np.argmax(bad))
    slot, offset = np.empty(scores.size, np.int64), np.empty(scores.size)
    for start in range(0, scores.size, BLOCK):
        here = slice(start, start + BLOCK)
        units = (scores[here].astype(np.float64) * cells.UNIT).astype(np.int64)
        # Most rows lie where all cells have one width; the general map is for the others.
        cell, inside = (units >> 26) + MIDDLE, units & (cells.WIDEST - 1)
        others = np.flatnonzero((units < FIRST) | (units >= cells.UNIT - FIRST))
        cell[others], inside[others] = cells.locate(units[others])
        slot[here], offset[here] = 2 * cell + labels[here].astype(np.int64), inside
    # Sums of a chunk are below 2^45, so that doubles hold them exactly.
    count = np.bincount(slot, minlength=packed.size)
    total = np.bincount(slot, offset, packed.size).astype(np.int64)
    packed += ((count << OFFSET_BITS) + total).astype(np.uint64)
    return -1


def flush(packed: NDArray[np.uint64], count: NDArray[np.int64], offset: NDArray[np.int64]) -> None:
    """As :func:`calcert.sources.count_numba.flush`."""
    count += (packed >> np.uint64(OFFSET_BITS)).astype(np.int64)
    offset += (packed & np.uint64((1 << OFFSET_BITS) - 1)).astype(np.int64)
    packed[:] = 0


def tally(
    bits: NDArray[np.int64],
    labels: NDArray[Any],
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    filled: int,
    limit: int,
) -> int:
    """As :func:`calcert.sources.count_numba.tally`, into the same table."""
    # Continuous scores show themselves in the first rows; sorting all of them would cost more than everything else.
    if np.unique(bits[: 2 * limit]).size > limit:
        return -1
    for label in (0, 1):
        found, rows = np.unique(bits[labels == label], return_counts=True)
        if found.size > limit:
            return -1
        for key, count in zip(found.tolist(), rows.tolist(), strict=True):
            slot = (key * 0x9E3779B97F4A7C15 & (1 << 64) - 1) >> 50
            while keys[slot] != key and keys[slot] != -1:
                slot = (slot + 1) & (SLOTS - 1)
            if keys[slot] == -1:
                if filled == limit:
                    return -1
                keys[slot] = key
                filled += 1
            counts[2 * slot + label] += count
    return filled


def few_rows(x: NDArray[Any], y: NDArray[Any]) -> Summary | None:
    """The Summary of so few rows that sorting them takes less time than a table of all cells; None of bad ones."""
    if not ((x >= 0) & (x <= 1) & ((y == 0) | (y == 1))).all():
        return None
    order = np.argsort(x)
    score, label = x[order].astype(np.float64) + 0.0, y[order].astype(np.int64)  # -0.0 is the score 0.0
    cell, inside = cells.locate((score * cells.UNIT).astype(np.int64))
    found, slot = _listed(cell, label)
    count = np.bincount(slot, minlength=2 * found.size)
    offset = np.bincount(slot, inside, 2 * found.size).astype(np.int64)  # below 2^53, so exact
    distinct, slot = _listed(score.view(np.int64), label)
    if distinct.size > DISTINCT_LIMIT:
        return Summary(found, count.reshape(-1, 2), offset.reshape(-1, 2), None, None)
    listed = np.bincount(slot, minlength=2 * distinct.size)
    return Summary(found, count.reshape(-1, 2), offset.reshape(-1, 2), distinct, listed.reshape(-1, 2))


def _listed(values: NDArray[np.int64], label: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different ones of sorted values, and for each row its place in a table of them by label."""
    new = np.diff(values, prepend=-1) != 0
    return values[new], 2 * np.cumsum(new) - 2 + label
