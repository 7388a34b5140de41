"""The mean gap beside the bet: no error is refuted more often than its share of delta allows, and more is certain."""

from __future__ import annotations

import math
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from scipy.stats import binom

from calcert import Summary, summarize
from calcert.certificates.crossings import crossings_lower
from calcert.certificates.cutoff import cutoff_lower
from calcert.certificates.distance import distance_lower
from calcert.certificates.limits.sampling_term import gap_limit
from calcert.certificates.witnesses import betting
from calcert.certificates.witnesses.betting import GAP_ROWS, GAP_SHARE, _gap_share, l1_lower
from tests.campaign import Counts, seeds
from tests.lab.distributions import Law, summary_of

DELTA = 0.05

LOWER: dict[str, Callable[[Summary], float]] = {
    "as it is": lambda s: l1_lower(s, DELTA, 0).limit,
    "cutoff": lambda s: cutoff_lower(s, DELTA, 0).limit,
    "crossings": lambda s: crossings_lower(s, 3, DELTA, 0).limit,
    "distance": lambda s: distance_lower(s, DELTA, 0).limit,
}


def refuted(n: int, error: float, level: float, cut: float = 0.0) -> float:
    """The exact probability that the limit at a level, moved towards what was seen by `cut`, exceeds the error.

    All scores are 1/2, and the error is their distance from the probability of label 1.
    """

    def missed(positives: int) -> bool:
        seen, limit = (
            abs(0.5 - positives / n),
            gap_limit(summary_of((0.5,), np.array([[n - positives, positives]])), level),
        )
        return limit + cut * (seen - limit) > error + 1e-12

    def furthest(outside: int, inside: int) -> int:
        while abs(inside - outside) > 1:
            middle = (outside + inside) // 2
            outside, inside = (middle, inside) if missed(middle) else (outside, middle)
        return outside

    chance = 0.5 - error
    return float(binom.cdf(furthest(0, n // 2), n, chance) + binom.sf(furthest(n, n // 2) - 1, n, chance))


@pytest.mark.parametrize("n", [GAP_ROWS, 10**6])
@pytest.mark.parametrize("errors", [0.0, 0.05, 0.2, 0.5, 1.0, 3.0, 10.0])
def test_an_error_is_refuted_by_the_mean_gap_no_more_often_than_its_level(n: int, errors: float) -> None:
    for level in (0.5, DELTA, GAP_SHARE * DELTA, 1e-3):
        assert refuted(n, errors / math.sqrt(n), level) <= level


def test_a_margin_of_the_mean_gap_cut_by_a_fifth_is_caught() -> None:
    error, level = 10.0 / 1000, GAP_SHARE * DELTA
    assert 0.5 * level < refuted(10**6, error, level) <= level
    assert refuted(10**6, error, level, cut=0.2) > level


def test_shares_rise_with_the_error_and_leave_most_of_delta_to_the_bet() -> None:
    shares = [_gap_share(c, 10**6) for c in np.linspace(0.0, 1.0, 1000).tolist()]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == GAP_SHARE < 0.5


@pytest.mark.parametrize(("score", "chance"), [(0.02, 0.015), (0.02, 0.01), (0.004, 0.0015)])
def test_one_score_is_misjudged_no_more_often_than_delta_over_the_rows(score: float, chance: float) -> None:
    counts = Counts()
    seeds.judge(counts, [Law((score,), (1.0,), (chance,))], GAP_ROWS)
    assert counts.tries == len(seeds.STATEMENTS)
    assert not counts.failures


@pytest.mark.parametrize(
    ("statement", "least"), [("as it is", 1.08), ("cutoff", 1.05), ("crossings", 1.25), ("distance", 1.03)]
)
def test_scores_that_are_all_too_high_are_certain_to_be_so_by_more_than_the_bet_alone_shows(
    statement: str, least: float
) -> None:
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.random(100_000)
        rows = summarize(x, rng.random(x.size) < np.maximum(x - 0.01, 0.0))
        with mock.patch.object(betting, "GAP_ROWS", 10**9):
            alone = LOWER[statement](rows)
        found.append((LOWER[statement](rows), alone))
    beside, alone = np.mean(found, axis=0)
    assert least * alone < beside < 0.01


@pytest.mark.parametrize("statement", LOWER)
def test_a_law_without_a_mean_gap_loses_three_hundredths_at_most(statement: str) -> None:
    for n in (GAP_ROWS, 100_000):
        rng = np.random.default_rng(n)
        x = rng.random(n)
        rows = summarize(x, rng.random(n) < 1 / (1 + ((1 - x) / x) ** 0.8))
        with mock.patch.object(betting, "GAP_ROWS", 10**9):
            alone = LOWER[statement](rows)
        assert 0.97 * alone <= LOWER[statement](rows) <= alone
