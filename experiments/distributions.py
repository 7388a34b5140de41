"""Four calibration functions of ours and the perfect one, and the exact errors of classifiers that follow them.

The paper defines its four in the headings of a picture, which we did not have; its text says that one is a parabola and
that the binned calibration error fails on one alone. Ours: smooth and monotone, logistic, a parabola, and a wave with
one period to each of 15 bins, on which the binned error is blind. The fifth is calibrated: the whole bound is gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calcert.perturbation.grids.grid import Grid, absolute_integral
from calcert.summary.points import Points

Floats = NDArray[np.float64]
BANDWIDTH = 1 / 64


@dataclass(frozen=True)
class Distribution:
    """Uniform scores and label probability eta(score)."""

    name: str
    formula: str
    eta: Callable[[Floats], Floats]
    variation: float

    @cached_property
    def error(self) -> float:
        """The L1 calibration error of the unmodified classifier."""
        x = (np.arange(2_000_000) + 0.5) / 2_000_000
        return float(np.abs(x - self.eta(x)).mean())

    @cached_property
    def perturbed(self) -> tuple[Floats, Floats, Floats]:
        """Grid t, density of the perturbed score there, and the calibration function of the perturbed classifier."""
        grid, x = Grid(BANDWIDTH, 512), (np.arange(400_000) + 0.5) / 400_000
        probability = self.eta(x)
        weight = np.stack([1 - probability, probability], axis=1)
        masses = grid.place(Points(x, x, np.zeros_like(weight), weight)).masses(weight)
        ((t, density, positive, _),) = grid.densities(masses)
        return t, density, positive / density

    @cached_property
    def perturbed_error(self) -> float:
        """The L1 calibration error of the perturbed classifier."""
        t, density, eta = self.perturbed
        return absolute_integral((t - eta) * density, t[1] - t[0])

    @cached_property
    def perturbed_squared_error(self) -> float:
        """The squared calibration error of the perturbed classifier."""
        t, density, eta = self.perturbed
        return float(np.trapezoid((t - eta) ** 2 * density, t))

    def rows(self, n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int8]]:
        """n rows in ascending order of score: uniform order statistics need no sort."""
        x = _ordered_uniform(n, rng)
        return x, (rng.random(n) < self.eta(x)).view(np.int8)

    def perturbed_rows(self, n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int8]]:
        """n rows of the perturbed classifier in ascending order, by inverting the distribution of its scores."""
        t, density, eta = self.perturbed
        cumulative = np.concatenate([[0.0], np.cumsum((density[:-1] + density[1:]) / 2)])
        s = np.interp(_ordered_uniform(n, rng), cumulative / cumulative[-1], t)
        return s, (rng.random(n) < np.interp(s, t, eta)).view(np.int8)


def _ordered_uniform(n: int, rng: np.random.Generator) -> Floats:
    """Uniform order statistics: partial sums of n + 1 exponentials over their total."""
    steps = rng.standard_exponential(n + 1)
    np.cumsum(steps, out=steps)
    steps /= steps[-1]
    # A sum that rounds is still in order, and no partial sum exceeds the total.
    return steps[:-1]


DISTRIBUTIONS = (
    Distribution("square", "x²", lambda x: x * x, 1.0),
    Distribution("logistic", "1 / (1 + exp(5 − 10 x))", lambda x: expit(10 * x - 5), 1.0),
    Distribution("parabola", "1/4 + 2 (x − 1/2)²", lambda x: 0.25 + 2 * (x - 0.5) ** 2, 1.0),
    Distribution("wave", "x + x (1 − x) sin(30 π x)", lambda x: x + x * (1 - x) * np.sin(30 * np.pi * x), 11.0),
    Distribution("calibrated", "x", lambda x: x, 1.0),
)
NAMES = tuple(distribution.name for distribution in DISTRIBUTIONS)
