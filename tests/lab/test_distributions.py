"""The lab's own instruments: laws know their errors, outcomes add up to one, and shortcuts change no answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calcert
from calcert.certificates import bounded_variation, finite, perturbed, squared
from calcert.perturbation.noise import Noise
from tests.lab.distributions import (
    ROUNDING,
    Continuous,
    Law,
    asking_only_for,
    by_cells,
    outcomes,
    remembering_groups,
    summary_of,
    too_many,
    upper,
)

THREE = Law((0.2, 0.5, 0.9), (0.3, 0.3, 0.4), (0.6, 0.1, 0.7))


def test_a_law_knows_its_error_variation_and_slope() -> None:
    assert THREE.error == pytest.approx(0.3 * 0.4 + 0.3 * 0.4 + 0.4 * 0.2)
    assert THREE.variation == pytest.approx(0.5 + 0.6)
    assert THREE.lipschitz == pytest.approx(0.5 / 0.3)


@pytest.mark.parametrize(
    ("law", "distance"),
    [
        # Where all scores are off to one side, no calibrated score is closer than the mean label is to the mean score.
        (Law((0.9,), (1.0,), (0.4,)), 0.5),
        (Law((0.3, 0.6, 0.9), (0.2, 0.4, 0.4), (0.1, 0.4, 0.7)), 0.2),
        (Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75)), 0.0),
        # A calibrated score may know the label: of the rows at 0.49 those of label 1 and some of label 0 share a value
        # with their like at 0.51.
        (Law((0.49, 0.51), (0.5, 0.5), (0.9, 0.1)), 0.41 * 0.02 / 1.02),
    ],
)
def test_a_law_knows_its_distance_from_calibration(law: Law, distance: float) -> None:
    assert law.distance == pytest.approx(distance, abs=1e-9)
    assert law.distance <= law.error + 1e-12


@pytest.mark.parametrize("n", [1, 2, 5])
def test_outcomes_are_all_different_and_add_up_to_certainty(n: int) -> None:
    found = list(THREE.outcomes(n))
    assert len(found) == math.comb(n + 5, 5)
    assert len({count.tobytes() for count, _ in found}) == len(found)
    assert all(count.sum() == n for count, _ in found)
    assert math.fsum(chance for _, chance in found) == pytest.approx(1.0, abs=1e-12)
    mean = sum(count * chance for count, chance in found) / n
    assert mean == pytest.approx(THREE.probability, abs=1e-12)


def test_impossible_outcomes_are_left_out() -> None:
    assert [count.tolist() for count, _ in outcomes(np.array([[0.5, 0.5, 0.0]]), 1)] == [[[0, 1, 0]], [[1, 0, 0]]]


def test_the_served_error_of_a_far_spread_law_is_that_of_the_mean_served_score() -> None:
    # With a tiny bandwidth each score is served from a place of its own, all on one side of its chance.
    first, second = THREE.served(2.0**-12)
    assert first == pytest.approx(THREE.error, abs=1e-6)
    assert second == pytest.approx(0.3 * 0.16 + 0.3 * 0.16 + 0.4 * 0.04, abs=1e-5)


def test_the_served_error_of_an_almost_uniform_kernel_is_in_closed_form() -> None:
    # At bandwidth 1000 the served score is uniform whatever the score: |t - c| and (t - c)^2 integrate by hand.
    chance = float(np.dot(THREE.weight, THREE.chance))
    first, second = THREE.served(1000.0)
    assert first == pytest.approx((chance**2 + (1 - chance) ** 2) / 2, abs=1e-6)
    assert second == pytest.approx((chance**3 + (1 - chance) ** 3) / 3, abs=1e-6)


def test_a_continuous_law_is_close_to_what_calculus_says() -> None:
    square = Continuous(lambda u: u, lambda x: x**2, variation=1.0)
    assert square.error == pytest.approx(1 / 6, abs=1e-6)
    assert square.served(2.0**-8)[0] == pytest.approx(1 / 6, abs=1e-3)
    assert square.draw(1000, np.random.default_rng(0)).n == 1000


def test_summaries_from_counts_are_those_of_the_rows() -> None:
    count = np.array([[2, 1], [0, 0], [1, 4]])
    x = np.repeat([0.2, 0.2, 0.9, 0.9], [2, 1, 1, 4])
    y = np.repeat([0, 1, 0, 1], [2, 1, 1, 4])
    summary = calcert.summarize(x, y)
    assert summary_of((0.2, 0.5, 0.9), count) == summary
    assert by_cells(x, y) == calcert.Summary(summary.cell, summary.count, summary.offset, None, None)
    close = summary_of((0.5, 0.5 + 2.0**-20, 0.9), count)
    assert close == calcert.summarize(x + np.where(x < 0.5, 0.3, 0), y)


def test_asking_only_for_the_truth_changes_no_answer() -> None:
    rng = np.random.default_rng(0)
    answers = {False: 0, True: 0}
    for n in (3, 40, 4000):
        summary = THREE.draw(n, rng)
        bounds = {
            "T1": lambda s: upper(perturbed.upper_terms(s, Noise("additive", 0.25), 0.3)),
            "T2": lambda s: upper(bounded_variation.upper_terms(s, 1.1, 0.3)),
            "T4": lambda s: upper(finite.upper_terms(s, 0.3)),
            "T7": lambda s: upper(squared.upper_terms(s, Noise("additive", 0.25), 0.3)),
        }
        for bound in bounds.values():
            whole = bound(summary)
            for truth in np.linspace(0, 1, 21):
                with asking_only_for(float(truth)):
                    covered = bound(summary) >= truth - ROUNDING
                assert covered == (whole >= truth - ROUNDING)
                answers[bool(covered)] += 1
    assert min(answers.values()) > 20


def test_remembering_groups_changes_no_bound() -> None:
    rng = np.random.default_rng(1)
    tables = [THREE.draw(30, rng) for _ in range(5)]
    wanted = [bounded_variation.upper_terms(s, 1.1, 0.3) for s in tables]
    with remembering_groups():
        assert [bounded_variation.upper_terms(s, 1.1, 0.3) for s in tables + tables] == wanted + wanted


def test_the_judge_allows_chance_and_no_more() -> None:
    assert not too_many(50, 1000, 0.05)
    assert not too_many(80, 1000, 0.05)
    assert too_many(95, 1000, 0.05)
    assert too_many(1, 10, 1e-9)
