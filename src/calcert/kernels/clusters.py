"""Rows counted with weights, added up by cluster, and names of clusters that are text, numbered.

Clusters are told apart by the whole identifier or name: a hash only says where to look.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers

Bytes = NDArray[np.uint8]

PARTS_BITS = 6
PARTS = 1 << PARTS_BITS
"""Clusters are added up in so many parts, each small enough for the fast memory of a processor."""

FAR_BITS = 21
"""|y - x| in multiples of 2^-20 has so many bits."""

SLOTS = 1 << 14
"""Slots of the table of distinct scores, four times as many as may be filled."""

# Words of 64 bits, in C where kernels are compiled: products are cut to them.
_WORD = (1 << 64) - 1
_SPREADING, _START, _FACTOR = 0x9E3779B97F4A7C15, 14695981039346656037, 1099511628211
_FAR_BITS, _FAR, _PARTS, _SHIFT, _LAST = FAR_BITS, (1 << FAR_BITS) - 1, PARTS, 64 - PARTS_BITS, SLOTS - 1
_BELOW_ONE = (1 << 40) - 1


def _located(score: float) -> tuple[int, int]:
    """The cell of a score in [0, 1] and its offset there, in multiples of 2^-40, without branches.

    :func:`calcert.summary.cells.locate` is the same map, written for reading. Where the upper half of [0, 1] is
    mirrored, every bit of an integer is turned over.
    """
    units = int(score * 1099511627776.0)
    if units > _BELOW_ONE:
        return 108544, 0
    mirrored = -(units >> 39)  # -1 in the upper half, else 0
    distance = units ^ (mirrored & _BELOW_ONE)
    tier = (distance >> 28 > 0) + (distance >> 32 > 0) + (distance >> 36 > 0)
    shift = 14 + 4 * tier
    one = 1
    cell = (((distance >> shift) + 15360 * tier) ^ mirrored) + (mirrored & 108544)
    return cell, units & ((one << shift) - 1)


def place_rows(scores: Floats, labels: Integers, weight: Integers, counted: Integers, slot: Integers) -> None:
    """Add rows with scores in [0, 1] and weights, 1 where there are none, to count and offset sum of their slot.

    `slot` gets twice their cell plus their label.
    """
    weighed = len(weight) > 0
    for i in range(len(scores)):
        cell, inside = _located(scores[i])
        w = weight[i] if weighed else 1
        cell = 2 * cell + labels[i]
        slot[i] = cell
        counted[cell, 0] += w
        counted[cell, 1] += w * inside


def tally_weights(
    bits: Integers, labels: Integers, weight: Integers, keys: Integers, counts: Integers, filled: int, limit: int
) -> int:
    """Count rows with weights per distinct score in an open-addressing table; -1 if they are more than `limit`.

    `bits` are the float64 bits of the scores; an empty slot has key -1, which is no score's.
    """
    weighed = len(weight) > 0
    for i in range(len(bits)):
        key = bits[i]
        slot = slot_of(key, keys)
        if keys[slot] == -1:
            if filled == limit:
                return -1
            keys[slot] = key
            filled += 1
        counts[2 * slot + labels[i]] += weight[i] if weighed else 1
    return filled


def slot_of(key: int, keys: Integers) -> int:
    """Where a key is in an open-addressing table of `SLOTS` slots, or the empty slot where it is to be."""
    word = int(key)
    slot = (((word & _WORD) * _SPREADING) & _WORD) >> 50
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & _LAST
    return slot


def mixed(key: int) -> int:
    """64 bits that depend on all bits of a key."""
    word = int(key)
    bits = word & _WORD
    bits = ((bits ^ (bits >> 32)) * _SPREADING) & _WORD
    return bits ^ (bits >> 29)


def sort_out(
    ids: Integers, scores: Floats, slot: Integers, weight: Integers, key: Integers, what: Integers, heavy: Integers
) -> Integers:
    """Rows by the part of their cluster: its identifier, slot and |y - x| in one word, and the weight if there is one.

    |y - x| is rounded up to a multiple of 2^-20. Returns where parts begin, and the end.
    """
    ends = np.zeros(_PARTS + 1, np.int64)
    weighed = len(weight) > 0
    for i in range(len(ids)):
        into = mixed(ids[i]) >> _SHIFT
        ends[into + 1] += 1
    for part in range(_PARTS):
        ends[part + 1] += ends[part]
    place = ends.copy()
    for i in range(len(ids)):
        into = mixed(ids[i]) >> _SHIFT
        at = place[into]
        place[into] += 1
        scaled = scores[i] * 1048576.0
        down = int(scaled)
        far = 1048576 - down if slot[i] & 1 else down + (scaled > down)
        key[at] = ids[i]
        what[at] = (slot[i] << _FAR_BITS) | far
        if weighed:
            heavy[at] = weight[i]
    return np.asarray(ends)


def add_up(key: Integers, what: Integers, weight: Integers, table: Integers, found: Integers) -> int:
    """Weight and gain of clusters, and where in the table each row `found` its cluster.

    `table` has identifier, weight and gain in a number of slots that is a power of two; weight 0 where it is empty.
    Returns the number of clusters, -1 where more than three quarters of the table would be filled.
    """
    number, mask, weighed = 0, table.shape[0] - 1, len(weight) > 0
    for i in range(len(key)):
        at = mixed(key[i]) & mask
        while table[at, 1] > 0 and table[at, 0] != key[i]:
            at = (at + 1) & mask
        if table[at, 1] == 0:
            if 4 * number >= 3 * table.shape[0]:
                return -1
            table[at, 0] = key[i]
            number += 1
        w = weight[i] if weighed else 1
        table[at, 1] += w
        table[at, 2] += w * (what[i] & _FAR)
        found[i] = at
    return number


def pair_up(found: Integers, what: Integers, weight: Integers, table: Integers, pairs: Integers) -> None:
    """Add the weight of each row times that of its cluster to the row's slot."""
    weighed = len(weight) > 0
    for i in range(len(found)):
        w = weight[i] if weighed else 1
        pairs[what[i] >> _FAR_BITS] += w * table[found[i], 1]


