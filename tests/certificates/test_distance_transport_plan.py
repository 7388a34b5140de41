"""The plug-in of Theorem 6: never below what the rows cost to move, and hardly above it, whatever the rows are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates import distance
from calcert.certificates.distance import Plan, best_plan, placed
from calcert.certificates.limits.sampling_term import brier
from calcert.certificates.witnesses.random_splits import blocks
from calcert.foundation.array_types import Integers
from calcert.kernels import distance as distance_solver
from calcert.kernels import knots as distance_knots
from calcert.kernels.knots import cost
from calcert.summary.points import Points
from tests.as_python import as_python
from tests.lab.distances import of_rows

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

SCORES: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.random(n),
    "crowded at both ends": lambda rng, n: rng.beta(0.05, 0.05, n),
    "rare": lambda rng, n: rng.beta(0.5, 200, n),
    "four values": lambda rng, n: rng.integers(0, 4, n) / 3,
    "five values anywhere": lambda rng, n: rng.choice(rng.random(5), n),
    "ties at 0": lambda rng, n: np.where(rng.random(n) < 0.3, 0.0, rng.random(n)),
    "two decimals": lambda rng, n: np.round(rng.random(n), 2),
    "1e-17 apart": lambda rng, n: np.clip(0.3 + 5.6e-17 * rng.integers(-3, 4, n), 0, 1),
    "1e-17 from a grid point": lambda rng, n: np.nextafter(0.25, rng.integers(0, 2, n).astype(float)),
    "within 1e-9 of 1/2": lambda rng, n: 0.5 + 1e-9 * rng.standard_normal(n),
}

CHANCES: dict[str, Callable[[Floats], Floats]] = {
    "calibrated": lambda x: x,
    "too high": lambda x: x**2,
    "no positives": lambda x: 0 * x,
    "all positive": lambda x: 0 * x + 1,
    "a jump": lambda x: (x > 0.5).astype(float),
    "reversed": lambda x: 1 - x,
}


def rows(scores: str, chance: str, n: int, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng([seed, n, list(SCORES).index(scores), list(CHANCES).index(chance)])
    x = SCORES[scores](rng, n)
    return x, (rng.random(n) < CHANCES[chance](x)).astype(np.int64)


def plan_for(points: Points) -> Plan:
    n = int(points.count.sum())
    return best_plan(points, math.sqrt(brier(points, n) / n))


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("scores", SCORES)
def test_the_plug_in_is_never_below_a_linear_program_on_the_rows_and_within_a_hundredth_of_an_error(
    scores: str, chance: str
) -> None:
    for n in (1, 40, 200):
        x, y = rows(scores, chance, n)
        truth, grid = of_rows(x, y)
        found = plan_for(placed(calcert.summarize(x, y)))
        assert found.hidden == 0.0
        assert truth - grid - 1e-9 <= found.cost <= truth + 0.01 * math.sqrt(((x - y) ** 2).mean() / n) + 1e-9


@pytest.mark.parametrize(("scores", "chance"), [("uniform", "calibrated"), ("uniform", "a jump"), ("rare", "too high")])
def test_so_it_is_for_a_thousand_rows(scores: str, chance: str) -> None:
    x, y = rows(scores, chance, 1000)
    truth, grid = of_rows(x, y)
    found = plan_for(placed(calcert.summarize(x, y)))
    assert truth - grid - 1e-9 <= found.cost <= truth + 0.01 * math.sqrt(((x - y) ** 2).mean() / 1000)


def by_cells(summary: Summary) -> Summary:
    return Summary(summary.cell, summary.count, summary.offset, None, None)


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("scores", ["uniform", "crowded at both ends", "rare", "1e-17 apart"])
def test_rows_known_to_their_cells_are_never_paid_too_little_for_and_cost_little_more(scores: str, chance: str) -> None:
    x, y = rows(scores, chance, 800)
    exact, error = calcert.summarize(x, y), math.sqrt(((x - y) ** 2).mean() / 800)
    known = plan_for(placed(exact))
    for points in (exact.cell_points, placed(by_cells(exact))):
        found = plan_for(points)
        assert known.least - 1e-9 <= found.cost <= known.cost + found.hidden + 0.01 * error
        assert found.hidden <= 0.01 * error
    for scale in (0.02, 0.3):
        assert plan_for(blocks(exact, scale)).cost >= known.least - 1e-9


def test_blocks_as_wide_as_a_tenth_do_hide_something() -> None:
    x, y = rows("uniform", "a jump", 800)
    assert plan_for(blocks(calcert.summarize(x, y), 0.3)).hidden > 1e-3


@pytest.mark.parametrize("seed", range(20))
def test_every_plan_is_a_bound_however_foolish(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rows("uniform", list(CHANCES)[seed % 6], 50, seed)
    truth, grid = of_rows(x, y)
    points = calcert.summarize(x, y).points
    at = np.unique(np.concatenate([[0.0, 1.0], rng.random(rng.integers(0, 9)), x[:5]]))
    _, left = distance_knots.put(at, points.low.copy(), points.high, points.fraction, points.count.copy())
    for total in (0.0, 0.3, 1.0, 2.0):
        mass = rng.dirichlet(np.ones(at.size)) * total
        spread = rng.random((2, at.size)) * rng.integers(0, 2)
        paid, hidden = cost(
            at, mass, spread, left, points.low.copy(), points.high.copy(), points.fraction.copy(), points.count.copy()
        )
        assert paid >= truth - grid - 1e-9
        assert hidden == 0.0


def test_the_plan_of_certain_and_right_labels_costs_nothing() -> None:
    summary = calcert.summarize([0.0, 1.0, 1.0, 0.0], [0, 1, 1, 0])
    assert plan_for(summary.points).cost < 1e-9


def kernel_arguments(seed: int) -> tuple[Floats, Floats, Floats, Integers]:
    x, y = rows("crowded at both ends", "calibrated", 300, seed)
    points = blocks(calcert.summarize(x, y), 0.01)
    return points.low, points.high, points.fraction, points.count


@pytest.mark.parametrize("seed", range(3))
def test_compiled_kernels_do_what_their_python_does(seed: int) -> None:
    low, high, fraction, count = kernel_arguments(seed)
    laid = distance_knots.lay(low, high, count, 40, 32)
    assert (laid == as_python(distance_knots.lay)(low, high, count, 40, 32)).all()
    mass, left = distance_knots.put(laid, low, high, fraction, count)
    again, place = as_python(distance_knots.put)(laid, low, high, fraction, count)
    assert np.allclose(mass, again, rtol=1e-14, atol=0)
    assert (left == place).all()
    pair, plan, value = distance_solver.solve(laid, mass, 1e-6)
    solved: tuple[Floats | float, ...] = (pair, plan, value)
    for found, expected in zip(as_python(distance_solver.solve)(laid, mass, 1e-6), solved, strict=True):
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)
    spread = distance.evenly(mass, plan)
    arguments = (laid, plan, spread, left, low, high, fraction, count)
    assert cost(*arguments) == pytest.approx(as_python(cost)(*arguments), rel=1e-13)
