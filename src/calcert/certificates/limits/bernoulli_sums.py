"""Sums of independent trials: their distribution, and how far its lower tail can rise.

A calibrated classifier promises such a distribution: given the scores, labels are trials. Tails are computed from the
Fourier transform, to ACCURACY for every number of trials.
"""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.search import crossing

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


def mixing_distance(trials: Integers, probability: Floats, spread: Floats) -> Floats:
    """At most the total variation distance of the number of hits of trials that differ from that of trials alike (Ehm).

    `probability` is the mean probability of the trials and `spread` at least the sum of squared distances from it.
    """
    rarer = np.minimum(probability, 1 - probability)
    mixed = -np.expm1((trials + 1) * np.log1p(-rarer)) - rarer ** (trials + 1.0)
    factor = mixed / np.maximum((trials + 1) * rarer * (1 - rarer), 1e-300)
    return np.asarray(np.minimum(factor * spread, 1.0))
