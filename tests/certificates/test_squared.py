"""Theorem 7 in floating point: errors of the densities lower the squared error by no more than is charged (Q1)."""

from __future__ import annotations

from itertools import product
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates.squared import heights, upper_terms
from calcert.perturbation.grids.grid import Grid, Masses
from calcert.perturbation.noise import Noise

RHO = 2.0**-6

# Sixteenths, squares of which are exact: no rounding but the one that is studied.
CASES = np.array(
    [
        (t, d, d * eta, e, f)
        for t, eta in product(np.arange(5) / 4, repeat=2)
        for d in np.array([0, 1, 2, 3, 8, 64, 1024]) * RHO
        for e, f in product(np.array([-64, -8, -3, -1, 0, 1, 3, 8, 64]) * RHO, repeat=2)
    ]
).T


def understated() -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How far computed heights fall below the true ones, and where the computed density exceeds the rounding."""
    t, d, p, e, f = CASES
    true = np.divide((t * d - p) ** 2, d, out=np.zeros_like(d), where=d > 0)
    return true - heights(t, d + e, p + f, RHO), d + e > RHO


def test_heights_understate_by_no_more_than_is_charged() -> None:
    lost, known = understated()
    e, f = np.abs(CASES[3:])
    assert (lost <= np.where(known, e + 2 * f, e + RHO) + 1e-12).all()
    # The minimum does cut: errors push the density of label 1 out of its range.
    t, d, p, e, f = CASES
    assert ((np.abs(t * (d + e) - p - f) > d + e) & known).any()


def test_a_charge_of_one_error_each_is_caught() -> None:
    lost, known = understated()
    e, f = np.abs(CASES[3:])
    assert (lost > np.where(known, e + f, e + RHO) + 1e-12).any()
    assert (lost > np.where(known, e + 2 * f, e) + 1e-12).any()


@pytest.mark.parametrize("size", [1e-16, 1e-9, 1e-4])
def test_every_rounding_of_a_whole_certificate_is_charged(size: float) -> None:
    """Convolutions whose every result is off by what they claim, in the worst directions, lose less than is charged."""
    rng = np.random.default_rng(0)
    x = np.round(rng.beta(0.5, 2, 300), 2)
    summary = calcert.summarize(x, rng.random(300) < x)
    exact = upper_terms(summary, Noise("additive", 1 / 32), 0.05)
    density = Grid.density

    for towards in (-1, 1):

        def off(self: Grid, masses: Masses, low: int, high: int, towards: int = towards) -> tuple:
            t, served, positive, rounding = density(self, masses, low, high)
            # Towards m = 0 in both densities, where m^2 / D falls fastest, or away from the cone 0 <= P <= D.
            side = towards * np.sign(t * served - positive)
            return t, served - size * side, positive + size * side, rounding + size

        with mock.patch.object(Grid, "density", off):
            found = upper_terms(summary, Noise("additive", 1 / 32), 0.05)
        assert found["plug-in"] + found["discretisation"] >= exact["plug-in"] + exact["discretisation"] - 1e-15
        assert found["discretisation"] == pytest.approx(exact["discretisation"] + 4 * size, rel=1e-6)
