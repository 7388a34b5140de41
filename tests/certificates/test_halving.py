"""Rows thrown by tosses of coins: all of them, evenly, independently, and differently for other rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2

from calcert.certificates.halving import MANY, halved, tossed


def test_batches_add_up_and_are_not_negative() -> None:
    rng = np.random.default_rng(0)
    count = np.concatenate(
        [rng.integers(0, 5, (300, 2)), rng.integers(60, 70, (50, 2)), [[MANY, MANY + 1], [10**9, 0]]]
    )
    batches = halved(count, 0, 3)
    assert batches.shape == (8, *count.shape)
    assert (batches.sum(axis=0) == count).all()
    assert (batches >= 0).all()


@pytest.mark.parametrize("coins", [1, 2, 63, 64, 65, 130, MANY, MANY + 1])
def test_heads_have_the_binomial_law(coins: int) -> None:
    piles = 20_000
    heads = tossed(np.full(piles, coins), np.random.default_rng(coins))
    assert abs(heads.mean() - coins / 2) < 5 * math.sqrt(coins / 4 / piles)
    cuts = np.unique(binom.ppf([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98], coins, 0.5))
    expected = piles * np.diff(binom.cdf(np.concatenate([[-1], cuts, [coins]]), coins, 0.5))
    seen = np.histogram(heads, np.concatenate([[-0.5], cuts + 0.5, [max(coins, cuts[-1]) + 1]]))[0]
    keep = expected > 0
    misfit = ((seen[keep] - expected[keep]) ** 2 / expected[keep]).sum()
    assert misfit < chi2.isf(1e-6, keep.sum() - 1)


def test_a_biased_coin_would_be_noticed() -> None:
    heads = np.random.default_rng(0).binomial(64, 0.51, 20_000)
    assert abs(heads.mean() - 32) > 5 * math.sqrt(16 / 20_000)


def test_batches_of_different_cells_and_labels_are_independent() -> None:
    count = np.full((4000, 2), 16)
    share = halved(count, 0, 3) - 2.0
    for first, second in (((0, 0), (0, 1)), ((0, 0), (5, 1))):
        together = (share[first[0], :, first[1]] * share[second[0], :, second[1]]).mean()
        assert abs(together) < 5 * 1.75 / math.sqrt(4000)
    # Of the same rows, a batch takes from the others: the covariance is -16/64.
    assert abs((share[0, :, 0] * share[5, :, 0]).mean() + 0.25) < 5 * 1.75 / math.sqrt(4000)


def test_seeds_and_rows_decide_the_throws_and_nothing_else() -> None:
    count = np.full((50, 2), 9)
    other = count.copy()
    other[0, 0] += 1
    assert (halved(count, 3, 3) == halved(count, 3, 3)).all()
    assert (halved(count, 3, 3) != halved(count, 4, 3)).any()
    assert (halved(count, 3, 3)[:, 1:] != halved(other, 3, 3)[:, 1:]).any()
