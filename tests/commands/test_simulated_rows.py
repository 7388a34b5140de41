"""The simulated classifier: the errors that it is said to have are the ones that it has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, ndtri

import calcert
from calcert.commands.demo import OVERCONFIDENCE, SPREAD, simulate
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid import absolute_integral
from calcert.perturbation.noise import Noise
from calcert.summary.points import Points


class TrueErrors(NamedTuple):
    """The true errors of the simulated classifier."""

    perturbed: float
    l1: float


def true_errors(noise: Noise, points: int = 200_000) -> TrueErrors:
    """The true L1 calibration errors of the simulated rows, by integrating over the quantiles of the true log-odds."""
    true_log_odds = SPREAD * ndtri((np.arange(points) + 0.5) / points)
    score, probability = expit(OVERCONFIDENCE * true_log_odds), expit(true_log_odds)
    where = coordinate_of(noise)
    grid, place = where.grid(512), where.place(score)
    weight = np.stack([1 - probability, probability], axis=1)
    distribution = grid.place(Points(place, place, np.zeros((points, 2)), weight)).masses(weight)
    error = sum(absolute_integral(where.score(v) * d - p, grid.step) for v, d, p, _ in grid.densities(distribution))
    return TrueErrors(perturbed=float(error), l1=float(np.abs(score - probability).mean()))


def test_the_error_of_the_simulated_classifier_is_that_of_calculus() -> None:
    def weighted(z: float) -> float:
        return abs(expit(OVERCONFIDENCE * SPREAD * z) - expit(SPREAD * z)) * stats.norm.pdf(z)

    wanted, _ = integrate.quad(weighted, -12, 12, points=[0])
    assert true_errors(Noise("additive", 1 / 64)).l1 == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("h", [1 / 64, 0.25])
def test_the_served_error_of_the_simulated_classifier_is_that_of_direct_summation(h: float) -> None:
    odds = SPREAD * stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    score, chance = expit(OVERCONFIDENCE * odds), expit(odds)
    t = (np.arange(4000) + 0.5) / 4000
    gap = np.zeros(t.size)
    for x, p in zip(np.array_split(score, 20), np.array_split(chance, 20), strict=True):
        gap += (calcert.perturbation.sech_kernel.density(t[:, None], x, h) * (t[:, None] - p)).sum(axis=1) / score.size
    assert true_errors(Noise("additive", h)).perturbed == pytest.approx(float(np.abs(gap).mean()), abs=2e-5)


def test_simulated_rows_repeat_with_their_seed_and_are_overconfident() -> None:
    scores, labels = simulate(200_000, seed=3)
    again, _ = simulate(200_000, seed=3)
    assert (scores == again).all()
    confident = scores > 0.9
    assert labels[confident].mean() < scores[confident].mean() - 0.02
    report = calcert.certify(scores, labels, settings=calcert.Settings(bandwidth=1 / 64))
    known = true_errors(Noise("additive", 1 / 64))
    assert report.perturbed.lower <= known.perturbed <= report.perturbed.upper
    assert report.l1.lower <= known.l1 <= report.l1.upper
