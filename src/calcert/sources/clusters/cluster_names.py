"""What clusters are called, as integers: whatever tells two names apart tells the integers apart."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.long_work import load
from calcert.foundation.refused_values import Place
from calcert.kernels.clusters import move_names, number_names
from calcert.sources.arrays import as_numpy
from calcert.sources.files.text_bytes import is_utf_8, not_utf_8
from calcert.sources.files.value_columns import Coded, Values, coded, is_dictionary, numbers_of

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
        self._bare: set[str] | None = None
        self._texts: ClusterTexts | None = None
        self._bare_texts: ClusterTexts | None = None
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

    def column_numbers(self, column: Values, end: int) -> Integers:
        """Of the next rows of a file, up to `end` of them."""
        if not isinstance(column, Coded) and not is_dictionary(column):
            return self.arrow_numbers(column.slice(0, end))
        column = coded(column)
        odd = next((code for code, name in enumerate(column.values) if not is_utf_8(str(name))), None)
        if odd is not None:
            raise not_utf_8("clusters", column.values[odd], self._place(self._rows + column.first(odd)))
        # In JSON a number may be a name.
        names = [value if value is None or isinstance(value, (str, int)) else str(value) for value in column.values]
        found: Integers = self._numbers(names, column.first)[column.codes[:end]]
        self._rows += end
        return found

    def arrow_numbers(self, column: Any) -> Integers:
        """Of the next rows, in an Arrow array of numbers, times or text."""
        if column.null_count:
            missing = next(row for row, value in enumerate(column) if not value.is_valid)
            raise ValueError(_missing(self._place(self._rows + missing)))
        column = comparable(column)
        if "large" not in str(column.type):
            return self.array_numbers(numbers_of(column))
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        return np.concatenate([NOTHING, *(self._text_numbers(chunk) for chunk in chunks)])

    def _text_numbers(self, chunk: Any) -> Integers:
        text, ends = _buffers(chunk)
        self._refuse(np.diff(ends) == 0, _missing)
        if self._texts is None:
            self._texts = ClusterTexts()
        if self._bare_texts is None and _may_have_blanks(text, ends):
            self._bare_texts = deepcopy(self._texts)
        known = self._texts.number
        found = self._texts.numbers(text, ends)
        if self._bare_texts is not None and str(chunk.type) == "large_string":
            bare_known = self._bare_texts.number
            bare_text, bare_ends = _buffers(load("pyarrow.compute").utf8_trim_whitespace(chunk))
            self._refuse(np.diff(bare_ends) == 0, _missing)
            bare = self._bare_texts.numbers(bare_text, bare_ends)
            # Where a name is new, so must be what remains of it without blanks.
            split = _new(found, known) != _new(bare, bare_known)
            self._refuse(split, lambda where: split_message(chunk[int(np.argmax(split))].as_py(), where))
        self._rows += found.size
        return found

    def numbers(self, names: Sequence[Any]) -> Integers:
        """Of names, each in a row of its own."""
        found = self._numbers(names, lambda row: row)
        self._rows += len(names)
        return found

    def _numbers(self, names: Sequence[Any], row_of: Callable[[int], int]) -> Integers:
        known, before = self._known, len(self._known)
        try:
            found = np.fromiter((known.setdefault(name, len(known)) for name in names), np.int64, len(names))
        except TypeError:
            place = next(place for place, name in enumerate(names) if getattr(name, "__hash__", None) is None)
            at = self._place(self._rows + row_of(place))
            raise TypeError(f"clusters must be named by text or numbers; got {names[place]!r} {at}.") from None
        for place in np.flatnonzero(_new(found, before)).tolist():
            name, kind = names[place], _kind(names[place])

            def where(place: int = place) -> str:
                return self._place(self._rows + row_of(place))

            if kind != self._kind or kind != "text":
                self._check(name, kind, where)
            if kind == "text" and (self._bare is not None or name != name.strip()):
                self._check_text(name, int(found[place]), where)
        return found

    def _check_text(self, name: str, number: int, where: Callable[[], str]) -> None:
        """No two names may differ by blanks alone."""
        if self._bare is None:
            self._bare = {known for known, place in self._known.items() if place < number}
        if not name.strip():
            raise ValueError(_missing(where()))
        if name.strip() in self._bare:
            raise ValueError(split_message(name, where()))
        self._bare.add(name.strip())

    def _check(self, name: Any, kind: str, where: Callable[[], str]) -> None:
        if _is_missing(name):
            raise ValueError(_missing(where()))
        if isinstance(name, (float, np.floating)) and abs(float(name)) >= EXACT:
            raise ValueError(_inexact(where()))
        if kind != (self._kind or kind):
            raise ValueError(
                f"clusters must be named by {self._kind} throughout; got {name!r} {where()}. The same name, written in "
                "two ways, would be two clusters, which makes bounds too small."
            )
        self._kind = kind

    def _refuse(self, bad: NDArray[np.bool_], words: Callable[[str], str]) -> None:
        if bad.any():
            raise ValueError(words(self._place(self._rows + int(np.argmax(bad)))))


def comparable(column: Any) -> Any:
    """A column of Arrow as numbers, or as large texts or bytes, that differ where its values do."""
    types, kind = load("pyarrow").types, column.type
    if types.is_temporal(kind):
        return column.cast("int32" if kind.bit_width == 32 else "int64")
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return column
    if types.is_decimal(kind):
        return column.cast("string").cast("large_string")
    if types.is_nested(kind) or types.is_null(kind) or types.is_dictionary(kind):
        raise TypeError(f"clusters must be named by text or numbers; got a column of type {kind}.")
    return column.cast("large_string" if "string" in str(kind) else "large_binary")


def _buffers(chunk: Any) -> tuple[NDArray[np.uint8], Integers]:
    """The bytes of large texts, and where each begins."""
    _, ends, text = chunk.buffers()
    return np.frombuffer(text or b"", np.uint8), np.frombuffer(ends, np.int64, len(chunk) + 1, 8 * chunk.offset)


def _may_have_blanks(text: NDArray[np.uint8], ends: Integers) -> bool:
    """True where a text begins or ends with a blank, or with a letter that is not ASCII, which may be one."""
    edges = np.concatenate([text[ends[:-1]], text[ends[1:] - 1]])
    return bool(((edges <= ord(" ")) | (edges > ord("~"))).any())


def _new(numbers: Integers, known: int) -> NDArray[np.bool_]:
    """Which numbers come for the first time, after `known` of them."""
    before = np.maximum.accumulate(np.concatenate([[known - 1], numbers]))[:-1]
    found: NDArray[np.bool_] = numbers > before
    return found


def split_message(name: str, where: str) -> str:
    """That two clusters have names which differ by blanks alone."""
    return (
        f"clusters must differ by more than blanks; got {name!r} {where}, and another one that differs so. A cluster "
        "that is split makes bounds too small. Take the blanks away, or number the clusters, on purpose."
    )


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


class ClusterTexts:
    """All different texts so far, in the order in which they came; they are compared byte by byte."""

    def __init__(self) -> None:
        self._table = np.zeros((1 << 10, 2), np.int64)
        self._known = np.zeros(1 << 14, np.uint8)
        self._ends = np.zeros(1 << 10, np.int64)
        self.number = 0

    def numbers(self, text: NDArray[np.uint8], ends: Integers) -> Integers:
        """The number of each of some texts, text[ends[i]:ends[i + 1]]."""
        found, done = np.empty(ends.size - 1, np.int64), 0
        while done < found.size:
            kept = self._table, self._known, self._ends, self.number
            more, self.number = number_names(text, ends[done:], *kept, found[done:])
            done += more
            if done < found.size:
                self._grow(int(ends[done + 1] - ends[done]))
        return found

    def _grow(self, size: int) -> None:
        table = np.zeros((2 * self._table.shape[0], 2), np.int64)
        move_names(self._table, table)
        self._table = table
        self._known = np.concatenate([self._known, np.zeros(self._known.size + size, np.uint8)])
        self._ends = np.concatenate([self._ends, np.zeros_like(self._ends)])
