"""K4: the kernel as a sum of exponentials, next to nothing off; sums of these pass along a grid point by point."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.compiled import compiled_later
from calcert.perturbation.grids.grid import Grid
from calcert.perturbation.sech_kernel import alternating_weights, largest_density

FEW, MANY, FINE = 8, 12, 16
"""How many exponentials: 1.5e-6 off, or 1.3e-9 from so many grid points to a bandwidth on, where rows are many."""

MARGIN = 1
"""Zeros before and after all grid points, between which cubics go in the first and the last grid cell."""


@lru_cache(maxsize=16)
def exponentials(grid: Grid) -> tuple[Floats, Floats]:
    """By which factors exponentials decay over a grid cell, and what the cell next to a point weighs in each: K4."""
    rate = 2 * np.arange(number(grid)) + 1
    decay = np.exp(-rate * (grid.step / grid.h))
    return decay, 2 * grid.h * np.array(alternating_weights(rate.size)) * (1 - decay) / rate


def number(grid: Grid) -> int:
    """How many exponentials the grid deserves."""
    return FEW if grid.fineness <= FINE else MANY


def missed(grid: Grid) -> float:
    """More than G can be off at any place for being computed from exponentials, and for rounding of these: K4."""
    rounding = 2.0**-44 * (1 + grid.h / grid.step) * math.pi * grid.h * largest_density(grid.h)
    return 5 / 4 * (1 / math.cosh(number(grid) * math.acosh(3)) + rounding)


@compiled_later(fastmath={"contract"})
def smoothed(f: Floats, mean_score: Floats, scale: Floats, decay: Floats, weight: Floats, reach: int) -> Floats:
    """F0 and F1, the correlations of f and of f t with the exponentials, t by its mean over each grid cell.

    They are given at the grid points before, between and after the cells on which f is given, and zeros on either side.
    They are 0 out of reach of all cells where f is not.
    """
    size = f.size
    found = np.zeros((size + 1 + 2 * MARGIN, 2))
    begin, end = 0, size
    while begin < size and f[begin] == 0:
        begin += 1
    while end > begin and f[end - 1] == 0:
        end -= 1
    if begin == end:
        return found
    begin, end = max(begin - reach, 0), min(end + reach, size)
    for k in range(0, decay.size, 4):
        r0, r1, r2, r3 = decay[k], decay[k + 1], decay[k + 2], decay[k + 3]
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
        for i in range(begin, end):
            x, y = f[i], f[i] * mean_score[i]
            a0, a1, a2, a3 = a0 * r0 + x, a1 * r1 + x, a2 * r2 + x, a3 * r3 + x
            b0, b1, b2, b3 = b0 * r0 + y, b1 * r1 + y, b2 * r2 + y, b3 * r3 + y
            found[i + 1 + MARGIN, 0] += (w0 * a0 + w1 * a1) + (w2 * a2 + w3 * a3)
            found[i + 1 + MARGIN, 1] += (w0 * b0 + w1 * b1) + (w2 * b2 + w3 * b3)
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
        for i in range(end - 1, begin - 1, -1):
            x, y = f[i], f[i] * mean_score[i]
            a0, a1, a2, a3 = a0 * r0 + x, a1 * r1 + x, a2 * r2 + x, a3 * r3 + x
            b0, b1, b2, b3 = b0 * r0 + y, b1 * r1 + y, b2 * r2 + y, b3 * r3 + y
            found[i + MARGIN, 0] += (w0 * a0 + w1 * a1) + (w2 * a2 + w3 * a3)
            found[i + MARGIN, 1] += (w0 * b0 + w1 * b1) + (w2 * b2 + w3 * b3)
    for i in range(begin, end + 1):
        found[i + MARGIN, 0] /= scale[i]
        found[i + MARGIN, 1] /= scale[i]
    return found
