"""Observed over expected for rows in clusters: all outcomes of one score, and clusters that are drawn."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert import Summary
from calcert.certificates.observed_over_expected import excess_of_ratios, observed_over_expected
from calcert.foundation.rounding import ROUNDING
from calcert.summary.design import Design
from tests.lab.clusters import Kind, units_at

SCORE, CHANCE = 0.9, 0.5
DESIGNS = {
    "sizes given": Design(clustered=True),
    "with pair sums": Design(clustered=True, paired=True),
    "population": Design(clustered=True, largest_weight=20.0),
}


def excludes(summary: Summary, truth: float, delta: float, cut: float = 0.0) -> bool:
    """Whether the truth is excluded, by a limit that is smaller by `cut`."""
    place = truth / 2 if truth <= 1 else 1 - 1 / (2 * truth)
    excess = excess_of_ratios(summary, delta)(place, place)
    if not cut:
        return excess > 0
    label, score = min(1.0, 2 - 2 * place), min(2 * place, 1.0)
    off = abs(label * summary.base_rate - score * summary.mean_score) - 2 * ROUNDING
    return off - (1 - cut) * (off - excess) > 0


def missed(rows: Callable[[int], Summary], number: int, delta: float, cut: float = 0.0) -> float:
    """The exact probability that CHANCE / SCORE is excluded, where ones are binomial."""

    def out(ones: int) -> bool:
        return excludes(rows(ones), CHANCE / SCORE, delta, cut)

    if number <= 20:
        return math.fsum(binom.pmf(k, number, CHANCE) for k in range(number + 1) if out(k))
    middle = round(number * CHANCE)
    few = bisect_left(range(middle), True, key=lambda k: not out(k))
    many = middle + bisect_left(range(middle, number + 1), True, key=out)
    return float(binom.cdf(few - 1, number, CHANCE) + binom.sf(many - 1, number, CHANCE))


def equal_labels(size: int, number: int, design: Design) -> Callable[[int], Summary]:
    """Clusters of so many rows whose labels are equal."""
    return lambda ones: units_at(SCORE, [Kind(number - ones, size, 0), Kind(ones, 0, size)], design, size * number)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("number", [1, 10, 1000, 10**6])
def test_the_ratio_is_missed_no_more_often_than_delta_where_labels_of_a_cluster_are_equal(
    design: str, number: int
) -> None:
    for delta in (0.4, 0.05, 1e-3):
        assert missed(equal_labels(20, number, DESIGNS[design]), number, delta) <= delta, delta


@pytest.mark.parametrize("design", DESIGNS)
def test_a_limit_cut_by_a_fifth_is_caught(design: str) -> None:
    assert missed(equal_labels(20, 10**6, DESIGNS[design]), 10**6, 0.05, cut=0.2) > 0.05


def test_plain_rows_in_place_of_clusters_are_caught() -> None:
    def plain(ones: int) -> Summary:
        labels = np.repeat(np.arange(1000) < ones, 20)
        return calcert.summarize(np.full(20_000, SCORE), labels)

    assert missed(plain, 1000, 0.05) > 0.5


def test_clusters_of_two_sizes_with_frequencies_of_their_own_are_missed_no_more_often_than_delta() -> None:
    # Given the sizes, the ratio is that of a row: large clusters count five times.
    number, small, large, delta = 40, 0.2, 0.6, 0.05
    truth = (small + 5 * large) / (6 * SCORE)
    out = 0.0
    for singles in range(number + 1):
        for fives in range(number + 1):
            kinds = [Kind(number - singles, 1, 0), Kind(singles, 0, 1), Kind(number - fives, 5, 0), Kind(fives, 0, 5)]
            if excludes(units_at(SCORE, kinds, DESIGNS["sizes given"], 6 * number), truth, delta):
                out += binom.pmf(singles, number, small) * binom.pmf(fives, number, large)
    assert out <= delta


def test_sizes_that_depend_on_labels_need_a_declared_bound() -> None:
    # A cluster of label 1 has five rows, one of label 0 has one: the population's ratio is not that of the sizes.
    number, delta, chance = 2000, 0.05, 0.3
    truth = 5 * chance / (5 * chance + 1 - chance) / SCORE
    declared = Design(clustered=True, largest_weight=5.0)
    outcomes = np.arange(number + 1)
    likely = outcomes[binom.pmf(outcomes, number, chance) > 1e-12]

    def out(ones: int) -> bool:
        kinds = [Kind(number - ones, 1, 0), Kind(ones, 0, 5)]
        return excludes(units_at(SCORE, kinds, declared, number + 4 * ones), truth, delta)

    wrong = math.fsum(binom.pmf(k, number, chance) for k in likely.tolist() if out(k))
    assert wrong + 1e-8 <= delta


def test_intervals_of_drawn_clusters_hold_the_ratio_and_those_of_plain_rows_do_not() -> None:
    rng, runs, delta = np.random.default_rng(5), 300, 0.1
    misses = {"clusters": 0, "paired": 0, "population": 0, "plain": 0}
    for _ in range(runs):
        # Sizes from 1 to 8, one score and one hidden number for all rows of a cluster: E Y = 0.6 E X.
        size = rng.integers(1, 9, 150)
        cluster = np.repeat(np.arange(150), size)
        x = rng.beta(1, 4, 150)[cluster]
        y = rng.random(150)[cluster] < 0.6 * x
        made = {
            "clusters": calcert.summarize(x, y, clusters=cluster),
            "paired": calcert.summarize(x, y, clusters=cluster, pair_sums=True),
            "population": calcert.summarize(x, y, clusters=cluster, largest_weight=8),
            "plain": calcert.summarize(x, y),
        }
        for name, summary in made.items():
            misses[name] += excludes(summary, 0.6, delta)
    allowed = binom.isf(1e-6, runs, delta)
    assert max(misses["clusters"], misses["paired"], misses["population"]) <= allowed
    assert misses["plain"] > allowed


@pytest.mark.parametrize("options", [{}, {"pair_sums": True}, {"largest_weight": 9}], ids=str)
def test_the_interval_holds_every_ratio_that_is_not_excluded(options: dict[str, float]) -> None:
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 400, 1_000)
    x = rng.random(1_000)
    summary = calcert.summarize(x, rng.random(1_000) < x / 2, clusters=cluster, **options)
    found = observed_over_expected(summary)
    ratios = np.linspace(0.01, 3, 300)
    kept = [ratio for ratio in ratios.tolist() if not excludes(summary, ratio, 0.05)]
    assert found.lower <= min(kept) < max(kept) <= found.upper
    assert max(kept) - min(kept) > 0.9 * (found.upper - found.lower)
    assert found.upper < 1, "the error shows"
