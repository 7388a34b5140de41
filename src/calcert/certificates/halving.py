"""Rows thrown into eight batches by three tosses of a coin each, for the lower bound of Theorem 6.

What a Summary knows of a batch is how many rows of each block and label it holds. Of c rows as many go to one side as
there are ones among c random bits: sixty-four rows are thrown at a time.
"""

from __future__ import annotations

import hashlib

import numba
import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

TOSSES = 3
MANY = 1 << 13
"""From so many rows on, drawing how many go to a side takes less time than tossing for each."""


def halved(count: Integers, seed: int) -> Integers:
    """Throw every row of a table of counts, shape (points, 2), into one of 8 batches independently.

    Returns the counts per batch, shape (8, points, 2), which add up to the table.

    The draws are seeded by the seed and by a digest of the counts, as in :func:`calcert.certificates.betting.split`.
    """
    digest = hashlib.sha256(count.tobytes()).digest()
    rng = np.random.default_rng([seed, *np.frombuffer(digest, np.uint32).tolist()])
    batches = count.reshape(1, -1)
    for _ in range(TOSSES):
        many = batches > MANY
        tossed = np.where(many, 0, batches)
        words = (tossed + 63) >> 6
        ones = heads(tossed, rng.integers(0, 1 << 64, int(words.sum()), np.uint64))
        if many.any():
            ones[many] = rng.binomial(batches[many], 0.5)
        batches = np.concatenate([ones, batches - ones])
    return batches.reshape(1 << TOSSES, *count.shape)


@numba.njit(cache=True)
def heads(tossed: Integers, words: NDArray[np.uint64]) -> Integers:
    """The number of ones among as many bits as rows are to be tossed; every entry begins with a new word."""
    found = np.zeros(tossed.shape, np.int64)
    at = 0
    for b in range(tossed.shape[0]):
        for i in range(tossed.shape[1]):
            left = tossed[b, i]
            while left > 0:
                word = words[at]
                at += 1
                if left < 64:
                    word &= (np.uint64(1) << np.uint64(left)) - np.uint64(1)
                found[b, i] += _ones(word)
                left -= 64
    return found


@numba.njit(cache=True)
def _ones(word: np.uint64) -> np.int64:
    """The number of ones among the bits of a word, added up in pairs, fours and eights."""
    w = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    w = (w & np.uint64(0x3333333333333333)) + ((w >> np.uint64(2)) & np.uint64(0x3333333333333333))
    w = (w + (w >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((w * np.uint64(0x0101010101010101)) >> np.uint64(56))
