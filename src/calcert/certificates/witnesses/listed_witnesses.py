"""Near calibration: a short fixed list of simple witnesses finds small errors in few rows, where betting does not.

If the error is at most c, the labels are trials whose probabilities are near the scores: the sum of the distances is at
most n c on average. The number of positives on a fixed stretch of scores is then a sum of trials, of which everything
is known but how far the probabilities have moved. Too few positives, or too many, refute an error of c. See
:func:`calcert.certificates.witnesses.betting.lower_limit` for how delta is shared with the bet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calcert.certificates.limits.bernoulli_sums import RUNS, largest_move, run_of
from calcert.certificates.limits.deviations import mean_lower, share_beyond
from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.bets import by_place
from calcert.kernels.search import SLACK
from calcert.summary import cells
from calcert.summary.cells import RESOLUTION
from calcert.summary.summary import Summary

TAILS = 0.98
"""The share of a witness's delta for the two tails of the sum; the rest pays for probabilities that moved more than on
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
        If the error is c, the mean distance of scores and probabilities is at most this times c on a stretch of one
        sign.
    by_stretch
        True where every stretch of one sign has to pay for itself; else all of them together move that much.
    """

    shares: Mapping[Signs, float]
    moved: float = 1.0
    by_stretch: bool = False

    @property
    def share(self) -> float:
        """The share of delta that all of them need."""
        return math.fsum(self.shares.values())

    def limit(self, summary: Summary, delta: float, enough: float = math.inf) -> float:
        """The least error that none of the witnesses refutes, each at its Bonferroni level, both signs; or `enough`."""
        stretches, n = _stretches(summary), summary.n
        missing = (stretches.score_sum - stretches.positives).sum(axis=1).tolist()
        variance = (stretches.score_sum - stretches.score_sum**2 / np.maximum(stretches.rows, 1)).sum(axis=1).tolist()
        refuted = 0.0
        for signs, share in self.shares.items():
            # Positives are missing where the witness is 1, and in excess where it is -1; or the other way round.
            seen = sum(sign * part for sign, part in zip(signs, missing, strict=True))
            spread = sum(abs(sign) * part for sign, part in zip(signs, variance, strict=True))
            tail = TAILS / 2 * share * delta
            if seen**2 <= spread * math.log(1 / min(4 * tail, 1.0)):
                continue  # Sums of trials are so far from their mean too often: a witness may always be left out.
            side = 1 if seen > 0 else -1
            pieces = sum(bool(sign) and sign != before for before, sign in pairwise((0, *signs)))
            scale, spare = self.moved * (pieces if self.by_stretch else 1), (1 - TAILS) * share * delta
            least, most = (least_total(scale * error, n, spare) for error in (refuted, enough))
            moved = _moved(stretches, side * np.array(signs), tail, least, most)
            if moved >= most:
                return enough
            refuted = max(refuted, least_mean(moved, n, spare) / scale)
        return refuted


class Stretches(NamedTuple):
    """Rows, sums of their scores and positives by quarter and by stretch of nearly equal scores."""

    rows: Floats
    score_sum: Floats
    positives: Floats


@lru_cache(maxsize=2)
def _stretches(summary: Summary) -> Stretches:
    of_all = by_place(summary.cell, summary.count, summary.offset, summary.left, _stretch_of_cells(), 4 * RUNS)
    return Stretches(*of_all.reshape(3, 4, RUNS))


@lru_cache(maxsize=1)
def _stretch_of_cells() -> Integers:
    """For every cell its quarter, times RUNS, and its stretch: as wide as those of `in_runs`."""
    left = np.asarray(cells.bounds(np.arange(cells.CELLS))[0] * RESOLUTION, np.float64)
    quarter = np.minimum((4 * left).astype(np.int64), 3)
    return np.asarray(quarter * RUNS + run_of(left), np.int64)


def _moved(stretches: Stretches, signs: Integers, delta: float, least: float, enough: float) -> float:
    """By how much probabilities must differ from scores in all for what the witness sees to be no rarer than delta."""
    held = (signs != 0)[:, None] & (stretches.rows > 0)
    rows, score_sum, positives = (values[held] for values in stretches)
    positive = np.repeat(signs > 0, held.sum(axis=1))
    score = score_sum / rows
    # Scores are known to 2^-40; a little less than what is promised is on the safe side.
    probability = np.maximum(np.where(positive, score, 1 - score) - 2 * RESOLUTION, 0.0)
    successes = round(float(np.where(positive, positives, rows - positives).sum()))
    return largest_move(successes, probability, rows, delta, least, enough)


def least_mean(total: float, n: int, delta: float) -> float:
    """The largest c such that n variables in [0, 1] of mean c add up to more than `total` with probability delta."""
    return max(delta * total / n, mean_lower(total / n, n, delta))  # Markov, D1


def least_total(mean: float, n: int, delta: float) -> float:
    """What n variables in [0, 1] of this mean add up to, or more, with probability at most delta; rounded up."""
    if mean <= 0 or mean >= 1:
        return 0.0 if mean <= 0 else math.inf
    return min(mean * n / delta * (1 + SLACK), n * share_beyond(mean, n, delta))  # Markov, D1


FOR_L1 = SimpleWitnesses({EVERYWHERE: 0.4, ONE_CHANGE: 0.2, **dict.fromkeys(QUARTERS, 0.0375)})
"""For the L1 error of the current scores: probabilities are the calibration function, so that every witness will do."""

FOR_DISTANCE = SimpleWitnesses({EVERYWHERE: 0.92})
"""For the distance from calibration: a score that moves a little may cross any edge, so that there is to be none."""

FOR_RANGES = SimpleWitnesses({EVERYWHERE: 0.6, **dict.fromkeys(HALVES, 0.075), **dict.fromkeys(QUARTERS, 0.0125)}, 2.0)
"""For what any range of scores shows: on each range the distance from calibration is at most twice that."""

_SIGNS = {EVERYWHERE: 0.45, ONE_CHANGE: 0.2, **dict.fromkeys(HALVES, 0.05), **dict.fromkeys(QUARTERS, 0.0125)}
FOR_CROSSINGS = SimpleWitnesses(_SIGNS, 2.0, by_stretch=True)
FOR_ONE_CROSSING = SimpleWitnesses(_SIGNS, 4.0, by_stretch=True)
"""For what signs with few changes show: two changes see any range, and one sees half as much of it."""
