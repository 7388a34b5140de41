"""Claims about sorting, folds and validation samples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from calcert.kernels import strings
from calcert.published import folded_rows as module
from calcert.published.folded_rows import deal, fold_rows, single_split, sort_rows, validation_size
from tests.as_python import as_python


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.integers(0, 2, n).astype(np.int8)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), max_size=50))
def test_rows_are_sorted_by_score_then_label(rows):
    scores = np.array([s for s, _ in rows], float)
    labels = np.array([y for _, y in rows], np.int8)
    s, y = sort_rows(scores, labels)
    assert [*zip(s, y, strict=True)] == sorted(zip(scores + 0.0, labels, strict=True))


def test_minus_zero_is_zero():
    s, y = sort_rows(np.array([5e-324, -0.0, 1.0, 0.0]), np.array([1, 1, 0, 0], np.int8))
    np.testing.assert_array_equal(s, [0, 0, 5e-324, 1])
    np.testing.assert_array_equal(y, [0, 1, 1, 0])
    assert not np.signbit(s).any()


def test_sorting_leaves_the_input_alone():
    scores, labels = data(100)
    kept = scores.copy(), labels.copy()
    sort_rows(scores, labels)
    np.testing.assert_array_equal(scores, kept[0])
    np.testing.assert_array_equal(labels, kept[1])


@pytest.mark.parametrize("count", [2, 3, 5, 255])
@pytest.mark.parametrize("n", [255, 1000, 120_001])
def test_folds_are_even_and_validation_rows_belong_to_them(n, count):
    rows = fold_rows(*data(n), folds=count, rng=np.random.default_rng(1))
    sizes = np.bincount(rows.fold, minlength=count)
    assert np.ptp(sizes) <= 1
    for k, members in enumerate(rows.validation):
        assert (rows.fold[members] == k).all()
        assert (np.diff(members) > 0).all()
        assert members.size == min(sizes[k], validation_size(n))
        scores, labels = rows.training(k)
        np.testing.assert_array_equal(scores, rows.scores[rows.fold != k])
        np.testing.assert_array_equal(labels, rows.labels[rows.fold != k])
        assert rows.training_size(k) == scores.size


def test_validation_sample_has_the_published_size():
    assert [validation_size(n) for n in (100, 100_000, 200_000, 300_000, 10**7)] == [5000, 5000, 10000, 15000, 15000]


def test_every_even_partition_is_equally_likely():
    rng = np.random.default_rng(2)
    partitions = dict.fromkeys(itertools.permutations((0, 0, 1, 1, 2)), 0)
    for _ in range(6000):
        partitions[tuple(int(k) for k in deal(5, 3, rng))] += 1
    assert len(partitions) == 30
    assert chisquare(list(partitions.values())).pvalue > 1e-6


def test_validation_rows_are_a_uniform_sample(monkeypatch):
    monkeypatch.setattr(module, "validation_size", lambda n: 2)
    rng = np.random.default_rng(3)
    scores, labels = np.arange(10) / 10, np.zeros(10, np.int8)
    hits = np.zeros(10)
    for _ in range(3000):
        for members in fold_rows(scores, labels, folds=2, rng=rng).validation:
            hits[members] += 1
    assert chisquare(hits).pvalue > 1e-6


def test_a_given_split_is_kept():
    scores, labels = data(50)
    held_out = np.arange(50) % 3 == 0
    rows = single_split(scores, labels, held_out)
    np.testing.assert_array_equal(rows.scores[rows.validation[0]], np.sort(scores[held_out]))
    np.testing.assert_array_equal(rows.training(0)[0], np.sort(scores[~held_out]))


@pytest.mark.parametrize(("n", "count"), [(4, 5), (3, 2), (2, 2), (2, 3), (254, 255)])
def test_too_few_rows_are_refused_by_name(n, count):
    with pytest.raises(ValueError, match=rf"{count}-fold cross-fitting needs at least \d+ rows; got {n}"):
        fold_rows(*data(n), folds=count, rng=np.random.default_rng(0))


@pytest.mark.parametrize("count", [1, 0, -3, 256, 2.0, True, "5", None])
def test_numbers_of_folds_that_are_out_of_range_or_not_whole_are_refused(count):
    with pytest.raises(ValueError, match=f"folds must be a whole number between 2 and 255; got {count!r}"):
        fold_rows(*data(1000), folds=count, rng=np.random.default_rng(0))


def test_kernels_equal_their_python_source():
    scores, labels = data(300)
    fold = np.random.default_rng(4).integers(0, 3, 300).astype(np.uint8)
    lists, begin = np.array([0, 7, 9, -1, -1, 2, -1]), np.array([0, 3, 3, 4])
    found, same = np.empty(4, np.int64), np.empty(4, np.int64)
    strings.locate(fold, lists, begin, found)
    as_python(strings.locate)(fold, lists, begin, same)
    np.testing.assert_array_equal(found, same)
    np.testing.assert_array_equal(found[:3], np.flatnonzero(fold == 0)[[0, 7, 9]])

    out = [(np.empty(300), np.empty(300, np.int8)) for _ in range(2)]
    size = strings.complement(scores, labels, fold, 1, *out[0])
    assert size == as_python(strings.complement)(scores, labels, fold, 1, *out[1])
    np.testing.assert_array_equal(out[0][0][:size], out[1][0][:size])
    np.testing.assert_array_equal(out[0][1][:size], out[1][1][:size])
