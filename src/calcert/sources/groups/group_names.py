"""What groups are called, and the numbers that rows carry instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.refused_values import Place
from calcert.sources.files.text_bytes import is_utf_8, not_utf_8
from calcert.sources.files.value_columns import Coded
from calcert.sources.parsed_values import Reading

MISSING = "missing"
"""The group of rows that have none: shown like any other, never dropped. A group of that name is shown in quotes."""

MARKS = "'\"\\"
"""What stands around a name that is shown in quotes."""

MOST = 1000
"""More values than this are no groups but names of rows."""


MOST_COMBINATIONS = 10_000
"""Likewise for combinations of the values of several columns."""

BETWEEN = "\x1f"
"""What stands between the values of a combination."""


def group_values(groups: Any) -> NDArray[Any]:
    """An array of any library, or a list, as a NumPy array."""
    if not isinstance(groups, (list, tuple, np.ndarray)):
        import narwhals as nw

        series = nw.from_native(groups, series_only=True, pass_through=True)
        groups = series.to_list() if isinstance(series, nw.Series) else groups
    if isinstance(groups, (list, tuple)):
        array = np.empty(len(groups), object)
        array[:] = groups
    else:
        array = np.asarray(groups)
    if array.ndim != 1:
        raise ValueError(f"groups must be one-dimensional; got shape {array.shape}.")
    return array


def numbered_groups(groups: NDArray[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """The names of the groups, in order, and the number of each row's group."""
    if groups.dtype.kind in "iub":
        values, place = np.unique(groups, return_inverse=True)
        refuse_many(values.size)
        return [group_name(value) for value in values], place
    known: dict[str, int] = {}
    code = np.array([known.setdefault(group_name(value), len(known)) for value in groups], np.int64)
    refuse_many(len(known))
    return in_order(known, code)


class GroupNumbers:
    """Gives groups in files numbers, the same for the same name, batch after batch."""

    def __init__(self, reading: Reading, place: Place) -> None:
        self.known: dict[str, int] = {}
        self._texts: dict[str, bool] = {}
        self._reading, self._place = reading, place
        self._rows = 0

    def of(self, column: Coded, *, end: int) -> NDArray[np.int64]:
        """The numbers of the groups of the next rows, up to `end` of them."""
        numbers = np.array([self._number(code, column) for code in range(len(column.values))], np.int64)
        self._rows += end
        refuse_many(len(self.known))
        found: NDArray[np.int64] = numbers[column.codes[:end]]
        return found

    def _number(self, code: int, column: Coded) -> int:
        value = column.values[code]
        missing = self._reading.is_gap(value) if self._reading.drop_missing else value == ""
        name, text = group_name(None if missing else value), isinstance(value, str)
        if text and not is_utf_8(value):
            raise not_utf_8("groups", value, self._place(self._rows + column.first(code)))
        if self._texts.setdefault(name, text) != text and name != MISSING:
            raise ValueError(
                f"groups must be named by text throughout, or by numbers; got {value!r} "
                f"{self._place(self._rows + column.first(code))}, and the other before. Write all of them one way."
            )
        return self.known.setdefault(name, len(self.known))


class CombinedNumbers:
    """The same for combinations of the values of several columns."""

    def __init__(self, columns: Sequence[GroupNumbers]) -> None:
        self.known: dict[str, int] = {}
        self._columns = columns
        self._numbers: dict[tuple[int, ...], int] = {}

    def of(self, *columns: Coded, end: int) -> NDArray[np.int64]:
        """The numbers of the combinations of the next rows, up to `end` of them."""
        each = [own.of(column, end=end) for own, column in zip(self._columns, columns, strict=True)]
        there, place = np.unique(np.stack(each, axis=1), axis=0, return_inverse=True)
        names = [{number: name for name, number in own.known.items()} for own in self._columns]
        for key in map(tuple, there.tolist()):
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                self.known[BETWEEN.join(of[n] for of, n in zip(names, key, strict=True))] = self._numbers[key]
        refuse_many(len(self.known), MOST_COMBINATIONS)
        numbers = np.array([self._numbers[key] for key in map(tuple, there.tolist())], np.int64)
        return numbers[place.ravel()]


def in_order(known: dict[str, int], code: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """The names that have been given numbers, sorted, and the numbers of the rows accordingly."""
    names = sorted(known)
    rank = np.empty(len(names), np.int64)
    rank[[known[name] for name in names]] = np.arange(len(names))
    return names, rank[code]


def rows_of_groups(group: Integers, number: int) -> list[tuple[int, Integers]]:
    """The rows of every group of `number` ones that has any."""
    # Sixteen bits are sorted without comparing.
    order = np.argsort(group.astype(np.uint16) if number < 1 << 16 else group, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=number))])
    return [(place, order[start:stop]) for place, (start, stop) in enumerate(pairwise(ends)) if start < stop]


def rows_by_name(groups: NDArray[Any]) -> dict[str, Integers]:
    """The rows of every group, by its name."""
    names, code = numbered_groups(groups)
    return {names[number]: rows for number, rows in rows_of_groups(code, len(names))}


def refuse_many(count: int, most: int = MOST) -> None:
    """More groups than there may be."""
    if count > most:
        raise ValueError(
            f"groups must have at most {most:,} distinct values, as all of them share the probability of failure; got "
            "more. Name coarser groups, or certify parts of the rows."
        )


def group_name(value: Any) -> str:
    """What the group is called that a column names so."""
    text = str(value)
    if isinstance(value, str):
        # A group that is called so is not that of rows without one, nor one that is called so in quotes.
        return repr(text) if text.strip(MARKS) == MISSING else text
    # Before it is compared with itself, as <NA> refuses that.
    return MISSING if value is None or text in ("<NA>", "NaT") or value != value else text
