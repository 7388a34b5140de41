"""What clusters are called, as integers: whatever tells two names apart tells the integers apart."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.validation import Place
from calcert.sources.arrays import as_numpy
from calcert.sources.files.arrow_columns import numbers_of

if TYPE_CHECKING:
    from calcert.sources.units.clusters_numba import ClusterTexts

NOTHING: Integers = np.zeros(0, np.int64)

EXACT = 2.0**53
"""Floats from here on stand for several whole numbers each."""


def as_integers(clusters: Any) -> Integers:
    """A column of clusters in memory, of any library and of any values."""
    numbering = Numbering("at row {}".format)
    if isinstance(clusters, str):
        raise TypeError(f"clusters must be an array as long as scores, as there is no table; got {clusters!r}.")
    if isinstance(clusters, (list, tuple)):
        return numbering.numbers(clusters)
    if not isinstance(clusters, np.ndarray):
        # Only those who bring such columns pay for the import.
        import narwhals as nw

        series = nw.from_native(clusters, series_only=True, pass_through=True)
        if isinstance(series, nw.Series) and series.dtype in (nw.String, nw.Categorical, nw.Enum):
            return numbering.arrow_numbers(series.cast(nw.String).to_arrow())
        if isinstance(series, nw.Series) and series.dtype == nw.Decimal:
            return numbering.numbers(series.to_list())  # As doubles, some would be the same.
    array = as_numpy("clusters", clusters)
    if array.ndim != 1:
        raise ValueError(f"clusters must be one-dimensional; got shape {array.shape}.")
    return numbering.array_numbers(array)


class Numbering:
    """Gives clusters numbers, the same for the same name, column after column, and refuses what is no name."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known: dict[Any, int] = {}
        self._texts: ClusterTexts | None = None
        self._kind = ""
        self._rows = 0

    def array_numbers(self, array: NDArray[Any]) -> Integers:
        """Of the next rows, in an array of any type; those of numbers are their own numbers."""
        if array.dtype.kind in "iub":
            found = array.astype(np.int64, copy=False)
        elif array.dtype.kind in "mM":
            self._refuse(np.isnat(array), _missing)
            found = array.view(np.int64)
        elif array.dtype.kind == "f" and array.dtype.itemsize <= 8:
            self._refuse(np.isnan(array), _missing)
            self._refuse(np.abs(array) >= EXACT, _inexact)
            # Adding 0.0 turns -0.0 into 0.0.
            found = (array.astype(np.float64) + 0.0).view(np.int64)
        else:
            return self.numbers(array.tolist())
        self._rows += array.size
        return found

    def arrow_numbers(self, column: Any) -> Integers:
        """Of the next rows, in an Arrow array of numbers or text."""
        if column.null_count:
            missing = next(row for row, value in enumerate(column) if not value.is_valid)
            raise ValueError(_missing(self._place(self._rows + missing)))
        if "string" not in str(column.type):
            return self.array_numbers(numbers_of(column))
        column = column.cast("large_string")
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        return np.concatenate([NOTHING, *(self._text_numbers(chunk) for chunk in chunks)])

    def _text_numbers(self, chunk: Any) -> Integers:
        _, ends, text = chunk.buffers()
        ends = np.frombuffer(ends, np.int64, len(chunk) + 1, 8 * chunk.offset)
        self._refuse(np.diff(ends) == 0, _missing)
        if self._texts is None:
            # Those who have no names in text need no numba here.
            from calcert.sources.units.clusters_numba import ClusterTexts

            self._texts = ClusterTexts()
        found = self._texts.numbers(np.frombuffer(text or b"", np.uint8), ends)
        self._rows += found.size
        return found

    def numbers(self, names: Sequence[Any]) -> Integers:
        """Of names, each in a row of its own."""
        known, before = self._known, len(self._known)
        try:
            found = np.fromiter((known.setdefault(name, len(known)) for name in names), np.int64, len(names))
        except TypeError:
            row = next(row for row, name in enumerate(names) if getattr(name, "__hash__", None) is None)
            where = self._place(self._rows + row)
            raise TypeError(f"clusters must be named by text or numbers; got {names[row]!r} {where}.") from None
        for row in np.flatnonzero(found >= before).tolist():
            kind = _kind(names[row])
            if kind != self._kind or kind != "text":
                self._check(names[row], kind, self._place(self._rows + row))
        self._rows += len(names)
        return found

    def _check(self, name: Any, kind: str, where: str) -> None:
        if _is_missing(name):
            raise ValueError(_missing(where))
        if isinstance(name, (float, np.floating)) and abs(float(name)) >= EXACT:
            raise ValueError(_inexact(where))
        if kind != (self._kind or kind):
            raise ValueError(
                f"clusters must be named by {self._kind} throughout; got {name!r} {where}. The same name, written in "
                "two ways, would be two clusters, which makes bounds too small."
            )
        self._kind = kind

    def _refuse(self, bad: NDArray[np.bool_], words: Callable[[str], str]) -> None:
        if bad.any():
            raise ValueError(words(self._place(self._rows + int(np.argmax(bad)))))


def _kind(name: Any) -> str:
    if isinstance(name, str):
        return "text" if name else "nothing"
    if isinstance(name, (numbers.Number, np.bool_)):
        return "numbers"
    return type(name).__name__


def _is_missing(name: Any) -> bool:
    # pandas has a value that is neither equal to itself nor different.
    return name is None or str(name) in ("", "<NA>", "NaT") or (isinstance(name, numbers.Number) and name != name)


def _missing(where: str) -> str:
    return (
        f"clusters must have no missing values; got one {where}. Give such rows a cluster of their own, or drop them, "
        "on purpose."
    )


def _inexact(where: str) -> str:
    return (
        f"clusters must be told apart; got a float from 2^53 on {where}, which may stand for several whole numbers. "
        "Pass integers or text."
    )
