"""Rows thrown into batches, for lower bounds that look at blocks of cells.

What is known of a batch is how many rows of each block and label it holds. Few rows are thrown one by one; many by
three tosses of a coin each, the bits of one stream: a word throws 21 rows, and three words throw 64 of a pile at once.
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

EIGHTHS, PAIRS = (0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 2, 2, 3, 3, 4, 4)
"""The batch of many rows that each eighth of them goes to."""

PAIRED = 50_000
"""From so many rows on the last six eighths are judged in pairs: finding witnesses takes longest, and fewer do."""

MANY = 1 << 13
"""Above so many rows of a pile, drawing how many go to each batch takes less time than throwing them."""

IN_A_WORD = 21
"""Rows thrown by a word of 64 bits, three of them for each."""


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
    table. Many rows are thrown once, into eighths; few several times, into batches with the parts `few`. The draws
    are seeded by the seed and a digest of the counts: with the seed alone, data sets that differ a little would be
    split almost alike, and one unlucky split would be unlucky for all of them.
    """
    rng = np.random.default_rng([seed, 0, *np.frombuffer(_digest(count), np.uint32).tolist()])
    rows = int(count.sum())
    number = throws(rows)
    if number == 1:
        return in_eighths(count, rng, PAIRS if rows >= PAIRED else EIGHTHS)[None]
    owner = np.repeat(np.arange(count.size), count.ravel())
    batch = np.repeat(np.arange(len(few)), few)[rng.integers(0, sum(few), (number, owner.size))]
    batch += len(few) * np.arange(number)[:, None]
    places = np.bincount((batch * count.size + owner).ravel(), minlength=number * len(few) * count.size)
    return places.reshape(number, len(few), *count.shape)


def _digest(count: Integers) -> bytes:
    """A digest of counts, each in as few bytes as the largest needs."""
    size = np.min_scalar_type(int(count.max()))
    return hashlib.sha256(size.char.encode() + count.astype(size).tobytes()).digest()


def in_eighths(count: Integers, rng: np.random.Generator, batch_of: tuple[int, ...] = EIGHTHS) -> Integers:
    """One throw into eighths, each of which goes to a batch: shape (batches, points, 2)."""
    piles, into = count.ravel(), np.array(batch_of)
    parts = np.bincount(into)
    batches = np.zeros((parts.size, piles.size), np.int64)
    many = np.flatnonzero(piles > MANY)
    batches[:, many] = rng.multinomial(piles[many], parts / into.size).T
    words = -(-int(piles.sum() - piles[many].sum()) // IN_A_WORD)
    throw(piles, rng.integers(0, 1 << 64, words, np.uint64), into, batches)
    return batches.reshape(parts.size, *count.shape)


@compiled
def throw(count: Integers, bits: Words, into: Integers, batches: Integers) -> None:
    """Add the rows of all piles but those of many to the batches; no bit is looked at twice.

    Sixty-four rows of a pile take a word for each toss, the rest three bits each of a word that piles share: never more
    words than a 21st of the rows, rounded up.
    """
    word, rest, left = 0, np.uint64(0), 0
    for pile in range(count.size):
        rows = count[pile]
        if rows > MANY:
            continue
        while rows >= 64:
            for eighth in range(into.size):
                shown = ~np.uint64(0)
                for toss in range(3):
                    shown &= bits[word + toss] if eighth >> toss & 1 else ~bits[word + toss]
                # How many bits are set: of two, of four, of eight, of all.
                shown -= (shown >> np.uint64(1)) & np.uint64(0x5555555555555555)
                shown = (shown & np.uint64(0x3333333333333333)) + (
                    (shown >> np.uint64(2)) & np.uint64(0x3333333333333333)
                )
                shown = (shown + (shown >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                batches[into[eighth], pile] += np.int64((shown * np.uint64(0x0101010101010101)) >> np.uint64(56))
            rows -= 64
            word += 3
        for _ in range(rows):
            if left == 0:
                rest, left = bits[word], IN_A_WORD
                word += 1
            batches[into[np.int64(rest & np.uint64(7))], pile] += 1
            rest >>= np.uint64(3)
            left -= 1
