"""A simulated overconfident classifier whose true calibration errors are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from calcert.serving.grid import Grid, absolute_integral
from calcert.summary.points import Points

Floats = NDArray[np.float64]

OVERCONFIDENCE = 1.3
"""The simulated classifier multiplies the true log-odds by this."""

SPREAD = 1.5
"""Standard deviation of the true log-odds."""


@dataclass(frozen=True)
class Truth:
    """The true errors of the simulated classifier."""

    perturbed: float
    unmodified: float


def simulate(n: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores and labels of n rows.

    Examples
    --------
    >>> scores, labels = simulate(1000, seed=0)
    >>> float(labels.mean())
    0.5
    """
    rng = np.random.default_rng(seed)
    odds = SPREAD * rng.standard_normal(n)
    return expit(OVERCONFIDENCE * odds), rng.random(n) < expit(odds)


def truth(bandwidth: float, points: int = 200_000) -> Truth:
    """The true L1 calibration errors, by integrating over the quantiles of the true log-odds.

    Examples
    --------
    >>> round(truth(1 / 64).unmodified, 4)
    0.04
    """
    odds = SPREAD * ndtri((np.arange(points) + 0.5) / points)
    score, chance = expit(OVERCONFIDENCE * odds), expit(odds)
    grid = Grid(bandwidth, 512)
    weight = np.stack([1 - chance, chance], axis=1)
    law = grid.place(Points(score, score, np.zeros((points, 2)), weight)).masses(weight)
    served = sum(absolute_integral(t * d - p, grid.step) for t, d, p, _ in grid.densities(law))
    return Truth(perturbed=float(served), unmodified=float(np.abs(score - chance).mean()))
