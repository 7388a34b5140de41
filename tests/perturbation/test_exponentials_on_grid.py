"""The kernel as a sum of exponentials is as near as is charged (K4), and their sums pass along a grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev

from calcert.kernels.grids import smoothed
from calcert.perturbation.grids.grid import Grid, exponentials, missed, number
from calcert.perturbation.sech_kernel import gudermannian
from tests.as_python import as_python


@pytest.mark.parametrize("fineness", [1, 7, 128])
def test_k4_exponentials_are_as_near_to_the_kernel_as_is_charged_and_half_would_not_do(fineness: int) -> None:
    grid = Grid(1 / 64, fineness)
    (decay, weight), step = exponentials(grid), grid.step / grid.h
    offset = np.arange(0, math.ceil(40 / step))
    exact = grid.h * np.diff(gudermannian(step * np.append(offset, offset.size)))
    off = np.abs((weight * decay ** offset[:, None]).sum(axis=1) - exact)
    most = 1 / float(Chebyshev.basis(number(grid))(3.0))
    assert (off <= most * exact + 1e-15).all()
    assert (off > most * exact / 2).any() or fineness == 1  # over a wide cell signs of what is missed change
    assert 5 / 4 * most < missed(grid) < 5 / 4 * most + 1e-10


def test_sums_that_pass_along_the_grid_are_the_sums_over_all_cells() -> None:
    rng = np.random.default_rng(5)
    grid = Grid(1 / 40, 8)
    f, mean_score, scale = rng.uniform(-1, 1, 60), rng.random(60), rng.uniform(0.5, 1, 61)
    f[:20] = f[50:] = 0
    decay, weight = exponentials(grid)
    found = smoothed(f, mean_score, scale, decay, weight, grid.reach)
    between = np.arange(60) - np.arange(61)[:, None]
    kernel = (weight * decay ** np.where(between < 0, -1 - between, between)[:, :, None]).sum(axis=2)
    assert found[1:-1] == pytest.approx(kernel @ np.stack([f, f * mean_score], axis=1) / scale[:, None], abs=1e-14)
    assert not found[[0, -1]].any()
    assert not smoothed(0 * f, mean_score, scale, decay, weight, grid.reach).any()


def test_the_kernel_does_as_it_is_written() -> None:
    kernel: Any = smoothed
    f = np.random.default_rng(6).uniform(-1, 1, 49)
    table = (np.linspace(0.1, 0.9, 49), np.full(50, 0.3), *exponentials(Grid(0.1, 5)), 40)
    assert kernel(f, *table) == pytest.approx(as_python(kernel)(f, *table), abs=1e-12)
