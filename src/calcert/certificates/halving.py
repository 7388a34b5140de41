"""Rows thrown into batches, for lower bounds that look at blocks of cells.

What is known of a batch is how many rows of each block and label it holds. Few rows are thrown one by one; many by
tosses of a coin, three each: of c rows as many go to one side as there are ones among c random bits, so that sixty-four
are thrown at a time.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.betting import throws

Integers = NDArray[np.int64]

TOSSES = 3
"""Eight batches of many rows."""

MANY = 1 << 13
"""From so many rows on, drawing how many go to a side takes less time than tossing for each."""


FEW = 4
"""Batches of each throw where rows are few."""


def thrown(count: Integers, seed: int) -> Integers:
    """Throw every row of a table of counts, shape (points, 2), into one of some batches independently.

    Returns the counts per throw and batch, shape (throws, batches, points, 2); the batches of a throw add up to the
    table. Many rows are thrown once, few of them several times (:func:`calcert.certificates.betting.throws`). The draws
    are seeded by the seed and a digest of the counts, as in :func:`calcert.certificates.betting.split`.
    """
    digest = hashlib.sha256(count.tobytes()).digest()
    rng = np.random.default_rng([seed, 0, *np.frombuffer(digest, np.uint32).tolist()])
    number = throws(int(count.sum())).number
    if number == 1:
        return halved(count, rng)[None]
    owner = np.repeat(np.arange(count.size), count.ravel())
    batch = rng.integers(0, FEW, (number, owner.size)) + FEW * np.arange(number)[:, None]
    places = np.bincount((batch * count.size + owner).ravel(), minlength=number * FEW * count.size)
    return places.reshape(number, FEW, *count.shape)


def halved(count: Integers, rng: np.random.Generator) -> Integers:
    """One throw by three tosses of a coin for every row: shape (8, points, 2)."""
    batches = count.reshape(1, -1)
    for _ in range(TOSSES):
        heads = tossed(batches, rng)
        batches = np.concatenate([heads, batches - heads])
    return batches.reshape(1 << TOSSES, *count.shape)


def tossed(count: Integers, rng: np.random.Generator) -> Integers:
    """How many of each `count` coins show heads."""
    flat = count.ravel()
    heads = np.zeros_like(flat)
    many = np.flatnonzero(flat > MANY)
    heads[many] = rng.binomial(flat[many], 0.5)
    few = np.flatnonzero((flat > 0) & (flat <= MANY))
    if few.size:
        coins = flat[few]
        words = (coins + 63) >> 6
        last = np.cumsum(words) - 1
        bits = rng.integers(0, 1 << 64, int(last[-1]) + 1, np.uint64)
        # Every pile begins with a new word, of which the last may not be needed in full.
        bits[last] >>= (64 * words - coins).astype(np.uint64)
        heads[few] = np.add.reduceat(np.bitwise_count(bits), last - words + 1, dtype=np.int64)
    return heads.reshape(count.shape)
