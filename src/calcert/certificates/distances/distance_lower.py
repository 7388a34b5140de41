"""Theorem 6, lower: every admissible pair of functions shows a part of the distance from calibration.

A pair (g0, g1) is admissible if both change by no more than the score does and (1 - u) g0(u) + u g1(u) <= 0 for all u.
Then the mean of g_label(score) is at most the distance, so pairs may bet (Theorem 5): one found on earlier batches is
judged by the next. The pair that a linear program finds is made admissible first, whatever it was.
"""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.certificate import Lower
from calcert.certificates.clusters.cluster_bets import CHANGES, lower_with_bets
from calcert.certificates.clusters.cluster_gain_lists import tilt_patterns
from calcert.certificates.distances.distance_knots import lay, put
from calcert.certificates.distances.distance_solver import solve
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.joined_cells import middles
from calcert.certificates.witnesses.listed_witnesses import FOR_DISTANCE
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled
from calcert.foundation.rounding import ROUNDING
from calcert.summary.points import Points
from calcert.summary.summary import Summary

RUNS = 8, 64
"""Runs of points for a witness: the root of the rows it knows, but not outside this range."""

NEAR = 0.01
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
        thrown=random_splits.thrown(points, seed),
    )


def suggested(points: Points, known: Integers, rows: float) -> tuple[Floats, Floats]:
    """Knots and an admissible pair on them, nearly the best for rows that lie as `known` says, so many in all."""
    runs = int(min(max(math.sqrt(rows), RUNS[0]), RUNS[1]))
    knots = lay(points.low, points.high, known, runs, 1 << runs.bit_length())
    mass, _ = put(knots, points.low, points.high, points.fraction, known)
    pair, _, _ = solve(knots, mass, NEAR / math.sqrt(rows))
    admit(knots, pair)
    return knots, pair


def pair_gain(points: Points, known: Integers) -> Floats:
    """What every row of a block and label gains at least from the pair that the known rows suggest."""
    gain: Floats = promised(*suggested(points, known, float(known.sum())), points.low, points.high)
    return gain


@compiled(error_model="numpy")
def admit(knots: Floats, pair: Floats) -> None:
    """Change a pair on the knots so that the piecewise linear functions through it are admissible.

    Values are boxed and scaled to slopes of at most 1. Between knots (1 - u) g0 + u g1 is a quadratic that exceeds the
    larger of its ends by at most (slope of g0 - slope of g1) / 4 times the square of their distance, if that is
    positive; the largest of these is taken off both functions.
    """
    for k in range(knots.size):
        for y in range(2):
            # Not a number fails both comparisons: then the pair that says nothing is taken at this knot.
            value = pair[y, k] if -2 <= pair[y, k] <= 2 else 0.0
            pair[y, k] = max(value, -knots[k] if y == 0 else knots[k] - 1)
    steepest = 1.0
    for k in range(knots.size - 1):
        for y in range(2):
            steepest = max(steepest, abs(pair[y, k + 1] - pair[y, k]) / (knots[k + 1] - knots[k]))
    excess = 0.0
    for k in range(knots.size):
        pair[0, k] /= steepest
        pair[1, k] /= steepest
        here = (1 - knots[k]) * pair[0, k] + knots[k] * pair[1, k]
        excess = max(excess, here)
        if k > 0:
            wide = knots[k] - knots[k - 1]
            bend = (pair[0, k] - pair[0, k - 1]) - (pair[1, k] - pair[1, k - 1])
            before = (1 - knots[k - 1]) * pair[0, k - 1] + knots[k - 1] * pair[1, k - 1]
            excess = max(excess, max(before, here) + max(bend, 0.0) * wide / 4)
    for k in range(knots.size):
        pair[0, k] -= excess
        pair[1, k] -= excess


@compiled(error_model="numpy")
def promised(knots: Floats, pair: Floats, low: Floats, high: Floats) -> Floats:
    """The least that an admissible pair gives a row, per block and label, wherever in the block the row is.

    Over a block of width w, g is at least (g(low) + g(high) - w) / 2, because it changes by no more than the score; and
    the pair may be boxed, g0(x) >= -x and g1(x) >= x - 1, which leaves it admissible.
    """
    gain = np.empty((low.size, 2))
    k = 0
    for i in range(low.size):
        while k < knots.size - 2 and knots[k + 1] <= low[i]:
            k += 1
        end = k
        while end < knots.size - 2 and knots[end + 1] <= high[i]:
            end += 1
        first = (low[i] - knots[k]) / (knots[k + 1] - knots[k])
        last = (high[i] - knots[end]) / (knots[end + 1] - knots[end])
        for y in range(2):
            value = pair[y, k] * (1 - first) + pair[y, k + 1] * first
            value += pair[y, end] * (1 - last) + pair[y, end + 1] * last
            gain[i, y] = (value - (high[i] - low[i])) / 2 - ROUNDING
        gain[i, 0] = max(gain[i, 0], -high[i])
        gain[i, 1] = max(gain[i, 1], low[i] - 1)
    return gain
