"""Rows of a classifier with many classes: probabilities that add up to 1, and which class is right, in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_scores, missing_message
from calcert.sources.arrays import array_of_any_shape, checked_array, refuse_rounding
from calcert.sources.class_columns import FEWEST, ClassColumns
from calcert.sources.class_names import ClassNumbers, check_names, from_one
from calcert.sources.parsed_values import Reader, Unreadable, is_gap, score_in_json, score_in_text

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up: half-precision softmax stays within."""

Place = Callable[[int], str]

AT_ROW = "at row {}".format


class ClassRows(NamedTuple):
    """Probabilities, shape (rows, K), the class of every row, 0 to K - 1, and what the classes are called, if known."""

    probabilities: Floats
    labels: NDArray[np.int64]
    names: tuple[str, ...] | None = None


def rows_of_arrays(probabilities: Any, labels: Any, names: Sequence[str] | None = None) -> ClassRows:
    """Probabilities in an array, shape (rows, K), and labels: 0 to K - 1 or, where there are names, these as well."""
    raw = array_of_any_shape(probabilities)
    refuse_rounding("probabilities", raw)
    if raw.dtype.kind in "fiu":
        _check_range(raw.T, AT_ROW, None)
        p = raw.astype(np.float64, copy=False)
    else:
        p = check_scores(raw)
    if p.shape[0] == 0:
        raise ValueError("probabilities must hold at least one row; got none.")
    _check_sums(p.T, AT_ROW)
    if labels is None:
        raise TypeError("labels must be given: the number of the class of every row, 0 to K - 1; got None.")
    y = array_of_any_shape(labels)
    if y.ndim != 1 or y.size != p.shape[0]:
        raise ValueError(
            f"labels must be one number a row; got shape {y.shape} for {p.shape[0]} rows of probabilities. "
            "For one-hot labels pass labels.argmax(axis=1)."
        )
    if names is not None:
        called = check_names(names, p.shape[1])
        return ClassRows(p, ClassNumbers(called, p.shape[1]).of(y, AT_ROW), called)
    bad = (y != np.floor(y)) | (y < 0) | (y >= p.shape[1]) if y.dtype.kind in "fiub" else np.ones(y.size, bool)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"labels must be whole numbers from 0 to {p.shape[1] - 1}, the columns of probabilities; got "
            f"{y.tolist()[row]!r} at row {row}. {from_one(p.shape[1]) if y[row] == p.shape[1] else ''}For names pass "
            "class_names=[...], in the order of the columns."
        )
    return ClassRows(p, y.astype(np.int64))


class ClassCollector:
    """Takes rows batch by batch, checks them, and keeps them class by class."""

    def __init__(self, chosen: ClassColumns, place: Place, total: int | None = None) -> None:
        self._chosen, self._place, self._total = chosen, place, total
        self._numbers: ClassNumbers | None = None
        self._size = 0
        self._parts: list[Floats] = []
        self._labels: list[NDArray[np.int64]] = []
        self.rows = 0

    def add(self, p: NDArray[Any], labels: Sequence[Any] | NDArray[Any]) -> None:
        """Add rows: probabilities, shape (K, rows), and labels of any kind."""
        before = self.rows

        def place(row: int) -> str:
            return self._place(before + row)

        if self._numbers is None:
            if self._chosen.names is not None:
                check_names(self._chosen.names, len(p))
            self._size, self._numbers = len(p), ClassNumbers(self._chosen.names, len(p))
            if self._total is not None:
                self._parts = [np.empty((len(p), self._total))]
        if len(p) != self._size:
            raise ValueError(
                f"probabilities must be as many in every row; got {len(p)} {place(0)}, and {self._size} before."
            )
        columns = None if self._chosen.listed else self._chosen.all_names
        _check_range(p, place, columns)
        _check_sums(p, place)
        self._labels.append(self._numbers.of(labels, place))
        if self._total is None:
            self._parts.append(p.astype(np.float64, copy=False))
        else:
            self._parts[0][:, before : before + p.shape[1]] = p
        self.rows += p.shape[1]

    def found(self, source: str) -> ClassRows:
        """All rows."""
        if not self.rows:
            raise ValueError(f"{source} must hold at least one row; got none.")
        joined = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts, axis=1)
        return ClassRows(joined.T, np.concatenate(self._labels), self._chosen.names)


