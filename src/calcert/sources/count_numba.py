"""The numba kernels that count rows, with and without weights: one pass, serial, cached on disk.

Those without weights run side by side where several threads call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled

CHUNK = (1 << 19) - 1
"""Rows per call of `fill`: as many as keep the packed count (19 bits) and offset sum (45 bits) inside 64 bits."""

OFFSET_BITS = 45
BLOCK = 1 << 12
"""Rows that are located at once: what is found of them stays in memory near the processor."""

SLOTS = 1 << 14
"""Slots of the table of distinct scores, four times as many as may be filled."""


@compiled
def located(score: float) -> tuple[np.int64, np.int64]:
    """The cell of a score in [0, 1] and its offset there, in multiples of 2^-40.

    :func:`calcert.summary.cells.locate` is the same map, written for reading. Here it has no branches, so that several
    rows go through it at once: where the upper half of [0, 1] is mirrored, every bit of an integer is turned over.
    """
    units = np.int64(score * 1099511627776.0)
    mirrored = -(units >> 39)  # -1 in the upper half, else 0
    distance = units ^ (mirrored & 1099511627775)
    tier = np.int64(distance >= 268435456) + np.int64(distance >= 4294967296) + np.int64(distance >= 68719476736)
    shift = 14 + 4 * tier
    cell = (((distance >> shift) + 15360 * tier) ^ mirrored) + (mirrored & 108544)
    offset = units & ((np.int64(1) << shift) - 1)
    one = units == 1099511627776
    return np.int64(108544) if one else cell, np.int64(0) if one else offset


@compiled(nogil=True)
def fill(scores: NDArray[Any], labels: NDArray[Any], packed: NDArray[np.uint64]) -> int:
    """Add rows to `packed`, one word per cell and label: count above bit 45, offset sum below.

    Returns the first row whose score is outside [0, 1] or whose label is not 0 or 1, else -1. A block of rows is
    checked and located first, which a processor does with several at once, and added to its words then.
    """
    slot, word = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    for start in range(0, scores.size, BLOCK):
        size = min(BLOCK, scores.size - start)
        x, y = scores[start : start + size], labels[start : start + size]
        good = 1
        for j in range(size):
            good &= is_row(np.float64(x[j]), y[j])
        if not good:
            for j in range(size):
                if not is_row(np.float64(x[j]), y[j]):
                    return start + j
        for j in range(size):
            cell, offset = located(np.float64(x[j]))
            slot[j] = 2 * cell + np.int64(y[j])
            word[j] = np.uint64((np.int64(1) << OFFSET_BITS) + offset)
        for j in range(size):
            packed[np.uint64(slot[j])] += word[j]
    return -1


@compiled
def is_row(score: float, label: float) -> np.int64:
    """1 for a score in [0, 1] with a label that is 0 or 1, else 0."""
    return np.int64(score >= 0.0) & np.int64(score <= 1.0) & (np.int64(label == 0) | np.int64(label == 1))


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


@compiled
def place_rows(scores: Floats, labels: Integers, weight: Integers, counted: Integers, slot: Integers) -> None:
    """Add rows with scores in [0, 1] and weights, 1 where there are none, to count and offset sum of their slot.

    `slot` gets twice their cell plus their label.
    """
    for i in range(scores.size):
        cell, inside = located(scores[i])
        w = weight[i] if weight.size else 1
        slot[i] = 2 * cell + labels[i]
        counted[slot[i], 0] += w
        counted[slot[i], 1] += w * inside


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
def tally_weights(
    bits: Integers, labels: Integers, weight: Integers, keys: Integers, counts: Integers, filled: int, limit: int
) -> int:
    """:func:`tally` for rows with weights."""
    for i in range(bits.size):
        slot = slot_of(bits[i], keys)
        if keys[slot] == -1:
            if filled == limit:
                return -1
            keys[slot] = bits[i]
            filled += 1
        counts[2 * slot + labels[i]] += weight[i] if weight.size else 1
    return filled


@compiled
def slot_of(key: int, keys: NDArray[np.int64]) -> np.int64:
    """Where a key is in an open-addressing table of `SLOTS` slots, or the empty slot where it is to be."""
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(50))
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & (SLOTS - 1)
    return slot
