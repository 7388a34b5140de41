"""The numba kernels that add up rows by cluster, and number names of clusters that are text: serial, cached on disk.

Clusters are told apart by the whole identifier or name: a hash only says where to look.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled

Bytes = NDArray[np.uint8]

PARTS_BITS = 6
PARTS = 1 << PARTS_BITS
"""Clusters are added up in so many parts, each small enough for the fast memory of a processor."""

FAR_BITS = 21
"""|y - x| in multiples of 2^-20 has so many bits."""

FAR = (1 << FAR_BITS) - 1


@compiled
def mixed(key: int) -> np.uint64:
    """64 bits that depend on all bits of a key."""
    bits = np.uint64(key)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return bits ^ (bits >> np.uint64(29))


@compiled
def sort_out(
    ids: Integers, scores: Floats, slot: Integers, weight: Integers, key: Integers, what: Integers, heavy: Integers
) -> Integers:
    """Rows by the part of their cluster: its identifier, slot and |y - x| in one word, and the weight if there is one.

    |y - x| is rounded up to a multiple of 2^-20. Returns where parts begin, and the end.
    """
    ends = np.zeros(PARTS + 1, np.int64)
    shift = np.uint64(64 - PARTS_BITS)
    for i in range(ids.size):
        ends[np.int64(mixed(ids[i]) >> shift) + 1] += 1
    for part in range(PARTS):
        ends[part + 1] += ends[part]
    place = ends.copy()
    for i in range(ids.size):
        into = np.int64(mixed(ids[i]) >> shift)
        at = place[into]
        place[into] += 1
        scaled = scores[i] * 1048576.0
        down = np.int64(scaled)
        far = 1048576 - down if slot[i] & 1 else down + np.int64(scaled > down)
        key[at] = ids[i]
        what[at] = (slot[i] << FAR_BITS) | far
        if weight.size:
            heavy[at] = weight[i]
    return ends


@compiled
def add_up(key: Integers, what: Integers, weight: Integers, table: Integers, found: Integers) -> int:
    """Weight and gain of clusters, and where in the table each row `found` its cluster.

    `table` has identifier, weight and gain in a number of slots that is a power of two; weight 0 where it is empty.
    Returns the number of clusters, -1 where more than three quarters of the table would be filled.
    """
    number, mask = 0, table.shape[0] - 1
    for i in range(key.size):
        at = np.int64(mixed(key[i]) & np.uint64(mask))
        while table[at, 1] > 0 and table[at, 0] != key[i]:
            at = (at + 1) & mask
        if table[at, 1] == 0:
            if 4 * number >= 3 * table.shape[0]:
                return -1
            table[at, 0] = key[i]
            number += 1
        w = weight[i] if weight.size else 1
        table[at, 1] += w
        table[at, 2] += w * (what[i] & FAR)
        found[i] = at
    return number


@compiled
def pair_up(found: Integers, what: Integers, weight: Integers, table: Integers, pairs: Integers) -> None:
    """Add the weight of each row times that of its cluster to the row's slot."""
    for i in range(found.size):
        w = weight[i] if weight.size else 1
        pairs[what[i] >> FAR_BITS] += w * table[found[i], 1]


class ClusterTexts:
    """All different texts so far, in the order in which they came; they are compared byte by byte."""

    def __init__(self) -> None:
        self._table = np.zeros((1 << 10, 2), np.int64)
        self._known = np.zeros(1 << 14, np.uint8)
        self._ends = np.zeros(1 << 10, np.int64)
        self.number = 0

    def numbers(self, text: NDArray[np.uint8], ends: Integers) -> Integers:
        """The number of each of some texts, text[ends[i]:ends[i + 1]]."""
        found, done = np.empty(ends.size - 1, np.int64), 0
        while done < found.size:
            kept = self._table, self._known, self._ends, self.number
            more, self.number = number_names(text, ends[done:], *kept, found[done:])
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
