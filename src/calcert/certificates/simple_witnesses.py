"""Near calibration: a short fixed list of simple witnesses finds small errors in few rows, where betting does not.

If the error is at most c, the labels are coins whose chances are near the scores: the sum of the distances is at most
n c on average. The number of positives on a fixed stretch of scores is then a sum of coins, of which everything is
known but how far the chances have moved. Too few positives, or too many, refute an error of c. See
:func:`calcert.certificates.betting.lower_limit` for how delta is shared with the bet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.coins import largest_move
from calcert.certificates.deviations import mean_lower
from calcert.summary.cells import RESOLUTION
from calcert.summary.counts import Summary

Integers = NDArray[np.int64]

TAILS = 0.98
"""The share of a witness's delta for the two tails of the sum; the rest pays for chances that moved more than on
average."""

Signs = tuple[int, int, int, int]
"""A witness: its sign, or 0, on each quarter of the scores. Quarters begin at edges of cells."""

EVERYWHERE: Signs = (1, 1, 1, 1)
ONE_CHANGE: Signs = (-1, -1, 1, 1)
HALVES: tuple[Signs, ...] = ((1, 1, 0, 0), (0, 0, 1, 1))
QUARTERS: tuple[Signs, ...] = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))


@dataclass(frozen=True)
class SimpleWitnesses:
    """A fixed list of witnesses with their shares of delta, for one kind of error.

    Attributes
    ----------
    shares
        The witnesses and their shares of delta.
    moved
        If the error is c, the mean distance of scores and chances is at most this times c.
    """

    shares: Mapping[Signs, float]
    moved: float = 1.0

    @property
    def share(self) -> float:
        """The share of delta that all of them need."""
        return math.fsum(self.shares.values())

    def limit(self, summary: Summary, delta: float) -> float:
        """The least error that none of the witnesses refutes, each at its share of delta, both signs."""
        quarter = np.minimum((4 * summary.left).astype(np.int64), 3)
        missing = np.bincount(quarter, summary.score_sum.sum(axis=1) - summary.count[:, 1], 4)
        refuted = 0.0
        for signs, share in self.shares.items():
            # Positives are missing where the witness is 1, and in excess where it is -1; or the other way round.
            side = 1 if np.dot(signs, missing) > 0 else -1
            moved = _moved(summary, side * np.array(signs)[quarter], TAILS / 2 * share * delta)
            refuted = max(refuted, least_mean(moved, summary.n, (1 - TAILS) * share * delta))
        return refuted / self.moved


def _moved(summary: Summary, sign: Integers, delta: float) -> float:
    """By how much chances must differ from scores in all for what the witness sees to be no rarer than delta."""
    held = sign != 0
    positive, count = sign[held] > 0, summary.count[held]
    rows = count.sum(axis=1)
    score = summary.score_sum[held].sum(axis=1) / rows
    # Scores are known to 2^-40; a little less than what is promised is on the safe side.
    chance = np.maximum(np.where(positive, score, 1 - score) - 2 * RESOLUTION, 0.0)
    successes = int(np.where(positive, count[:, 1], count[:, 0]).sum())
    return largest_move(successes, chance, rows.astype(np.float64), delta)


def least_mean(total: float, n: int, delta: float) -> float:
    """The largest c such that n variables in [0, 1] of mean c add up to more than `total` with probability delta."""
    return max(delta * total / n, mean_lower(total / n, n, delta))  # Markov, D1


FOR_L1 = SimpleWitnesses({EVERYWHERE: 0.4, ONE_CHANGE: 0.2, **dict.fromkeys(QUARTERS, 0.0375)})
"""For the L1 error as it is: chances are the calibration function, so that every witness will do."""

FOR_DISTANCE = SimpleWitnesses({EVERYWHERE: 0.92})
"""For the distance from calibration: a score that moves a little may cross any edge, so that there is to be none."""

FOR_RANGES = SimpleWitnesses({EVERYWHERE: 0.6, **dict.fromkeys(HALVES, 0.075), **dict.fromkeys(QUARTERS, 0.0125)}, 3.0)
"""For what any range of scores shows: on each range the distance from calibration is at most three times that."""
