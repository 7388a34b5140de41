"""Rows of a classifier with many classes: probabilities that add up to 1, and which class is right, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.refused_values import Place
from calcert.foundation.validation import check_scores
from calcert.sources.arrays import SUM_TOLERANCE, array_of_any_shape, refuse_rounding
from calcert.sources.classes.class_columns import ClassColumns
from calcert.sources.classes.class_names import ClassNumbers, check_names, from_one

AT_ROW = "at row {}".format
"""Where a row in memory stands: its number is all there is to say."""


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
