"""What a bet earned, added up over its rows: one compiled pass each over gains and rows, shape (points, 2)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.compiled import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TOGETHER = 256
"""Points whose sums are added up apart from the others: sums of sums are rounded less."""

FEW = 4
"""Up to so many rows of a point, multiplying takes less time than a logarithm."""

LARGE = 1e200


@compiled
def moments(gain: Floats, rows: Integers) -> tuple[float, float, float, float, float]:
    """Sums over rows of the powers 0..4 of their gains."""
    m0 = m1 = m2 = m3 = m4 = 0.0
    for start in range(0, len(rows), TOGETHER):
        p0 = p1 = p2 = p3 = p4 = 0.0
        for k in range(start, min(start + TOGETHER, len(rows))):
            for y in range(2):
                g, power = gain[k, y], float(rows[k, y])
                p0 += power
                power *= g
                p1 += power
                power *= g
                p2 += power
                power *= g
                p3 += power
                p4 += power * g
        m0, m1, m2, m3, m4 = m0 + p0, m1 + p1, m2 + p2, m3 + p3, m4 + p4
    return m0, m1, m2, m3, m4


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
