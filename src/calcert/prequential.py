"""Betting: a lower confidence limit for a mean, from batches each judged by what earlier batches taught.

Rows are thrown into batches at random, independently of everything. Batch b is judged by a witness found on the batches
before it. If the mean of what the witness earns is at most c, then the wealth of a gambler who stakes a predictable share
on every row is a nonnegative supermartingale, and reaches 1/delta with probability at most delta (Ville). The lower limit
is the largest c that is rejected that way; it is valid after any batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BATCHES = 10
LARGEST_STAKE = 0.5
"""Gains are at least -1 and c at most 1, so 1 + stake (gain - c) stays nonnegative up to 1/2."""

Witness = Callable[[Integers, Integers], Floats]
"""From the counts of all earlier batches and of the last of them, a guaranteed gain per point and label."""


def split(count: Integers, seed: int) -> Integers:
    """Throw every row into one of the batches independently: shape (batches, points, 2), adding up to `count`."""
    rng = np.random.default_rng(seed)
    remaining, batches = count.copy(), []
    for left in range(BATCHES, 1, -1):
        drawn = rng.binomial(remaining, 1 / left)
        batches.append(drawn)
        remaining = remaining - drawn
    return np.stack([*batches, remaining])


def lower_limit(count: Integers, delta: float, seed: int, witness: Witness) -> float:
    """The largest c at which wealth reaches 1/delta.

    Guarantee
        If `witness` returns at most the true gain of each row, and no gain's mean exceeds CE, the result is at most CE
        with probability at least 1 - delta.
    """
    batches = split(count, seed)
    rounds: list[tuple[float, Floats, Integers]] = []
    total = int(count.sum())
    for b in range(1, BATCHES):
        known = batches[:b].sum(axis=0)
        if known.sum() == 0:
            continue
        gain = witness(known, batches[b - 1])
        rounds.append((_stake(gain, known, total, delta), gain, batches[b]))

    def evidence(c: float) -> float:
        """The largest logarithm of wealth so far over ln(1/delta): c is rejected where it is not negative."""
        wealth = np.cumsum([(rows * np.log1p(stake * (gain - c))).sum() for stake, gain, rows in rounds])
        return float(wealth.max()) - math.log(1 / delta) - 1e-9

    # Stakes do not depend on c, so wealth falls with c and the rejected values form an interval.
    if not rounds or evidence(0.0) < 0:
        return 0.0
    limit = brentq(evidence, 0.0, 1.0, xtol=1e-8)
    while evidence(limit) < 0:
        limit = max(0.0, limit - 1e-7)
    return float(limit)


def _stake(gain: Floats, known: Integers, total: int, delta: float) -> float:
    """The share that wins most against the c just below what can be rejected, for the spread seen so far."""
    seen = known.sum()
    mean = (known * gain).sum() / seen
    variance = float((known * (gain - mean) ** 2).sum() / seen) + 1 / float(seen)
    return min(LARGEST_STAKE, math.sqrt(2 * math.log(1 / delta) / (total * variance)))
