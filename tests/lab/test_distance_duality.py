"""Theorem 6, duality: moving the scores to a calibrated one, and the best admissible pair, are the same number."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.lab.distances import by_joint_laws, by_pairs, of_rows, smooth_error

Floats = NDArray[np.float64]


def some_law(seed: int, places: int = 20) -> tuple[Floats, Floats]:
    """A few scores on a grid of 1/places and the probabilities of score and label; labels certain here and there."""
    rng = np.random.default_rng(seed)
    score = np.sort(rng.choice(places + 1, rng.integers(1, 7), replace=False)) / places
    weight, chance = rng.dirichlet(np.full(score.size, 0.7)), rng.random(score.size)
    chance[rng.random(score.size) < 0.3] = rng.integers(0, 2)
    return score, weight[:, None] * np.stack([1 - chance, chance], axis=1)


@pytest.mark.parametrize("seed", range(25))
def test_joint_laws_pairs_and_boxed_pairs_agree_on_a_common_grid(seed: int) -> None:
    score, probability = some_law(seed)
    grid = np.linspace(0, 1, 21)
    least = by_joint_laws(score, probability, grid)
    assert by_pairs(score, probability, grid, boxed=False) == pytest.approx(least, abs=1e-9)
    assert by_pairs(score, probability, grid, boxed=True) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_a_grid_costs_at_most_half_the_square_of_its_step(seed: int) -> None:
    score, probability = some_law(seed)
    coarse, fine = (by_pairs(score, probability, np.linspace(0, 1, size + 1), boxed=True) for size in (20, 160))
    assert fine - 1e-9 <= coarse <= fine + 0.5 / 20**2 + 1e-9


def test_a_grid_may_cost_nearly_that_much() -> None:
    """The bound on the grid is no idle worst case: a pair that may do as it likes between knots earns too much."""
    score, probability = np.array([0.0, 1.0]), np.array([[0.0, 0.5], [0.5, 0.0]])
    coarse, fine = (by_pairs(score, probability, np.linspace(0, 1, size + 1), boxed=True) for size in (1, 64))
    assert coarse - fine > 0.4


@pytest.mark.parametrize("seed", range(8))
def test_the_earth_movers_form_is_the_same_number(seed: int) -> None:
    score, probability = some_law(seed)
    rng = np.random.default_rng(seed)
    place, label = np.divmod(rng.choice(2 * score.size, 60, p=probability.ravel() / probability.sum()), 2)
    count = np.zeros_like(probability)
    np.add.at(count, (place, label), 1 / 60)
    found, _ = of_rows(score[place], label, grid=20)
    assert found == pytest.approx(by_joint_laws(score, count, np.linspace(0, 1, 21)), abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_smooth_calibration_error_and_distance_are_within_a_factor_of_two(seed: int) -> None:
    score, probability = some_law(seed)
    distance, smooth = (
        by_pairs(score, probability, np.linspace(0, 1, 201), boxed=True),
        smooth_error(score, probability),
    )
    assert smooth / 2 <= distance + 1e-9
    assert distance <= 2 * smooth + 0.5 / 200**2 + 1e-9


def test_a_common_shift_is_both_the_distance_and_the_smooth_error() -> None:
    score, probability = np.array([0.3, 0.6]), np.array([[0.45, 0.05], [0.3, 0.2]])
    assert by_pairs(score, probability, np.linspace(0, 1, 101), boxed=True) == pytest.approx(0.2, abs=1e-9)
    assert smooth_error(score, probability) == pytest.approx(0.2, abs=1e-9)
