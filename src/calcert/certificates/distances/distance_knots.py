"""Knots: the few scores on which the linear program of Theorem 6 is solved, and the rows put on them.

A knot stands at the edge of a cell or within 2^-26 of a listed score, never inside a cell. Between two knots rows go to
both of them in the proportion that keeps their mean, so that no function that is linear between knots notices.
"""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled

FINEST = 2.0**26
"""Knots are multiples of 1 / FINEST: closer ones would stall the solver. Edges of cells are such multiples."""


@compiled(error_model="numpy")
def lay(low: Floats, high: Floats, count: Integers, runs: int, grid: int) -> Floats:
    """Knots from 0 to 1: the multiples of 1 / grid, and where each of about `runs` runs of points with rows begins.

    Over a run the root of mass times width grows by equal amounts: many knots where many rows are spread out, few where
    rows are few or sit in one place. Where there are no more points than runs, each is a run. `grid` is a power of two,
    so that its points are edges of cells.
    """
    held, through, before = 0, 0.0, -1.0
    for i in range(low.size):
        rows = count[i, 0] + count[i, 1]
        if rows > 0:
            held += 1
            through += _growth(rows, low[i], high[i], before, grid)
            before = high[i]
    knots = np.empty(2 * held + grid + 3)
    knots[0] = 0.0
    found, seen, run, grown, before = 1, 0, -1, 0.0, -1.0
    for i in range(low.size):
        rows = count[i, 0] + count[i, 1]
        if rows > 0:
            grown += _growth(rows, low[i], high[i], before, grid)
            reached = int(grown / through * runs * (1 - 1e-12)) if held > runs and through > 0 else seen
            apart = low[i] - before > 1 / grid
            if apart and seen > 0:
                found = _up_to(knots, found, math.ceil(before * FINEST) / FINEST, grid)
            if apart or reached > run:
                found = _up_to(knots, found, math.floor(low[i] * FINEST) / FINEST, grid)
                run = reached
            seen, before = seen + 1, high[i]
    found = _up_to(knots, found, math.ceil(before * FINEST) / FINEST, grid)
    return knots[: _up_to(knots, found, 1.0, grid)]


@compiled(error_model="numpy")
def _growth(rows: int, low: float, high: float, before: float, grid: int) -> float:
    """The root of rows times width; an empty stretch before the point counts if it is no wider than the grid."""
    across = high - before if low - before <= 1 / grid else high - low
    return math.sqrt(rows * across)


@compiled(error_model="numpy")
def _up_to(knots: Floats, found: int, place: float, grid: int) -> int:
    """Append the points of the grid below `place`, then `place` itself if it is new."""
    step = int(knots[found - 1] * grid) + 1
    while step < place * grid:
        knots[found] = step / grid
        found += 1
        step += 1
    if place > knots[found - 1]:
        knots[found] = place
        found += 1
    return found


@compiled(error_model="numpy")
def put(knots: Floats, low: Floats, high: Floats, fraction: Floats, count: Integers) -> tuple[Floats, Integers]:
    """The share of all rows on each knot, shape (2, knots), and for every point the knot to its left."""
    mass, left = np.zeros((2, knots.size)), np.empty(low.size, np.int64)
    rows = 0
    for i in range(low.size):
        rows += count[i, 0] + count[i, 1]
    k = 0
    for i in range(low.size):
        while k < knots.size - 2 and knots[k + 1] <= low[i]:
            k += 1
        left[i] = k
        for y in range(2):
            here = count[i, y] / rows
            right = here * inside(knots, k, low[i] + fraction[i, y] * (high[i] - low[i]))
            mass[y, k] += here - right
            mass[y, k + 1] += right
    return mass, left


@compiled(error_model="numpy")
def inside(knots: Floats, k: int, place: float) -> float:
    """How far `place` is on the way from knot k to the next."""
    return float(min(max((place - knots[k]) / (knots[k + 1] - knots[k]), 0.0), 1.0))
