"""Random splits of the rows into batches, and what bets on them earn."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers

LARGEST_STAKE = 0.49
"""Gains are at least -1 and c at most 1, so 1 + bet (gain - c) stays positive below 1/2."""

TOGETHER = 256
"""Points whose sums are added up apart from the others: sums of sums are rounded less."""

FEW = 4
"""Up to so many rows of a point, multiplying takes less time than a logarithm."""

LARGE = 1e200
"""Products of factors are made logarithms beyond this, and below one over it."""

MANY = 1 << 13
"""Above so many rows of a pile, drawing how many go to each batch takes less time than throwing them."""

IN_A_WORD = 21
"""Rows drawn by a word of 64 bits, three of them for each."""

ALL_BITS = (1 << 64) - 1
OF_TWO, OF_FOUR, OF_EIGHT = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
ADDED_UP = 0x0101010101010101


def judged(gain: Floats, drawn: Integers, n: int, delta: float) -> Floats:
    """The size of every bet, and sums over the rows that it judges of the powers 0..4 of their gains.

    `gain` has shape (splits, batches - 1, points, 2), what is found one (splits, batches - 1, 6). The bet is the
    share that wins most against the c just below what n rows can reject, for the spread of the gains of the rows known
    before, of which a bet knows nothing else; 0 where there are none.
    """
    together, points = TOGETHER, gain.shape[2]
    bets = np.zeros((gain.shape[0], gain.shape[1], 6))
    for t in range(gain.shape[0]):
        known = np.zeros((points, 2), np.int64)
        for b in range(gain.shape[1]):
            seen = earned = squares = m0 = m1 = m2 = m3 = m4 = 0.0
            for start in range(0, points, together):
                s0 = s1 = s2 = p0 = p1 = p2 = p3 = p4 = 0.0
                for k in range(start, min(start + together, points)):
                    for y in range(2):
                        known[k, y] += drawn[t, b, k, y]
                        g, power = gain[t, b, k, y], float(known[k, y])
                        s0 += power
                        s1 += power * g
                        s2 += power * g * g
                        power = float(drawn[t, b + 1, k, y])
                        p0 += power
                        power *= g
                        p1 += power
                        power *= g
                        p2 += power
                        power *= g
                        p3 += power
                        p4 += power * g
                seen, earned, squares = seen + s0, earned + s1, squares + s2
                m0, m1, m2, m3, m4 = m0 + p0, m1 + p1, m2 + p2, m3 + p3, m4 + p4
            if seen > 0:
                mean = earned / seen
                variance = max(squares / seen - mean * mean, 0.0) + 1 / seen
                bets[t, b, 0] = min(LARGEST_STAKE, math.sqrt(2 * math.log(1 / delta) / (n * variance)))
            bets[t, b, 1], bets[t, b, 2], bets[t, b, 3], bets[t, b, 4], bets[t, b, 5] = m0, m1, m2, m3, m4
    return np.asarray(bets)


def log_growth(bet: float, gain: Floats, rows: Integers, c: float) -> float:
    """The sum over rows of log(1 + bet (gain - c)); factors of few rows are multiplied first."""
    few, large = FEW, LARGE
    total, product = 0.0, 1.0
    for k in range(rows.shape[0]):
        for y in range(2):
            here = rows[k, y]
            if here > few:
                total += here * math.log1p(bet * (gain[k, y] - c))
            elif here > 0:
                factor = 1 + bet * (gain[k, y] - c)
                for _ in range(here):
                    product *= factor
                if not 1 / large < product < large:
                    total += math.log(product)
                    product = 1.0
    return total + math.log(product)


def split_up(count: Integers, bits: NDArray[np.uint64], into: Integers, batches: Integers) -> None:
    """Add the rows of all piles but those of many to the batches; no bit is looked at twice.

    Sixty-four rows of a pile take a word for each draw, the rest three bits each of a word that piles share: never more
    words than a 21st of the rows, rounded up.
    """
    many, in_a_word = MANY, IN_A_WORD
    word, rest, left = 0, 0, 0
    for pile in range(len(count)):
        rows = count[pile]
        if rows > many:
            continue
        while rows >= 64:
            for eighth in range(len(into)):
                shown = ALL_BITS
                for draw in range(3):
                    tossed = int(bits[word + draw])
                    shown &= tossed if eighth >> draw & 1 else ~tossed & ALL_BITS
                # How many bits are set: of two, of four, of eight, of all.
                shown -= (shown >> 1) & OF_TWO
                shown = (shown & OF_FOUR) + ((shown >> 2) & OF_FOUR)
                shown = (shown + (shown >> 4)) & OF_EIGHT
                batches[into[eighth], pile] += ((shown * ADDED_UP) & ALL_BITS) >> 56
            rows -= 64
            word += 3
        for _ in range(rows):
            if left == 0:
                rest, left = int(bits[word]), in_a_word
                word += 1
            batches[into[rest & 7], pile] += 1
            rest >>= 3
            left -= 1


def by_place(cell: Integers, count: Integers, offset: Integers, left: Floats, place: Integers, places: int) -> Floats:
    """Rows, sums of their scores, and positives, by what `place` says of every cell; `left` of those that hold rows."""
    resolution = 2.0**-40  # Offsets are multiples of it.
    sums = np.zeros((3, places))
    for i in range(len(cell)):
        p = place[cell[i]]
        zeros, ones = count[i, 0], count[i, 1]
        sums[0, p] += zeros + ones
        sums[1, p] += (left[i] * zeros + offset[i, 0] * resolution) + (left[i] * ones + offset[i, 1] * resolution)
        sums[2, p] += ones
    return np.asarray(sums)


def by_block(
    cell: Integers, count: Integers, offset: Integers, left: Floats, right: Floats, inside: Floats
) -> tuple[Floats, Floats, Floats, Integers]:
    """The joined cells that hold rows, in one pass: what :class:`Points` has of them."""
    low, high = np.empty(len(cell)), np.empty(len(cell))
    way, rows = np.zeros((len(cell), 2)), np.zeros((len(cell), 2), np.int64)
    block, edge = -1, -1.0
    for i in range(len(cell)):
        c = cell[i]
        if left[c] != edge:
            edge, block = left[c], block + 1
            low[block], high[block] = edge, right[c]
        for y in range(2):
            rows[block, y] += count[i, y]
            # From the left edge of the block, first to the cell and then inside it.
            way[block, y] += count[i, y] * inside[c] + offset[i, y]
    unit = 2.0**-40  # Edges are multiples of it.
    for k in range(block + 1):
        for y in range(2):
            way[k, y] /= max(high[k] - low[k], 1.0) * max(rows[k, y], 1)
        low[k] *= unit
        high[k] *= unit
    last = block + 1
    return np.asarray(low[:last]), np.asarray(high[:last]), np.asarray(way[:last]), np.asarray(rows[:last])
