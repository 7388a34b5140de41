"""Every kind of column that holds the same numbers becomes the same Summary."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import calcert
from calcert.sources.arrays import checked_pair, summarize_arrays

SCORES = [0.0, 0.25, 0.5, 0.5, 0.8125, 1.0, 2.0**-7]
LABELS = [0, 1, 0, 1, 1, 1, 0]
"""Scores that every floating-point type holds exactly, down to bfloat16."""

WANTED = summarize_arrays(np.array(SCORES), np.array(LABELS))


def read_only(values: list[float]) -> np.ndarray:
    array = np.array(values)
    array.setflags(write=False)
    return array


SCORE_COLUMNS: dict[str, Callable[[], Any]] = {
    "list": lambda: SCORES,
    "tuple": lambda: tuple(SCORES),
    "list of numpy scalars": lambda: [np.float32(s) for s in SCORES],
    "float16": lambda: np.array(SCORES, np.float16),
    "float32": lambda: np.array(SCORES, np.float32),
    "float64": lambda: np.array(SCORES),
    "long double": lambda: np.array(SCORES, np.longdouble),
    "big-endian": lambda: np.array(SCORES, ">f8"),
    "every second of an array": lambda: np.repeat(SCORES, 2)[::2],
    "a reversed array": lambda: np.array(SCORES[::-1])[::-1],
    "a column of a matrix": lambda: np.array([SCORES, SCORES]).T[:, 1],
    "a read-only array": lambda: read_only(SCORES),
    "masked array without masked values": lambda: np.ma.array(SCORES, mask=False),
    "decimals": lambda: [Decimal(s) for s in SCORES],
    "pandas": lambda: pd.Series(SCORES),
    "pandas with another index": lambda: pd.Series(SCORES, index=range(100, 107)),
    "pandas float32": lambda: pd.Series(SCORES, dtype="float32"),
    "pandas nullable": lambda: pd.Series(SCORES, dtype="Float64"),
    "pandas on pyarrow": lambda: pd.Series(SCORES, dtype="float64[pyarrow]"),
    "polars": lambda: pl.Series(SCORES),
    "polars float32": lambda: pl.Series(SCORES, dtype=pl.Float32),
    "polars decimal": lambda: pl.Series([Decimal(s) for s in SCORES]),
    "pyarrow": lambda: pa.array(SCORES),
    "pyarrow in chunks": lambda: pa.chunked_array([SCORES[:3], [], SCORES[3:]]),
    "torch": lambda: torch.tensor(SCORES, dtype=torch.float64),
    "torch float32": lambda: torch.tensor(SCORES),
    "torch float16": lambda: torch.tensor(SCORES, dtype=torch.float16),
    "torch bfloat16": lambda: torch.tensor(SCORES, dtype=torch.bfloat16),
    "torch with gradient": lambda: torch.tensor(SCORES, requires_grad=True),
    "torch with stride": lambda: torch.tensor(np.repeat(SCORES, 2))[::2],
}

LABEL_COLUMNS: dict[str, Callable[[], Any]] = {
    "list": lambda: LABELS,
    "list of bool": lambda: [bool(y) for y in LABELS],
    "list of floats": lambda: [float(y) for y in LABELS],
    "pandas": lambda: pd.Series(LABELS),
    "pandas bool": lambda: pd.Series(LABELS, dtype=bool),
    "pandas nullable integers": lambda: pd.Series(LABELS, dtype="Int64"),
    "pandas nullable bool": lambda: pd.Series(LABELS, dtype="boolean"),
    "pandas on pyarrow": lambda: pd.Series(LABELS, dtype="int64[pyarrow]"),
    "polars": lambda: pl.Series(LABELS),
    "polars bool": lambda: pl.Series([bool(y) for y in LABELS]),
    "polars 8 bits": lambda: pl.Series(LABELS, dtype=pl.UInt8),
    "pyarrow": lambda: pa.array(LABELS),
    "pyarrow bool": lambda: pa.array([bool(y) for y in LABELS]),
    "pyarrow in chunks": lambda: pa.chunked_array([LABELS[:2], LABELS[2:]]),
    "torch": lambda: torch.tensor(LABELS),
    "torch bool": lambda: torch.tensor(LABELS, dtype=torch.bool),
    "torch 8 bits": lambda: torch.tensor(LABELS, dtype=torch.uint8),
    "torch float": lambda: torch.tensor(LABELS, dtype=torch.float32),
    "a read-only array": lambda: read_only(LABELS),  # type: ignore[arg-type]
    "every third of an array": lambda: np.repeat(LABELS, 3)[::3],
    "a reversed array": lambda: np.array(LABELS[::-1], np.int8)[::-1],
} | {
    f"numpy {kind}": (lambda kind=kind: np.array(LABELS, kind))
    for kind in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4")
}


@pytest.mark.parametrize("kind", SCORE_COLUMNS)
def test_scores_of_every_kind_give_the_same_summary(kind: str) -> None:
    assert summarize_arrays(SCORE_COLUMNS[kind](), LABELS) == WANTED


@pytest.mark.parametrize("kind", LABEL_COLUMNS)
def test_labels_of_every_kind_give_the_same_summary(kind: str) -> None:
    assert summarize_arrays(SCORES, LABEL_COLUMNS[kind]()) == WANTED


@pytest.mark.parametrize("kind", SCORE_COLUMNS)
def test_methods_that_need_the_rows_get_them_as_double_precision(kind: str) -> None:
    x, y = checked_pair(SCORE_COLUMNS[kind](), LABELS)
    assert x.dtype == np.float64
    assert x.tolist() == SCORES
    assert y.dtype == np.int8
    assert y.tolist() == LABELS


def test_whole_number_scores_are_scores() -> None:
    assert summarize_arrays([0, 1, 1], [0, 1, 0]) == summarize_arrays([0.0, 1.0, 1.0], [0, 1, 0])
    assert summarize_arrays(np.array([False, True]), [0, 1]) == summarize_arrays([0.0, 1.0], [0, 1])


def test_single_precision_scores_keep_the_value_that_they_have() -> None:
    x = np.array([0.1, 0.7], np.float32)
    assert summarize_arrays(x, [0, 1]).values.tolist() == [float(x[0]), float(x[1])]


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no longer numbers on this machine")
def test_numbers_longer_than_doubles_are_refused_where_they_would_be_rounded() -> None:
    longer = np.finfo(np.longdouble)
    exact = np.array([0.25, 0.5], np.longdouble)
    assert calcert.summarize(exact, exact > 0.3) == calcert.summarize([0.25, 0.5], [0, 1])
    for wrong in (1 + longer.eps, -longer.tiny, np.longdouble(1) / 3):
        with pytest.raises(
            ValueError, match=r"scores must be numbers in double precision; got .* at row 1, which would"
        ):
            calcert.summarize(np.array([0.25, wrong], np.longdouble), [0, 1])
    with pytest.raises(ValueError, match=r"labels must be numbers in double precision; got .* at row 1, which would"):
        calcert.summarize([0.2, 0.3], np.array([0, 1 + longer.eps], np.longdouble))
    shares = np.full((2, 3), np.longdouble(1) / 3)
    with pytest.raises(ValueError, match=r"double precision; got .* at row 0, which would be rounded"):
        calcert.certify(shares, [0, 1])


@pytest.mark.parametrize("beside", [{}, {"groups": ["a"] * 4}, {"clusters": [1, 2, 3, 4]}, {"weights": [1, 1, 1, 1]}])
def test_the_first_bad_row_is_named_whatever_is_wrong_with_it(beside: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"labels must be .* got 5 at row 1"):
        calcert.certify(calcert.Rows([0.2, 0.3, 2.0, 0.4], [0, 5, 1, 0], **beside))
    with pytest.raises(ValueError, match=r"scores must .* got 2 at row 1"):
        calcert.certify(calcert.Rows([0.2, 2.0, 0.3, 0.4], [0, 1, 5, 0], **beside))


def test_decimals_are_read_as_python_reads_them() -> None:
    texts = [f"0.{k:02d}" for k in range(100)]
    wanted = summarize_arrays([float(t) for t in texts], [1] * 100)
    decimals = [Decimal(t) for t in texts]
    assert summarize_arrays(decimals, [1] * 100) == wanted
    assert summarize_arrays(pl.Series(decimals), [1] * 100) == wanted
    assert summarize_arrays(pa.array(decimals), [1] * 100) == wanted


def test_reading_changes_neither_column() -> None:
    x, y = np.array(SCORES), np.array(LABELS)
    summarize_arrays(x, y)
    assert x.tolist() == SCORES
    assert y.tolist() == LABELS
    assert x.flags.writeable
    assert y.flags.writeable
    tensor = torch.tensor(SCORES, requires_grad=True)
    summarize_arrays(tensor, y)
    assert tensor.requires_grad


def test_large_columns_are_not_copied() -> None:
    import tracemalloc

    x, y = np.full(4_000_000, 0.25), np.ones(4_000_000, np.int64)
    summarize_arrays(x[:10], y[:10])
    tracemalloc.start()
    try:
        summarize_arrays(x, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < x.nbytes


def test_series_with_different_indexes_are_not_paired_by_position() -> None:
    pandas = pytest.importorskip("pandas")
    scores, labels = pandas.Series([0.1, 0.9, 0.5]), pandas.Series([0, 1, 1], index=[0, 2, 1])
    words = r"scores and labels must have the same index; got 1 and 2 at row 1.*scores\.to_numpy\(\)"
    with pytest.raises(ValueError, match=words):
        calcert.summarize(scores, labels)
    with pytest.raises(ValueError, match=words):
        checked_pair(scores, labels)
    with pytest.raises(ValueError, match="scores and groups must have the same index"):
        calcert.certify(scores, labels.to_numpy(), groups=labels)
    expected = calcert.summarize([0.1, 0.9, 0.5], [0, 1, 1])
    assert calcert.summarize(scores, labels.sort_index()) == calcert.summarize([0.1, 0.9, 0.5], [0, 1, 1])
    assert calcert.summarize(scores.to_numpy(), labels) == expected
    assert calcert.summarize(scores, labels.to_list()) == expected


@pytest.mark.parametrize("labels", [["no", "yes"], np.array(["no", "yes"], object)])
def test_labels_in_words_get_a_hint(labels: Any) -> None:
    with pytest.raises(TypeError, match=r"such as 'no'|got 'no'") as raised:
        calcert.summarize([0.5, 0.5], labels)
    assert str(raised.value).endswith(" at row 0. For labels in words pass labels == 'yes'.")
