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
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.joined_cells import middles
from calcert.certificates.witnesses.listed_witnesses import FOR_DISTANCE
from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.distance import solve
from calcert.kernels.knots import admit, lay, promised, put
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
        splits=random_splits.splits(points, seed),
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
