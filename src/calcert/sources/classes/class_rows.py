"""Rows of a classifier with many classes: checked, and each counted once for every class and once for the prediction.

A class is a group to which every row belongs, with a score and a label of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.refusal import Way, WrongValue
from calcert.foundation.refused_values import Place
from calcert.sources.arrays import SUM_TOLERANCE
from calcert.sources.classes.class_names import ClassNumbers, check_names
from calcert.sources.groups.rows_by_group import RowsOfGroup
from calcert.summary.summary import Summary

Measured = Mapping[str, Callable[[Floats, Integers], Floats]]
"""What is to be known of every row, from its probabilities, shape (rows, K), and the numbers of classes."""

LARGE = 1 << 17
"""Rows of a class that are kept; more of them are counted. Of arrays, which are in memory anyhow, all are kept."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The rows of the prediction (top-label), those of each class against the rest, and what was measured of each row.

    `names` are what the classes are called, if known.
    """

    prediction: Summary
    classes: Sequence[RowsOfGroup]
    names: tuple[str, ...] | None
    measured: Mapping[str, Floats]

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def of_class(self, number: int) -> Summary:
        """The rows of one class against the rest."""
        return self.classes[number].summary()


class ClassCollector:
    """Takes rows batch by batch, checks and counts them."""

    def __init__(
        self,
        names: Sequence[str] | None,
        place: Place,
        measured: Measured,
        columns: Sequence[str] | None = None,
        large: float = LARGE,
    ) -> None:
        self._names, self._place, self._columns = names, place, columns
        self._measure, self._measured = measured, {name: [np.zeros(0)] for name in measured}
        self._numbers: ClassNumbers | None = None
        self._large = large
        self._classes: list[RowsOfGroup] = []
        self._prediction = RowsOfGroup()
        self.rows = 0

    def add(self, p: NDArray[Any], labels: Sequence[Any] | NDArray[Any]) -> None:
        """Add rows: probabilities, shape (K, rows), and labels of any kind."""
        before = self.rows

        def place(row: int) -> str:
            return self._place(before + row)

        if self._numbers is None:
            called = None if self._names is None else check_names(self._names, len(p))
            self._numbers = ClassNumbers(called, len(p))
            self._classes = [RowsOfGroup(large=self._large) for _ in p]
        if len(p) != len(self._classes):
            raise ValueError(
                f"probabilities must be as many in every row; got {len(p)} {place(0)}, and {len(self._classes)} before."
            )
        _check_range(p, place, self._columns)
        _check_sums(p, place)
        y = self._numbers.of(labels, place)
        for number, rows in enumerate(self._classes):
            rows.add({"scores": p[number], "labels": y == number})
        # The first of classes that tie is the prediction.
        self._prediction.add({"scores": p.max(axis=0), "labels": p.argmax(axis=0) == y})
        for name, measure in self._measure.items():
            self._measured[name].append(measure(p.T, y))
        self.rows += p.shape[1]

    def found(self, source: str) -> ClassRows:
        """All rows."""
        if not self.rows:
            raise ValueError(f"{source} must hold at least one row; got none.")
        measured = {name: np.concatenate(parts) for name, parts in self._measured.items()}
        names = None if self._names is None else check_names(self._names, len(self._classes))
        return ClassRows(self._prediction.summary(), self._classes, names, measured)


def _check_range(p: NDArray[Any], place: Place, columns: Sequence[str] | None) -> None:
    """Every probability, shape (K, rows), must be one."""
    if p.size and not (p.min() >= 0 and p.max() <= 1):  # Neither holds of NaN.
        good = (p >= 0) & (p <= 1)
        row = int(np.argmin(good.all(axis=0)))
        column = int(np.argmin(good[:, row]))
        where = f"{place(row)}, column {column if columns is None else repr(columns[column])}"
        way = Way(f"{SOFTMAX}.", f"{WRITE}.")
        raise WrongValue("probabilities", "must lie in [0, 1]", repr(float(p[column, row])), where, way)


def _check_sums(p: NDArray[Any], place: Place) -> None:
    """The probabilities of every row must add up to 1."""
    total = p.sum(axis=0, dtype=np.float64)
    wrong = np.abs(total - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        wanted, apart = f"must add up to 1 in every row, within {SUM_TOLERANCE:g}", "certify each column on its own."
        way = Way(f"{SOFTMAX}; {APART}, {apart}", f"{WRITE}; {APART}, {apart}")
        raise WrongValue("probabilities", wanted, f"{total[row]:.6g}", place(row), way)


SOFTMAX = "For logits pass scipy.special.softmax(logits, axis=1)"
WRITE = "If they are logits, write their softmax to the file"
APART = "where classes do not exclude each other"
