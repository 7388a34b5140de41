"""Rows thrown by random bits: all of them, evenly, independently, and differently for other rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2, multinomial

from calcert.certificates.witnesses.random_splits import (
    ALIKE,
    GROWING,
    OF_LIKELY,
    OF_MANY,
    SPLITS,
    TRIED,
    Parts,
    in_eighths,
    largest_probability,
    splits,
)
from calcert.foundation.array_types import Integers
from calcert.kernels.bets import IN_A_WORD, MANY, split_up
from calcert.summary.points import at_scores
from tests.as_python import as_python

EIGHTHS = (0, 1, 2, 3, 4, 5, 6, 7)


def thrown_counts(count: Integers, seed: int, parts: Parts = ALIKE, first: float = 0.0) -> Integers:
    """The rows of so many points thrown, the first of which is at `first`."""
    return splits(at_scores(np.linspace(first, 1.0, len(count)), count), seed, parts)


def test_batches_add_up_and_are_not_negative() -> None:
    rng = np.random.default_rng(0)
    count = np.concatenate(
        [rng.integers(0, 5, (300, 2)), rng.integers(60, 70, (50, 2)), [[MANY, MANY + 1], [10**9, 0]]]
    )
    for rows, shape in ((count, (OF_MANY, 2)), (count[:350], (SPLITS, 4)), (count[:300], (SPLITS, 4))):
        batches = thrown_counts(rows, 0)
        assert batches.shape == (*shape, *rows.shape)
        assert (batches.sum(axis=1) == rows).all()
        assert (batches >= 0).all()


@pytest.mark.parametrize("rows", [1, 2, 21, 63, 64, 65, 130, MANY, MANY + 1])
def test_what_a_batch_gets_has_the_binomial_law(rows: int) -> None:
    piles = 10_000
    batches = in_eighths(np.full((piles, 2), rows), np.random.default_rng(rows), EIGHTHS, 1).reshape(8, 2 * piles)
    assert (batches.sum(axis=0) == rows).all()
    cuts = np.unique(binom.ppf([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98], rows, 1 / 8))
    expected = 2 * piles * np.diff(binom.cdf(np.concatenate([[-1], cuts, [rows]]), rows, 1 / 8))
    keep = expected > 0
    for batch in batches:
        seen = np.histogram(batch, np.concatenate([[-0.5], cuts + 0.5, [max(rows, cuts[-1]) + 1]]))[0]
        assert ((seen[keep] - expected[keep]) ** 2 / expected[keep]).sum() < chi2.isf(1e-6, keep.sum() - 1)


@pytest.mark.parametrize("into", [ALIKE.more, GROWING.more, ALIKE.many, GROWING.many, TRIED.many])
def test_eighths_that_share_a_batch_are_added_up(into: tuple[int, ...]) -> None:
    count = np.array([[3, 70], [2000, 0], [1, 1]])
    eighths, batches = (in_eighths(count, np.random.default_rng(5), each, 2) for each in (EIGHTHS, into))
    for batch in range(max(into) + 1):
        shared = [eighth for eighth in EIGHTHS if into[eighth] == batch]
        assert (batches[:, batch] == eighths[:, shared].sum(axis=1)).all()


def test_throws_of_the_same_rows_are_independent() -> None:
    first, second = in_eighths(np.full((20_000, 2), 64), np.random.default_rng(0), EIGHTHS, 2)[:, 3, :, 0] - 8.0
    assert abs((first * second).mean()) < 5 * 7 / math.sqrt(20_000)


def test_a_biased_throw_would_be_noticed() -> None:
    batch = np.random.default_rng(0).binomial(64, 0.13, 20_000)
    assert abs(batch.mean() - 8) > 5 * math.sqrt(7 / 20_000)


def test_two_batches_of_one_pile_have_the_law_of_two_of_many_boxes() -> None:
    first, second = in_eighths(np.full((20_000, 2), 64), np.random.default_rng(0), EIGHTHS, 1)[0, [2, 7], :, 0]
    # Of 64 rows each batch gets 8 on average, and what the one gets the other does not: the covariance is -1.
    together = (first - 8.0) * (second - 8.0)
    assert abs(together.mean() + 1) < 5 * together.std() / math.sqrt(20_000)


def test_batches_of_different_cells_and_labels_are_independent() -> None:
    count = np.full((4000, 2), 16)
    share = in_eighths(count, np.random.default_rng(0), EIGHTHS, 1)[0] - 2.0
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
    batches = np.concatenate([thrown_counts(np.array([[rows, 0]]), seed, GROWING) for seed in range(200)])
    share = np.array(GROWING.few) / sum(GROWING.few)
    deviation = batches[:, :, 0, 0].mean(axis=0) - rows * share
    assert (np.abs(deviation) < 5 * np.sqrt(rows * share * (1 - share) / len(batches))).all()
    first, second = batches[0::OF_LIKELY, 0, 0, 0], batches[1::OF_LIKELY, 0, 0, 0]
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.4


@pytest.mark.parametrize("rows", [9, 90])
def test_seeds_and_rows_decide_the_throws_and_nothing_else(rows: int) -> None:
    count = np.full((50, 2), rows)
    other = count.copy()
    other[0] += [1, -1]  # As many rows in all, so that random bits alone would split those behind alike.
    assert (thrown_counts(count, 3) == thrown_counts(count, 3)).all()
    assert (thrown_counts(count, 3) != thrown_counts(count, 4)).any()
    assert (thrown_counts(count, 3)[:, :, 1:] != thrown_counts(other, 3)[:, :, 1:]).any()
    assert (thrown_counts(count, 3) != thrown_counts(count, 3, first=2.0**-20)).any()


@pytest.mark.parametrize("rows", [3, 8])
def test_no_table_is_likelier_than_is_said_and_the_likeliest_is_nearly(rows: int) -> None:
    rng = np.random.default_rng(rows)
    for _ in range(200):
        count = rng.integers(0, rows, (2, 2))
        count[0, 0] += 1
        # Of all laws the one whose probabilities are the shares of the table makes it likeliest.
        exact = multinomial.pmf(count.ravel(), count.sum(), count.ravel() / count.sum())
        assert exact <= largest_probability(count) <= 1.4 * exact
    assert largest_probability(np.ones((300, 2), np.int64)) < 1e-40


@pytest.mark.parametrize(("rows", "unlikely"), [(1_000, SPLITS), (10_000, SPLITS), (100_000, OF_MANY)])
def test_tables_that_may_well_come_again_are_thrown_more_often(rows: int, unlikely: int) -> None:
    assert len(thrown_counts(np.array([[rows - 9, 9]]), 0)) == OF_LIKELY >= 8
    assert len(thrown_counts(np.full((10, 2), rows // 20), 0)) == unlikely


def test_a_change_of_one_row_is_a_change_of_the_digest_whatever_the_largest_count() -> None:
    for largest in (3, 255, 256, 65_536):
        count = np.full((500, 2), 9)
        count[0, 0] = largest
        other = count.copy()
        other[7] += [1, -1]
        assert (thrown_counts(count, 0)[:, :, 20:] != thrown_counts(other, 0)[:, :, 20:]).any()


def test_the_kernel_does_as_it_is_written() -> None:
    count = np.array([0, 1, 63, 64, 65, 200, MANY, MANY + 1, 5, 0])
    thrown = int(count[count <= MANY].sum())
    bits = np.random.default_rng(0).integers(0, 1 << 64, -(-thrown // IN_A_WORD), np.uint64)
    compiled, written = np.zeros((8, count.size), np.int64), np.zeros((8, count.size), np.int64)
    split_up(count, bits, np.array(EIGHTHS), compiled)
    with np.errstate(over="ignore"):  # Multiplying words drops what is beyond 64 bits, as it should.
        as_python(split_up)(count, bits, np.array(EIGHTHS), written)
    assert (compiled == written).all()
    assert (compiled.sum(axis=0) == np.where(count <= MANY, count, 0)).all()
    # The first row goes where the three lowest bits say; sixty-four rows at once by three words of their own.
    assert compiled[int(bits[0]) & 7, 1] == 1
    word = 1 + 3  # The first 64 rows, of which 21 share a word, have taken four.
    for batch in range(8):
        tosses = [int(bits[word + k]) if batch >> k & 1 else ~int(bits[word + k]) for k in range(3)]
        assert compiled[batch, 3] == bin(tosses[0] & tosses[1] & tosses[2] & (2**64 - 1)).count("1")


@pytest.mark.parametrize("piles", [[1] * 20, [21], [22], [63, 64, 1], [64] * 7, [127, 2, 65, 0, 64], [MANY, 63]])
def test_no_more_words_are_read_than_there_are(piles: list[int]) -> None:
    count = np.array(piles)
    bits = np.full(-(-int(count.sum()) // IN_A_WORD), 2**64 - 1, np.uint64)
    batches = np.zeros((8, count.size), np.int64)
    with np.errstate(over="ignore"):
        # Without a compiler, reading beyond the last word is an error.
        as_python(split_up)(count, bits, np.array(EIGHTHS), batches)
    assert (batches[7] == count).all()
