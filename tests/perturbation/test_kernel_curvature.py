"""The constants behind every discretisation term: how fast the kernel can bend, in its score and in its place.

Under k(.|x) the angle theta = gd((t - x)/h) is uniform on [a, b], -pi/2 <= a <= 0 <= b <= pi/2. With T = sin(theta) =
tanh((t - x)/h) and A = (T^2 - E T^2) - E T (T - E T), the second derivative of k in x is (2 k / h^2) A, so that its L1
norm is (2 / h^2) E|A|.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.coordinates import ScoreCoordinate
from calcert.perturbation.grids.grid import CURVATURE, Grid

Floats = NDArray[np.float64]

LARGEST_MEAN = CURVATURE / 2
"""What E|A| must stay below."""


def panels(x: float, h: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on the part of [0, 1] that the kernel around x can see."""
    edges = np.unique(np.clip(x + h * np.linspace(-45, 45, 361), 0, 1))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    width = np.diff(edges)[:, None]
    return (edges[:-1, None] + width * (nodes + 1) / 2).ravel(), (width * weights / 2).ravel()


def bend(x: float, h: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Nodes, weights, k(t|x) and its second derivative in x at the nodes."""
    t, weight = panels(x, h)
    k = sech_kernel.density(t, x, h)
    slope = np.tanh((t - x) / h)
    first, second = (weight * k * slope).sum(), (weight * k * slope**2).sum()
    return t, weight, k, 2 * k / h**2 * ((slope**2 - second) - first * (slope - first))


@pytest.mark.parametrize("h", [1 / 64, 0.3, 2.0])
@pytest.mark.parametrize("x", [0.0, 0.01, 0.4, 1.0])
def test_the_second_derivative_of_the_kernel_has_the_stated_form(x: float, h: float) -> None:
    t, _, _, formula = bend(x, h)
    with mpmath.workdps(40):

        def k(place: float, score: mpmath.mpf) -> mpmath.mpf:
            total = mpmath.atan(mpmath.sinh((1 - score) / h)) + mpmath.atan(mpmath.sinh(score / h))
            return mpmath.sech((place - score) / h) / (h * total)

        for i in range(0, t.size, max(t.size // 12, 1)):
            wanted = mpmath.diff(lambda score, place=float(t[i]): k(place, score), mpmath.mpf(x), 2)
            assert formula[i] == pytest.approx(float(wanted), rel=1e-7, abs=1e-9 / h**3)


def mean_absolute(a: float, b: Floats, nodes: int) -> Floats:
    """E|A| for theta uniform on [a, b] by the midpoint rule, the two moments in closed form."""
    length = b - a
    safe = np.where(length > 0, length, 1.0)
    first = (np.cos(a) - np.cos(b)) / safe
    second = 0.5 - (np.sin(2 * b) - np.sin(2 * a)) / (4 * safe)
    theta = a + length[:, None] * (np.arange(nodes) + 0.5) / nodes
    slope = np.sin(theta)
    bent = (slope**2 - second[:, None]) - first[:, None] * (slope - first[:, None])
    return np.where(length > 0, np.abs(bent).mean(axis=1), 0.0)


def test_the_curvature_constant_covers_every_interval_of_angles() -> None:
    # Write theta = a + s (b - a). |E T| and E|T| are at most 2/pi, |2 T cos(theta)| at most 1 and E[cos(theta) (1 - s)]
    # at most 1/2, so E|dA/da| <= 1/2 + 1/pi + 1/2 + (1/2)(3)(2/pi) < 2.5, and likewise in b. In s, |dA/ds| is at
    # most (1 + 2/pi) pi.
    steps, nodes = 220, 500
    in_each_end, along = 2.5, (1 + 2 / math.pi) * math.pi
    grid = np.linspace(0, math.pi / 2, steps + 1)
    # Turning the interval around changes nothing, so -a <= b is enough.
    largest = max(float(mean_absolute(-a, grid[i:], nodes).max()) for i, a in enumerate(grid))
    between = 2 * in_each_end * (math.pi / 2 / steps / 2)
    quadrature = along / (4 * nodes)
    assert largest + between + quadrature <= LARGEST_MEAN
    # The supremum is 1/pi, at the whole interval: a constant a tenth smaller would be wrong.
    assert largest + quadrature >= 1 / math.pi > 0.9 * LARGEST_MEAN


@pytest.mark.parametrize("h", [2.0**-13, 1 / 64, 0.2, 1.0, 4.0])
def test_the_l1_norm_of_the_second_derivative_in_the_score_stays_below_the_curvature(h: float) -> None:
    for x in np.unique(np.clip(np.concatenate([np.linspace(0, 1, 41), h * np.linspace(0, 6, 25)]), 0, 1)):
        _, weight, _, second = bend(float(x), h)
        assert (weight * np.abs(second)).sum() <= CURVATURE / h**2


BANDWIDTHS = [2.0**-13, 1 / 64, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.5, 10.0]


def in_place(x: float, h: float) -> dict[str, float]:
    """L1 norms over t in [0, 1] of the second derivatives in t of k and of (t - y) k, y = 0 and 1."""
    t, weight = panels(x, h)
    k, slope = sech_kernel.density(t, x, h), np.tanh((t - x) / h)
    first, second = -k * slope / h, k * (2 * slope**2 - 1) / h**2
    norms = {"k": second} | {f"y = {y}": (t - y) * second + 2 * first for y in (0, 1)}
    return {name: float((weight * np.abs(values)).sum()) for name, values in norms.items()}


@pytest.mark.parametrize("h", BANDWIDTHS)
def test_the_integration_error_covers_the_second_derivative_in_place(h: float) -> None:
    grid = Grid(h, 512)
    allowed = ScoreCoordinate(h).integrating(grid) / (grid.step**2 / 8)
    scores = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 61), h * np.linspace(0, 6, 61)]), 0, 1))
    largest = {"k": 0.0, "y = 0": 0.0, "y = 1": 0.0}
    for x in scores:
        largest = {name: max(largest[name], value) for name, value in in_place(float(x), h).items()}
    # Gauss nodes do not see kinks of |.|: one part in ten thousand is theirs.
    assert max(largest.values()) <= allowed * (1 + 1e-4)
    # Theorem 7 charges three times the error, for 2 m and for the density itself.
    assert 2 * max(largest["y = 0"], largest["y = 1"]) + largest["k"] <= 3 * allowed


@pytest.mark.parametrize("h", [2.0**-13, 1 / 64])
def test_the_integration_error_is_no_larger_than_twice_what_it_must_be(h: float) -> None:
    grid = Grid(h, 512)
    needed = max(in_place(x, h)["y = 1"] for x in (0.0, 0.5 * h, h, 0.5, 1 - h, 1.0))
    assert ScoreCoordinate(h).integrating(grid) / (grid.step**2 / 8) <= 2 * needed


@pytest.mark.parametrize("h", BANDWIDTHS)
def test_squares_of_mean_served_scores_bend_less_than_the_second_moment_allows(h: float) -> None:
    for x in np.unique(np.clip(np.concatenate([np.linspace(0, 1, 61), h * np.linspace(0, 6, 61)]), 0, 1)):
        t, weight, k, second = bend(float(x), h)
        slope = np.tanh((t - x) / h)
        mean = (weight * k * t).sum()
        first = (weight * k * (slope - (weight * k * slope).sum()) * (t - x)).sum() / h
        bending = (weight * second * (t - x)).sum()
        for value, sign in ((mean, 1), (1 - mean, -1)):
            assert abs(2 * first**2 + sign * 2 * value * bending) <= 2 + 0.68 / h