def add_products(cluster: Integers, place: Integers, value: Integers, table: Integers) -> None:
    """Add, for every cluster, the products of what any two places hold; rows of a cluster come one after the other.

    Each row adds its values to its places.
    """
    held, touched = np.zeros(len(table), np.int64), np.empty(len(table), np.int64)
    known, count = np.zeros(len(table), np.uint8), 0
    for i in range(len(cluster)):
        for j in range(place.shape[1]):
            at = place[i, j]
            if not known[at]:
                known[at] = 1
                touched[count] = at
                count += 1
            held[at] += value[i, j]
        if i + 1 == len(cluster) or cluster[i + 1] != cluster[i]:
            for a in range(count):
                for b in range(count):
                    table[touched[a], touched[b]] += held[touched[a]] * held[touched[b]]
            for a in range(count):
                held[touched[a]] = known[touched[a]] = 0
            count = 0


def number_names(
    text: Bytes, ends: Integers, table: Integers, known: Bytes, known_ends: Integers, number: int, found: Integers
) -> tuple[int, int]:
    """Number names in the order in which they come; name i is text[ends[i]:ends[i + 1]], and `found` gets its number.

    `known` has the bytes of all names, one after the other, and `table` half of their hash and their number plus 1, 0
    where it is empty, in a number of slots that is a power of two. Returns the first name that found no room, and how
    many names there are.
    """
    mask = table.shape[0] - 1
    for i in range(len(found)):
        start, size = ends[i], ends[i + 1] - ends[i]
        bits = _START
        for j in range(size):
            byte = int(text[start + j])
            bits = ((bits ^ byte) * _FACTOR) & _WORD
        half = bits >> 1
        at = mixed(half) & mask
        while table[at, 1] > 0 and not (
            table[at, 0] == half and _is_name(text, start, size, known, known_ends, table[at, 1] - 1)
        ):
            at = (at + 1) & mask
        if table[at, 1] == 0:
            last = known_ends[number]
            if 4 * number >= 3 * table.shape[0] or number + 2 > len(known_ends) or last + size > len(known):
                return i, number
            for j in range(size):
                known[last + j] = text[start + j]
            number += 1
            known_ends[number] = last + size
            table[at, 0] = half
            table[at, 1] = number
        found[i] = table[at, 1] - 1
    return len(found), number


def _is_name(text: Bytes, start: int, size: int, known: Bytes, known_ends: Integers, number: int) -> bool:
    """Whether some text is the name that has this number, byte by byte."""
    first = known_ends[number]
    if known_ends[number + 1] - first != size:
        return False
    for j in range(size):  # noqa: SIM110 - a generator is no loop in C.
        if text[start + j] != known[first + j]:
            return False
    return True


def move_names(old: Integers, new: Integers) -> None:
    """All of a table of names into a larger one."""
    mask = new.shape[0] - 1
    for i in range(old.shape[0]):
        if old[i, 1] > 0:
            at = mixed(old[i, 0]) & mask
            while new[at, 1] > 0:
                at = (at + 1) & mask
            new[at, 0] = old[i, 0]
            new[at, 1] = old[i, 1]
