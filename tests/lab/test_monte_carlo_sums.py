"""Theorems 9, 10 and 11 on adversarial laws, thousands of data sets for each, fixed seeds.

A statement fails if any law, or all together, is missed more often than chance allows one time in a million.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from calcert import Summary
from calcert.certificates import crossings, cutoff, in_the_large, observed_over_expected
from calcert.certificates.witnesses import random_splits
from tests.lab.distributions import Continuous, Law, asking_only_for, summary_of, upper
from tests.lab.sums import gap_truth, range_truth, visible_truth
from tests.lab.test_monte_carlo import FINITE, Bound, below, judge, once_each, plan_for, thrown_for

DELTA = 0.4
SIZES = plan_for({1: 100, 5: 100, 40: 150, 1000: 150, 100_000: 150}, {1: 60, 5: 60, 300: 80, 5000: 20})


def exactly(law: Law | Continuous) -> Law:
    return law.law if isinstance(law, Continuous) else law


UPPER: dict[str, tuple[Callable[[Summary], dict[str, float]], Callable[[Law], float]]] = {
    "cutoff": (lambda s: cutoff.upper_terms(s, DELTA), range_truth),
    "three crossings": (lambda s: crossings.upper_terms(s, 3, DELTA), lambda law: visible_truth(law, 3)),
    "mean gap": (lambda s: in_the_large.upper_terms(s, DELTA), cache(gap_truth)),
}


@pytest.mark.parametrize("statement", UPPER)
def test_upper_bounds_cover_adversarial_laws(statement: str) -> None:
    terms, truth_of = UPPER[statement]

    def missed(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        truth = truth_of(exactly(law))
        with asking_only_for(truth):
            return below(upper(terms(summary)), truth)

    assert judge(once_each(missed), SIZES, DELTA) >= 4000


LOWER: dict[str, tuple[Callable[[Summary, int], float], Callable[[Law], float]]] = {
    "cutoff": (lambda s, seed: cutoff.cutoff_lower(s, DELTA, seed).limit, range_truth),
    "three crossings": (
        lambda s, seed: crossings.crossings_lower(s, 3, DELTA, seed).limit,
        lambda law: visible_truth(law, 3),
    ),
}


@pytest.mark.parametrize("statement", LOWER)
def test_lower_bounds_stay_below_adversarial_laws(statement: str) -> None:
    lower, truth_of = LOWER[statement]

    def missed(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        with thrown_for(seed):
            return lower(summary, seed) > truth_of(exactly(law)) + 1e-12

    sizes = plan_for({5: 50, 40: 300, 1000: 300, 40_000: 60}, {5: 50, 300: 150})
    assert judge(missed, sizes, DELTA) >= 4000


def test_the_lower_mean_gap_stays_below_adversarial_laws() -> None:
    def missed(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        return in_the_large.in_the_large_lower(summary, DELTA) > gap_truth(exactly(law)) + 1e-12

    assert judge(once_each(missed), plan_for({1: 100, 40: 250, 100_000: 250}, {5: 100, 300: 200}), DELTA) >= 4000


def test_observed_over_expected_covers_adversarial_laws() -> None:
    def missed(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        atoms = exactly(law)
        truth = float(np.dot(atoms.weight, atoms.chance) / np.dot(atoms.weight, atoms.score))
        place = truth / 2 if truth <= 1 else 1 - 1 / (2 * truth)
        if observed_over_expected.excess_of_ratios(summary, DELTA)(place, place) <= 0:
            return False  # A ratio that is not excluded is inside the interval.
        ratio = observed_over_expected.observed_over_expected(summary, delta=DELTA)
        return not ratio.lower - 1e-12 <= truth <= ratio.upper + 1e-12

    assert judge(once_each(missed), {name: {5: 200, 300: 300, 100_000: 300} for name in FINITE}, DELTA) >= 4000


def test_the_place_of_a_ratio_is_where_the_search_looks_for_it() -> None:
    for ratio in (0.0, 0.3, 1.0, 2.5, 400.0):
        place = ratio / 2 if ratio <= 1 else 1 - 1 / (2 * ratio)
        assert observed_over_expected.ratio_at(place) == pytest.approx(ratio)


def cut_bound(cut: float) -> Bound:
    """Theorem 9 at delta 0.05, its sampling term made smaller; a count is judged once however often it comes up."""

    @cache
    def missed_at(positives: int, n: int) -> bool:
        law = FINITE["one score"]
        summary = summary_of(law.score, np.array([[n - positives, positives]]))
        return below(upper(cutoff.upper_terms(summary, 0.05), cut), range_truth(law))

    return lambda summary, law, seed: missed_at(summary.positives, summary.n)


def test_the_judge_passes_ranges_and_catches_them_cut_by_a_fifth() -> None:
    plan = {"one score": {100_000: 2500}}
    assert judge(cut_bound(0.0), plan, 0.05) == 2500
    with pytest.raises(AssertionError, match=r"misses in 2500 runs at delta 0.05"):
        judge(cut_bound(0.2), plan, 0.05)


def test_a_lower_bound_without_its_margin_is_caught() -> None:
    """What the witness earned on the batches it was judged by, without the price of certainty, is no lower bound."""

    def bold(summary: Summary, law: Law | Continuous, seed: int) -> bool:
        split = random_splits.splits(summary.cell_points, seed)[0]
        points = summary.cell_points
        known, judged = split[:2].sum(axis=0), split[2:].sum(axis=0)
        middle = (points.low + points.high) / 2
        first, stop, sign = cutoff.widest_run(middle * known.sum(axis=1) - known[:, 1])
        net = middle * judged.sum(axis=1) - judged[:, 1]
        return sign * net[first:stop].sum() / max(judged.sum(), 1) > range_truth(exactly(law)) + 1e-9

    with pytest.raises(AssertionError, match="misses in"):
        judge(bold, {"one score": {1000: 400}}, 0.2)
