"""A simulated overconfident classifier whose true calibration errors are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from calcert.foundation.array_types import Floats
from calcert.perturbation.grids.coordinate_of_noise import coordinate_of
from calcert.perturbation.grids.grid import absolute_integral
from calcert.perturbation.noise import Noise
from calcert.reports.report import certify_summary
from calcert.reports.settings import Settings
from calcert.sources.rows import Rows
from calcert.summary.points import Points

OVERCONFIDENCE = 1.3
"""The simulated classifier multiplies the true log-odds by this."""

SPREAD = 1.5
"""Standard deviation of the true log-odds."""

POPULATION = 1 << 32
"""Rows that stand for all there are."""


@dataclass(frozen=True)
class TrueErrors:
    """The true errors of the simulated classifier."""

    perturbed: float
    l1: float


def simulate(n: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores and labels of n simulated rows.

    Examples
    --------
    >>> scores, labels = simulate(1000, seed=0)
    >>> float(labels.mean())
    0.5
    """
    rng = np.random.default_rng(seed)
    true_log_odds = SPREAD * rng.standard_normal(n)
    return expit(OVERCONFIDENCE * true_log_odds), rng.random(n) < expit(true_log_odds)


def truth(points: int = 2_000) -> dict[str, float]:
    """The truth about the simulated classifier, by statement; that in the large is observed over expected.

    Its distribution is symmetric about 1/2: as many positives as expected, and half of the L1 error above 1/2, where
    every score is too high. The distance is that of the distribution on so many scores, solved exactly.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in truth().items()}
    {'in_the_large': 1.0, 'l1': 0.04, 'cutoff': 0.02, 'distance': 0.015}
    """
    true_log_odds = SPREAD * ndtri((np.arange(points) + 0.5) / points)
    score, probability = expit(OVERCONFIDENCE * true_log_odds), expit(true_log_odds)
    counts = np.round(POPULATION / points * np.concatenate([1 - probability, probability])).astype(np.int64)
    rows = Rows(np.tile(score, 2), np.repeat([0, 1], points), counts=counts)
    distance = certify_summary(rows.summary(), Settings(statements="distance")).distance.terms["plug-in"]
    error = float(np.abs(score - probability).mean())
    return {"in_the_large": 1.0, "l1": error, "cutoff": error / 2, "distance": distance}


def true_errors(noise: Noise, points: int = 200_000) -> TrueErrors:
    """The true L1 calibration errors of the simulated rows, by integrating over the quantiles of the true log-odds.

    Examples
    --------
    >>> from calcert.perturbation.noise import Noise
    >>> round(true_errors(Noise("additive", 1 / 64)).l1, 4)
    0.04
    """
    true_log_odds = SPREAD * ndtri((np.arange(points) + 0.5) / points)
    score, probability = expit(OVERCONFIDENCE * true_log_odds), expit(true_log_odds)
    where = coordinate_of(noise)
    grid, place = where.grid(512), where.place(score)
    weight = np.stack([1 - probability, probability], axis=1)
    distribution = grid.place(Points(place, place, np.zeros((points, 2)), weight)).masses(weight)
    error = sum(absolute_integral(where.score(v) * d - p, grid.step) for v, d, p, _ in grid.densities(distribution))
    return TrueErrors(perturbed=float(error), l1=float(np.abs(score - probability).mean()))
