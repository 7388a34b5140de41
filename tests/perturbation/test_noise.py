"""Noise as an object, the two arguments that ask for it, and draws of perturb against the law they are to have."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.perturbation.noise import DEFAULT, Noise, choose_noise

ODDS, ADDITIVE = Noise("odds", 1 / 16), Noise("additive", 1 / 64)
SCORES = (0.0, 1e-300, 1e-7, 0.3, 1 - 2.0**-53, 1.0)


def follows(noise: Noise, x: float, drawn: NDArray[np.float64], ulp: float = 2.0**-53) -> bool:
    """Kolmogorov and Smirnov at level 1e-6 (by Massart's constant), for draws that were rounded by a share `ulp`."""
    drawn = np.sort(drawn)
    n = drawn.size
    allowed = math.sqrt(math.log(2 / 1e-6) / (2 * n))
    below = np.searchsorted(drawn, drawn, "left") / n
    upto = np.searchsorted(drawn, drawn, "right") / n
    with np.errstate(invalid="ignore"):
        low = noise.distribution(np.nextafter(drawn - ulp * drawn, -1.0), x)
        high = noise.distribution(np.minimum(drawn + ulp * drawn, 1.0), x)
    return bool((upto - high <= allowed).all() and (low - below <= allowed).all())


@pytest.mark.parametrize("noise", [ODDS, ADDITIVE], ids=["odds", "additive"])
@pytest.mark.parametrize("x", SCORES)
def test_perturb_draws_from_the_law_it_names_at_every_score(noise: Noise, x: float) -> None:
    drawn = calcert.perturb(np.full(20_000, x), rng=7, **noise.parameters)
    assert follows(noise, x, drawn)


@pytest.mark.parametrize("x", [1e-300, 1e-7, 0.3])
def test_draws_of_another_size_are_told_apart(x: float) -> None:
    drawn = calcert.perturb(np.full(20_000, x), odds=1.1 / 16, rng=7)
    assert not follows(ODDS, x, drawn)


def test_single_precision_scores_are_widened_before_they_are_moved() -> None:
    x = np.array([1e-7, 0.3, 0.9999999], np.float32)
    drawn = calcert.perturb(x, odds=1 / 16, rng=1)
    assert drawn.dtype == np.float64
    assert (drawn == calcert.perturb(x.astype(np.float64), odds=1 / 16, rng=1)).all()


def test_both_kinds_say_what_they_are() -> None:
    assert ODDS.parameters == {"odds": 1 / 16}
    assert ADDITIVE.parameters == {"bandwidth": 1 / 64}
    assert Noise("odds", 1 / 128).words == "log-odds noise, scale 1/128"
    assert ADDITIVE.words == ADDITIVE.shown == "bandwidth 1/64"
    assert ODDS.shown == "odds 1/16"
    assert Noise("additive", 0.3).words == "bandwidth 0.3"
    assert Noise("additive", 2.0).words == "bandwidth 2"


@pytest.mark.parametrize("noise", [ODDS, ADDITIVE], ids=["odds", "additive"])
def test_the_mean_shift_is_that_of_draws_and_stays_below_its_largest(noise: Noise) -> None:
    x = np.linspace(0.0, 1.0, 101)
    u = (np.arange(20_000) + 0.5) / 20_000
    moved = np.array([np.abs(noise.sample(np.full(u.size, s), u) - s).mean() for s in x])
    assert noise.mean_shift(x) == pytest.approx(moved, abs=1e-5)
    assert noise.mean(x) == pytest.approx([noise.sample(np.full(u.size, s), u).mean() for s in x], abs=1e-5)
    assert noise.mean_shift(x).max() <= noise.largest_mean_shift <= 1.01 * noise.mean_shift(x).max()


def test_two_arguments_choose_the_noise_and_exclude_each_other() -> None:
    assert choose_noise(odds=1 / 8) == Noise("odds", 1 / 8)
    assert choose_noise(bandwidth=1 / 8) == Noise("additive", 1 / 8)
    assert choose_noise() == DEFAULT
    with pytest.raises(ValueError, match=r"odds and bandwidth exclude each other; got odds=0.1 and bandwidth=0.2\. Pa"):
        choose_noise(0.1, 0.2)


@pytest.mark.parametrize(
    ("odds", "error", "words"),
    [
        (0.0, ValueError, "odds must be positive and finite, such as 1/16; got 0"),
        (math.inf, ValueError, "odds must be positive and finite"),
        (0.75, ValueError, "odds must lie between 1/256 and 1/2, such as 1/16; got 0.75"),
        (0.001, ValueError, "odds must lie between 1/256 and 1/2"),
        ("a little", TypeError, "odds must be a positive finite number, such as 1/16; got 'a little'"),
    ],
)
def test_odds_that_cannot_be_served_are_refused_in_words(odds: float, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        calcert.perturb([0.2], odds=odds)


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be 'odds' or 'additive'; got 'gauss'"):
        Noise("gauss", 0.1)  # type: ignore[arg-type]
