"""A calibrated score near the rows, and what it costs to move them there: the plug-in of Theorem 6 from above.

A plan says how much of a calibrated score lies where. Every plan bounds the distance from calibration of the rows from
above (theory of the distance, any plan is a bound), so it may come from anywhere: here from the multipliers of a linear
program on knots, spread over the cells between them, and whichever plan costs least is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.kernels.distance import solve
from calcert.kernels.knots import cost, lay, put
from calcert.summary.points import Points

RUNS = 64, 512, 1024
"""Runs of points to begin with: 6.5 times the root of the rows, between the first two; and where refining few ends."""

MANY = 1 << 14
"""From so many rows on a plan is not refined."""

FINEST_GRID = 8
"""Calibrated scores may lie at multiples of 2^-8 even where there are no rows."""

NEAR = 0.007, 0.02
"""A plan this close to the best, in standard errors of the Brier score, is good enough: for few rows, for many."""

TINY = 1e-9
"""Standard errors below this, and masses, are as good as none."""


@dataclass(frozen=True)
class Plan:
    """A calibrated score near the rows.

    Attributes
    ----------
    cost
        What moving the rows there costs at most: not below their distance from calibration.
    hidden
        How much of the cost may be due to rows being known only to their cells.
    least
        No plan costs less, but for the solver's rounding: an estimate, not used by any bound.
    knots, rows, mass
        Scores, the share of rows put on them per label, shape (2, knots), and the mass of the calibrated score there.
    """

    cost: float
    hidden: float
    least: float
    knots: Floats
    rows: Floats
    mass: Floats


def best_plan(points: Points, error: float) -> Plan:
    """A plan that costs little more than the distance from calibration of the rows, next to a standard error of it."""
    rows = int(points.count.sum())
    runs = int(min(max(6.5 * math.sqrt(rows), RUNS[0]), RUNS[1]))
    near = NEAR[rows >= MANY] * max(error, TINY)
    plan = _plan_on(points, runs, near / 2)
    while rows < MANY and runs < RUNS[2] and plan.cost - plan.hidden - plan.least > near:
        runs = min(2 * runs, RUNS[2])
        plan = min(plan, _plan_on(points, runs, near / 2), key=lambda found: found.cost)
    return plan


def _plan_on(points: Points, runs: int, enough: float) -> Plan:
    low, high, fraction, count = points.low, points.high, points.fraction, points.count
    # Points of the grid are edges of cells, and of blocks that are no wider than its own.
    grid = 1 << min(runs.bit_length() - 1, FINEST_GRID, int(-math.log2(max((high - low).max(), TINY))))
    knots = lay(low, high, count, runs, grid)
    rows, left = put(knots, low, high, fraction, count)
    _, mass, least = solve(knots, rows, enough)
    rest = (left, low, high, fraction, count)
    paid, hidden = cost(knots, mass, evenly(rows, mass), *rest)
    if paid - hidden - least > 2 * enough:
        paid, hidden = min((paid, hidden), cost(knots, mass, following(knots, rows, mass), *rest))
    return Plan(paid, hidden, least, knots, rows, mass)


def evenly(rows: Floats, mass: Floats) -> Floats:
    """How much calibrated score a row takes along from each knot, per label, if all rows there are treated alike."""
    return np.tile(np.minimum(mass / np.maximum(rows[0] + rows[1], TINY), 1.0), (2, 1))


def following(knots: Floats, rows: Floats, mass: Floats) -> Floats:
    """The same, if at each knot the calibrated score follows one label only: the one of which less is moved there.

    Where next to nothing of a label is moved, its rows stay where they are, and the calibrated score with them.
    """
    weight = np.stack([1 - knots, knots])
    excess = rows - weight * mass
    moved = np.zeros((2, knots.size + 1))
    moved[0, 1:-1] = np.cumsum(excess[0, :0:-1])[::-1]
    moved[1, 1:-1] = np.cumsum(excess[1, :-1])
    beside = np.abs(moved[:, :-1]) + np.abs(moved[:, 1:])
    follows = np.stack([beside[0] <= beside[1], beside[0] > beside[1]])
    return np.where(follows, np.minimum(mass / np.maximum(rows, TINY), 1 / np.maximum(weight, TINY)), 0.0)
