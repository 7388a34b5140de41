"""Betting: a lower confidence limit for a mean, from batches each judged by what earlier batches taught.

Rows are thrown into batches at random, independently of everything. Batch b is judged by a witness found on the batches
before it. If the mean of what the witness earns is at most c, then the wealth of a gambler who stakes a predictable
share on every row is a nonnegative supermartingale, and reaches 1/delta with probability at most delta (Ville). The
lower limit is the largest c that is rejected that way; it is valid after any batch. The probability is over the rows
and the batches: a seed stands for the latter and must not be shopped for.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from calcert.summary.counts import Summary

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BATCHES = 10
LARGEST_STAKE = 0.49
"""Gains are at least -1 and c at most 1, so 1 + stake (gain - c) stays positive below 1/2."""

FEW_ROWS = 48
"""Up to so many rows of a cell and label, throwing each takes less time than drawing how many go to every batch."""

SMALL_STAKE = 0.03
"""Up to this stake logarithms are bounded by four terms of their series."""

Witness = Callable[[Integers, Integers], Floats]
"""From the counts of all earlier batches and of the last of them, a guaranteed gain per point and label."""

Throws = Callable[[int], Integers]
"""From a seed, the rows thrown into batches: shape (batches, points, 2)."""


@lru_cache(maxsize=2)
def split(summary: Summary, seed: int) -> Integers:
    """Throw every row into one of the batches independently: shape (batches, cells, 2), adding up to the counts.

    The draws are seeded by the seed and by a digest of the Summary. With the seed alone, data sets that differ a little
    would be split almost alike, and one unlucky split would be unlucky for all of them.
    """
    digest = hashlib.sha256(b"".join(a.tobytes() for a in (summary.cell, summary.count, summary.offset))).digest()
    rng = np.random.default_rng([seed, *np.frombuffer(digest, np.uint32).tolist()])
    count = summary.count.ravel()
    few = count <= FEW_ROWS
    owner = np.repeat(np.flatnonzero(few), count[few])
    thrown = rng.integers(0, BATCHES, owner.size, np.uint8)
    batches = np.bincount(owner + thrown * np.int64(count.size), minlength=BATCHES * count.size).reshape(
        BATCHES, count.size
    )
    many = np.flatnonzero(~few)
    remaining = count[many]
    for left in range(BATCHES, 1, -1):
        drawn = rng.binomial(remaining, 1 / left)
        batches[BATCHES - left, many] = drawn
        remaining = remaining - drawn
    batches[-1, many] = remaining
    return batches.reshape(BATCHES, *summary.count.shape)


def lower_limit(
    summary: Summary,
    delta: float,
    seed: int,
    witness: Witness,
    start: Integers | None = None,
    throws: Throws | None = None,
) -> float:
    """The largest c at which wealth reaches 1/delta.

    Guarantee
        If `witness` returns at most the true gain of each row, and no gain's mean exceeds CE, the result is at most CE
        with probability at least 1 - delta.

    The witness is told and judged by counts per cell, or per run of cells that begins at `start`, or as `throws` has
    them.
    """
    batches = split(summary, seed) if throws is None else throws(seed)
    if start is not None:
        batches = np.add.reduceat(batches, start, axis=1)
    rounds: list[Round] = []
    known = np.zeros_like(batches[0])
    for b in range(1, len(batches)):
        known = known + batches[b - 1]
        if known.sum() == 0:
            continue
        gain = witness(known, batches[b - 1])
        rounds.append(Round(_stake(gain, known, summary.n, delta), gain, batches[b]))

    def evidence(c: float) -> float:
        """The largest logarithm of wealth so far over ln(1/delta): c is rejected where it is not negative."""
        return float(np.cumsum([r.log_wealth(c) for r in rounds]).max()) - math.log(1 / delta) - 1e-6

    # Stakes do not depend on c, so wealth falls with c and the rejected values form an interval.
    if not rounds or evidence(0.0) < 0:
        return 0.0
    earned = max(r.moments[1] / max(r.moments[0], 1) for r in rounds)
    top = earned if evidence(earned) < 0 else 1.0
    rejected, precision = 0.0, 1e-4 * top
    while top - rejected > precision:
        middle = (rejected + top) / 2
        if evidence(middle) >= 0:
            rejected = middle
        else:
            top = middle
    return rejected


@dataclass(frozen=True)
class Round:
    """One batch judged: the stake, the gain per point and label, and the rows of the batch."""

    stake: float
    gain: Floats
    rows: Integers

    @cached_property
    def played(self) -> tuple[Floats, Integers]:
        """Gains and rows where there are rows."""
        there = np.flatnonzero(self.rows)
        return self.gain.ravel()[there], self.rows.ravel()[there]

    @cached_property
    def moments(self) -> list[float]:
        """Sums over rows of the powers 0..4 of their gains."""
        power = self.rows.astype(np.float64)
        sums = [float(power.sum())]
        for _ in range(4):
            power *= self.gain
            sums.append(float(power.sum()))
        return sums

    @cached_property
    def series(self) -> list[float]:
        """What bounds the logarithm for a small stake, as coefficients of the powers 0..4 of -c."""
        weights = (1.0, -1 / 2, 1 / 3, -1 / (4 * (1 - 2 * self.stake) ** 4))
        powers = [(k, weight * self.stake**k) for k, weight in enumerate(weights, start=1)]
        return [
            math.fsum(scale * math.comb(k, m) * self.moments[k - m] for k, scale in powers if k >= m) for m in range(5)
        ]

    def log_wealth(self, c: float) -> float:
        """The sum over rows of log(1 + stake (gain - c)), or a little less.

        With |z| <= a < 1, log(1 + z) >= z - z^2/2 + z^3/3 - z^4 / 4(1 - a)^4; for small stakes that is as good and
        needs five sums instead of a logarithm a point.
        """
        if self.stake > SMALL_STAKE:
            gain, rows = self.played
            return float((rows * np.log1p(self.stake * (gain - c))).sum())
        return math.fsum(coefficient * (-c) ** m for m, coefficient in enumerate(self.series))


def _stake(gain: Floats, known: Integers, total: int, delta: float) -> float:
    """The share that wins most against the c just below what can be rejected, for the spread seen so far."""
    seen = float(known.sum())
    earned = known * gain
    mean = float(earned.sum()) / seen
    earned *= gain
    variance = max(float(earned.sum()) / seen - mean * mean, 0.0) + 1 / seen
    return min(LARGEST_STAKE, math.sqrt(2 * math.log(1 / delta) / (total * variance)))
