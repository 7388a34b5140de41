"""Which columns of a table hold the probabilities of many classes, what classes are called, and labels as numbers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.refusal import Argument, Phrase, WrongValue
from calcert.foundation.refused_values import Place, missing_value
from calcert.sources.columns import LABEL_NAMES, Column, check_alone, named
from calcert.sources.parsed_values import is_gap, number_in_text

SHOWN = 6
"""Names of classes that are listed one by one."""

STAR = "*"
"""Stands for the name of a class in the names of columns."""


def check_names(names: Any, size: int | None) -> tuple[str, ...]:
    """Names of `size` classes, or of as many as there will be, as text, each once."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"class_names must be a list of texts, one a class; got {names!r}.")
    found = tuple(name.strip() for name in names)
    if size is not None and len(found) != size:
        raise ValueError(f"class_names must name every class; got {len(found)} names for {size} classes.")
    twice = next((name for place, name in enumerate(found) if name in found[:place] or not name), None)
    if twice is not None:
        raise ValueError(f"every class must have a name of its own; got {twice!r} twice, or an empty one.")
    return found


def listing(names: Sequence[str]) -> str:
    """Names for people: all of a few, the first of many."""
    if isinstance(names, str):
        return repr(names)
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


class ClassNumbers:
    """Labels as numbers of classes, 0 to K - 1: by name or, where no name is a number, by number as well.

    One column holds names, or numbers; a mixture is refused, as somebody joined what does not belong together.
    """

    def __init__(self, names: Sequence[str] | None, size: int) -> None:
        counted = list(map(str, range(size)))
        self._size = size
        self._names = counted if names is None else list(names)
        self._known = {name: place for place, name in enumerate(self._names)}
        # Where classes are called by numbers, 1 or 1.0, a number is a name; one that two names stand for is neither's.
        read = [number_in_text(name) for name in self._names]
        single = {value for value in read if value is not None and read.count(value) < 2}
        self._called: dict[Any, int] = {value: read.index(value) for value in single}
        self._by_number = self._names == counted or all(value is None for value in read)
        self._both_ways = self._by_number and self._names != counted
        self._first: tuple[str, Any] | None = None

    def of(self, labels: Sequence[Any] | NDArray[Any], place: Place) -> NDArray[np.int64]:
        """The number of the class of every row; `place` says in words where a row stands."""
        if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and self._by_number and not self._both_ways:
            wrong = (labels < 0) | (labels >= self._size)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise self._complaint(labels[row].item(), place(row))
            return labels.astype(np.int64)
        found = np.empty(len(labels), np.int64)
        seen: dict[tuple[type, Any], int] = {}
        for row, label in enumerate(labels.tolist() if isinstance(labels, np.ndarray) else labels):
            key = (type(label), label)
            if key not in seen:
                seen[key] = self._one(label, row, place)
            found[row] = seen[key]
        return found

    def _one(self, label: Any, row: int, place: Place) -> int:
        text = label.strip() if isinstance(label, str) else None
        way, found = "name", self._known.get(text) if text is not None else None
        if found is None:
            way, found = "number", self._numbered(label if text is None else number_in_text(text))
        if found is None:
            raise self._complaint(label, place(row))
        self._first = self._first or (way, label)
        if self._both_ways and way != self._first[0]:
            raise ValueError(
                f"labels must be names of classes throughout, or numbers; got {label!r} {place(row)}, and "
                f"{self._first[1]!r} before. Write all of them one way."
            )
        return found

    def _numbered(self, value: Any) -> int | None:
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            return None
        if not self._by_number:
            return self._called.get(value)
        return int(value) if value % 1 == 0 and 0 <= value < self._size else None

    def _complaint(self, label: Any, where: str) -> WrongValue:
        if is_gap(label):
            return missing_value("labels", where, label)
        text = str(label).strip()
        hint: Phrase = ""
        around = next((name for name in self._names if text and text in name), None)
        if around is not None:
            pattern = around.partition(text)
            hint = ("If that is its class, pass ", Argument("class_columns", f"{pattern[0]}{STAR}{pattern[2]}"), ".")
        if self._by_number and number_in_text(text) == self._size:
            hint = f"For labels from 1 to {self._size} subtract 1, or name the classes 1 to {self._size}."
        if self._by_number and not self._both_ways:
            wanted = f"must be whole numbers from 0 to {self._size - 1}, the columns of probabilities"
            before = f"{hint} " if isinstance(hint, str) and hint else ""
            hint = (before, "For names pass ", Argument("class_names"), ", in the order of the columns.")
        else:
            numbers = f", or whole numbers from 0 to {self._size - 1}" if self._by_number else ""
            wanted = f"must be names of classes, {listing(self._names)}{numbers}"
        return WrongValue("labels", wanted, repr(label), where, hint)


LOG = logging.getLogger("calcert")

FEWEST = 3
"""With two classes, one column says it all."""


