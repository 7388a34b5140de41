"""What bets stake and earn, added up over rows: compiled passes over gains and rows, shape (points, 2) for each bet."""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled

LARGEST_STAKE = 0.49
"""Gains are at least -1 and c at most 1, so 1 + stake (gain - c) stays positive below 1/2."""

TOGETHER = 256
"""Points whose sums are added up apart from the others: sums of sums are rounded less."""

FEW = 4
"""Up to so many rows of a point, multiplying takes less time than a logarithm."""

LARGE = 1e200


@compiled
def judged(gain: Floats, thrown: Integers, n: int, delta: float) -> Floats:
    """The stake of every bet, and sums over the rows that it judges of the powers 0..4 of their gains.

    `gain` has shape (throws, batches - 1, points, 2), what is found one (throws, batches - 1, 6). The stake is the
    share that wins most against the c just below what n rows can reject, for the spread of the gains of the rows known
    before, of which a bet knows nothing else; 0 where there are none.
    """
    bets = np.zeros((gain.shape[0], gain.shape[1], 6))
    for t in range(gain.shape[0]):
        known = np.zeros(thrown.shape[2:], np.int64)
        for b in range(gain.shape[1]):
            seen = earned = squares = m0 = m1 = m2 = m3 = m4 = 0.0
            for start in range(0, len(known), TOGETHER):
                s0 = s1 = s2 = p0 = p1 = p2 = p3 = p4 = 0.0
                for k in range(start, min(start + TOGETHER, len(known))):
                    for y in range(2):
                        known[k, y] += thrown[t, b, k, y]
                        g, power = gain[t, b, k, y], float(known[k, y])
                        s0 += power
                        s1 += power * g
                        s2 += power * g * g
                        power = float(thrown[t, b + 1, k, y])
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
    return bets


@compiled
def log_growth(stake: float, gain: Floats, rows: Integers, c: float) -> float:
    """The sum over rows of log(1 + stake (gain - c)); factors of few rows are multiplied first."""
    total, product = 0.0, 1.0
    for k in range(len(rows)):
        for y in range(2):
            here = rows[k, y]
            if here > FEW:
                total += here * math.log1p(stake * (gain[k, y] - c))
            elif here > 0:
                factor = 1 + stake * (gain[k, y] - c)
                for _ in range(here):
                    product *= factor
                if not 1 / LARGE < product < LARGE:
                    total += math.log(product)
                    product = 1.0
    return total + math.log(product)
