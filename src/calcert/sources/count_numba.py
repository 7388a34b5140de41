"""The numba kernels that read rows: one pass, serial, cached on disk, and side by side where several threads call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.compiled import compiled

CHUNK = (1 << 19) - 1
"""Rows per call of `fill`: as many as keep the packed count (19 bits) and offset sum (45 bits) inside 64 bits."""

OFFSET_BITS = 45
SLOTS = 1 << 14
"""Slots of the table of distinct scores, four times as many as may be filled."""


@compiled
def located(score: float) -> tuple[np.int64, np.int64]:
    """The cell of a score and its offset there, in multiples of 2^-40; cell -1 for what is outside [0, 1].

    The middle of [0, 1] has a path of its own because most rows take it; :func:`calcert.summary.cells.locate` is the
    same map, written for reading.
    """
    if score >= 0.0625 and score < 0.9375:
        units = np.int64(score * 1099511627776.0)
        return (units >> 26) + 46080, units & 67108863
    if score >= 0.0 and score < 1.0:
        units = np.int64(score * 1099511627776.0)
        upper = score >= 0.5
        distance = 1099511627775 - units if upper else units
        tier = np.int64(distance >= 268435456) + np.int64(distance >= 4294967296)
        shift = 14 + 4 * tier
        cell = (distance >> shift) + 15360 * tier
        return 108543 - cell if upper else cell, units & ((np.int64(1) << shift) - 1)
    return np.int64(108544) if score == 1.0 else np.int64(-1), np.int64(0)


@compiled(nogil=True)
def fill(scores: NDArray[Any], labels: NDArray[Any], packed: NDArray[np.uint64]) -> int:
    """Add rows to `packed`, one word per cell and label: count above bit 45, offset sum below.

    Returns the first row whose score is outside [0, 1] or whose label is not 0 or 1, else -1.
    """
    for i in range(scores.size):
        label = labels[i]
        cell, offset = located(np.float64(scores[i]))
        if cell < 0 or (label != 0 and label != 1):
            return i
        packed[2 * cell + np.int64(label)] += np.uint64((np.int64(1) << OFFSET_BITS) + offset)
    return -1


@compiled(nogil=True)
def flush(packed: NDArray[np.uint64], count: NDArray[np.int64], offset: NDArray[np.int64]) -> None:
    """Move the packed words into 64-bit counts and offset sums, and clear them."""
    mask = (np.uint64(1) << np.uint64(OFFSET_BITS)) - np.uint64(1)
    for j in range(packed.size):
        word = packed[j]
        if word != 0:
            count[j] += np.int64(word >> np.uint64(OFFSET_BITS))
            offset[j] += np.int64(word & mask)
            packed[j] = 0


@compiled(nogil=True)
def tally(
    bits: NDArray[np.int64],
    labels: NDArray[Any],
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    filled: int,
    limit: int,
) -> int:
    """Count rows per distinct score in an open-addressing table; -1 when there are more than `limit` of them.

    `bits` are the float64 bits of the scores; an empty slot has key -1, which is no score's.
    """
    for i in range(bits.size):
        key = bits[i]
        slot = slot_of(key, keys)
        if keys[slot] == -1:
            if filled == limit:
                return -1
            keys[slot] = key
            filled += 1
        counts[2 * slot + np.int64(labels[i])] += 1
    return filled


@compiled
def slot_of(key: int, keys: NDArray[np.int64]) -> np.int64:
    """Where a key is in an open-addressing table of `SLOTS` slots, or the empty slot where it is to be."""
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(50))
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & (SLOTS - 1)
    return slot