def _check_range(p: NDArray[Any], place: Place, columns: Sequence[str] | None) -> None:
    """Every probability, shape (K, rows), must be one."""
    if p.size and not (p.min() >= 0 and p.max() <= 1):  # Neither holds of NaN.
        good = (p >= 0) & (p <= 1)
        row = int(np.argmin(good.all(axis=0)))
        column = int(np.argmin(good[:, row]))
        raise ValueError(
            f"probabilities must lie in [0, 1]; got {float(p[column, row])!r} {place(row)}, column "
            f"{column if columns is None else repr(columns[column])}. "
            "For logits pass scipy.special.softmax(logits, axis=1)."
        )


def _check_sums(p: NDArray[Any], place: Place) -> None:
    """The probabilities of every row must add up to 1."""
    total = p.sum(axis=0, dtype=np.float64)
    wrong = np.abs(total - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"probabilities must add up to 1 in every row, within {SUM_TOLERANCE:g}; got {total[row]:.6g} "
            f"{place(row)}. For logits pass scipy.special.softmax(logits, axis=1); where classes do not exclude each "
            "other, certify each column on its own."
        )


def probabilities_in_lists(lists: Any, place: Place) -> NDArray[Any]:
    """An Arrow column of lists of one length as an array, shape (rows, K)."""
    import pyarrow.compute

    if not str(lists.type).startswith(("list", "large_list", "fixed_size_list")):
        raise TypeError(f"probabilities must be lists of numbers in [0, 1]; got values of type {lists.type}.")
    if lists.null_count:
        first = int(np.argmax(pyarrow.compute.is_null(lists).to_numpy(zero_copy_only=False)))
        raise ValueError(missing_message("probabilities", place(first)))
    size = pyarrow.compute.list_value_length(lists).to_numpy()
    check_sizes(size, place)
    inner = lists.flatten()
    if inner.null_count:
        first = int(np.argmax(pyarrow.compute.is_null(inner).to_numpy(zero_copy_only=False))) // int(size[0])
        raise ValueError(missing_message("probabilities", place(first)))
    if str(inner.type) == "bool":
        raise TypeError("probabilities must be lists of numbers in [0, 1]; got true and false.")
    return checked_array("probabilities", inner).reshape(len(lists), -1)


def probabilities_in_text(
    values: Sequence[Any], read: Reader, chosen: ClassColumns, place: Place, row: int
) -> list[float]:
    """The probabilities of a row of text, or of JSON, each read exactly."""
    values = values[:-1]
    if chosen.listed:
        values, read = _list_in_text(values[0], place, row), score_in_json
    # All at once, as these readers do it one by one; where anything is unusual, they are asked about every value.
    kinds = set(map(type, values))
    quick = kinds <= {int, float} if read is score_in_json else read is score_in_text and kinds == {str}
    text = "".join(values) if quick and read is score_in_text else ""
    try:
        if quick and text.isascii() and "_" not in text:
            return list(map(float, values))
    except (ValueError, OverflowError):
        pass
    found = []
    for number, value in enumerate(values):
        try:
            found.append(float(read(value)))
        except Unreadable as error:
            which = "" if chosen.listed else f", column {chosen.all_names[number]!r}"
            raise ValueError(error.message("scores", f"{place(row)}{which}")) from None
    return found


def _list_in_text(value: Any, place: Place, row: int) -> list[Any]:
    """A list in JSON, or in a text that is one."""
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            found = value
    if not isinstance(found, list):
        if is_gap(found):
            raise ValueError(missing_message("probabilities", place(row), value))
        raise ValueError(
            f"probabilities must be lists of numbers, such as [0.2, 0.3, 0.5]; got {str(value)[:60]!r} {place(row)}."
        )
    return found


def check_sizes(sizes: NDArray[Any], place: Place) -> None:
    """The probabilities must be as many in every row."""
    if sizes[0] < FEWEST:
        raise ValueError(f"probabilities must be of at least {FEWEST} classes; got {sizes[0]} {place(0)}.")
    other = sizes != sizes[0]
    if other.any():
        row = int(np.argmax(other))
        raise ValueError(
            f"probabilities must be as many in every row; got {sizes[0]} {place(0)} and {sizes[row]} {place(row)}."
        )
