"""Theorem 6: the distance from calibration of the current scores, with no assumption.

Above it is what a plan costs that moves the rows to a calibrated score. Every plan bounds the distance (theory, any
plan is a bound), so it may come from anywhere: here from the multipliers of a linear program on knots.

Below it is what an admissible pair (g0, g1) gains: both change by no more than the score does, and (1 - u) g0(u) +
u g1(u) <= 0 for all u. Then the mean of g_label(score) is at most the distance, so pairs may bet (Theorem 5). The pair
that the linear program finds is made admissible first, whatever it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, any_rows, proved_for
from calcert.certificates.limits.deviations import Limit, iid_limit
from calcert.certificates.limits.sampling_term import brier_squares, upper_mean
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.cluster_lower import CHANGES, lower_with_bets, tilt_patterns
from calcert.certificates.witnesses.listed_witnesses import FOR_DISTANCE
from calcert.certificates.witnesses.random_splits import blocks, middles
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.kernels.distance import solve
from calcert.kernels.knots import admit, cost, lay, promised, put
from calcert.summary.points import Points
from calcert.summary.summary import Summary

SCALE = 1.6e-4
"""Cells are put together up to this times the root of the distance from the nearer end: 2^-14 in the middle."""

PART = 0.2
"""No wider, though, than this times what so many rows can tell apart."""


@proved_for(any_rows)
def distance(summary: Summary, *, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the distance from calibration: how far the scores are, on average, from some calibrated score.

    Guarantee
        With probability at least 1 - delta over the rows, inf E|U - X| over all U with E[Y|U] = U is at most upper;
        likewise for lower, over the rows and the random split set by the seed. Nothing is assumed of the score
        distribution or the calibration function. The two meet as rows are added, up to what cells hide.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.
    Terms
        ``plug-in``: what it costs to move the rows to a calibrated score, by a plan that is nearly the best;
        ``sampling``; ``discretisation``: what the cells may hide of the cost, and rounding.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.distance(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 1/6")
    0.164 to 0.169; the truth is 1/6
    """
    terms, lower = upper_terms(summary, delta), distance_lower(summary, delta, seed)
    quantity, parameters = "distance from calibration", {"seed": seed}
    return Certificate.of(summary, quantity, terms, lower, delta, theorem="Theorem 6", parameters=parameters)


def upper_terms(summary: Summary, delta: float, limit: Limit = iid_limit) -> dict[str, float]:
    """The terms of the upper bound of Theorem 6 at confidence 1 - delta; `limit` bounds the deviation of the mean."""
    plan, rows = _cheapest(summary), brier_squares(summary)
    rounding = ROUNDING + summary.resolution
    # Theorem 6, upper: the cost of any plan is at least the distance of the rows, and |g| <= |y - x|.
    upper = upper_mean(summary, plan.cost + rounding, rows, delta, limit)
    return {
        "plug-in": plan.cost - plan.hidden,
        "discretisation": plan.hidden + rounding,
        "sampling": upper - plan.cost - rounding,
    }


@lru_cache(maxsize=2)
def _cheapest(summary: Summary) -> Plan:
    """A plan that is nearly the best; the same at every delta."""
    return best_plan(placed(summary), math.sqrt(brier_squares(summary).mean / summary.equal_rows))


def placed(summary: Summary) -> Points:
    """The listed scores, or cells put together as far as costs little."""
    return summary.points if summary.is_finite else blocks(summary, min(SCALE, PART / math.sqrt(summary.equal_rows)))


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


PAIR_RUNS = 8, 64
"""Runs of points for a witness: the root of the rows it knows, but not outside this range."""

PAIR_NEAR = 0.01
"""In standard errors, how far from the best a pair may be."""


def distance_lower(summary: Summary, delta: float, seed: int) -> Lower:
    """A lower bound for the distance from calibration at confidence 1 - delta."""
    if summary.clusters is not None:
        # Of the bets only calibration in the large is a tilt.
        return lower_with_bets(summary, tilt_patterns(summary), np.where(CHANGES == 0, 1.0, np.inf), delta)
    points = middles(summary)
    return lower_limit(
        summary,
        delta,
        seed,
        in_turn(lambda known, last: pair_gain(points, known)),
        beside=FOR_DISTANCE,
        splits=random_splits.splits(points, seed),
    )


def suggested(points: Points, known: Integers, rows: float) -> tuple[Floats, Floats]:
    """Knots and an admissible pair on them, nearly the best for rows that lie as `known` says, so many in all."""
    runs = int(min(max(math.sqrt(rows), PAIR_RUNS[0]), PAIR_RUNS[1]))
    knots = lay(points.low, points.high, known, runs, 1 << runs.bit_length())
    mass, _ = put(knots, points.low, points.high, points.fraction, known)
    pair, _, _ = solve(knots, mass, PAIR_NEAR / math.sqrt(rows))
    admit(knots, pair)
    return knots, pair


def pair_gain(points: Points, known: Integers) -> Floats:
    """What every row of a block and label gains at least from the pair that the known rows suggest."""
    gain: Floats = promised(*suggested(points, known, float(known.sum())), points.low, points.high)
    return gain
