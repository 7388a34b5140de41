"""Bounds for clusters, weights and shares: all outcomes of small distributions and of one score in many clusters.

Where the labels of a cluster are equal, a cluster of many rows is worth one of them: little is given away there, and
bounds for plain rows are caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert import Summary
from calcert.certificates import bounded_variation, crossings, cutoff, distance, finite, in_the_large, perturbed
from calcert.certificates.band import perturbed_band
from calcert.certificates.limits import cluster_moments
from calcert.certificates.limits.share_limits import share_limits
from calcert.certificates.witnesses import betting
from calcert.perturbation.noise import Noise
from calcert.summary.design import Design
from tests.lab.clusters import Kind, units_at
from tests.lab.distributions import ROUNDING, Floats, Integers, summary_of, too_many, upper

SCORE, CHANCE = 0.9, 0.5
CLUSTERS = Design(clustered=True)
PAIRED = Design(clustered=True, paired=True)
SMALL = Noise("additive", 2.0**-9)

Terms = Callable[[Summary, float], dict[str, float]]
FIXED: dict[str, Terms] = {
    "Theorem U1": lambda s, delta: finite.upper_terms(s, delta),
    "Theorem U1, served": lambda s, delta: perturbed.upper_terms(s, SMALL, delta),
    "Theorem U1, served, odds": lambda s, delta: perturbed.upper_terms(s, Noise("odds", 2.0**-8), delta),
    "Theorem WU": lambda s, delta: distance.upper_terms(s, delta),
    "Theorem U3": lambda s, delta: bounded_variation.upper_terms(s, 1.0, delta),
}
PAIRED_TERMS: dict[str, Terms] = {
    "cutoff": lambda s, delta: cutoff.upper_terms(s, delta),
    "mean gap": lambda s, delta: in_the_large.upper_terms(s, delta),
    "crossings": lambda s, delta: crossings.upper_terms(s, 1, delta),
    "served": lambda s, delta: perturbed.upper_terms(s, Noise("additive", 1 / 128), delta),
    "served, odds": lambda s, delta: perturbed.upper_terms(s, Noise("odds", 1 / 64), delta),
    "distance": lambda s, delta: distance.upper_terms(s, delta),
}
"""So little noise does not move the mean served score, and with it the error at one score, by anything that counts."""


def at(terms: Terms, delta: float) -> Callable[[Summary], float]:
    """An upper bound at one delta."""
    return lambda rows: upper(terms(rows, delta))


def miss_of(bound: Callable[[Summary], float], rows: Callable[[int], Summary], number: int, chance: float) -> float:
    """The probability that a bound is below the truth SCORE - CHANCE, ones being binomial; it falls as ones grow."""

    def misses(ones: int) -> bool:
        return bound(rows(ones)) < SCORE - CHANCE - ROUNDING

    low, high = -1, int(number * (chance + 0.3)) if number > 50 else number
    if not misses(high):
        return float(binom.sf(high, number, chance))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if misses(middle) else (middle, high)
    return float(binom.sf(high - 1, number, chance))


def clusters_of(size: int, number: int, design: Design = CLUSTERS) -> Callable[[int], Summary]:
    """Clusters of one score whose labels are equal, so many of them 1."""
    return lambda ones: units_at(SCORE, [Kind(number - ones, size, 0), Kind(ones, 0, size)], design, size * number)


@pytest.mark.parametrize("theorem", FIXED)
@pytest.mark.parametrize("number", [1, 10, 1000, 10**6])
def test_clusters_of_equal_labels_are_missed_no_more_often_than_delta(theorem: str, number: int) -> None:
    bound = FIXED[theorem]
    for delta in (0.4, 0.05, 1e-3):
        miss = miss_of(at(bound, delta), clusters_of(20, number), number, CHANCE)
        assert miss <= delta, (number, delta)


@pytest.mark.parametrize("theorem", ["Theorem U1", "Theorem U1, served", "Theorem U1, served, odds", "Theorem WU"])
def test_a_sampling_term_cut_by_a_fifth_is_caught(theorem: str) -> None:
    miss = miss_of(lambda s: upper(FIXED[theorem](s, 0.05), cut=0.2), clusters_of(20, 10**6), 10**6, CHANCE)
    assert miss > 0.05


def test_a_sampling_term_of_u3_cut_by_a_fifth_is_caught_where_little_may_fail() -> None:
    # As for Theorem 2, whose three groupings share delta and which has no D3.
    bound = FIXED["Theorem U3"]
    number = 10**10
    assert miss_of(lambda s: upper(bound(s, 1e-9)), clusters_of(2, number), number, CHANCE) <= 1e-9
    assert miss_of(lambda s: upper(bound(s, 1e-9), cut=0.2), clusters_of(2, number), number, CHANCE) > 1e-9


@pytest.mark.parametrize("statement", PAIRED_TERMS)
def test_pair_sums_are_missed_no_more_often_than_delta_where_labels_are_equal(statement: str) -> None:
    bound = PAIRED_TERMS[statement]
    for number, delta in ((1, 0.05), (10, 0.4), (1000, 0.05), (10**6, 0.4), (10**6, 1e-3)):
        assert miss_of(at(bound, delta), clusters_of(20, number, PAIRED), number, CHANCE) <= delta, (number, delta)


@pytest.mark.parametrize("statement", ["cutoff", "mean gap"])
def test_pair_sums_of_a_population_are_missed_no_more_often_than_delta(statement: str) -> None:
    declared = Design(clustered=True, paired=True, largest_weight=20.0)
    for number, delta in ((10, 0.4), (1000, 0.05), (10**6, 0.4)):
        rows = clusters_of(20, number, declared)
        assert miss_of(at(PAIRED_TERMS[statement], delta), rows, number, CHANCE) <= delta, (number, delta)
    cut = miss_of(lambda s: upper(PAIRED_TERMS[statement](s, 0.05), cut=0.3), rows, number, CHANCE)
    assert cut > 0.05


@pytest.mark.parametrize("statement", ["cutoff", "mean gap", "distance"])
def test_a_sampling_term_from_pair_sums_cut_by_a_fifth_is_caught(statement: str) -> None:
    bound = PAIRED_TERMS[statement]
    assert miss_of(lambda s: upper(bound(s, 0.05), cut=0.2), clusters_of(20, 10**6, PAIRED), 10**6, CHANCE) > 0.05


def test_squares_of_independent_rows_are_caught_where_labels_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    said = cluster_moments.signs_squares
    monkeypatch.setattr(in_the_large, "signs_squares", lambda clusters, changes: said(clusters, changes) / 20)
    assert miss_of(at(PAIRED_TERMS["mean gap"], 0.05), clusters_of(20, 10**4, PAIRED), 10**4, CHANCE) > 0.3


@pytest.mark.parametrize(
    ("statement", "delta"), [("cutoff", 0.4), ("cutoff", 0.05), ("mean gap", 0.4), ("served", 0.4)]
)
def test_pair_sums_are_covered_over_all_outcomes_of_two_independent_rows_a_cluster(
    statement: str, delta: float
) -> None:
    number, bound = 16, PAIRED_TERMS[statement]
    missed = alone = 0.0
    for mixed in range(number + 1):
        for ones in range(number - mixed + 1):
            chance = binom.pmf(mixed, number, 0.5) * binom.pmf(ones, number - mixed, 0.5)
            kinds = [Kind(number - mixed - ones, 2, 0), Kind(mixed, 1, 1), Kind(ones, 0, 2)]
            terms = bound(units_at(SCORE, kinds, PAIRED, 2 * number), delta)
            missed += chance * (upper(terms) < SCORE - CHANCE - ROUNDING)
            alone += chance * (upper(terms, cut=1.0) < SCORE - CHANCE - ROUNDING)
    assert missed <= delta
    assert alone > delta


def test_bounds_for_plain_rows_miss_far_more_often_than_delta_in_clusters() -> None:
    size, number = 20, 1000

    def plain(ones: int) -> Summary:
        return summary_of((SCORE,), size * np.array([[number - ones, ones]]))

    assert miss_of(lambda s: upper(finite.upper_terms(s, 0.05)), plain, number, CHANCE) > 0.3


@pytest.mark.parametrize("delta", [0.4, 0.05])
def test_units_of_different_laws_and_weights_are_covered_over_all_outcomes(delta: float) -> None:
    # Eight clusters of weight 1 that are mostly 1, six of weight 5 that are mostly 0: no two kinds have one law.
    light, heavy = (8, 1, 0.9), (6, 5, 0.2)
    truth = SCORE - (8 * 0.9 + 30 * 0.2) / 38
    missed = 0.0
    for a in range(9):
        for b in range(7):
            kinds = [Kind(8 - a, 1, 0), Kind(a, 0, 1), Kind(6 - b, 5, 0), Kind(b, 0, 5)]
            if upper(finite.upper_terms(units_at(SCORE, kinds, CLUSTERS), delta)) < truth - ROUNDING:
                missed += float(binom.pmf(a, light[0], light[2]) * binom.pmf(b, heavy[0], heavy[2]))
    assert missed <= delta


# Negatives kept with chance 1/3 and weighted by 3: at score 0 the error is the base rate of the population.


def kept(number: int, population: bool) -> Callable[[int], Summary]:
    design = Design(weighted=True, largest_weight=3.0) if population else Design(weighted=True)
    return lambda ones: units_at(0.0, [Kind(number - ones, 3, 0), Kind(ones, 0, 1)], design)


def miss_of_kept(bound: Callable[[Summary], float], number: int, population: bool) -> float:
    """The probability that an upper bound is below the base rate 1/4: a kept row has label 1 with chance 1/2."""
    rows, low, high = kept(number, population), -1, number // 2
    if bound(rows(0)) >= 0.25 - ROUNDING:
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(rows(middle)) < 0.25 - ROUNDING else (low, middle)
    return float(binom.cdf(low, number, 0.5))


@pytest.mark.parametrize("number", [1, 10, 1000, 10**6])
def test_rows_kept_by_their_label_are_missed_no_more_often_than_delta(number: int) -> None:
    for delta in (0.4, 0.05, 1e-3):
        miss = miss_of_kept(at(finite.upper_terms, delta), number, population=True)
        assert miss <= delta, (number, delta)


def test_u2_cut_by_a_fifth_and_u1_in_its_place_are_caught() -> None:
    number, delta = 10**6, 0.05
    assert miss_of_kept(lambda s: upper(finite.upper_terms(s, delta), cut=0.2), number, population=True) > delta
    assert miss_of_kept(lambda s: upper(finite.upper_terms(s, delta)), number, population=False) > 2 * delta


# Lower bounds.


@pytest.mark.parametrize("number", [10, 1000, 10**6])
@pytest.mark.parametrize("bound", ["mean gap", "signs", "cutoff", "served", "distance"])
def test_lower_bounds_of_clusters_stay_below_the_truth(bound: str, number: int) -> None:
    for delta in (0.4, 0.05):
        for design in (CLUSTERS, PAIRED):
            assert lower_miss(LOWER[bound], number, delta, cut=0.0, design=design) <= delta


LOWER: dict[str, Callable[[Summary, float], float]] = {
    "mean gap": in_the_large.in_the_large_lower,
    "signs": lambda s, delta: betting.l1_lower(s, delta, 0).limit,
    "cutoff": lambda s, delta: cutoff.cutoff_lower(s, delta, 0).limit,
    "distance": lambda s, delta: distance.distance_lower(s, delta, 0).limit,
    "served": lambda s, delta: perturbed.perturbed_lower(s, SMALL, delta, 0).limit,
}


def lower_miss(
    bound: Callable[[Summary, float], float], number: int, delta: float, cut: float, design: Design = CLUSTERS
) -> float:
    """The probability that a lower bound, a part `cut` of its margin given back, is above SCORE - CHANCE."""
    rows = clusters_of(20, number, design)

    def misses(ones: int) -> bool:
        found, seen = bound(rows(ones), delta), abs(SCORE - ones / number)
        return found + cut * (seen - found) * (found > 0) > SCORE - CHANCE + ROUNDING

    low, high = -1, int(number * CHANCE) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if misses(middle) else (low, middle)
    return float(binom.cdf(low, number, CHANCE))


def test_a_lower_margin_cut_by_half_is_caught() -> None:
    for design in (CLUSTERS, PAIRED):
        assert lower_miss(in_the_large.in_the_large_lower, 10**6, 0.05, cut=1 / 2, design=design) > 0.05


def test_lower_bounds_of_rows_kept_by_their_label_stay_below_the_population() -> None:
    for number in (100, 10**6):
        rows, low, high = kept(number, population=True), number // 2 - 1, number
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if in_the_large.in_the_large_lower(rows(middle), 0.05) > 0.25 else (middle, high)
        assert binom.sf(high - 1, number, 0.5) <= 0.05


# Shares for labels: a row is a tie with chance 1/2, else of either label with chance 1/4.


@pytest.mark.parametrize("delta", [0.4, 0.05])
def test_shares_for_labels_are_covered_over_all_outcomes(delta: float) -> None:
    n, soft = 12, Design(soft=True, quantum=0.5)
    missed = alone = 0.0
    for ties in range(n + 1):
        for ones in range(n - ties + 1):
            chance = binom.pmf(ties, n, 0.5) * binom.pmf(ones, n - ties, 0.5)
            rows = units_at(0.9, [Kind(n - ties - ones, 2, 0), Kind(ties, 1, 1), Kind(ones, 0, 2)], soft)
            terms = finite.upper_terms(rows, delta)
            missed += chance * (upper(terms) < 0.4 - ROUNDING)
            alone += chance * (upper(terms, cut=1.0) < 0.4 - ROUNDING)
    assert missed <= delta
    assert alone > delta


def test_shares_that_are_labels_have_the_bounds_of_plain_rows() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 20, 2000) / 20
    y = rng.random(2000) < x
    plain, soft = calcert.summarize(x, y), calcert.summarize(x, y, soft_labels=True)
    for certify in (
        calcert.bounds.finite,
        calcert.bounds.distance,
        calcert.bounds.perturbed,
        calcert.bounds.cutoff,
        calcert.bounds.bounded_variation,
    ):
        assert certify(soft).upper == pytest.approx(certify(plain).upper, rel=1e-6)


# Simulations.


def coupled(
    rng: np.random.Generator, sizes: Integers, curve: Callable[[Floats], Floats]
) -> tuple[Floats, Floats, Integers]:
    """Rows on 19 scores in clusters of these sizes, labels of a cluster decided by one uniform number: (M) is true."""
    cluster = np.repeat(np.arange(sizes.size), sizes)
    x = rng.integers(1, 20, cluster.size) / 20
    return x, (rng.random(sizes.size)[cluster] < curve(x)).astype(float), cluster


def test_coupled_clusters_are_covered_where_plain_rows_are_not() -> None:
    rng = np.random.default_rng(1)
    runs, delta, scores = 80, 0.05, np.arange(1, 20) / 20
    truth = float(np.mean(scores - scores**2))
    tried = ("Theorem U1", "Theorem WU", "Theorem U3")
    misses = dict.fromkeys(["plain", "cutoff", "crossings", "above", *tried], 0)
    for _ in range(runs):
        x, y, cluster = coupled(rng, np.full(200, 20), np.square)
        rows = calcert.summarize(x, y, clusters=cluster)
        misses["plain"] += upper(finite.upper_terms(calcert.summarize(x, y), delta)) < truth
        for name in tried:
            misses[name] += upper(FIXED[name](rows, delta)) < truth
        paired = calcert.summarize(x, y, clusters=cluster, pair_sums=True)
        for name in ("cutoff", "crossings"):
            misses[name] += upper(PAIRED_TERMS[name](paired, delta)) < truth
        misses["above"] += max(LOWER[name](paired, delta) for name in ("signs", "cutoff", "distance")) > truth
    assert too_many(misses.pop("plain"), runs, delta)
    assert not any(too_many(missed, runs, delta) for missed in misses.values()), misses


def test_a_side_of_the_population_has_no_lower_bound() -> None:
    rows = calcert.summarize([0.2, 0.9], [0, 1], weights=[1, 2], largest_weight=2)
    assert calcert.bounds.cutoff(rows, side="too high").lower == 0


def test_shares_are_covered_where_votes_taken_for_rows_are_not() -> None:
    """Forty annotators who nearly always agree: their share is one label, and forty labels it is not."""
    rng = np.random.default_rng(11)
    runs, delta, scores = 120, 0.05, np.arange(1, 20) / 20
    truth = float(np.mean(scores - scores**2))
    misses = dict.fromkeys(["shares", "ranges of shares", "votes"], 0)
    for _ in range(runs):
        x = rng.choice(scores, 400)
        agreed = (rng.random(400) < x**2).astype(float)
        share = np.where(rng.random(400) < 0.9, agreed, rng.binomial(40, x**2) / 40)
        soft = calcert.summarize(x, share, soft_labels=True, weight_unit=1 / 40)
        misses["shares"] += upper(finite.upper_terms(soft, delta)) < truth
        misses["ranges of shares"] += upper(cutoff.upper_terms(soft, delta)) < truth
        lines = [np.concatenate([x, x]), np.repeat([1, 0], 400)]
        votes = calcert.summarize(*lines, counts=np.round(40 * np.concatenate([share, 1 - share])))
        misses["votes"] += upper(finite.upper_terms(votes, delta)) < truth
    assert too_many(misses.pop("votes"), runs, delta)
    assert not any(too_many(missed, runs, delta) for missed in misses.values()), misses


def test_rows_kept_by_score_and_label_are_covered() -> None:
    rng = np.random.default_rng(5)
    runs, delta, scores = 60, 0.2, np.arange(1, 20) / 20
    truth = float(np.mean(scores - scores**2))
    below = above = 0
    for _ in range(runs):
        x = rng.choice(scores, 3000)
        y = rng.random(3000) < x**2
        weight = np.where(y, 1, np.where(x > 0.5, 2, 5))
        kept = rng.random(3000) < 1 / weight
        rows = calcert.summarize(x[kept], y[kept], weights=weight[kept], largest_weight=5)
        below += upper(finite.upper_terms(rows, delta)) < truth
        above += LOWER["signs"](rows, delta) > truth
    assert not too_many(below, runs, delta)
    assert not too_many(above, runs, delta)


def test_calibrated_heavy_tailed_clusters_raise_no_false_alarm() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for run in range(40):
        sizes = np.ceil(rng.pareto(1.2, 300) + 1).astype(np.int64)
        x, y, cluster = coupled(rng, np.minimum(sizes, 400), lambda score: score)
        rows = calcert.summarize(x, y, clusters=cluster, pair_sums=run % 2 == 1)
        served = perturbed.perturbed_lower(rows, Noise("additive", 1 / 64), 0.2, 0).limit
        # Perturbing moves scores by less than 1.17/64 on average, and the error with them.
        alarms += (
            max(LOWER[name](rows, 0.2) for name in ("mean gap", "signs", "cutoff", "distance")) > 0
            or served > 1.17 / 64
        )
    assert alarms == 0


def test_one_row_a_unit_gives_away_a_twentieth() -> None:
    rng = np.random.default_rng(3)
    x = rng.random(50_000)
    y = rng.random(50_000) < x
    plain, alone = calcert.summarize(x, y), calcert.summarize(x, y, clusters=np.arange(50_000))
    for certify in (
        calcert.bounds.perturbed,
        calcert.bounds.distance,
        calcert.bounds.cutoff,
        calcert.bounds.bounded_variation,
    ):
        assert certify(plain).upper <= certify(alone).upper <= 1.05 * certify(plain).upper


def test_weights_that_are_all_ten_are_weights_that_are_all_one() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(5000)
    y = rng.random(5000) < x
    one, ten = (calcert.summarize(x, y, weights=np.full(5000, w)) for w in (1, 10))
    for certify in (calcert.bounds.perturbed, calcert.bounds.cutoff, calcert.bounds.in_the_large):
        assert math.isclose(certify(one).upper, certify(ten).upper, rel_tol=1e-6)
        assert math.isclose(certify(one).lower, certify(ten).lower, rel_tol=1e-6, abs_tol=1e-9)


# The band, at one score: the curve is the chance everywhere.


def band_miss(number: int, delta: float, tosses: float, size: int = 20) -> float:
    """The probability that the band of clusters with equal labels misses the chance somewhere."""
    missed = 0.0
    for ones in range(number + 1):
        rows = clusters_of(size, number)(ones)
        assert rows.clusters is not None
        rows = replace(rows, clusters=replace(rows.clusters, largest=int(size / tosses)))
        band = perturbed_band(rows, Noise("additive", 1 / 16), delta, points=8)
        wrong = bool((band.lower > CHANCE).any() or (band.upper < CHANCE).any())
        missed += float(binom.pmf(ones, number, CHANCE)) * wrong
    return missed


def test_the_band_of_clusters_misses_the_curve_no_more_often_than_delta() -> None:
    assert band_miss(40, 0.4, tosses=1) <= 0.4
    # As if there were twenty tosses to a cluster.
    assert band_miss(40, 0.05, tosses=20) > 0.1


@pytest.mark.parametrize("evidence", [1.0, 3.0])
def test_shares_of_units_of_different_laws_and_weights_keep_their_level(evidence: float) -> None:
    # Six clusters of weight 1 that are mostly 1, five of weight 3 that are mostly 0: a toss is a third of a cluster's
    # weight.
    light, heavy = (6, 1 / 3, 0.9), (5, 1.0, 0.2)
    truth = (6 / 3 * 0.9 + 5 * 0.2) / 7
    missed = torn = 0.0
    for a in range(7):
        for b in range(6):
            chance = float(binom.pmf(a, light[0], light[2]) * binom.pmf(b, heavy[0], heavy[2]))
            hits = np.array([a / 3 + b])
            for tosses in (1, 3):
                low, high = share_limits(tosses * hits, tosses * (7 - hits), evidence)
                wrong = chance * bool(low[0] > truth or high[0] < truth)
                missed, torn = missed + wrong * (tosses == 1), torn + wrong * (tosses == 3)
    assert missed <= math.exp(-evidence)
    assert torn > missed
