"""Lemma K3: how fast the mean served score moves and bends, for every score and bandwidth at once.

With v = (t - x)/h under the kernel truncated to [-a, b], a = x/h and b = (1 - x)/h, the mean served score has first
derivative Cov(v, T) and second derivative (2/h) B(a, b), B = Cov(v, T^2) - E[T] Cov(v, T), T = tanh v.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.perturbation.sech_kernel import first_moment, gudermannian, sech

Floats = NDArray[np.float64]

LARGEST = 0.17
"""What |B| must stay below: second moments are charged width^2/8 times 4 LARGEST/h."""

STEEPEST = 5.8, 2.54
"""Bounds on |dB/da| and on |dB/db| Z / ((a + b) sech b), for a <= b; see the proof of lemma K3."""

FAR = 12.0


def moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Cov(v, T) and B(a, b) in closed form."""
    z = gudermannian(a) + gudermannian(b)
    s, sv = (sech(b) - sech(a)) / z, (b * sech(b) + a * sech(a)) / z
    st = (sech(b) * np.tanh(b) + sech(a) * np.tanh(a)) / z
    svt = (b * sech(b) * np.tanh(b) - a * sech(a) * np.tanh(a)) / z
    v = (first_moment(b) - first_moment(a)) / z
    return 1 - sv + v * s, s / 2 - svt / 2 + v * st / 2 - s * sv + v * s**2


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (0.3, 0.4), (0.37, 9.0), (5.0, 2.0), (0.01, 0.02)])
def test_the_closed_forms_are_the_integrals(a: float, b: float) -> None:
    def mean(g: object) -> mpmath.mpf:
        return mpmath.quad(lambda v: g(v) * mpmath.sech(v), [-a, 0, b]) / z  # type: ignore[operator]

    z = mpmath.quad(mpmath.sech, [-a, 0, b])
    v, t, tt = mean(lambda v: v), mean(mpmath.tanh), mean(lambda v: mpmath.tanh(v) ** 2)
    first = mean(lambda v: v * mpmath.tanh(v)) - v * t
    bent = mean(lambda v: v * mpmath.tanh(v) ** 2) - v * tt - t * first
    found = moments(np.array([a]), np.array([b]))
    assert found[0][0] == pytest.approx(float(first), abs=1e-12)
    assert found[1][0] == pytest.approx(float(bent), abs=1e-10)


def test_the_mean_served_score_moves_no_faster_than_the_score() -> None:
    a, b = np.meshgrid(np.linspace(0.01, 20, 400), np.linspace(0.01, 20, 400))
    first, _ = moments(a, b)
    assert (first >= 0).all()
    assert (first <= 1 + 1e-12).all()


def test_it_bends_less_than_is_charged_whatever_score_and_bandwidth() -> None:
    # B(b, a) = -B(a, b), so that a <= b is enough. Boxes are cut until the value in the middle, and the most that it
    # can grow from there, stay below the constant.
    side = FAR / 24
    low = np.array([(i, j) for i in range(24) for j in range(i, 24)]).T * side
    high = low + side
    for _ in range(40):
        middle, half = (low + high) / 2, (high - low) / 2
        _, bent = moments(*middle)
        z = gudermannian(low[0]) + gudermannian(low[1])
        steep = np.minimum(1.0, sech(low[1]) * (high[0] + high[1]) / np.maximum(z, 1e-300))
        growth = np.stack([STEEPEST[0] * half[0], STEEPEST[1] * steep * half[1]])
        open_ = np.abs(bent) + growth.sum(axis=0) > LARGEST
        if not open_.any():
            break
        low, high, middle, growth = low[:, open_], high[:, open_], middle[:, open_], growth[:, open_]
        cut = np.arange(2)[:, None] == growth.argmax(axis=0)
        low, high = (
            np.concatenate([low, np.where(cut, middle, low)], axis=1),
            np.concatenate([np.where(cut, middle, high), high], axis=1),
        )
        keep = low[0] <= high[1]
        low, high = low[:, keep], high[:, keep]
    assert not open_.any()
    # Beyond FAR: from b = 12 on, B can change by at most the integral of 2.54 (a + b) sech(b) / gd(12).
    a = np.arange(0, FAR, 2e-4)
    _, bent = moments(a, np.full(a.shape, FAR))
    rest = STEEPEST[1] * 2 * 2 * np.exp(-FAR) * (FAR + 1) / 1.57
    assert np.abs(bent).max() + STEEPEST[0] * 1e-4 + rest <= LARGEST
    # A constant smaller by a fiftieth would be wrong.
    assert np.abs(bent).max() > 0.98 * LARGEST


def test_the_constants_of_steepness_cover_finite_differences() -> None:
    a, b = np.meshgrid(np.linspace(0.003, 12, 500), np.linspace(0.003, 12, 500))
    a, b = a[a <= b], b[a <= b]
    step = 1e-4
    by_a = np.abs(moments(a + step, b)[1] - moments(a, b)[1]) / step
    by_b = np.abs(moments(a, b + step)[1] - moments(a, b)[1]) / step
    assert by_a.max() <= STEEPEST[0]
    relative = by_b * (gudermannian(a) + gudermannian(b)) / ((a + b) * sech(b))
    assert relative[b < 8].max() <= STEEPEST[1]
