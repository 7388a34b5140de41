"""Theorems 9, 10 and 11 over every outcome of small laws, and every outcome of one score in as many rows as you like.

No random numbers: probabilities of outcomes are added up. Lower bounds are judged over every way of throwing rows into
three batches as well.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from calcert import Summary
from calcert.certificates import crossings, cutoff, in_the_large, observed_over_expected
from tests.lab.distributions import (
    SMALL_LAWS,
    Law,
    asking_only_for,
    miss_probability,
    one_score_miss,
    summary_of,
    upper,
)
from tests.lab.sums import crossings_of, gap_truth, range_truth, visible_truth
from tests.lab.test_exact_lower import judged, wealth

Terms = Callable[[Summary, float], dict[str, float]]

STATEMENTS: dict[str, tuple[Terms, Callable[[Law], float]]] = {
    "cutoff": (lambda s, delta: cutoff.upper_terms(s, delta), range_truth),
    "ranges too high": (
        lambda s, delta: cutoff.upper_terms(s, delta, "too high"),
        lambda law: range_truth(law, "too high"),
    ),
    "ranges too low": (
        lambda s, delta: cutoff.upper_terms(s, delta, "too low"),
        lambda law: range_truth(law, "too low"),
    ),
    "no crossing": (lambda s, delta: crossings.upper_terms(s, 0, delta), gap_truth),
    "one crossing": (lambda s, delta: crossings.upper_terms(s, 1, delta), lambda law: visible_truth(law, 1)),
    "two crossings": (lambda s, delta: crossings.upper_terms(s, 2, delta), lambda law: visible_truth(law, 2)),
    "mean gap": (lambda s, delta: in_the_large.upper_terms(s, delta), gap_truth),
}
SIZES = {1: (1, 3, 12), 2: (1, 2, 4, 12), 3: (1, 2, 3, 6)}


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("name", SMALL_LAWS)
def test_upper_covers_the_truth_for_every_law_on_up_to_three_scores(statement: str, name: str) -> None:
    law = SMALL_LAWS[name]
    terms, truth_of = STATEMENTS[statement]
    truth = truth_of(law)
    for n in SIZES[len(law.score)]:
        for delta in (0.5, 0.3, 0.05) if n < 6 else (0.5,):
            with asking_only_for(truth):
                missed = miss_probability(law, n, lambda s, delta=delta: upper(terms(s, delta)), truth)  # type: ignore[misc]
            assert missed <= delta


@pytest.mark.parametrize("name", SMALL_LAWS)
def test_as_many_crossings_as_the_curve_has_show_all_of_the_error(name: str) -> None:
    law = SMALL_LAWS[name]
    times = crossings_of(law)
    assert visible_truth(law, times) == pytest.approx(law.error, abs=1e-15)
    shown = [visible_truth(law, k) for k in range(5)]
    assert shown[0] == pytest.approx(gap_truth(law), abs=1e-15)
    assert all(a <= b + 1e-15 for a, b in itertools.pairwise(shown))
    assert gap_truth(law) - 1e-15 <= range_truth(law) <= law.error + 1e-15


TIGHT = Law((0.9,), (1.0,), (0.5,))


@pytest.mark.parametrize("statement", ["cutoff", "ranges too high", "two crossings", "mean gap"])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("n", [10, 1000, 10**7])
def test_one_score_in_many_rows_is_missed_no_more_often_than_delta(statement: str, n: int, delta: float) -> None:
    terms, truth_of = STATEMENTS[statement]
    truth = truth_of(TIGHT)
    with asking_only_for(truth):
        assert one_score_miss(lambda s: terms(s, delta), TIGHT, n, truth, cut=0.0) <= delta


@pytest.mark.parametrize("statement", ["cutoff", "two crossings", "mean gap"])
def test_a_sampling_term_cut_by_a_fifth_is_caught(statement: str) -> None:
    terms, truth_of = STATEMENTS[statement]
    truth = truth_of(TIGHT)
    for cut, caught in ((0.0, False), (0.2, True)):
        missed = one_score_miss(lambda s: terms(s, 0.05), TIGHT, 10**6, truth, cut)
        assert (missed > 0.05) is caught


LOWER: dict[str, tuple[Callable[[Summary, float], float], Callable[[Law], float]]] = {
    "cutoff": (lambda s, delta: cutoff.cutoff_lower(s, delta, 0).limit, range_truth),
    "ranges too high": (
        lambda s, delta: cutoff.cutoff_lower(s, delta, 0, "too high").limit,
        lambda law: range_truth(law, "too high"),
    ),
    "one crossing": (
        lambda s, delta: crossings.crossings_lower(s, 1, delta, 0).limit,
        lambda law: visible_truth(law, 1),
    ),
}
GAMES = {
    "one score": (Law((0.9,), (1.0,), (0.4,)), 6),
    "calibrated": (Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75)), 3),
    "sign flip": (Law((0.3, 0.31), (0.5, 0.5), (0.9, 0.0)), 4),
    "three": (Law((0.25, 0.5, 0.75), (0.3, 0.3, 0.4), (0.75, 0.0, 0.25)), 3),
}


@pytest.mark.parametrize("statement", LOWER)
@pytest.mark.parametrize("name", GAMES)
def test_lower_stays_below_the_truth_and_wealth_is_a_supermartingale(statement: str, name: str) -> None:
    law, n = GAMES[name]
    lower, truth_of = LOWER[statement]
    found = judged(law, n, lambda s: lower(s, 0.5))
    truth = truth_of(law)
    assert math.fsum(chance for chance, bound, _ in found if bound > truth) <= 0.5
    assert math.fsum(chance * wealth(rounds, truth) for chance, _, (rounds,) in found) <= 1 + 1e-9


def test_betting_against_half_of_the_largest_miscount_pays() -> None:
    law, n = GAMES["one score"]
    found = judged(law, n, lambda s: cutoff.cutoff_lower(s, 0.5, 0).limit)
    assert math.fsum(chance * wealth(rounds, 0.5 * range_truth(law)) for chance, _, (rounds,) in found) > 1.01


def counted(n: int, positives: int) -> Summary:
    return summary_of(TIGHT.score, np.array([[n - positives, positives]]))


def mean_gap_lower_miss(n: int, delta: float, cut: float) -> float:
    """The exact probability that the lower limit, moved towards the gap that was seen by `cut`, exceeds the truth."""

    def missed(positives: int) -> bool:
        seen, limit = abs(0.9 - positives / n), in_the_large.in_the_large_lower(counted(n, positives), delta)
        return limit + cut * (seen - limit) > gap_truth(TIGHT) + 1e-12

    if n <= 50:
        return math.fsum(binom.pmf(k, n, 0.5) for k in range(n + 1) if missed(k))
    low, high = 0, n // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if missed(middle) else (low, middle)
    return float(binom.cdf(low, n, 0.5))


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("n", [1, 10, 1000, 10**6])
def test_the_lower_mean_gap_is_missed_no_more_often_than_delta_and_cut_by_a_fifth_is_caught(
    n: int, delta: float
) -> None:
    assert mean_gap_lower_miss(n, delta, cut=0.0) <= delta
    if (n, delta) == (10**6, 0.05):
        assert mean_gap_lower_miss(n, delta, cut=0.2) > delta


def test_a_calibrated_score_is_given_a_lower_mean_gap_no_more_often_than_delta() -> None:
    # Both tails miss where the truth is 0: a limit at full delta a side would fail here.
    n, delta = 10_000, 0.05

    def missed(level: float) -> float:
        low, high = 0, n // 2
        while high - low > 1:
            k = (low + high) // 2
            found = in_the_large.in_the_large_lower(summary_of((0.5,), np.array([[n - k, k]])), level) > 0
            low, high = (k, high) if found else (low, k)
        return 2 * float(binom.cdf(low, n, 0.5))

    assert 0.5 * delta < missed(delta) <= delta
    assert missed(2 * delta) > delta


RATIO = {"less than expected": (0.9, 0.5), "more than expected": (0.3, 0.6), "rare": (0.02, 0.01)}


def ratio_miss(score: float, chance: float, n: int, delta: float, cut: float = 0.0) -> float:
    """The exact probability that the interval for chance / score, both ends moved in by `cut`, misses it."""
    truth = chance / score

    def ends(positives: int) -> tuple[float, float]:
        ratio = observed_over_expected.observed_over_expected(
            summary_of((score,), np.array([[n - positives, positives]])), delta=delta
        )
        if not cut:
            return ratio.lower, ratio.upper
        return ratio.lower + cut * (ratio.estimate - ratio.lower), ratio.upper - cut * (ratio.upper - ratio.estimate)

    if n <= 20:
        outside = [k for k in range(n + 1) if not ends(k)[0] - 1e-12 <= truth <= ends(k)[1] + 1e-12]
        return math.fsum(binom.pmf(k, n, chance) for k in outside)
    middle = round(n * chance)
    few = bisect_left(range(middle), True, key=lambda k: ends(k)[1] >= truth)
    many = middle + bisect_left(range(middle, n + 1), True, key=lambda k: ends(k)[0] > truth)
    return float(binom.cdf(few - 1, n, chance) + binom.sf(many - 1, n, chance))


@pytest.mark.parametrize("name", RATIO)
@pytest.mark.parametrize("n", [1, 12, 1000, 10**6])
def test_observed_over_expected_is_missed_no_more_often_than_delta(name: str, n: int) -> None:
    for delta in (0.49, 0.05) if n < 10**6 else (0.05,):
        assert ratio_miss(*RATIO[name], n, delta) <= delta


def upper_miss(score: float, chance: float, n: int, delta: float, cut: float = 0.0) -> float:
    """The exact probability that the upper limit alone, moved in by `cut`, is below chance / score."""

    def most(positives: int) -> float:
        rows = summary_of((score,), np.array([[n - positives, positives]]))
        ratio = observed_over_expected.observed_over_expected(rows, delta=delta, side="at most")
        return ratio.upper - (cut * (ratio.upper - ratio.estimate) if cut else 0.0)

    few = bisect_left(range(n + 1), True, key=lambda k: most(k) >= chance / score - 1e-12)
    return float(binom.cdf(few - 1, n, chance))


@pytest.mark.parametrize("name", RATIO)
@pytest.mark.parametrize("n", [12, 1000, 10**6])
def test_observed_is_above_its_upper_limit_no_more_often_than_delta(name: str, n: int) -> None:
    assert upper_miss(*RATIO[name], n, 0.05) <= 0.05


def test_an_upper_limit_for_observed_over_expected_cut_by_a_fifth_is_caught() -> None:
    assert upper_miss(0.9, 0.5, 10**6, 0.05) > 0.02
    assert upper_miss(0.9, 0.5, 10**6, 0.05, cut=0.2) > 0.05


def test_an_interval_for_observed_over_expected_cut_by_a_fifth_is_caught() -> None:
    assert ratio_miss(0.9, 0.5, 10**6, 0.05, cut=0.2) > 0.05
