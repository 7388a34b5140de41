"""Upper bounds over every outcome of small laws, and every outcome of one score in as many rows as you like.

No random numbers: probabilities of outcomes are added up. Small samples hide slack, so the second half takes laws
on one score, where the plug-in is exact and the deviation bound is all there is; a bound cut by a fifth is
caught there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from calcert import Summary
from calcert.certificates import bounded_variation, crossings, finite, lipschitz, perturbed, squared
from calcert.perturbation.noise import Noise
from tests.lab.distributions import (
    SMALL_LAWS,
    Law,
    asking_only_for,
    miss_probability,
    one_score_miss,
    remembering_groups,
    upper,
)

SIZES = {1: (1, 3, 12), 2: (1, 2, 4, 12), 3: (1, 2, 3, 6)}
"""Numbers of rows by the number of scores."""


def cases() -> list[tuple[str, int]]:
    return [(name, n) for name, law in SMALL_LAWS.items() for n in SIZES[len(law.score)]]


def bound_of(theorem: str, law: Law, delta: float, h: float = 0.25) -> tuple[Callable[[Summary], float], float]:
    """The upper bound of a theorem under the weakest assumption that the law meets, and the truth."""
    variation, constant = max(law.variation, 0.01), max(law.lipschitz, 0.01)
    return {
        "Theorem 1": (lambda s: upper(perturbed.upper_terms(s, Noise("additive", h), delta)), law.served(h)[0]),
        "Theorem 2": (lambda s: upper(bounded_variation.upper_terms(s, variation, delta)), law.error),
        "Theorem 3": (lambda s: upper(lipschitz.upper_terms(s, constant, delta)), law.error),
        "Theorem 4": (lambda s: upper(finite.upper_terms(s, delta)), law.error),
        "Theorem 7": (lambda s: upper(squared.upper_terms(s, Noise("additive", h), delta)), law.served(h)[1]),
    }[theorem]


@pytest.mark.parametrize(
    ("theorem", "name", "n"),
    [
        (theorem, *case)
        for theorem in ("Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4", "Theorem 7")
        for case in cases()
    ],
)
def test_upper_covers_the_truth_for_every_law_on_up_to_three_scores(
    theorem: str, name: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = SMALL_LAWS[name]
    monkeypatch.setattr(lipschitz, "l1_lower", lambda *_: 0.0)
    # Many outcomes only at the delta that is missed most easily.
    for delta in (0.5, 0.3, 0.05) if n < 6 else (0.5,):
        bound, truth = bound_of(theorem, law, delta)
        with asking_only_for(truth), remembering_groups():
            assert miss_probability(law, n, bound, truth) <= delta


@pytest.mark.parametrize("theorem", ["Theorem 2", "Theorem 4"])
def test_upper_covers_the_truth_for_all_6188_outcomes_of_twelve_rows(theorem: str) -> None:
    law = SMALL_LAWS["three"]
    bound, truth = bound_of(theorem, law, 0.5)
    with asking_only_for(truth), remembering_groups():
        assert miss_probability(law, 12, bound, truth) <= 0.5


def smaller_of_two(law: Law, delta: float) -> Callable[[Summary], float]:
    """The smaller of Theorems 4 and 10, each at the full delta, with as many crossings as the law has."""
    side = [np.sign(x - chance) for x, chance in zip(law.score, law.chance, strict=True) if x != chance]
    changes = sum(one != other for one, other in pairwise(side))
    return lambda s: min(upper(finite.upper_terms(s, delta)), upper(crossings.upper_terms(s, changes, delta)))


@pytest.mark.parametrize(("name", "n"), cases())
def test_the_smaller_of_theorems_4_and_10_covers_at_full_delta(name: str, n: int) -> None:
    law = SMALL_LAWS[name]
    for delta in (0.5, 0.3, 0.05) if n < 6 else (0.5,):
        with asking_only_for(law.error):
            assert miss_probability(law, n, smaller_of_two(law, delta), law.error) <= delta


def test_the_smaller_bound_cut_by_a_fifth_is_caught() -> None:
    law, n, delta = TIGHT["Theorem 4"]

    def smaller(s: Summary) -> dict[str, float]:
        return min(finite.upper_terms(s, delta), crossings.upper_terms(s, 0, delta), key=upper)

    assert one_score_miss(smaller, law, n, law.error, cut=0.0) <= delta
    assert one_score_miss(smaller, law, n, law.error, cut=0.2) > delta


@pytest.mark.parametrize("h", [1 / 64, 2.0])
def test_perturbed_upper_covers_the_truth_at_other_bandwidths(h: float) -> None:
    for name in ("sign flip", "ends"):
        bound, truth = bound_of("Theorem 1", SMALL_LAWS[name], 0.5, h)
        with asking_only_for(truth):
            assert miss_probability(SMALL_LAWS[name], 5, bound, truth) <= 0.5


def test_plug_ins_alone_miss_more_often_than_any_delta_here() -> None:
    # Without its sampling term no bound would pass: the enumeration is not blind.
    law = Law((0.9,), (1.0,), (0.4,))
    for theorem in ("Theorem 1", "Theorem 2", "Theorem 4", "Theorem 7"):
        terms = {
            "Theorem 1": lambda s: perturbed.upper_terms(s, Noise("additive", 2.0**-12), 0.3),
            "Theorem 2": lambda s: bounded_variation.upper_terms(s, 0.01, 0.3),
            "Theorem 4": lambda s: finite.upper_terms(s, 0.3),
            "Theorem 7": lambda s: squared.upper_terms(s, Noise("additive", 2.0**-12), 0.3),
        }[theorem]
        truth = law.served(2.0**-12)[theorem == "Theorem 7"] if theorem in ("Theorem 1", "Theorem 7") else law.error
        assert miss_probability(law, 5, lambda s, terms=terms: upper(terms(s), cut=1.0), truth) > 0.3  # type: ignore[misc]


TIGHT = {
    "Theorem 1": (Law((0.9,), (1.0,), (0.5,)), 10**6, 0.05),
    "Theorem 2": (Law((0.9,), (1.0,), (0.5,)), 10**10, 1e-9),
    "Theorem 3": (Law((0.9,), (1.0,), (0.5,)), 10**10, 1e-9),
    "Theorem 4": (Law((0.9,), (1.0,), (0.5,)), 10**6, 0.05),
    "Theorem 7": (Law((1.0,), (1.0,), (1 / 3,)), 10**8, 1e-9),
}
"""Laws, rows and delta at which little is given away. Theorems 2 and 3 may not use D3 and share delta among three
groupings, and Theorem 7 uses Bernstein: they are tight where delta is small. The variance bound of Theorem 7 is
attained at score 1 and chance 1/3."""

SMALL = 2.0**-13


def one_score_terms(theorem: str, delta: float) -> Callable[[Summary], dict[str, float]]:
    return {
        "Theorem 1": lambda s: perturbed.upper_terms(s, Noise("additive", SMALL), delta),
        "Theorem 2": lambda s: bounded_variation.upper_terms(s, 1.0, delta),
        "Theorem 3": lambda s: lipschitz.upper_terms(s, 1.0, delta),
        "Theorem 4": lambda s: finite.upper_terms(s, delta),
        "Theorem 7": lambda s: squared.upper_terms(s, Noise("additive", SMALL), delta),
    }[theorem]


def one_score_truth(theorem: str, law: Law) -> float:
    return {"Theorem 1": law.served(SMALL)[0], "Theorem 7": law.served(SMALL)[1]}.get(theorem, law.error)


@pytest.mark.parametrize("theorem", TIGHT)
@pytest.mark.parametrize("delta", [0.5, 0.2, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("n", [10, 1000, 10**5, 10**7])
def test_one_score_in_many_rows_is_missed_no_more_often_than_delta(
    theorem: str, n: int, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lipschitz, "l1_lower", lambda *_: 0.0)
    law = TIGHT[theorem][0]
    truth = one_score_truth(theorem, law)
    with asking_only_for(truth), remembering_groups():
        assert one_score_miss(one_score_terms(theorem, delta), law, n, truth, cut=0.0) <= delta


@pytest.mark.parametrize("theorem", TIGHT)
def test_a_sampling_term_cut_by_a_fifth_is_caught(theorem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lipschitz, "l1_lower", lambda *_: 0.0)
    law, n, delta = TIGHT[theorem]
    truth, terms = one_score_truth(theorem, law), one_score_terms(theorem, delta)
    assert one_score_miss(terms, law, n, truth, cut=0.0) <= delta
    assert one_score_miss(terms, law, n, truth, cut=0.2) > delta
