"""The numba kernels that add up rows by cluster: serial, cached on disk.

Clusters are told apart by the whole identifier: a hash only says where to look.
"""

from __future__ import annotations

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled

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
