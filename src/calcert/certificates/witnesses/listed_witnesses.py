"""Near calibration: a short fixed list of simple witnesses finds small errors in few rows, where betting does not.

If the error is at most c, the labels are trials whose probabilities are near the scores: the sum of the distances is at
most n c on average. The number of positives on a fixed stretch of scores is then a sum of trials, of which everything
is known but how far the probabilities have moved. Too few positives, or too many, refute an error of c. Tails of such
sums are computed from the Fourier transform, to ACCURACY for every number of trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calcert.certificates.limits.deviations import mean_lower, share_beyond
from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.bets import by_place
from calcert.kernels.search import SLACK, crossing
from calcert.summary import cells
from calcert.summary.cells import RESOLUTION
from calcert.summary.summary import Summary

ACCURACY = 1e-7
"""Added to every tail: more than aliasing, dropped frequencies and rounding may hide (theory, "Near calibration")."""

NEGLIGIBLE = 20.0
"""Frequencies at which the transform is below exp(-20) are dropped."""

RUNS = 64
"""Trials of nearly equal probability are taken for equal; runs are equally wide in the arcsine of its root."""


PRECISION = 1e-3
"""How far the search for the largest move may stop below it, relatively."""


def at_most(successes: int, probability: Floats, trials: Floats) -> float:
    """The probability of at most so many successes among `trials` of each `probability`, or 2 ACCURACY more at most."""
    variance, n = float(trials @ (probability * (1 - probability))), round(float(trials.sum()))
    # The mean is a whole number and what the rarer sides add to it or take away, which loses no digits to many trials.
    likely = probability > 0.5
    whole, rest = round(float(trials[likely].sum())), float(trials @ np.where(likely, probability - 1, probability))
    half = math.ceil(8 * math.sqrt(variance)) + 16
    # All that matters lies in one odd period, from `low` on.
    low, period = (0, n + 1 + n % 2) if n <= 2 * half else (whole + math.floor(rest) - half, 2 * half + 1)
    if successes < low:
        return ACCURACY
    angle = math.pi / period * np.arange(1, period // 2 + 1)
    turn = np.sin(angle) ** 2
    kept = int(np.searchsorted(2 * variance * turn, NEGLIGIBLE))
    angle, turn = angle[:kept], turn[:kept, None]
    size = np.log1p(-4 * probability * (1 - probability) * turn) @ trials / 2
    # The phase of the rarer side is the smaller, and that of the other is its opposite, the mean being taken off.
    rarer = np.minimum(probability, 1 - probability)
    phase = np.arctan2(rarer * np.sin(2 * angle)[:, None], 1 - 2 * rarer * turn) - 2 * rarer * angle[:, None]
    phase = np.where(probability <= 0.5, phase, -phase) @ trials
    wanted = min(successes - low + 1, period)
    wave = np.exp(size) * np.cos(phase + 2 * (whole - low + rest - (wanted - 1) / 2) * angle)
    return float(wanted + 2 * (wave * np.sin(wanted * angle) / np.sin(angle)).sum()) / period + ACCURACY


def lowered(probability: Floats, trials: Floats, moved: float) -> Floats:
    """The probabilities, increasing, with the largest lowered to a common height, by `moved` in all.

    No other way of moving probabilities by `moved` in all makes few successes more probable.
    """
    above, rows = np.cumsum((trials * probability)[::-1])[::-1], np.cumsum(trials[::-1])[::-1]
    below = np.append(0.0, probability[:-1])
    first = max(int(np.searchsorted(-(above - rows * below), -moved, side="right")) - 1, 0)
    return np.minimum(probability, max((above[first] - moved) / rows[first], 0.0))


def largest_move(
    successes: int, probability: Floats, trials: Floats, delta: float, least: float = 0.0, enough: float = math.inf
) -> float:
    """How far probabilities may move in all while so few successes are as rare as delta; 0 if at most `least`.

    The answer is rounded down, no more than `enough`, and at least 3 below the number of successes that are missing: up
    to there the tail is known to be the largest at :func:`lowered`.
    """
    top = min(float(trials @ probability) - successes - 3, enough)
    if top <= least:
        return 0.0
    probability, trials = in_runs(probability, trials)

    def rarity(moved: float) -> float:
        return math.log(delta / at_most(successes, lowered(probability, trials, moved), trials))

    if rarity(least) <= 0:
        return 0.0
    return top if rarity(top) > 0 else crossing(rarity, least, top, PRECISION)[0]


def run_of(probability: Floats) -> Integers:
    """The number of the run of each probability."""
    angle = np.arcsin(np.sqrt(np.clip(probability, 0.0, 1.0))) / (math.pi / 2)
    return np.asarray(np.minimum((RUNS * angle).astype(np.int64), RUNS - 1))


def in_runs(probability: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Trials of nearly equal probability joined, at their mean probability: few successes become no less probable."""
    run = run_of(probability)
    number, total = (np.asarray(np.bincount(run, part, RUNS), np.float64) for part in (trials, trials * probability))
    held = number > 0
    return total[held] / number[held], number[held]


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
