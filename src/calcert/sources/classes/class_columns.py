"""Which columns of a table hold the probabilities of many classes, and how the classes are called."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calcert.sources.classes.class_names import STAR, check_names, listing
from calcert.sources.columns import LABEL_NAMES, Column, check_alone, named

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
