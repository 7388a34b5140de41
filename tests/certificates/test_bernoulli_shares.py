"""Limits for the mean probability of coins that differ: no set of coins misses them more often than delta."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainccinv
from scipy.stats import binom

from calcert.certificates.limits.share_limits import share_lower, share_upper

Floats = NDArray[np.float64]


def hits(chances: Floats) -> Floats:
    """The law of the number of hits of independent coins."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return law


def coins(n: int) -> Iterator[Floats]:
    """Coins alike, coins that could not differ more, and coins at random, of many mean chances."""
    rng = np.random.default_rng(n)
    for mean in np.concatenate([np.linspace(0, 1, 41), 1 - np.geomspace(1e-4, 0.2, 20) / n]):
        yield np.full(n, mean)
        certain = int(mean * n)
        yield np.clip(np.append(np.ones(certain), [mean * n - certain] + [0.0] * n)[:n], 0, 1)
    for spread in (0.2, 1.0, 5.0):
        for _ in range(40):
            yield rng.beta(spread * rng.random() + 1e-3, spread * rng.random() + 1e-3, n)


def missed(chances: Floats, upper: Floats) -> float:
    """The probability that the mean probability exceeds the upper limit for the number of hits."""
    return float(hits(chances)[upper < chances.mean() - 1e-12].sum())


@pytest.mark.parametrize("delta", [0.7, 0.5, 0.2, 0.05, 1e-3])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 30])
def test_no_coins_miss_the_limits_more_often_than_delta(n: int, delta: float) -> None:
    every = np.arange(n + 1)
    upper, lower = share_upper(every, np.full(n + 1, n), delta), share_lower(every, np.full(n + 1, n), delta)
    for chances in coins(n):
        assert missed(chances, upper) <= delta + 1e-12
        assert float(hits(chances)[lower > chances.mean() + 1e-12].sum()) <= delta + 1e-12


def test_limits_that_forget_that_coins_may_differ_are_caught() -> None:
    # Clopper and Pearson's limit at all hits but one: four certain coins and one of chance 0.355 break it at 0.5.
    n, delta = 5, 0.5
    every = np.arange(n + 1)
    plain = np.append(betainccinv(every[:-1] + 1.0, n - every[:-1], delta), 1.0)
    worst = max(missed(chances, plain) for chances in coins(n))
    assert worst > 0.6


@pytest.mark.parametrize("n", [100, 10_000])
def test_limits_cut_by_a_fifth_are_caught_by_coins_alike(n: int) -> None:
    delta, chance = 0.01, 0.4
    every = np.arange(n + 1)
    upper = share_upper(every, np.full(n + 1, n), delta)
    for cut, caught in ((0.0, False), (0.2, True)):
        limit = upper - cut * (upper - every / n)
        assert bool(binom.pmf(every, n, chance)[limit < chance].sum() > delta) is caught


@pytest.mark.parametrize("n", [1, 7, 1000, 10**6])
def test_limits_are_those_of_clopper_and_pearson_where_they_may_be(n: int) -> None:
    for hits_seen in sorted({0, 1, n // 3, n - 2} & set(range(max(n - 1, 1)))):
        for delta in (0.1, 1e-5):
            upper = float(share_upper(np.array([hits_seen]), np.array([n]), delta)[0])
            if upper > (hits_seen + 1) / n * (1 + 1e-6):
                assert binom.cdf(hits_seen, n, upper) == pytest.approx(delta, rel=1e-3)
            assert binom.cdf(hits_seen, n, upper) <= delta * (1 + 1e-9)


def test_all_hits_and_no_hits_are_limits_of_one_and_nought() -> None:
    assert share_upper(np.array([3]), np.array([3]), 0.1) == 1
    assert share_lower(np.array([0]), np.array([3]), 0.1) == 0
