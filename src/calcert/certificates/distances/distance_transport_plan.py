"""A calibrated score near the rows, and what it costs to move them there: the plug-in of Theorem 6 from above.

A plan says how much of a calibrated score lies where. Every plan bounds the distance from calibration of the rows from
above (theory of the distance, any plan is a bound), so it may come from anywhere: here from the multipliers of a linear
program on knots, spread over the cells between them, and whichever plan costs least is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calcert.certificates.distances.distance_knots import inside, lay, put
from calcert.certificates.distances.distance_solver import solve
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled
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
    # Copies may be written to, as far as numba is concerned, so that kernels are compiled once.
    low, high = points.low.copy(), points.high.copy()
    fraction, count = points.fraction.copy(), points.count.copy()
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


@compiled(error_model="numpy")
def cost(
    knots: Floats,
    mass: Floats,
    spread: Floats,
    left: Integers,
    low: Floats,
    high: Floats,
    fraction: Floats,
    count: Integers,
) -> tuple[float, float]:
    """What a plan costs, wherever in their cells the rows are, and how much of that is owed to not knowing where.

    The plan has `mass` on the knots, of which every row takes `spread` along to its own cell, per label and knot.

    For label 1, A(t) rows and N(t) of the plan lie at or below t; for label 0, above. Moving one to the other costs the
    integral of |A - N| (theory of the distance, any plan is a bound). Inside a cell A is monotone with a known mean and
    N is constant, and |A - N| is convex in A: it is at most what it would be with all rows at the two ends.
    """
    n, of_zero = 0, 0
    for i in range(low.size):
        n += count[i, 0] + count[i, 1]
        of_zero += count[i, 0]
    kept, taken = mass.copy(), np.empty((low.size, 2))
    zeros = lost = 0.0
    for i in range(low.size):
        k, wide = left[i], high[i] - low[i]
        here = there = 0.0
        for y in range(2):
            right = inside(knots, k, low[i] + fraction[i, y] * wide)
            share = count[i, y] / n
            first, second = spread[y, k] * (1 - right) * share, spread[y, k + 1] * right * share
            kept[k] -= first
            kept[k + 1] -= second
            here += (1 - fraction[i, y]) * (first + second)
            there += fraction[i, y] * (first + second)
        taken[i, 0], taken[i, 1] = here, there
        zeros, lost = _add(zeros, lost, (1 - low[i]) * here + (1 - high[i]) * there)
    for k in range(knots.size):
        kept[k] = max(kept[k], 0.0)
        zeros, lost = _add(zeros, lost, (1 - knots[k]) * kept[k])
    # Sums from above and from below differ by what the plan lacks of label 0.
    zeros, lost_zeros = of_zero / n - zeros, -lost
    ones = lost_ones = total = lost = hidden = at = 0.0
    before_zeros = before_ones = 0
    k = 0
    for i in range(low.size + 1):
        end = low[i] if i < low.size else 1.0
        moved = abs(zeros + lost_zeros - before_zeros / n) + abs(ones + lost_ones - before_ones / n)
        while k < knots.size and knots[k] <= end:
            total, lost = _add(total, lost, (knots[k] - at) * moved)
            at = knots[k]
            zeros, lost_zeros = _add(zeros, lost_zeros, (1 - at) * kept[k])
            ones, lost_ones = _add(ones, lost_ones, at * kept[k])
            moved = abs(zeros + lost_zeros - before_zeros / n) + abs(ones + lost_ones - before_ones / n)
            k += 1
        total, lost = _add(total, lost, (end - at) * moved)
        if i == low.size:
            break
        at = high[i]
        zeros, lost_zeros = _add(zeros, lost_zeros, (1 - low[i]) * taken[i, 0])
        ones, lost_ones = _add(ones, lost_ones, low[i] * taken[i, 0])
        if at > low[i]:
            if k < knots.size and knots[k] < at:
                raise ValueError("a knot lies inside a cell")
            most, least = _between(zeros + lost_zeros, before_zeros, count[i, 0], n, fraction[i, 0])
            more, less = _between(ones + lost_ones, before_ones, count[i, 1], n, fraction[i, 1])
            total, lost = _add(total, lost, (at - low[i]) * (most + more))
            hidden += (at - low[i]) * (most - least + more - less)
        zeros, lost_zeros = _add(zeros, lost_zeros, (1 - at) * taken[i, 1])
        ones, lost_ones = _add(ones, lost_ones, at * taken[i, 1])
        before_zeros += count[i, 0]
        before_ones += count[i, 1]
    return total + lost, hidden


@compiled(error_model="numpy")
def _between(plan: float, before: int, rows: int, n: int, fraction: float) -> tuple[float, float]:
    """The largest and the smallest that the mean of |A - N| over a cell can be."""
    first, last = plan - before / n, plan - (before + rows) / n
    return fraction * abs(first) + (1 - fraction) * abs(last), abs(fraction * first + (1 - fraction) * last)


@compiled(error_model="numpy")
def _add(total: float, lost: float, value: float) -> tuple[float, float]:
    """total + value, and in `lost` what rounding took from it (Knuth)."""
    found = total + value
    part = found - total
    return found, lost + ((total - (found - part)) + (value - part))
