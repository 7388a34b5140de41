"""Names of clusters that are text, numbered by a compiled hash table: a hash only says where to look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.compiled import compiled
from calcert.sources.units.cluster_sums_numba import mixed

Bytes = NDArray[np.uint8]


class ClusterTexts:
    """All different texts so far, in the order in which they came; they are compared byte by byte."""

    def __init__(self) -> None:
        self._table = np.zeros((1 << 10, 2), np.int64)
        self._known = np.zeros(1 << 14, np.uint8)
        self._ends = np.zeros(1 << 10, np.int64)
        self._number = 0

    def numbers(self, text: NDArray[np.uint8], ends: Integers) -> Integers:
        """The number of each of some texts, text[ends[i]:ends[i + 1]]."""
        found, done = np.empty(ends.size - 1, np.int64), 0
        while done < found.size:
            kept = self._table, self._known, self._ends, self._number
            more, self._number = number_names(text, ends[done:], *kept, found[done:])
            done += more
            if done < found.size:
                self._grow(int(ends[done + 1] - ends[done]))
        return found

    def _grow(self, size: int) -> None:
        table = np.zeros((2 * self._table.shape[0], 2), np.int64)
        move_names(self._table, table)
        self._table = table
        self._known = np.concatenate([self._known, np.zeros(self._known.size + size, np.uint8)])
        self._ends = np.concatenate([self._ends, np.zeros_like(self._ends)])


@compiled
def number_names(
    text: Bytes, ends: Integers, table: Integers, known: Bytes, known_ends: Integers, number: int, found: Integers
) -> tuple[int, int]:
    """Number names in the order in which they come; name i is text[ends[i]:ends[i + 1]], and `found` gets its number.

    `known` has the bytes of all names, one after the other, and `table` half of their hash and their number plus 1, 0
    where it is empty, in a number of slots that is a power of two. Returns the first name that found no room, and how
    many names there are.
    """
    mask = table.shape[0] - 1
    for i in range(found.size):
        start, size = ends[i], ends[i + 1] - ends[i]
        bits = np.uint64(14695981039346656037)
        for j in range(size):
            bits = (bits ^ np.uint64(text[start + j])) * np.uint64(1099511628211)
        half = np.int64(bits >> np.uint64(1))
        at = np.int64(mixed(half) & np.uint64(mask))
        while table[at, 1] > 0 and not (
            table[at, 0] == half and _is_name(text, start, size, known, known_ends, table[at, 1] - 1)
        ):
            at = (at + 1) & mask
        if table[at, 1] == 0:
            last = known_ends[number]
            if 4 * number >= 3 * table.shape[0] or number + 2 > known_ends.size or last + size > known.size:
                return i, number
            for j in range(size):
                known[last + j] = text[start + j]
            number += 1
            known_ends[number] = last + size
            table[at, 0] = half
            table[at, 1] = number
        found[i] = table[at, 1] - 1
    return found.size, number


@compiled
def _is_name(text: Bytes, start: int, size: int, known: Bytes, known_ends: Integers, number: int) -> bool:
    """Whether some text is the name that has this number, byte by byte."""
    first = known_ends[number]
    if known_ends[number + 1] - first != size:
        return False
    for j in range(size):  # noqa: SIM110 - numba has no generators here.
        if text[start + j] != known[first + j]:
            return False
    return True


@compiled
def move_names(old: Integers, new: Integers) -> None:
    """All of a table of names into a larger one."""
    mask = new.shape[0] - 1
    for i in range(old.shape[0]):
        if old[i, 1] > 0:
            at = np.int64(mixed(old[i, 0]) & np.uint64(mask))
            while new[at, 1] > 0:
                at = (at + 1) & mask
            new[at, 0] = old[i, 0]
            new[at, 1] = old[i, 1]
