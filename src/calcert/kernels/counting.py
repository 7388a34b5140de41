"""The loops that see every row: scores and labels counted by cell, distinct scores, and records of a text.

Here in NumPy and Python; where the package was compiled, those of `counting.c` take their place, which find the same
bits and let other threads run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.kernels.clusters import slot_of

CHUNK = (1 << 19) - 1
"""Rows per call of `fill`: as many as keep the packed count (19 bits) and offset sum (45 bits) inside 64 bits."""

OFFSET_BITS = 45

NO_QUOTES = -1
"""The delimiter of text in which quotes are characters like others."""

BETWEEN, BEGIN, PLAIN, QUOTED, CLOSED, UNSOUND = range(6)
"""Where the last byte was: between records, before a value, in one, in one with quotes, after its quote; or astray."""


def fill(scores: NDArray[Any], labels: NDArray[Any], packed: NDArray[np.uint64]) -> int:
    """Add rows to `packed`, one word per cell and label: count above bit 45, offset sum below.

    Scores are float32 or float64, labels uint8, int64 or float64. Returns the first row whose score is outside [0, 1]
    or whose label is not 0 or 1, else -1; then rows before it may have been added.

    :func:`calcert.summary.cells.locate` is the same map from scores to cells, written for reading. Where the upper half
    of [0, 1] is mirrored, every bit of an integer is turned over.
    """
    good = (scores >= 0) & (scores <= 1) & ((labels == 0) | (labels == 1))
    if not good.all():
        return int(np.argmin(good))
    units = (scores.astype(np.float64) * 2.0**40).astype(np.int64)
    mirrored = -(units >> 39)  # -1 in the upper half, else 0
    distance = units ^ (mirrored & ((1 << 40) - 1))
    tier = (distance >> 28 > 0).astype(np.int64) + (distance >> 32 > 0) + (distance >> 36 > 0)
    shift = 14 + 4 * tier
    one = units == 1 << 40
    cell = np.where(one, 108544, (((distance >> shift) + 15360 * tier) ^ mirrored) + (mirrored & 108544))
    offset = np.where(one, 0, units & ((1 << shift) - 1))
    np.add.at(packed, 2 * cell + labels.astype(np.int64), ((1 << OFFSET_BITS) + offset).astype(np.uint64))
    return -1


def flush(packed: NDArray[np.uint64], count: Integers, offset: Integers) -> None:
    """Move the packed words into 64-bit counts and offset sums, and clear them."""
    words = packed.view(np.int64)
    count += (words >> OFFSET_BITS) & ((1 << 19) - 1)
    offset += words & ((1 << OFFSET_BITS) - 1)
    packed[:] = 0


def tally(bits: Integers, labels: NDArray[Any], keys: Integers, counts: Integers, filled: int, limit: int) -> int:
    """Count rows per distinct score in an open-addressing table; -1 when there are more than `limit` of them.

    `bits` are the float64 bits of the scores; an empty slot has key -1, which is no score's.
    """
    distinct, which = np.unique(bits, return_inverse=True)
    rows = np.bincount(2 * which + labels.astype(np.int64), minlength=2 * distinct.size)
    for key, zeros, ones in zip(distinct, rows[::2], rows[1::2], strict=True):
        slot = slot_of(key, keys)
        if keys[slot] == -1:
            if filled == limit:
                return -1
            keys[slot] = key
            filled += 1
        counts[2 * slot] += zeros
        counts[2 * slot + 1] += ones
    return filled


def count_records(content: NDArray[np.uint8], delimiter: int, state: int) -> tuple[int, int]:
    """The number of records that begin in these bytes, and the state after them."""
    records = 0
    for byte in content.tobytes():
        if state == QUOTED:
            if byte == 34:
                state = CLOSED
        elif state == UNSOUND:
            break
        elif byte in (10, 13):
            state = BETWEEN
        elif delimiter == NO_QUOTES:
            records += state == BETWEEN
            state = PLAIN
        elif byte == 34:
            # Where a value begins, quotes open; after a quote that may have closed them, the two are one character.
            records += state == BETWEEN
            state = UNSOUND if state == PLAIN else QUOTED
        elif byte == delimiter:
            records += state == BETWEEN
            state = BEGIN
        else:
            records += state == BETWEEN
            state = UNSOUND if state == CLOSED else PLAIN
    return records, state


try:
    from calcert.kernels._counting import count_records, fill, flush, tally  # type: ignore[no-redef]  # noqa: F401
except ImportError:
    compiled = False
else:
    compiled = True
