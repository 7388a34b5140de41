"""Charges L1 to L5 and L9, each alone against the integral that it bounds: it covers it, and half of it would not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.serving import odds_charges as charges
from calcert.serving.log_odds import logit
from calcert.summary.points import Points

Floats = NDArray[np.float64]

SIZES = (1 / 64, 1 / 16, 1 / 4, 1 / 2)
SCORES = (2.0**-20, 1e-4, 0.02, 0.3, 0.5, 0.9, 1 - 2.0**-20)


def line(x: float, b: float, reach: float = 60.0) -> tuple[Floats, float]:
    """Log-odds around those of x, evenly, and the distance of neighbours."""
    z, step = np.linspace(-reach, reach, 120_001, retstep=True)
    return float(logit(x)) + b * z, b * float(step)


def k(z: Floats, x: float | Floats, b: float) -> Floats:
    e = np.exp(-np.abs(z - logit(x)) / b)
    return np.asarray(2 * e / (1 + e * e) / (np.pi * b))


def sigmoid(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-z)))


def worst(ratio: Callable[[float, int, float], float]) -> float:
    """The largest of what is over what is charged, over scores, labels and sizes of the noise."""
    return max(ratio(x, y, b) for x in SCORES for y in (0, 1) for b in SIZES)


def test_l1_covers_both_derivatives_of_the_kernel_and_half_of_it_does_not() -> None:
    def first(x: float, y: int, b: float) -> float:
        z, step = line(x, b)
        turn = np.tanh((z - float(logit(x))) / b)
        return float((np.abs(sigmoid(z) - y) * k(z, x, b) * np.abs(turn)).sum() * step / charges.slope(abs(x - y), b))

    def second(x: float, y: int, b: float) -> float:
        z, step = line(x, b)
        turn = np.tanh((z - float(logit(x))) / b)
        return float(
            (np.abs(sigmoid(z) - y) * k(z, x, b) * np.abs(2 * turn**2 - 1)).sum() * step / charges.slope(abs(x - y), b)
        )

    assert 0.99 < worst(first) <= 1 + 1e-6
    assert 0.99 < worst(second) <= 1 + 1e-6


def cell(x: float, width: float) -> Points:
    """A cell of so many log-odds that begins at x, or ends there above 1/2."""
    w = width * x * (1 - x)
    low, high = (x, x + w) if x <= 0.5 else (x - w, x)
    return Points(np.array([low]), np.array([high]), np.zeros((1, 2)), np.zeros((1, 2), np.int64))


@pytest.mark.parametrize("relative", [1 / 256, 1 / 16, 1 / 2])
def test_l2_covers_interpolating_in_the_score_and_half_of_it_does_not(relative: float) -> None:
    def ratio(x: float, y: int, b: float) -> float:
        points, f = cell(x, relative * b), 0.4
        low, high = float(points.low[0]), float(points.high[0])
        z, step = line(x, b)
        change = k(z, low + f * (high - low), b) - (1 - f) * k(z, low, b) - f * k(z, high, b)
        far = np.array([[high, 1 - low]])
        charged = charges.cell(points, f * (1 - f), far, b)[0, y]
        return float((np.abs(sigmoid(z) - y) * np.abs(change)).sum() * step / charged)

    assert 0.5 < worst(ratio) <= 1 + 1e-5
    if relative < 1 / 100:
        assert worst(ratio) > 0.98


def test_l3_covers_scores_that_are_not_read_to_the_end_and_half_of_it_does_not() -> None:
    resolution = 2.0**-30

    def ratio(x: float, y: int, b: float) -> float:
        low, high = x - resolution / 2, x + resolution / 2
        points = Points(np.array([low]), np.array([high]), np.zeros((1, 2)), np.zeros((1, 2), np.int64))
        z, step = line(x, b)
        change = np.abs(k(z, low, b) - k(z, high, b))
        charged = charges.unread(points, resolution, np.array([[high, 1 - low]]), b)[0, y]
        return float((np.abs(sigmoid(z) - y) * change).sum() * step / charged)

    assert 0.99 < worst(ratio) <= 1 + 1e-4


@pytest.mark.parametrize("relative", [1 / 64, 1 / 4, 1.0])
def test_l4_covers_going_to_the_grid_and_half_of_it_does_not(relative: float) -> None:
    def ratio(x: float, y: int, b: float) -> float:
        d, zeta = relative * b, float(logit(x))
        z, step = line(x, b)
        low, high = sigmoid(np.array(zeta - d / 2)), sigmoid(np.array(zeta + d / 2))
        change = np.abs(k(z, x, b) - (k(z, low, b) + k(z, high, b)) / 2)
        return float((np.abs(sigmoid(z) - y) * change).sum() * step / charges.grid(d, abs(x - y), b))

    assert 0.5 < worst(ratio) <= 1 + 1e-5
    if relative < 1 / 32:
        assert worst(ratio) > 0.98


def interpolated(values: Callable[[Floats], Floats], z: Floats, d: float) -> Floats:
    """The broken line through the values at multiples of d."""
    knots = np.arange(np.floor(z[0] / d), np.ceil(z[-1] / d) + 1) * d
    return np.interp(z, knots, values(knots))


@pytest.mark.parametrize("relative", [1 / 64, 1 / 4, 1.0])
def test_l5_covers_integrating_a_broken_line_and_half_of_it_does_not(relative: float) -> None:
    def ratio(x: float, y: int, b: float) -> float:
        d = relative * b
        z, step = line(x, b)
        change = np.abs((sigmoid(z) - y) * k(z, x, b) - interpolated(lambda s: (sigmoid(s) - y) * k(s, x, b), z, d))
        # The row sits on a grid point, up to d from where `far` was read.
        return float(change.sum() * step / charges.integral(d, abs(x - y) * np.exp(-d), b))

    def density(x: float, y: int, b: float) -> float:
        d = relative * b
        z, step = line(x, b)
        change = np.abs(k(z, x, b) - interpolated(lambda s: k(s, x, b), z, d))
        return float(change.sum() * step / charges.square(d, b))

    assert 0.5 < worst(ratio) <= 1
    assert 0.5 < worst(density) <= 1


@pytest.mark.parametrize("relative", [1 / 64, 1 / 4, 1.0])
def test_l9_covers_a_score_that_is_constant_on_grid_cells_and_half_of_it_does_not(relative: float) -> None:
    """The worst witness has the sign of what each grid cell loses."""

    def ratio(x: float, y: int, b: float) -> float:
        d, zeta = relative * b, float(logit(x))
        inside = np.arange(64) / 64 + 1 / 128
        start = zeta + d * np.arange(-np.ceil(40 / relative), np.ceil(40 / relative))
        z = start[:, None] + d * inside
        t = sigmoid(z)
        mean = np.log1p(np.expm1(d) * sigmoid(start)) / d
        lost = np.abs(((t - mean[:, None]) * k(z, x, b)).mean(axis=1) * d).sum()
        return float(lost / charges.stepwise_score(d, abs(x - y) * np.exp(-d), b))

    assert 0.5 < worst(ratio) <= 1