@dataclass(frozen=True)
class ClassColumns:
    """The columns that were chosen.

    Attributes
    ----------
    scores
        One a class, in the order of the classes; or the one that holds a list a row.
    label
        That of labels.
    names
        What the classes are called; None where nobody said so.
    """

    scores: tuple[Column, ...]
    label: Column
    names: tuple[str, ...] | None

    @property
    def listed(self) -> bool:
        """True where one column holds a list a row."""
        return len(self.scores) == 1

    @property
    def all_names(self) -> list[str]:
        """The names of all columns, that of labels last."""
        return [column.name for column in (*self.scores, self.label)]

    @property
    def account(self) -> dict[str, str]:
        """Which column was what, for the record."""
        return {"classes": listing(self.all_names[:-1]), "label": self.label.name}


def choose_classes(
    columns: Sequence[Column], asked: Any, label: str | None, names: Sequence[str] | None, source: str
) -> ClassColumns:
    """The columns that `asked` means: names, one name of a column of lists, or a pattern with one star.

    A text that is no column may list names with commas between them. Of a pattern, what the star stands for is the name
    of the class; else it is the name of the column, unless `names` are given.
    """
    found, called = _asked(columns, asked, label, source)
    for column in found:
        check_alone(columns, "class_columns", column.name, source)
    if len(found) == 1:
        column, called = found[0], None
        if column.kind in ("real", "integer", "boolean") or (column.kind == "other" and not _holds_lists(column)):
            raise ValueError(
                f"class_columns must name a column of lists, at least {FEWEST} columns, or a pattern such as 'p_*'; "
                f"got {column.name!r} of {source}, which has type {column.type}. With two classes certify one of them: "
                "score='...'."
            )
    elif len(found) < FEWEST:
        raise ValueError(
            f"class_columns must name at least {FEWEST} columns of {source}, or one of lists; got {listing(asked)}, "
            f"which is {len(found)}. With two classes certify one of them: score='...'."
        )
    for column in found if len(found) > 1 else ():
        if column.kind == "other":
            raise TypeError(
                f"class_columns must name columns of numbers in [0, 1]; got {column.name!r} of {source}, which has "
                f"type {column.type}. Leave it out, or convert it on purpose first."
            )
    chosen = _label(columns, label, found, source)
    if chosen in found:
        raise ValueError(f"label must be another column than those of classes; got {chosen.name!r} for both.")
    size = None if len(found) == 1 else len(found)
    return ClassColumns(tuple(found), chosen, called if names is None else check_names(names, size))


def _asked(
    columns: Sequence[Column], asked: Any, label: str | None, source: str
) -> tuple[list[Column], tuple[str, ...] | None]:
    """The columns, and what the classes are called."""
    if isinstance(asked, str) and asked not in (column.name for column in columns):
        if STAR in asked:
            return _matching(columns, asked, label, source)
        asked = [name.strip() for name in asked.split(",")]
    wanted = [asked] if isinstance(asked, str) else asked
    if not isinstance(wanted, (list, tuple)) or not all(isinstance(name, str) for name in wanted):
        raise TypeError(f"class_columns must be names of columns, or a pattern such as 'p_*'; got {asked!r}.")
    twice = next((name for place, name in enumerate(wanted) if name in wanted[:place]), None)
    if twice is not None:
        raise ValueError(f"class_columns must name every column once; got {twice!r} twice.")
    found = [named(columns, "class_columns", name, source) for name in wanted]
    return found, tuple(name.strip() for name in wanted)


def _matching(
    columns: Sequence[Column], pattern: str, label: str | None, source: str
) -> tuple[list[Column], tuple[str, ...]]:
    before, _, after = pattern.partition(STAR)
    if STAR in after:
        raise ValueError(f"class_columns must have one star, which stands for the name of a class; got {pattern!r}.")
    found, called = [], []
    for column in columns:
        inner = column.name.removeprefix(before).removesuffix(after)
        if column.name != label and inner.strip() and f"{before}{inner}{after}" == column.name:
            found.append(column)
            called.append(inner.strip())
    if len(found) < FEWEST:
        names = listing([column.name for column in columns])
        raise ValueError(
            f"class_columns must match at least {FEWEST} columns of {source}; {pattern!r} matches {len(found)} of "
            f"{names or 'none'}."
        )
    return found, check_names(called, len(found))


def _holds_lists(column: Column) -> bool:
    return column.type.endswith("]") or column.type.startswith(("List", "Array", "list<", "large_list<"))


def _label(columns: Sequence[Column], label: str | None, taken: Sequence[Column], source: str) -> Column:
    if label is None:
        telling = [c for c in columns if c.name.strip().lower() in LABEL_NAMES.split() and c not in taken]
        if len(telling) != 1:
            raise ValueError(
                f"label must name the column of {source} that says which class is right, because {len(telling)} are "
                "plausible. Pass label='...'."
            )
        LOG.warning("%s: classes of rows from column %r", source, telling[0].name)
        label = telling[0].name
    found = named(columns, "label", label, source)
    check_alone(columns, "label", found.name, source)
    if found.kind == "other" and _holds_lists(found):
        raise TypeError(f"label must name a column of one class a row; got {label!r}, which has type {found.type}.")
    return found
