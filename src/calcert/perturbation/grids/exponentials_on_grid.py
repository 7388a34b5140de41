"""K4: the kernel as a sum of exponentials, next to nothing off; sums of these pass along a grid point by point."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.perturbation.grids.grid import Grid
from calcert.perturbation.sech_kernel import alternating_weights, largest_density

FEW, MANY, FINE = 8, 12, 16
"""How many exponentials: 1.5e-6 off, or 1.3e-9 from so many grid points to a bandwidth on, where rows are many."""


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
