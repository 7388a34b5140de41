"""Crossings: cells hide no more than is charged, and bets do not know later rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates import crossings
from calcert.certificates.cutoff import Excess
from calcert.kernels.search import PRECISION
from tests.certificates.test_cutoff import check_bets_do_not_know_later_rows, crowded
from tests.certificates.test_l1_lower import by_cells
from tests.lab.sums import most_under_signs

Floats = NDArray[np.float64]


def of_rows(x: Floats, y: NDArray[np.bool_], changes: int) -> float:
    scores, which = np.unique(x, return_inverse=True)
    return most_under_signs(np.bincount(which, x - y, scores.size).tolist(), changes) / x.size


@pytest.mark.parametrize("changes", [0, 1, 3, 7])
def test_cells_hide_no_more_than_is_charged(changes: int) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = crowded(rng, 2000) if seed % 2 else rng.random(2000)
        y = rng.random(2000) < 0.4
        true = of_rows(x, y, changes)
        terms = crossings.upper_terms(by_cells(calcert.summarize(x, y)), changes, 0.05)
        slack = Excess.of(calcert.summarize(x, y)).rounding(2 * changes + 1)
        assert terms["plug-in"] - slack <= true <= terms["plug-in"] + terms["discretisation"]
        listed = crossings.upper_terms(calcert.summarize(x, y), changes, 0.05)
        assert listed["plug-in"] == pytest.approx(true, abs=1e-12)
        assert listed["discretisation"] < 1e-9


def test_no_crossing_shows_the_mean_gap_and_very_many_show_all_there_is() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 30, 3000) / 29
    summary = calcert.summarize(x, rng.random(3000) < 0.5)
    none, many = (calcert.bounds.crossings(summary, crossings=k) for k in (0, 29))
    assert none.upper == pytest.approx(calcert.bounds.in_the_large(summary).upper, abs=1e-9)
    assert many.upper == pytest.approx(calcert.bounds.finite(summary).upper, abs=1e-9)


def test_the_assumption_is_said() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(5000)
    summary = calcert.summarize(x, rng.random(5000) < x**2)
    assumptions = [
        "the true curve stays on one side of the diagonal",
        "the true curve changes sides of the diagonal at most once",
        "the true curve changes sides of the diagonal at most 2 times",
    ]
    for k, assumption in enumerate(assumptions):
        assumed = calcert.bounds.crossings(summary, crossings=k)
        assert assumed.assumption == assumption
        assert assumed.quantity == "L1 calibration error"
        assert assumed.parameters == {"crossings": k, "seed": 0}


def test_more_crossings_show_more() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(20_000)
    summary = calcert.summarize(x, rng.random(20_000) < np.where((8 * x).astype(int) % 2, 0.1, 0.9))
    uppers = [calcert.bounds.crossings(summary, crossings=k).upper for k in range(8)]
    lowers = [calcert.bounds.crossings(summary, crossings=k).lower for k in (0, 3, 7, 9)]
    # Each search may stop above the bound by that much.
    assert all(a <= b * (1 + PRECISION) for a, b in itertools.pairwise(uppers))
    assert lowers[0] < lowers[1] < lowers[2]
    steps = (np.arange(800) + 0.5) / 800 - np.repeat([0.9, 0.1] * 4, 100)
    assert lowers[-1] <= most_under_signs(steps.tolist(), 9) / 800


@pytest.mark.parametrize("wrong", [-1, 1001, 2.0, True, "3"])
def test_a_wrong_number_of_crossings_is_refused_by_name(wrong: object) -> None:
    summary = calcert.summarize([0.5], [1])
    with pytest.raises(ValueError, match=r"crossings must be a whole number between 0 and 1,000; got"):
        calcert.bounds.crossings(summary, crossings=wrong)


@pytest.mark.parametrize("changes", [0, 1, 3])
def test_bets_on_signs_do_not_know_later_rows(changes: int) -> None:
    check_bets_do_not_know_later_rows(lambda s: crossings.crossings_lower(s, changes, 0.05, 0).limit)


@pytest.mark.parametrize(("n", "gap"), [(10_000, 0.0215), (100_000, 0.0068)])
def test_upper_bounds_are_as_close_to_the_truth_as_promised(n: int, gap: float) -> None:
    bounds = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.random(n)
        bounds.append(sum(crossings.upper_terms(calcert.summarize(x, rng.random(n) < x), 3, 0.05).values()))
    assert np.mean(bounds) <= gap
