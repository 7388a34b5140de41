"""Rows thrown by tosses of coins: all of them, evenly, independently, and differently for other rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2

from calcert.certificates.halving import GROWING, MANY, thrown_counts, throws, tossed, turn, words


def test_batches_add_up_and_are_not_negative() -> None:
    rng = np.random.default_rng(0)
    count = np.concatenate(
        [rng.integers(0, 5, (300, 2)), rng.integers(60, 70, (50, 2)), [[MANY, MANY + 1], [10**9, 0]]]
    )
    for rows, shape in ((count, (1, 8)), (count[:300], (3, 4))):
        batches = thrown_counts(rows, 0)
        assert batches.shape == (*shape, *rows.shape)
        assert (batches.sum(axis=1) == rows).all()
        assert (batches >= 0).all()


@pytest.mark.parametrize("coins", [1, 2, 63, 64, 65, 130, MANY, MANY + 1])
def test_heads_have_the_binomial_law(coins: int) -> None:
    piles = 20_000
    heads, tails = tossed(np.full(piles, coins), np.random.default_rng(coins))
    assert (heads + tails == coins).all()
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
    share = thrown_counts(count, 0)[0] - 2.0
    for first, second in (((0, 0), (0, 1)), ((0, 0), (5, 1))):
        together = (share[first[0], :, first[1]] * share[second[0], :, second[1]]).mean()
        assert abs(together) < 5 * 1.75 / math.sqrt(4000)
    # Of the same rows, a batch takes from the others: the covariance is -16/64.
    assert abs((share[0, :, 0] * share[5, :, 0]).mean() + 0.25) < 5 * 1.75 / math.sqrt(4000)


def test_few_rows_fall_into_each_batch_of_each_throw_alike_and_independently() -> None:
    batches = thrown_counts(np.full((2000, 2), 1), 0)
    assert batches.shape == (3, 4, 2000, 2)
    expected = 4000 / 4
    assert (np.abs(batches.sum(axis=(2, 3)) - expected) < 5 * math.sqrt(expected * 3 / 4)).all()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        together = (batches[one, 0] * batches[other, 0]).sum()
        assert abs(together - 4000 / 16) < 5 * math.sqrt(4000 / 16)


@pytest.mark.parametrize("rows", [40, 4000])
def test_few_rows_are_thrown_into_batches_of_their_parts(rows: int) -> None:
    thrown = np.concatenate([thrown_counts(np.array([[rows, 0]]), seed, GROWING) for seed in range(200)])
    share = np.array(GROWING) / sum(GROWING)
    deviation = thrown[:, :, 0, 0].mean(axis=0) - rows * share
    assert (np.abs(deviation) < 5 * np.sqrt(rows * share * (1 - share) / len(thrown))).all()
    first, second = thrown[0 :: throws(rows), 0, 0, 0], thrown[1 :: throws(rows), 0, 0, 0]
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.4


@pytest.mark.parametrize("rows", [9, 90])
def test_seeds_and_rows_decide_the_throws_and_nothing_else(rows: int) -> None:
    count = np.full((50, 2), rows)
    other = count.copy()
    other[0, 0] += 1
    assert (thrown_counts(count, 3) == thrown_counts(count, 3)).all()
    assert (thrown_counts(count, 3) != thrown_counts(count, 4)).any()
    assert (thrown_counts(count, 3)[:, :, 1:] != thrown_counts(other, 3)[:, :, 1:]).any()


def test_the_kernels_do_as_they_are_written() -> None:
    count = np.array([0, 1, 63, 64, 65, 200, MANY, MANY + 1, 5])
    assert words(count) == words.py_func(count) == 0 + 1 + 1 + 1 + 2 + 4 + MANY // 64 + 1
    bits = np.random.default_rng(0).integers(0, 1 << 64, words(count), np.uint64)
    compiled, written = np.zeros((2, count.size), np.int64), np.zeros((2, count.size), np.int64)
    turn(count, bits, compiled)
    with np.errstate(over="ignore"):  # Multiplying words drops what is beyond 64 bits, as it should.
        turn.py_func(count, bits, written)
    assert (compiled == written).all()
    ones = [bin(int(word)).count("1") for word in bits]
    # A pile of 63 is the second: one of its 64 bits is not looked at. Those of 64 are looked at in full.
    assert compiled[0, 3] == ones[2]
    assert compiled[0, 2] == bin(int(bits[1]) >> 1).count("1")
    assert compiled[0, 7] == 0
