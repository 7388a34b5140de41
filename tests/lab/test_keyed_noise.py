"""Noise that is a function of the row: what S1 and S3 of the theory say, computed without the program's own quadrature.

Rows outside the recurring ones are diffuse: however fine, their noise is as good as fresh. So given the noise of the
recurring rows the error is an integral over the diffuse part and a sum over the recurring rows.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.perturbation import sech_kernel
from calcert.perturbation.keyed_noise import uniform_of_rows
from calcert.perturbation.sech_kernel import LARGEST_MEAN_SHIFT, sample
from tests.lab.distributions import Law

Floats = NDArray[np.float64]


def gap(t: Floats, score: Floats, weight: Floats, chance: Floats, h: float) -> Floats:
    """The mean of (t - y) k(t|x) over atoms."""
    return np.asarray((weight * (t[:, None] - chance) * sech_kernel.density(t[:, None], score, h)).sum(axis=1))


@pytest.mark.parametrize("seed", range(20))
def test_given_the_noise_of_recurring_rows_the_error_grows_by_no_more_than_proved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    h, size = rng.choice([0.02, 0.1, 0.5]), 6
    score, chance, weight = rng.random(size), rng.random(size), rng.dirichlet(np.ones(size))
    recurring = rng.random(size) < 0.5
    t = (np.arange(40_000) + 0.5) / 40_000
    diffuse = gap(t, score[~recurring], weight[~recurring], chance[~recurring], h)
    fresh = float(np.abs(gap(t, score, weight, chance, h)).mean())
    shift = np.abs(t[:, None] - chance) * sech_kernel.density(t[:, None], score, h)
    for _ in range(50):
        served = sample(score, h, rng.random(size))
        frozen = float(np.abs(diffuse).mean() + (weight * np.abs(served - chance))[recurring].sum())
        allowed = (weight * (np.abs(served - chance) + shift.mean(axis=0)))[recurring].sum()
        assert frozen <= fresh + allowed + 1e-6
        assert frozen <= fresh + 2 * weight[recurring].sum() + 1e-6


@pytest.mark.parametrize("r", [0.01, 0.1, 0.5])
def test_twice_the_recurring_share_is_nearly_attained(r: float) -> None:
    h = 1e-4
    fresh = Law((r,), (1.0,), (r,)).served(h)[0]
    served = sample(np.array([r]), h, np.array([0.5]))[0]
    # The diffuse rows have label 0, the recurring one label 1, and their scores tell which is which.
    frozen = (1 - r) * float(sech_kernel.mean(r, h)) + r * (1 - served)
    assert fresh < 1.2 * h
    assert frozen == pytest.approx(2 * r * (1 - r), abs=1e-6)
    assert frozen > fresh + 0.99 * 2 * r * (1 - r) - 1.2 * h


def test_a_fixed_witness_hardly_sees_frozen_noise() -> None:
    """S3 (e): over salts, the mean gain of a witness is that of fresh noise, give or take the root of sum p^2."""
    rows, h = 400, 1 / 16
    x = np.linspace(0, 1, rows)
    chance = x**2
    t = (np.arange(20_000) + 0.5) / 20_000
    fresh = float((np.where(t < 0.3, -1, 1) * gap(t, x, np.full(rows, 1 / rows), chance, h)).mean())
    gains = []
    for salt in range(200):
        served = sample(x, h, uniform_of_rows(salt, x[:, None]))
        gains.append(float((np.where(served < 0.3, -1, 1) * (served - chance)).mean()))
    # What is left over many requests: p = 1/rows each, so that the variance over salts is at most 1/rows.
    assert np.var(gains) <= 1 / rows
    assert abs(np.mean(gains) - fresh) < 5 * np.std(gains) / np.sqrt(200) + 1e-4


@pytest.mark.parametrize("h", [0.01, 0.1, 1.0])
def test_perturbing_costs_at_most_the_mean_shift(h: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        score, chance, weight = np.sort(rng.random(4)), rng.random(4), rng.dirichlet(np.ones(4))
        law = Law(tuple(score), tuple(weight), tuple(chance))
        served = law.served(h)[0]
        assert served <= law.error + LARGEST_MEAN_SHIFT * h
        assert served >= abs(weight @ (sech_kernel.mean(score, h) - chance)) - 1e-9
