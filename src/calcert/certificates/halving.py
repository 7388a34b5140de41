"""Rows thrown into batches by tosses of a coin, two each or three, for lower bounds that look at blocks of cells.

What is known of a batch is how many rows of each block and label it holds. Of c rows as many go to one side as there
are ones among c random bits: sixty-four rows are thrown at a time.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.betting import throws

Integers = NDArray[np.int64]

TOSSES = {1: 3, 3: 2}
"""By the number of throws: eight batches of one, four of each of three, which need a witness or two more."""

MANY = 1 << 13
"""From so many rows on, drawing how many go to a side takes less time than tossing for each."""


def thrown(count: Integers, seed: int) -> Integers:
    """The rows of every block and label thrown into batches, once or several times as their number has it."""
    number = throws(int(count.sum())).number
    return np.stack([halved(count, seed, TOSSES[number], throw) for throw in range(number)])


def halved(count: Integers, seed: int, tosses: int, throw: int = 0) -> Integers:
    """Throw every row of a table of counts, shape (points, 2), into one of 2^tosses batches independently.

    Returns the counts per batch, shape (2^tosses, points, 2), which add up to the table. The draws are seeded by the
    seed, the number of the throw and a digest of the counts, as in :func:`calcert.certificates.betting.split`.
    """
    digest = hashlib.sha256(count.tobytes()).digest()
    rng = np.random.default_rng([seed, throw, *np.frombuffer(digest, np.uint32).tolist()])
    batches = count.reshape(1, -1)
    for _ in range(tosses):
        heads = tossed(batches, rng)
        batches = np.concatenate([heads, batches - heads])
    return batches.reshape(1 << tosses, *count.shape)


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
