"""Sums of coins: their tails against exact arithmetic, and the worst that moving the chances can do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from calcert.certificates.witnesses.listed_witnesses import ACCURACY, at_most, in_runs, largest_move, lowered

Floats = NDArray[np.float64]


def exact(successes: int, chance: Floats, coins: Floats) -> float:
    """The tail by adding one coin after the other: sums of positive numbers only."""
    mass = np.ones(1)
    for p in np.repeat(chance, coins.astype(int)):
        mass = np.convolve(mass, [1 - p, p])
    return float(mass[: successes + 1].sum())


@pytest.mark.parametrize("seed", range(20))
def test_tails_of_unequal_coins_are_exact_but_for_what_is_added(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = rng.integers(1, 30)
    chance = np.sort(rng.beta(*rng.choice([0.1, 0.5, 1, 5], 2), places))  # type: ignore[call-overload]
    coins = rng.integers(1, 1 + rng.choice([1, 5, 30]), places).astype(float)
    for successes in np.unique(rng.integers(0, coins.sum() + 1, 6)):
        found = at_most(int(successes), chance, coins) - exact(int(successes), chance, coins)
        assert found == pytest.approx(ACCURACY, abs=ACCURACY / 2)


@pytest.mark.parametrize(("n", "chance"), [(10**6, 0.3), (10**6, 1e-5), (10**9, 1 - 1e-6), (2**36, 0.5)])
def test_tails_of_very_many_coins_are_those_of_the_binomial_law(n: int, chance: float) -> None:
    mean, deviation = n * chance, np.sqrt(n * chance * (1 - chance))
    for distance in (-40, -6, -3, -1, 0, 2):
        successes = int(mean + distance * deviation)
        if successes >= 0:
            found = at_most(successes, np.array([chance]), np.array([float(n)])) - binom.cdf(successes, n, chance)
            assert found == pytest.approx(ACCURACY, abs=ACCURACY / 2)


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_certain_coins_and_a_single_fair_one_have_the_tails_that_they_have(chance: float) -> None:
    for n in (1, 2, 200):
        for successes in {0, n // 2, n - 1, n}:
            found = at_most(successes, np.array([chance]), np.array([float(n)]))
            assert found == pytest.approx(binom.cdf(successes, n, chance) + ACCURACY, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_no_other_move_of_the_chances_makes_few_successes_more_probable(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance, coins = np.sort(rng.random(12)), np.ones(12)
    successes, moved = 0, rng.uniform(0, coins @ chance - 3)
    worst = lowered(chance, coins, moved)  # type: ignore[arg-type]
    assert np.abs(chance - worst).sum() == pytest.approx(moved)
    most = exact(successes, worst, coins)
    for _ in range(200):
        share = rng.dirichlet(np.full(12, rng.choice([0.05, 0.3, 1.0])))
        other = np.clip(chance - moved * share * np.where(rng.random(12) < 0.9, 1, -1), 0, 1)
        assert exact(successes, other, coins) <= most + 1e-15


def test_every_move_on_a_grid_is_worse_than_lowering_the_largest() -> None:
    chance, coins, step = np.array([0.6, 0.8, 0.9, 1.0, 1.0]), np.ones(5), 0.1
    for budget in range(13):
        most = exact(0, lowered(chance, coins, step * budget), coins) + 1e-12
        for parts in itertools.product(range(-2, budget + 1), repeat=5):
            if sum(map(abs, parts)) <= budget:
                other = chance - step * np.array(parts)
                if (other >= -1e-12).all() and (other <= 1 + 1e-12).all():
                    assert exact(0, np.clip(other, 0, 1), coins) <= most


def test_near_the_mean_another_move_may_be_worse() -> None:
    # Two coins, at most one success: making them unequal helps, so that the three missing successes are needed.
    chance, coins = np.array([0.9, 1.0]), np.ones(2)
    assert exact(1, np.array([0.5, 1.0]), coins) > exact(1, lowered(chance, coins, 0.4), coins)


@pytest.mark.parametrize("seed", range(5))
def test_joining_coins_of_nearly_equal_chance_raises_the_tail_and_hardly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance, coins = np.sort(rng.random(400)), np.ones(400)
    joined, number = in_runs(chance, coins)
    assert joined.size <= 64
    assert number.sum() == 400
    assert (np.diff(joined) > 0).all()
    assert number @ joined == pytest.approx(chance.sum(), rel=1e-12)
    for below in (10, 20, 30):
        successes = int(chance.sum() - below)
        apart, together = (
            exact(successes, chance, coins),
            exact(successes, np.repeat(joined, number.astype(int)), np.ones(400)),
        )
        assert apart <= together <= 1.01 * apart


def test_the_largest_move_is_where_the_tail_reaches_delta() -> None:
    chance, coins = np.array([0.3, 0.6]), np.array([100.0, 200.0])
    moved = largest_move(120, chance, coins, 0.01)
    assert at_most(120, lowered(*in_runs(chance, coins), moved), in_runs(chance, coins)[1]) <= 0.01
    assert at_most(120, lowered(chance, coins, moved + 0.01), coins) > 0.01
    assert largest_move(149, chance, coins, 0.01) == 0.0
    assert largest_move(140, chance, coins, 0.01) == 0.0
    assert largest_move(0, chance, coins, 0.01) > moved
    assert largest_move(0, np.array([1.0]), np.array([3.0]), 0.4) == 0.0


@pytest.mark.parametrize("missing", [0.06, 0.3, 4.0])
@pytest.mark.parametrize("coins", [1e4, 1e10, 2.0**36])
def test_a_tail_of_very_many_coins_that_hardly_ever_fail_loses_no_digits(coins: float, missing: float) -> None:
    chance = 1 - missing / coins
    truth = -math.expm1(coins * math.log1p(chance - 1))
    found = at_most(int(coins) - 1, np.array([chance]), np.array([coins]))
    assert truth <= found <= truth + 3 * ACCURACY
