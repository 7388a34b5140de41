"""Noise on the odds: theorems 1L, 5 and 7L over every outcome of small laws, by chance, and cut until caught."""

from __future__ import annotations

import math
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest

from calcert import Summary
from calcert.certificates import perturbed, squared
from calcert.perturbation.noise import Noise
from tests.lab.distributions import (
    ROUNDING,
    SMALL_LAWS,
    Continuous,
    Law,
    asking_only_for,
    miss_probability,
    one_score_miss,
    too_many,
    upper,
)
from tests.lab.test_exact_lower import judged, wealth
from tests.lab.test_monte_carlo import thrown_for

LAWS = SMALL_LAWS | {
    "beyond the grid": Law((1e-9, 0.5), (0.6, 0.4), (0.3, 0.4)),
    "both ends and beyond": Law((0.0, 1e-12, 1.0), (0.4, 0.4, 0.2), (0.1, 0.4, 0.7)),
}
SIZES = {1: (1, 3, 12), 2: (1, 3, 6), 3: (1, 2, 4)}
"""Numbers of rows by the number of scores."""

THEOREMS = {"Theorem 1L": perturbed.upper_terms, "Theorem 7L": squared.upper_terms}


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound holds on any grid; a coarse one is found sooner."""
    monkeypatch.setattr(squared, "FINENESS", 32)


def bound_of(theorem: str, law: Law, delta: float, b: float) -> tuple[Callable[[Summary], float], float]:
    """The upper bound of a theorem, and the truth."""
    noise = Noise("odds", b)
    return lambda s: upper(THEOREMS[theorem](s, noise, delta)), law.served_by_odds(b)[theorem == "Theorem 7L"]


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize(("name", "n"), [(name, n) for name, law in LAWS.items() for n in SIZES[len(law.score)]])
def test_upper_covers_the_truth_for_every_law_on_up_to_three_scores(theorem: str, name: str, n: int) -> None:
    for b in (1 / 2, 1 / 16):
        for delta in (0.5, 0.05) if n < 3 else (0.5,):
            bound, truth = bound_of(theorem, LAWS[name], delta, b)
            with asking_only_for(truth):
                assert miss_probability(LAWS[name], n, bound, truth) <= delta


def test_upper_covers_the_truth_where_scores_are_known_to_their_cells_only() -> None:
    def unlisted(summary: Summary) -> Summary:
        return Summary(summary.cell, summary.count, summary.offset, None, None)

    for theorem in THEOREMS:
        for name in ("ends", "beyond the grid", "both ends and beyond"):
            bound, truth = bound_of(theorem, LAWS[name], 0.5, 1 / 4)
            with asking_only_for(truth):
                assert miss_probability(LAWS[name], 3, lambda s, bound=bound: bound(unlisted(s)), truth) <= 0.5  # type: ignore[misc]


TIGHT = {
    "Theorem 1L": (Law((0.9,), (1.0,), (0.5,)), 10**6, 0.05, 0.2),
    "Theorem 7L": (Law((1.0,), (1.0,), (1 / 3,)), 10**8, 1e-9, 0.2),
}
"""Laws, rows and delta at which little is given away, and by how much the sampling term may not be cut."""


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("n", [10, 1000, 10**6])
def test_one_score_in_many_rows_is_missed_no_more_often_than_delta(theorem: str, n: int, delta: float) -> None:
    law, b = TIGHT[theorem][0], 1 / 256
    truth = law.served_by_odds(b)[theorem == "Theorem 7L"]
    with asking_only_for(truth):
        assert one_score_miss(lambda s: THEOREMS[theorem](s, Noise("odds", b), delta), law, n, truth, 0.0) <= delta


@pytest.mark.parametrize("theorem", THEOREMS)
def test_a_sampling_term_cut_by_a_fifth_is_caught(theorem: str) -> None:
    law, n, delta, cut = TIGHT[theorem]
    b = 1 / 256
    truth = law.served_by_odds(b)[theorem == "Theorem 7L"]

    def terms(summary: Summary) -> dict[str, float]:
        return THEOREMS[theorem](summary, Noise("odds", b), delta)

    assert one_score_miss(terms, law, n, truth, cut=0.0) <= delta
    assert one_score_miss(terms, law, n, truth, cut=cut) > delta


def test_bounds_that_leave_out_scores_served_as_they_are_are_caught() -> None:
    law = LAWS["ends"]
    for module, counted in ((perturbed, "unlikely_ends"), (squared, "end_squares")):
        theorem = {perturbed: "Theorem 1L", squared: "Theorem 7L"}[module]
        bound, truth = bound_of(theorem, law, 0.05, 1 / 16)
        large = law.draw(200_000, np.random.default_rng(0))
        assert bound(large) >= truth
        perturbed.plug_in.cache_clear()
        with mock.patch.object(module, counted, return_value=(0, 0) if module is perturbed else 0):
            assert bound(large) < truth
        perturbed.plug_in.cache_clear()


LOWER_LAWS = {
    "one score": (Law((0.9,), (1.0,), (0.4,)), 5),
    "calibrated": (Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75)), 3),
    "ends": (Law((0.0, 1.0), (0.7, 0.3), (0.2, 0.6)), 3),
    "beyond the grid": (Law((1e-9, 0.5), (0.6, 0.4), (0.3, 0.4)), 3),
}


@pytest.mark.parametrize("name", LOWER_LAWS)
def test_lower_stays_below_the_truth_and_wealth_is_a_supermartingale(name: str) -> None:
    law, n = LOWER_LAWS[name]
    b, delta = 1 / 2, 0.5
    truth = law.served_by_odds(b)[0]
    found = judged(law, n, lambda s: perturbed.perturbed_lower(s, Noise("odds", b), delta, 0).limit)
    assert math.fsum(chance for chance, bound, _ in found if bound > truth) <= delta
    assert math.fsum(chance * wealth(rounds, truth) for chance, _, (rounds,) in found) <= 1 + 1e-9


def test_betting_against_four_fifths_of_the_error_pays() -> None:
    law = Law((0.9,), (1.0,), (0.1,))
    found = judged(law, 5, lambda s: perturbed.perturbed_lower(s, Noise("odds", 1 / 2), 0.5, 0).limit)
    truth = law.served_by_odds(1 / 2)[0]
    assert math.fsum(chance * wealth(rounds, 0.8 * truth) for chance, _, (rounds,) in found) > 1.01


ADVERSARIAL: dict[str, Law | Continuous] = {
    "one score": Law((0.9,), (1.0,), (0.5,)),
    "sign flip": Law((0.3, 0.31), (0.5, 0.5), (0.9, 0.0)),
    "ends": Law((0.0, 1.0), (0.5, 0.5), (0.1, 0.9)),
    "rare": Law((1e-9, 1e-5, 1e-4, 0.001), (0.1, 0.3, 0.3, 0.3), (1e-9, 1e-4, 1e-5, 0.002)),
    "square": Continuous(lambda u: u, lambda x: x**2, variation=1.0),
    "flips": Continuous(lambda u: u, lambda x: np.where((8 * x).astype(int) % 2, 0.1, 0.9), variation=7 * 0.8),
    "beyond": Continuous(lambda u: 10.0 ** (-12 * u), lambda x: np.sqrt(x), variation=1.0),
}
"""Laws of which a bound might get too much, or end rows too little."""


def judge(missed: Callable[[Summary, Law | Continuous, int], bool], sizes: dict[int, int], delta: float) -> int:
    """Draw data sets of every law and refuse too many misses, law by law and in all; returns how many there were."""
    everything = []
    for number, (name, law) in enumerate(ADVERSARIAL.items()):
        rng = np.random.default_rng(number)
        found = [missed(law.draw(n, rng), law, seed) for n, count in sizes.items() for seed in range(count)]
        assert not too_many(sum(found), len(found), delta), name
        everything += found
    assert not too_many(sum(everything), len(everything), delta)
    return len(everything)


@pytest.mark.parametrize("theorem", THEOREMS)
def test_upper_covers_adversarial_laws(theorem: str) -> None:
    b = 1 / 8

    def missed(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        truth = law.served_by_odds(b)[theorem == "Theorem 7L"]
        with asking_only_for(truth):
            return upper(THEOREMS[theorem](summary, Noise("odds", b), 0.4)) < truth - ROUNDING

    assert judge(missed, {1: 40, 5: 40, 300: 40, 5000: 10}, 0.4) >= 900


def test_lower_stays_below_the_error_of_adversarial_laws() -> None:
    b = 1 / 2

    def missed(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        with thrown_for(seed):
            return perturbed.perturbed_lower(summary, Noise("odds", b), 0.4, seed).limit > law.served_by_odds(b)[0]

    assert judge(missed, {5: 15, 300: 20, 20_000: 5}, 0.4) >= 280
