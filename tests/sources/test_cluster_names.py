"""Names of clusters of every kind: what differs is kept apart, what is the same is not, and nothing is guessed."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import calcert
from calcert.sources.clusters.cluster_names import Numbering, as_integers
from tests.lab.clusters import units_of


@pytest.mark.parametrize(
    "names",
    [
        np.array([2**53, 2**53 + 1, 2**63 - 1, -(2**63), -1, 0]),
        np.array([2**64 - 1, 2**63, 0], np.uint64),
        [2**64, 2**64 + 1, -(2**70)],
        ["é", "e\u0301", "E", "e", " f", "f f", "\x00", "\U0001f600", "\ud800"],
        ["1", "01", "1.0"],
        [b"a", b"a\x00", b"\xff"],
        np.array([b"a\x00b", b"a", b"\xff\xfe"]),
        np.array([0.1, 0.1 + 2**-54, -0.25, 1e-300]),
        np.array([0.1, 0.2], np.float32),
        np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
        [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
        [Decimal("0.1234567890123456789"), Decimal("0.1234567890123456788")],
        polars.Series([Decimal("0.1234567890123456789"), Decimal("0.1234567890123456788")]),
        polars.Series(["a", "b"], dtype=polars.Categorical),
        polars.Series([datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 0, 0, 0, 1)]),
        pandas.Series([2**53, 2**53 + 1], dtype="Int64"),
        pandas.Series(["a", "b"], dtype="category"),
        pandas.Series([2**60, 2**60 + 1], dtype="category"),
        pyarrow.array([2**53, 2**53 + 1]),
        pyarrow.array(["a", "b"]).dictionary_encode(),
        [("a", 1), ("a", 2)],
        [True, False],
        np.array([True, False]),
    ],
)
def test_names_that_differ_are_clusters_that_differ_and_come_back_as_themselves(names: Any) -> None:
    number = len(names)
    found = as_integers(names)
    assert len(set(found.tolist())) == number
    if not isinstance(names, pyarrow.Array | pyarrow.ChunkedArray):
        twice = type(names)([*names, *names]) if isinstance(names, list) else _twice(names)
        again = as_integers(twice)
        assert np.array_equal(again[:number], again[number:])


def _twice(names: Any) -> Any:
    if isinstance(names, np.ndarray):
        return np.concatenate([names, names])
    return pandas.concat([names, names]) if isinstance(names, pandas.Series) else polars.concat([names, names])


def test_zero_has_no_sign() -> None:
    assert len(set(as_integers(np.array([0.0, -0.0])).tolist())) == 1
    assert len(set(as_integers([0.0, -0.0, 0]).tolist())) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([1, None], "clusters must have no missing values; got one at row 1"),
        ([1.0, float("nan")], "no missing values; got one at row 1"),
        (np.array([1.0, np.nan]), "no missing values; got one at row 1"),
        (["a", ""], "no missing values; got one at row 1"),
        (np.array(["a", ""]), "no missing values; got one at row 1"),
        ([pandas.NA, 1], "no missing values; got one at row 0"),
        ([pandas.Timestamp(0), pandas.NaT], "no missing values; got one at row 1"),
        (np.array(["2024-01-01", "NaT"], "M8[D]"), "no missing values; got one at row 1"),
        ([Decimal("NaN")], "no missing values; got one at row 0"),
        (pandas.Series(["a", None]), "clusters must have no missing values; got one at row 1"),
        (polars.Series([1, None]), "clusters must have no missing values; got one at row 1"),
        ([1, "1"], "clusters must be named by numbers throughout; got '1' at row 1"),
        (["1", b"1"], "clusters must be named by text throughout; got b'1' at row 1"),
        (pandas.Series(["7", 7], dtype=object), "clusters must be named by text throughout; got 7 at row 1"),
        (np.array([1.0, 2.0**53]), "got a float from 2.53 on at row 1, which may stand for several"),
        ([1.0, -(2.0**53)], "got a float from 2.53 on at row 1, which may stand for several"),
        (["a", "b", " a"], "clusters must differ by more than blanks; got ' a' at row 2, and another"),
        (["a ", "b", "a"], "clusters must differ by more than blanks; got 'a' at row 2, and another"),
        (["a\u00a0", "a"], "clusters must differ by more than blanks"),
        (["b", " "], "clusters must have no missing values; got one at row 1"),
        (polars.Series(["a", "b", " a"]), "clusters must differ by more than blanks; got ' a' at row 2"),
        (polars.Series(["é", "é\u3000"]), "clusters must differ by more than blanks; got 'é.*' at row 1"),
        (polars.Series(["b", " "]), "clusters must have no missing values; got one at row 1"),
        (np.ones((2, 2)), r"clusters must be one-dimensional; got shape \(2, 2\)"),
    ],
)
def test_what_is_no_name_is_refused(names: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calcert.summarize([0.5] * len(names), [1] * len(names), clusters=names)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(TypeError, match=r"clusters must be named by text or numbers; got \['b'\] at row 1"):
        calcert.summarize([0.5, 0.5], [1, 0], clusters=["a", ["b"]])


def test_clusters_whose_hashes_are_the_same_are_kept_apart() -> None:
    # Python's hash of these integers is one number, and so is that of -1 and -2.
    names = [k * (2**61 - 1) for k in range(1, 9)] + [-1, -2]
    summary = calcert.summarize([0.5] * 10, [1, 0] * 5, clusters=names)
    assert len({hash(name) for name in names}) == 2
    assert units_of(summary).number == 10


def test_texts_are_numbered_as_a_dictionary_does_however_many_and_long_they_are() -> None:
    rng = np.random.default_rng(0)
    names = [f"{number}" * int(number % 60 + 1) for number in rng.integers(0, 3000, 20_000)]
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    numbering = Numbering("at row {}".format)
    found = [numbering.arrow_numbers(pyarrow.array(names[start : start + 4999])) for start in range(0, 20_000, 4999)]
    assert np.concatenate(found).tolist() == [order[name] for name in names]
    sliced = pyarrow.array(["x", *names])[1:]
    assert np.array_equal(Numbering(str).arrow_numbers(sliced), np.concatenate(found))
    with pytest.raises(ValueError, match="no missing values; got one at row 20001"):
        numbering.arrow_numbers(pyarrow.array(["a", ""]))
