"""A column of a file, some rows of it: numbers as Arrow has them, or different values and which of them each row has.

What is written in a file is looked at once for each different value, however many rows have it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.long_work import load
from calcert.sources.parsed_values import Reader, Unreadable

REMEMBERED = 1 << 16
"""Different texts of which it is remembered what they are."""

Values = Any
"""Some rows of a column: `Coded`, or an Arrow array."""


@dataclass(frozen=True)
class Coded:
    """Different values, and for each row the number of its value."""

    values: list[Any]
    codes: Integers

    def __len__(self) -> int:
        return self.codes.size

    def first(self, code: int) -> int:
        """The first row that has a value."""
        return int(np.argmax(self.codes == code))


def coded_list(values: Iterable[Any]) -> Coded:
    """Python objects; those that are equal but of different types are different."""
    known: dict[Any, int] = {}
    found: list[Any] = []
    codes: list[int] = []
    for value in values:
        key = value if type(value) in (str, float) else (type(value), value)
        try:
            code = known.setdefault(key, len(found))
        except TypeError:  # A list or an object of JSON.
            code = known.setdefault((type(value), repr(value)), len(found))
        if code == len(found):
            found.append(value)
        codes.append(code)
    return Coded(found, np.array(codes, np.int64))


def coded(values: Values, decode: Callable[[Any], Any] = lambda value: value) -> Coded:
    """The same column as different values, of which `decode` says what each is."""
    if isinstance(values, Coded):
        return values
    try:
        found = values if is_dictionary(values) else values.dictionary_encode()
    except NotImplementedError:  # Columns inside of columns.
        return coded_list(values.to_pylist())
    names, codes = found.dictionary.to_pylist(), found.indices
    if codes.null_count:
        codes = codes.fill_null(len(names))
        names.append(None)
    used = _compact(names, numbers_of(codes).astype(np.int64))
    return Coded([None if name is None else decode(name) for name in used.values], used.codes)


def _compact(values: list[Any], codes: Integers) -> Coded:
    """Without the values that no row has."""
    there = np.bincount(codes, minlength=len(values)) > 0
    if there.all():
        return Coded(values, codes)
    return Coded([values[code] for code in np.flatnonzero(there)], (np.cumsum(there) - 1)[codes])


def is_dictionary(array: Any) -> bool:
    """True where Arrow has different values, and which of them each row has."""
    return bool(load("pyarrow").types.is_dictionary(array.type))


def numbers_of(array: Any) -> NDArray[Any]:
    """An Arrow array of numbers or truth values, none of them missing, as NumPy; numbers are not copied.

    Arrow's own way imports pandas, which takes a second, and forgets a Ctrl-C that comes meanwhile.
    """
    if str(array.type) == "bool":
        array = array.cast("uint8")
    kind = np.dtype(array.type.to_pandas_dtype())
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def kept(values: Values, rows: NDArray[np.bool_]) -> Values:
    """Some of the rows."""
    if isinstance(values, Coded):
        return _compact(values.values, values.codes[rows])
    return values.filter(load("pyarrow").array(rows))


def gaps(values: Values, is_gap: Callable[[Any], bool]) -> NDArray[np.bool_]:
    """In which rows a value is missing."""
    if isinstance(values, Coded):
        found: NDArray[np.bool_] = np.array([is_gap(value) for value in values.values], bool)[values.codes]
        return found
    return numbers_of(values.is_null(nan_is_null=True)).astype(bool)


class Numbers:
    """Reads a column of numbers, batch after batch, by a function that reads one value.

    `plain` says that a text which is a number is that number, so that all of a column are read at once where they are.
    """

    def __init__(self, read: Reader, *, plain: bool) -> None:
        self._read = read
        self._plain = plain
        self._known: dict[str, float | Unreadable] = {}

    def of(self, values: Values) -> tuple[NDArray[Any], Unreadable | None]:
        """The numbers up to the first value that is none, and what is wrong with that, if there is one."""
        at_once = self._at_once(values)
        if at_once is not None:
            return at_once
        column = coded(values)
        found = [self._one(value) for value in column.values]
        wrong = np.array([isinstance(number, Unreadable) for number in found], bool)
        numbers = [0 if isinstance(number, Unreadable) else number for number in found]
        # Whole numbers stay whole, so that errors show them as people write them.
        whole = all(isinstance(number, int) and abs(number) < 1 << 63 for number in numbers)
        table = np.array(numbers, np.int64 if whole else np.float64)
        if not wrong.any():
            return table[column.codes], None
        row = int(np.argmax(wrong[column.codes]))
        trouble = found[column.codes[row]]
        assert isinstance(trouble, Unreadable)
        return table[column.codes[:row]], trouble

    def _at_once(self, values: Values) -> tuple[NDArray[Any], Unreadable | None] | None:
        """Where Arrow has numbers, or text of which all are plain numbers."""
        if isinstance(values, Coded):
            return None
        arrow, compute = load("pyarrow"), load("pyarrow.compute")
        kind = values.type
        if arrow.types.is_primitive(kind) and self._plain:
            row = compute.index(values.is_null(), True).as_py() if values.null_count else -1
            if row < 0:
                return numbers_of(values), None
            return numbers_of(values.slice(0, row)), Unreadable(None)
        if not self._plain or values.null_count or not (arrow.types.is_string(kind) or arrow.types.is_decimal(kind)):
            return None
        try:
            # By way of text, because Arrow's own cast of a decimal is off by one bit for one in ten two-digit numbers.
            found = numbers_of(values.cast(arrow.string()).cast(arrow.float64()))
        except arrow.ArrowException:
            return None
        return None if np.isnan(found).any() else (found, None)

    def _one(self, value: Any) -> float | Unreadable:
        if type(value) is not str:
            return self._parsed(value)
        if value not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[value] = self._parsed(value)
        return self._known[value]

    def _parsed(self, value: Any) -> float | Unreadable:
        try:
            return self._read(value)
        except Unreadable as error:
            return error


def in_batches(rows: Generator[tuple[int, Sequence[Any]]], size: int) -> Iterator[tuple[list[Values], list[int]]]:
    """Rows that come one by one, as columns of so many at a time; an error comes after the rows before it."""
    with closing(rows):
        while True:
            lines: list[int] = []
            records: list[Sequence[Any]] = []
            trouble = None
            try:
                for line, values in islice(rows, size):
                    lines.append(line)
                    records.append(values)
            except ValueError as error:
                trouble = error
            if lines:
                yield [coded_list(column) for column in zip(*records, strict=True)], lines
            if trouble is not None:
                raise trouble
            if not lines:
                return
