"""Witnesses for the perturbed classifier promise no more than the integral over what is served (L9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit

import calcert
from calcert import Summary
from calcert.certificates.perturbed import FREE, PerturbedWitness, perturbed_lower
from calcert.kernels.grids import lower_to, signs_of, smoothed
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid import BLOCK, Grid, exponentials, missed
from calcert.perturbation.grids.odds_coordinate import ENDS, HELD, OddsCoordinate
from calcert.perturbation.noise import Noise
from tests.as_python import as_python

Floats = NDArray[np.float64]

SCORES = [0.0, 1e-12, 2e-9, 5e-7, 2e-6, 1e-5, 0.003, 0.2, 0.2001, 0.5, 0.83, 0.999, 1 - 1e-6, 1 - 2e-8, 1.0]


def witness_of(b: float, labels: list[int], rows: int = 15) -> tuple[PerturbedWitness, Summary]:
    summary = calcert.summarize(SCORES, labels)
    where = OddsCoordinate(b)
    view, _ = where.by_joined_cell(summary)
    return PerturbedWitness(where, view, where.witness_grid(rows)), summary


def earned(witness: PerturbedWitness, f: Floats, held: tuple[float, float], x: float, y: int) -> float:
    """The integral of f(z) (t - y) k(z|x); beyond the grid and at scores 0 and 1 f has the value held there."""
    where, grid = witness.where, witness.grid
    assert isinstance(where, OddsCoordinate)
    ends = [0.0 if math.isnan(value) else value for value in held]
    if x in (0.0, 1.0):
        return ends[int(x)] * (x - y)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    step, b = where.step(grid), where.b
    start = -where.half + step * np.arange(grid.size)
    near = np.abs(start - logit(x)) < 42 * b
    f, start = f[near], start[near]
    z = start[:, None] + step * (nodes + 1) / 2
    away = np.exp(-np.abs(z - logit(x)) / b)
    k = 2 * away / (1 + away**2) / (np.pi * b)
    inside = float((f[:, None] * (expit(z) - y) * k * weights * step / 2).sum())
    # What is served below the grid has score 0 as good as exactly, and above it 1.
    below = 2 / np.pi * math.atan(math.exp(min((-where.half - float(logit(x))) / b, 99)))
    above = 2 / np.pi * math.atan(math.exp(min((float(logit(x)) - where.half) / b, 99)))
    return inside + ends[0] * (0 - y) * below + ends[1] * (1 - y) * above


@pytest.mark.parametrize("b", [1 / 64, 1 / 16, 1 / 2])
@pytest.mark.parametrize("labels", [[0, 1] * 7 + [0], [1] * 4 + [0] * 7 + [1, 0, 0, 0], [0] * 8 + [1] * 7])
def test_a_witness_promises_no_more_than_the_integral_anywhere_in_a_cell(b: float, labels: list[int]) -> None:
    witness, _ = witness_of(b, labels)
    where, view, grid = witness.where, witness.view, witness.grid
    assert isinstance(where, OddsCoordinate)
    known = np.empty((view.between.size, 2), np.int64)
    known[view.between], known[~view.between] = view.points.count, view.ends.count
    held = where.held(view, known)
    assert not any(map(math.isnan, held))
    f = witness.signs(known[view.between], held, 0, grid.size)
    assert np.abs(f).max() <= 1
    promised, hidden = witness.gain(known[view.between], held), where.hidden_gain(view, grid) + missed(grid)
    for i in range(view.points.low.size):
        low, high = view.points.low[i], view.points.high[i]
        true = np.array([[earned(witness, f, held, x, y) for y in (0, 1)] for x in np.linspace(low, high, 4)])
        assert (promised[i] - hidden[i] <= true.min(axis=0) + 1e-11).all()
        assert (np.abs(promised[i] - true[[0, -1]].min(axis=0)) <= hidden[i] + 1e-9).all()
    at_ends = where.end_gain(view, held)
    for low, high, gain in zip(view.ends.low, view.ends.high, at_ends, strict=True):
        inside = [low, *(10.0 ** -np.linspace(6.1, 12, 5))] if low == 0 else [low, 1 - 1e-9, min(high, 1 - 2.0**-53)]
        inside = [1.0] if low == 1 else inside
        true = np.array([[earned(witness, f, held, x, y) for y in (0, 1)] for x in inside])
        assert (gain <= true.min(axis=0)).all()
        # And not much less: a row that is likely to have its label loses next to nothing.
        assert (gain >= true.min(axis=0) - 2 * ENDS[0] * 1.5 - 4 * math.exp(-HELD)).all()


def test_end_rows_taken_for_anything_better_than_they_are_would_be_caught() -> None:
    witness, _ = witness_of(1 / 16, [1] * 4 + [0] * 7 + [1, 0, 0, 0])
    where, view, grid = witness.where, witness.view, witness.grid
    assert isinstance(where, OddsCoordinate)
    held = (1.0, 1.0)
    f = np.ones(grid.size)
    gain = where.end_gain(view, held)[0]
    true = [earned(witness, f, held, ENDS[0] * 0.999, 0), earned(witness, f, held, 0.0, 1)]
    assert gain[0] <= true[0]
    assert gain[1] <= true[1]
    assert gain[1] + 0.001 > true[1]


def test_a_witness_that_is_free_lets_unlikely_end_rows_lose_all() -> None:
    witness, _ = witness_of(1 / 16, [0] * 15)
    view = witness.view
    gain = witness.where.end_gain(view, (math.nan, math.nan))
    low = view.ends.high < 0.5
    assert (gain[low, 1] <= -1).all()
    assert (gain[~low, 0] <= -1).all()
    assert (np.abs(gain[low, 0]) < 1e-5).all()


def test_a_witness_is_held_by_rows_it_knows_and_free_where_no_end_row_is_known() -> None:
    witness, _ = witness_of(1 / 16, [1] * 15)
    view, where = witness.view, witness.where
    nothing = np.zeros((view.between.size, 2), np.int64)
    assert all(map(math.isnan, where.held(view, nothing)))
    wrong = nothing.copy()
    wrong[0, 1] = 100
    low, high = where.held(view, wrong)
    assert low == -1
    assert math.isnan(high)


@pytest.mark.parametrize("b", [1 / 16, 1 / 4])
def test_lower_bounds_find_errors_in_the_middle_and_among_rare_events(b: float) -> None:
    rng = np.random.default_rng(4)
    x = rng.random(50_000)
    noise = Noise("odds", b)
    found = perturbed_lower(calcert.summarize(x, rng.random(50_000) < x**2), noise, 0.05, 0).limit
    assert 0.15 < found < 1 / 6 + 0.01
    rare = rng.beta(0.5, 500, 500_000)
    found = perturbed_lower(calcert.summarize(rare, rng.random(500_000) < 3 * rare), noise, 0.05, 0).limit
    assert 0.0012 < found < 0.0022
    # Half of the rows at score 0, one in a hundred of them wrong: an error that only end rows show.
    zero = np.concatenate([np.zeros(50_000), x])
    wrong = np.concatenate([rng.random(50_000) < 0.05, rng.random(50_000) < x])
    assert 0.02 < perturbed_lower(calcert.summarize(zero, wrong), noise, 0.05, 0).limit < 0.03


@pytest.mark.parametrize("noise", [Noise("odds", 1 / 16), Noise("additive", 1 / 16)])
def test_where_later_rows_lie_changes_no_bit_of_what_a_witness_earns(noise: Noise) -> None:
    # Half-way between rows that are known, and beyond them, signs are made of nothing but rounding.
    where, known_rows = coordinate_of(noise), calcert.summarize([0.2, 0.3, 0.9], [0, 1, 1])
    later = calcert.summarize([1e-4, 2e-4, 0.55, 0.9999], [0, 1, 0, 1])
    witness_grid, found = where.witness_grid(1000), []
    for summary in (known_rows + later, known_rows + calcert.summarize([0.55], [1])):
        view, cells = where.by_joined_cell(summary)
        known = cells.count * np.isin(cells.low, where.by_joined_cell(known_rows)[1].low)[:, None]
        gains = PerturbedWitness(where, view, witness_grid).gain(known)
        found.append(dict(zip(cells.low.tolist(), gains.tolist(), strict=True)))
    assert len(found[1]) == 4
    assert {low: found[0][low] for low in found[1]} == found[1]


def test_a_witness_on_a_large_grid_is_one_function_and_vanishes_where_no_row_is_known_near() -> None:
    where = OddsCoordinate(2.0**-10)
    rng = np.random.default_rng(7)
    x = np.append(rng.random(400), [0.49, 0.5, 0.51])
    view, _ = where.by_joined_cell(calcert.summarize(x, rng.random(x.size) < x))
    witness = PerturbedWitness(where, view, where.witness_grid(10**6))
    known, size = view.places.count, witness.grid.size
    assert size > 5 * BLOCK
    whole = witness.signs(known, FREE, 0, size)
    assert whole.size == size
    for low, high in ((BLOCK - 9, BLOCK + 9), (2 * BLOCK, 3 * BLOCK), (size // 2 - 100, size // 2 + BLOCK), (0, 0)):
        assert (witness.signs(known, FREE, low, high) == whole[low:high]).all()
    first, last = (view.places.low[0] * size, view.places.high[-1] * size)
    assert not whole[: int(first) - witness.grid.reach].any()
    assert not whole[int(last) + witness.grid.reach :].any()
    assert np.abs(whole).max() == pytest.approx(1, abs=0.5)
    # Without rows there is nothing to tell, and nothing is earned.
    assert not witness.signs(0 * known, FREE, 0, size).any()
    assert not witness.gain(0 * known).any()


def test_the_kernels_do_as_they_are_written() -> None:
    rng = np.random.default_rng(6)
    kernels: Any = (signs_of, lower_to)
    signs, lower = kernels
    known, base, part = rng.integers(0, 3, (20, 2)), np.sort(rng.integers(5, 54, 20)), rng.random(20)
    for near, borders in ((5, (5, 10, 50)), (100, (0, 0, 49)), (1, (40, 40, 60))):
        given = (known, base, part, near, borders, np.linspace(0.1, 0.9, 50), np.full(50, 0.02), 0.02, 0.1)
        f = signs(*given)
        assert f.any()
        assert f == pytest.approx(as_python(signs)(*given), abs=1e-12)
    f = rng.uniform(-1, 1, 49)
    table = (np.linspace(0.1, 0.9, 49), np.full(50, 0.3), *exponentials(Grid(0.1, 5)), 40)
    at_grid = smoothed(f, *table)
    low = np.sort(rng.random(30))
    high = np.append(low[1:], 1.0)
    for cubic in (False, True):
        found, written = np.full((30, 2), np.inf), np.full((30, 2), np.inf)
        lower(found, at_grid, (0, 10, 40), low, high, 50, cubic)
        as_python(lower)(written, at_grid, (0, 10, 40), low, high, 50, cubic)
        assert found == pytest.approx(written, abs=1e-12)
        assert np.isinf(found).any()
