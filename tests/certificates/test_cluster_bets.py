"""Bets on clusters: evidence has a mean of at most 1 over all outcomes, and what is said to be owned is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert.certificates.witnesses.cluster_lower import CHANGES, EVERY, SHARES, USED, Bets, lower_with_bets
from calcert.summary.design import Design
from calcert.summary.pair_sums import BET_SIZES, SIGNS
from tests.lab.clusters import Kind, units_at, units_of

PAIRED = Design(clustered=True, paired=True)


def evidence(summary: calcert.Summary) -> float:
    found = lower_with_bets(summary, [], EVERY, 0.05).e_value
    assert found is not None
    return found


def test_shares_of_bets_add_up_to_one_and_every_sign_has_its_negative() -> None:
    assert math.fsum(SHARES) == pytest.approx(1)
    assert {tuple(signs) for signs in SIGNS.tolist()} == {tuple(-s for s in signs) for signs in SIGNS.tolist()}
    assert CHANGES.tolist().count(0) == 2


@pytest.mark.parametrize("number", [1, 5, 40])
def test_evidence_against_calibrated_clusters_has_a_mean_of_at_most_one(number: int) -> None:
    # Clusters of four rows with equal labels. As if each row were a cluster, the mean would be far above 1.
    whole = torn = 0.0
    for ones in range(number + 1):
        chance = float(binom.pmf(ones, number, 0.25))
        whole += chance * evidence(units_at(0.25, [Kind(number - ones, 4, 0), Kind(ones, 0, 4)], PAIRED))
        torn += chance * evidence(units_at(0.25, [Kind(4 * (number - ones), 1, 0), Kind(4 * ones, 0, 1)], PAIRED))
    assert 0.9 < whole <= 1
    assert torn > 1.05


def test_units_that_are_wrong_in_opposite_ways_are_calibrated_together() -> None:
    # Of twelve clusters of weight 1 half have label 1 with chance 0.9, half with 0.1, all at score 1/2.
    mean = 0.0
    for a in range(7):
        for b in range(7):
            chance = float(binom.pmf(a, 6, 0.9) * binom.pmf(b, 6, 0.1))
            mean += chance * evidence(units_at(0.5, [Kind(12 - a - b, 1, 0), Kind(a + b, 0, 1)], PAIRED))
    assert mean <= 1


def test_stakes_go_by_the_weight_that_was_declared_and_not_by_that_which_came() -> None:
    # Weight 1 and label 0, or with chance 1/1001 weight 1000 and label 1, at score 1/2: calibrated. No giant came.
    rows = [Kind(100, 1, 0)]
    declared = Design(clustered=True, weighted=True, paired=True, largest_weight=1000.0)
    assert evidence(units_at(0.5, rows, declared)) < 2
    # With probability 0.905 no giant comes; given these weights the statement is about another law, and right to shout.
    assert evidence(units_at(0.5, rows, PAIRED)) > 1e6


@pytest.mark.parametrize("q", [0.0, 0.01, 0.2])
def test_bets_own_at_least_what_is_said_and_nearly_that_at_small_stakes(q: float) -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(300), rng.integers(1, 9, 300))
    x = rng.random(cluster.size)
    y = rng.random(cluster.size) < x**2
    rows = calcert.summarize(x, y, clusters=cluster, pair_sums=True)
    sums = units_of(rows).pair_sums
    assert sums is not None
    bets = Bets.of(rows, units_of(rows), sums)
    quarter = np.minimum((4 * x).astype(int), 3)
    weight = np.bincount(cluster)
    used = BET_SIZES[BET_SIZES * weight.max() <= 0.98][:USED]
    for place, signs in enumerate(SIGNS):
        gain = np.bincount(cluster, signs[quarter] * (x - y))
        for row, stake in enumerate(used):
            only = Bets(bets.wealth[place : place + 1, row : row + 1], bets.size[row : row + 1], bets.weights)
            factors = 1 + stake * (gain - q * weight)
            truth = math.log(SHARES[place] / USED) + float(np.log(factors).sum()) if factors.min() > 0 else -math.inf
            said = only.log_wealth(q, np.ones(1))
            assert said <= truth
            if row == USED - 1:
                assert said >= truth - 0.15


def test_small_errors_of_clusters_are_found() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(40_000)
    y = rng.random(40_000) < 1 / (1 + ((1 - x) / x) ** 0.8)
    cluster = np.repeat(np.arange(4000), 10)
    without, paired = (calcert.summarize(x, y, clusters=cluster, pair_sums=sums) for sums in (False, True))
    assert calcert.bounds.cutoff(without).lower == 0
    assert calcert.bounds.cutoff(without).e_value is None
    found = calcert.bounds.cutoff(paired)
    assert found.lower > 0
    assert found.e_value is not None
    assert found.e_value > 1e3
    assert calcert.bounds.cutoff(paired, side="too high").e_value is None
    assert calcert.bounds.crossings(paired, crossings=0).e_value is None
