"""The interior point method comes close to what a general solver finds, on knots however uneven."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.kernels.distance import solve, spent
from tests.lab.distances import by_pairs

Floats = NDArray[np.float64]


def problem(seed: int) -> tuple[Floats, Floats]:
    """Knots and masses: even or uneven, some 2^-26 apart, a label rare or missing, all mass in one place."""
    rng = np.random.default_rng(seed)
    knots = np.unique(np.concatenate([[0.0, 1.0], np.round(rng.random(rng.integers(1, 40)) * 2**26) / 2**26]))
    if seed % 3 == 0:
        near = knots[1:-1] + 2.0**-26
        knots = np.unique(np.concatenate([knots, near[near < 1]]))
    mass = rng.dirichlet(np.full(2 * knots.size, 0.3)).reshape(2, -1)
    mass[seed % 2] *= (1.0, 1e-6, 0.0)[seed % 5 % 3]
    if seed % 7 == 0:
        mass[:] = 0.0
        mass[0, seed % knots.size] = 1.0
    return knots, mass / mass.sum()


@pytest.mark.parametrize("seed", range(30))
def test_pair_and_plan_come_within_a_millionth_of_the_best(seed: int) -> None:
    knots, mass = problem(seed)
    best = by_pairs(knots, mass.T, knots, boxed=True)
    pair, plan, value = solve(knots, mass, 1e-7)
    assert value == pytest.approx((mass * pair).sum(), abs=1e-12)
    # The general solver lets constraints slip by 1e-7, and knots are 1.5e-8 apart.
    assert best - 1e-6 <= value <= spent(knots, mass, plan, 0) <= best + 1e-6
    assert (plan >= 0).all()
    assert (np.abs(np.diff(pair)) <= np.diff(knots) + 1e-12).all()
    assert ((1 - knots) * pair[0] + knots * pair[1] <= 1e-12).all()


def test_more_rounds_do_not_help_once_the_plan_costs_what_the_pair_earns() -> None:
    knots, mass = problem(1)
    (_, _, value), (_, _, rough) = solve(knots, mass, 0.0), solve(knots, mass, 1e-2)
    assert rough <= value + 1e-12
    assert value - rough <= 1e-2
