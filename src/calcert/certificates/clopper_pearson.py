"""Limits for the mean chance of coins that need not be alike, from how many of them fell on 1: Theorems 13 and 14.

For equal coins these are the limits of Clopper and Pearson (1934). Coins that differ fall on few 1s, or on many, less
often than equal ones of the same mean chance, as long as few means at least one fewer than expected (Hoeffding 1956).
A limit that never excludes a mean within one of the count is therefore theirs as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SLACK = 1e-9
"""Relative widening of every limit, far more than SciPy's inverse is wrong by; 1e-12 of it absolute."""


def share_upper(hits: Integers, coins: Integers, delta: ArrayLike) -> Floats:
    """D4: upper limits for the mean chance of independent coins, `hits` of which fell on 1.

    Guarantee
        With probability at least 1 - delta the mean of the chances is at most the result, whether they differ or not.
    """
    hits, coins = np.asarray(hits), np.asarray(coins)
    missed = np.maximum(coins - hits, 1)
    limit = betainccinv(hits + 1.0, missed.astype(np.float64), delta)
    limit = np.maximum(limit * (1 + SLACK) + 1e-12, (hits + 1) / coins)
    return np.asarray(np.where(hits < coins, np.minimum(limit, 1.0), 1.0))


def share_lower(hits: Integers, coins: Integers, delta: ArrayLike) -> Floats:
    """D4, the other tail."""
    return 1 - share_upper(np.asarray(coins) - hits, coins, delta)
