"""Charges L1 to L5, L9, L11 to L13, each against the integral that it bounds: it covers it, and half would not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.perturbation.grids import odds_discretisation as charges
from calcert.perturbation.grids.grid import cubic_weights
from calcert.perturbation.odds_kernel import logit
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


def test_l11_covers_the_fourth_derivative_of_the_kernel_and_half_of_it_does_not() -> None:
    def ratio(x: float, y: int, b: float) -> float:
        z, step = line(x, b)
        bell = 1 / np.cosh(np.minimum(np.abs(z - float(logit(x))) / b, 300)) ** 2
        bent = k(z, x, b) * np.abs(24 * bell**2 - 20 * bell + 1)
        return float((np.abs(sigmoid(z) - y) * bent).sum() * step / charges.fourth(abs(x - y), b))

    assert 0.8 < worst(ratio) <= 1


@pytest.mark.parametrize("relative", [1 / 16, 1 / 4, 1.0])
def test_l12_covers_going_to_four_grid_points_and_half_of_it_does_not(relative: float) -> None:
    def ratio(x: float, y: int, b: float) -> float:
        d, zeta = relative * b, float(logit(x))
        z, step = line(x, b)
        around = [sigmoid(np.array(zeta + (side - 1 / 2) * d)) for side in (-1, 0, 1, 2)]
        parts = cubic_weights(np.array(1 / 2))
        placed = sum(part * k(z, at, b) for part, at in zip(parts, around, strict=True))
        change = np.abs(k(z, x, b) - placed)
        return float((np.abs(sigmoid(z) - y) * change).sum() * step / charges.cubic(d, abs(x - y), b))

    assert worst(ratio) <= 1
    if relative < 1 / 2:
        assert worst(ratio) > 0.5


def through_cubics(values: Callable[[Floats], Floats], z: Floats, d: float) -> Floats:
    """The cubics through four values each at multiples of d."""
    base = np.floor(z / d)
    parts = cubic_weights(z / d - base)
    return np.asarray(sum(part * values((base + side) * d) for side, part in zip((-1, 0, 1, 2), parts, strict=True)))


def test_l13_no_kink_of_the_third_derivative_is_missed_by_more_than_a_sixtieth() -> None:
    inside = np.linspace(0, 1, 4001)[:-1] + 1 / 8000
    found = []
    for kink in np.linspace(0, 1, 41):
        z = np.concatenate([inside + cell for cell in range(-3, 4)])

        def power(s: Floats, kink: float = kink) -> Floats:
            return np.maximum(s - kink, 0.0) ** 3 / 6

        missed = power(z) - through_cubics(power, z, 1.0)
        assert missed.min() > -1e-12
        found.append(missed.sum() / 4000)
    assert max(found) == pytest.approx(1 / 72 + 1 / 384, rel=1e-5)
    assert max(found) < 1 / 60


@pytest.mark.parametrize("relative", [1 / 16, 1 / 4])
def test_l13_covers_cubics_and_trapezoids_and_half_of_it_does_not(relative: float) -> None:
    def by_power(power: int) -> Callable[[float, int, float], float]:
        def ratio(x: float, y: int, b: float) -> float:
            d = relative * b
            z, step = line(x, b)

            def bump(s: Floats) -> Floats:
                return (sigmoid(s) - y) ** power * k(s, x, b)

            # A row has 5/4 of its weight on grid points, up to 2 d from where `far` was read.
            charged = charges.remainder(d, abs(x - y) * np.exp(-2 * d), b) / 1.25
            if power == 1:
                return float(np.abs(bump(z) - through_cubics(bump, z, d)).sum() * step / charged)
            knots = np.arange(np.floor(z[0] / d), np.ceil(z[-1] / d) + 1) * d
            return float(abs(bump(z).sum() * step - bump(knots).sum() * d) / charged)

        return ratio

    assert 0.5 < worst(by_power(1)) <= 1
    assert worst(by_power(2)) <= 1


@pytest.mark.parametrize("b", SIZES)
def test_l13_covers_the_line_through_many_rows_and_without_its_bends_would_not(b: float) -> None:
    rng, d = np.random.default_rng(0), b / 16
    knots = np.asarray(d * np.arange(-60 * 16, 60 * 16 + 1), np.float64)
    places = np.asarray(d * rng.integers(-8, 9, 12), np.float64)
    labels = rng.integers(0, 2, 12)

    def gap(s: Floats) -> Floats:
        rows = [(sigmoid(s) - y) * k(s, sigmoid(np.array(at)), b) for at, y in zip(places, labels, strict=True)]
        return np.asarray(np.mean(rows, axis=0))

    z, step = np.linspace(knots[0], knots[-1], 400_001, dtype=np.float64, retstep=True)
    missed = float(np.abs(gap(z) - np.interp(z, knots, gap(knots))).sum() * step)
    far = np.abs(sigmoid(places) - labels)
    rest = float(charges.remainder(d, far, b).mean())
    assert rest < missed <= charges.broken_line(gap(knots), d) + rest
