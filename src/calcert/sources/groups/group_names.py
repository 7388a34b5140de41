"""What groups are called, and the numbers that rows carry instead."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = "missing"
"""The group of rows that have none: shown like any other, never dropped. A group of that name is shown in quotes."""

MARKS = "'\"\\"
"""What stands around a name that is shown in quotes."""

MOST = 1000
"""More values than this are no groups but names of rows."""


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


def in_order(known: dict[str, int], code: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """The names that have been given numbers, sorted, and the numbers of the rows accordingly."""
    names = sorted(known)
    rank = np.empty(len(names), np.int64)
    rank[[known[name] for name in names]] = np.arange(len(names))
    return names, rank[code]


def refuse_many(count: int) -> None:
    """More groups than there may be."""
    if count > MOST:
        raise ValueError(
            f"groups must have at most {MOST:,} distinct values; got more. Is this a column that names every row?"
        )


def group_name(value: Any) -> str:
    """What the group is called that a column names so."""
    text = str(value)
    if isinstance(value, str):
        # A group that is called so is not that of rows without one, nor one that is called so in quotes.
        return repr(text) if text.strip(MARKS) == MISSING else text
    # Before it is compared with itself, as <NA> refuses that.
    return MISSING if value is None or text in ("<NA>", "NaT") or value != value else text
