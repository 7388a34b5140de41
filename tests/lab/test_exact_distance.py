"""Theorem 6 over every outcome: its upper bound on small laws, on one score in many rows, and broken in four ways.

The distance of small laws is a linear program. With one score the plug-in is calibration in the large, so that the
deviation bound is all there is.
"""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert import Summary
from calcert.certificates import distance
from calcert.kernels.knots import cost
from calcert.summary.points import Points
from tests.lab.distances import of_rows
from tests.lab.distributions import (
    SMALL_LAWS,
    Law,
    asking_only_for,
    miss_probability,
    one_score_miss,
    summary_of,
    too_many,
    upper,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIZES = {1: (1, 3, 12), 2: (1, 2, 4, 12), 3: (1, 2, 3, 6)}
"""Numbers of rows by the number of scores."""

ONE = Law((0.9,), (1.0,), (0.5,))


@pytest.mark.parametrize(("name", "n"), [(name, n) for name, law in SMALL_LAWS.items() for n in SIZES[len(law.score)]])
def test_upper_covers_the_distance_for_every_law_on_up_to_three_scores(name: str, n: int) -> None:
    law = SMALL_LAWS[name]
    for delta in (0.5, 0.3, 0.05) if n < 6 else (0.5,):
        with asking_only_for(law.distance):
            missed = miss_probability(law, n, lambda s, d=delta: upper(distance.upper_terms(s, d)), law.distance)  # type: ignore[misc]
        assert missed <= delta


@pytest.mark.parametrize("delta", [0.5, 0.2, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("n", [10, 1000, 10**5, 10**7])
def test_one_score_in_many_rows_is_missed_no_more_often_than_delta(n: int, delta: float) -> None:
    for law in (ONE, Law((1.0,), (1.0,), (0.5,)), Law((0.3,), (1.0,), (0.1,))):
        truth = law.score[0] - law.chance[0]
        with asking_only_for(truth):
            assert one_score_miss(lambda s: distance.upper_terms(s, delta), law, n, truth, cut=0.0) <= delta


@pytest.mark.parametrize(("cut", "n"), [(0.2, 10**6), (0.1, 10**5)])
def test_a_sampling_term_cut_by_a_fifth_or_a_tenth_is_caught(cut: float, n: int) -> None:
    assert one_score_miss(lambda s: distance.upper_terms(s, 0.05), ONE, n, 0.4, cut=0.0) <= 0.05
    assert one_score_miss(lambda s: distance.upper_terms(s, 0.05), ONE, n, 0.4, cut=cut) > 0.05


def test_plug_ins_alone_miss_more_often_than_delta() -> None:
    law = Law((1.0,), (1.0,), (0.1,))
    assert miss_probability(law, 5, lambda s: upper(distance.upper_terms(s, 0.3), cut=1.0), law.distance) > 0.3


def test_a_plan_that_is_not_charged_for_what_it_lacks_of_a_label_is_caught() -> None:
    """An empty plan leaves all rows of label 0 unaccounted for; summed from below and without a charge it is free."""

    def cost_from_below(scores: Floats, n: int) -> float:
        edges = np.unique(np.concatenate([[0.0, 1.0], scores]))
        rows = np.searchsorted(np.sort(scores), edges[:-1], "right") / n
        return float(np.diff(edges) @ rows)

    always_wrong = np.full(8, 1.0)
    assert of_rows(always_wrong, np.zeros(8, int))[0] == pytest.approx(1.0)
    assert cost_from_below(always_wrong, 8) == 0.0
    points = summary_of((1.0,), np.array([[8, 0]])).points
    knots, none = np.array([0.0, 1.0]), np.zeros(2)
    left = np.zeros(1, np.int64)
    charged = cost(knots, none, np.zeros((2, 2)), left, points.low, points.high, points.fraction, points.count)
    assert charged[0] == 1.0


def test_a_knot_inside_a_cell_is_refused_and_would_be_paid_too_little_for() -> None:
    """All rows of a cell are at its right end or at its left, their mean in the middle; the plan is in the middle."""
    low, high, fraction = np.array([0.25]), np.array([0.75]), np.full((1, 2), 0.5)
    count = np.array([[6, 0]])
    knots, mass = np.array([0.0, 0.5, 1.0]), np.array([0.0, 12.0, 0.0]) / 6
    arguments = (knots, mass, np.zeros((2, 3)), np.zeros(1, np.int64), low, high, fraction, count)
    with pytest.raises(ValueError, match="a knot lies inside a cell"):
        cost(*arguments)
    # With N as it is at the left end of the cell, and the way from the right end back to the knot counted as negative:
    after, before = abs(1.0 - 1.0), abs(0.5 * mass.sum() - 1.0)
    blind = 0.25 * before + 0.5 * (0.5 * before + 0.5 * after) - 0.25 * after + 0.5 * after
    rows = np.repeat([0.25, 0.75], 3)
    assert blind < of_rows(rows, np.zeros(6, int))[0] - 0.3


def test_a_lower_bound_from_a_pair_that_jumps_is_caught() -> None:
    """Opposite errors close to each other: a jump sees them all, a pair that is Lipschitz almost nothing."""
    law, delta, runs = Law((0.45, 0.55), (0.5, 0.5), (0.9, 0.1)), 0.1, 40

    def misses() -> int:
        rng = np.random.default_rng(0)
        lower = distance.distance_lower
        return sum(lower(law.draw(1000, rng), delta, seed).limit > law.distance for seed in range(runs))

    def jump(points: Points, known: Integers) -> Floats:
        sign = np.where(points.low < 0.5, 1.0, -1.0)
        return np.stack([-points.high * sign, (1 - points.high) * sign], axis=1)

    assert not too_many(misses(), runs, delta)
    with mock.patch.object(distance, "pair_gain", jump):
        assert too_many(misses(), runs, delta)


def test_a_lower_bound_from_a_pair_with_too_much_of_both_labels_is_caught() -> None:
    """A pair that is Lipschitz but not admissible: a constant of 1/20 earns where nothing is to be found."""
    law, delta, runs = Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75)), 0.1, 40

    def misses() -> int:
        rng = np.random.default_rng(1)
        lower = distance.distance_lower
        return sum(lower(law.draw(1000, rng), delta, seed).limit > 0 for seed in range(runs))

    assert not too_many(misses(), runs, delta)
    constant = lambda points, known: np.full(known.shape, 0.05)  # noqa: E731
    with mock.patch.object(distance, "pair_gain", constant):
        assert too_many(misses(), runs, delta)


def test_every_outcome_of_a_few_rows_costs_what_a_linear_program_says() -> None:
    law = SMALL_LAWS["three"]
    for count, _ in law.outcomes(4):
        scores = np.repeat(law.score, count.sum(axis=1))
        labels = np.concatenate([np.repeat([0, 1], pair) for pair in count])
        found, grid = of_rows(scores, labels, grid=128)
        paid = found_cost(summary_of(law.score, count))
        assert found - grid - 1e-9 <= paid <= found + 0.01 * math.sqrt(((scores - labels) ** 2).mean() / 4) + 1e-9


def found_cost(summary: Summary) -> float:
    terms = distance.upper_terms(summary, 0.5)
    return terms["plug-in"] + terms["discretisation"]
