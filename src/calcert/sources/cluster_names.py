"""What clusters are called, as integers: whatever tells two names apart tells the integers apart."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.sources.arrays import as_numpy

Integers = NDArray[np.int64]
Place = Callable[[int], str]

EXACT = 2.0**53
"""Floats from here on stand for several whole numbers each."""


def as_integers(clusters: Any, place: Place = "at row {}".format) -> Integers:
    """A column of clusters in memory, of any library and of any values."""
    array = _column(clusters)
    if array.ndim != 1:
        raise ValueError(f"clusters must be one-dimensional; got shape {array.shape}.")
    if array.dtype.kind in "iub":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind in "mM":
        return _without(array, np.isnat(array), place).view(np.int64)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        # Adding 0.0 turns -0.0 into 0.0.
        exact = _without(array, np.isnan(array), place).astype(np.float64) + 0.0
        large = np.abs(exact) >= EXACT
        if large.any():
            raise ValueError(_inexact(exact[large][0], place(int(np.argmax(large)))))
        return exact.view(np.int64)
    return Numbering(place).numbers(array.tolist())


class Numbering:
    """Numbers names in the order in which they come, and refuses what is none."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known: dict[Any, int] = {}
        self._kind = ""
        self._rows = 0

    def numbers(self, names: Sequence[Any]) -> Integers:
        """The number of the cluster of each of the next rows."""
        known, before = self._known, len(self._known)
        try:
            found = np.fromiter((known.setdefault(name, len(known)) for name in names), np.int64, len(names))
        except TypeError:
            row = next(row for row, name in enumerate(names) if getattr(name, "__hash__", None) is None)
            raise TypeError(
                f"clusters must be named by text or numbers; got {names[row]!r} {self._place(self._rows + row)}."
            ) from None
        for row in np.flatnonzero(found >= before).tolist():
            self._check(names[row], row)
        self._rows += len(names)
        return found

    def _check(self, name: Any, row: int) -> None:
        kind = _kind(name)
        if kind != self._kind or kind != "text":
            where = self._place(self._rows + row)
            if _is_missing(name):
                raise ValueError(_missing(where))
            if isinstance(name, (float, np.floating)) and abs(float(name)) >= EXACT:
                raise ValueError(_inexact(float(name), where))
            if kind != (self._kind or kind):
                raise ValueError(
                    f"clusters must be named by {self._kind} throughout; got {name!r} {where}. The same name, "
                    "written in two ways, would be two clusters, which makes bounds too small."
                )
            self._kind = kind


def _column(clusters: Any) -> NDArray[Any]:
    if isinstance(clusters, str):
        raise TypeError(f"clusters must be an array as long as scores, as there is no table; got {clusters!r}.")
    if str(getattr(clusters, "dtype", getattr(clusters, "type", ""))).lower().startswith("decimal"):
        clusters = clusters.to_list()  # As doubles, some would be the same.
    if isinstance(clusters, (list, tuple)):
        # NumPy would take names of several kinds for one kind, or for a table.
        array = np.empty(len(clusters), object)
        array[:] = clusters
        return array
    return as_numpy("clusters", clusters)


def _without(array: NDArray[Any], missing: NDArray[np.bool_], place: Place) -> NDArray[Any]:
    if missing.any():
        raise ValueError(_missing(place(int(np.argmax(missing)))))
    return array


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


def _inexact(value: float, where: str) -> str:
    return (
        f"clusters must be told apart; got {value:.17g} {where}, a float that may stand for several whole numbers. "
        "Pass integers or text."
    )
