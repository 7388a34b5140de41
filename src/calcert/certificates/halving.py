"""Rows thrown into batches, for lower bounds that look at blocks of cells.

What is known of a batch is how many rows of each block and label it holds. Few rows are thrown one by one; many by
tosses of a coin, three each: of c rows as many go to one side as there are ones among c random bits, so that sixty-four
are thrown at a time.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.compiled import compiled
from calcert.summary.points import Points

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

TOSSES = 3
"""Eight batches of many rows."""

MANY = 1 << 13
"""From so many rows on, drawing how many go to a side takes less time than tossing for each."""


FEW, GROWING = (1, 1, 1, 1), (3, 4, 5, 8)
"""Parts of the rows that the batches of each throw get where rows are few: alike, or more for better witnesses."""


MANY_ROWS = 5000
ONE, SEVERAL = 1, 3
"""Three throws into four batches need as many witnesses as one throw into ten, and find no less."""


def throws(n: int) -> int:
    """One throw of many rows, several of few: a choice by the number of rows alone."""
    return ONE if n >= MANY_ROWS else SEVERAL


@lru_cache(maxsize=2)
def thrown(points: Points, seed: int, few: tuple[int, ...] = FEW) -> Integers:
    """The rows of blocks thrown into batches, once for all statements that look at them."""
    return thrown_counts(points.count, seed, few)


def thrown_counts(count: Integers, seed: int, few: tuple[int, ...] = FEW) -> Integers:
    """Throw every row of a table of counts, shape (points, 2), into one of some batches independently.

    Returns the counts per throw and batch, shape (throws, batches, points, 2); the batches of a throw add up to the
    table. Many rows are thrown once, into eight batches; few several times, into those with the parts `few`. The draws
    are seeded by the seed and a digest of the counts: with the seed alone, data sets that differ a little would be
    split almost alike, and one unlucky split would be unlucky for all of them.
    """
    digest = hashlib.sha256(count.tobytes()).digest()
    rng = np.random.default_rng([seed, 0, *np.frombuffer(digest, np.uint32).tolist()])
    number = throws(int(count.sum()))
    if number == 1:
        return halved(count, rng)[None]
    owner = np.repeat(np.arange(count.size), count.ravel())
    batch = np.repeat(np.arange(len(few)), few)[rng.integers(0, sum(few), (number, owner.size))]
    batch += len(few) * np.arange(number)[:, None]
    places = np.bincount((batch * count.size + owner).ravel(), minlength=number * len(few) * count.size)
    return places.reshape(number, len(few), *count.shape)


def halved(count: Integers, rng: np.random.Generator) -> Integers:
    """One throw by three tosses of a coin for every row: shape (8, points, 2)."""
    batches = count.flatten()
    for _ in range(TOSSES):
        batches = tossed(batches, rng).ravel()
    return batches.reshape(1 << TOSSES, *count.shape)


def tossed(count: Integers, rng: np.random.Generator) -> Integers:
    """How many of each `count` coins show heads, and how many tails."""
    sides = np.zeros((2, count.size), np.int64)
    many = np.flatnonzero(count > MANY)
    sides[0, many] = rng.binomial(count[many], 0.5)
    turn(count, rng.integers(0, 1 << 64, int(words(count)), np.uint64), sides)
    return sides


@compiled
def words(count: Integers) -> int:
    """How many random words the piles need that are tossed for coin by coin."""
    total = 0
    for coins in count:
        if coins <= MANY:
            total += (coins + 63) >> 6
    return total


@compiled
def turn(count: Integers, bits: Words, sides: Integers) -> None:
    """Fill in the sides that the coins show: every pile of few begins with a new word."""
    word = 0
    for pile in range(count.size):
        coins = count[pile]
        if coins <= MANY:
            while coins > 0:
                # Of the last word of a pile only as many bits are looked at as there are coins left.
                shown = bits[word] >> np.uint64(max(64 - coins, 0))
                shown -= (shown >> np.uint64(1)) & np.uint64(0x5555555555555555)
                shown = (shown & np.uint64(0x3333333333333333)) + (
                    (shown >> np.uint64(2)) & np.uint64(0x3333333333333333)
                )
                shown = (shown + (shown >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                sides[0, pile] += np.int64((shown * np.uint64(0x0101010101010101)) >> np.uint64(56))
                coins -= 64
                word += 1
        sides[1, pile] = count[pile] - sides[0, pile]
