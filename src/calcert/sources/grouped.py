"""Rows by group: one Summary for each value of a column, from every kind of source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.sources.arrays import pair, summarize_arrays
from calcert.summary.counts import Summary

MISSING = "missing"
"""The group of rows that have none: shown like any other, never dropped."""

LIMIT = 1000
"""More values than this are no groups but names of rows."""


def summarize_groups(
    scores: Any, labels: Any, groups: Any, *, score: str | None = None, label: str | None = None
) -> dict[str, Summary]:
    """The Summary of every group, by the group's name.

    `groups` is an array as long as the scores, or the name of a column where `scores` is a whole table.
    """
    if isinstance(groups, str) and groups in (score, label):
        raise ValueError(f"groups must be another column than score and label; got {groups!r} for both.")
    if isinstance(scores, (str, os.PathLike)) or (
        isinstance(scores, (list, tuple)) and scores and all(isinstance(s, (str, os.PathLike)) for s in scores)
    ):
        return _from_files([scores] if isinstance(scores, (str, os.PathLike)) else list(scores), groups, score, label)
    import narwhals as nw

    frame = nw.from_native(scores, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return _from_frame(frame, groups, score, label)
    if isinstance(groups, str):
        raise TypeError(f"groups must be an array as long as scores, as there is no table; got {groups!r}.")
    return _from_arrays(scores, labels, _values(groups))


def _from_arrays(scores: Any, labels: Any, groups: NDArray[Any]) -> dict[str, Summary]:
    x, y = pair(scores, labels)
    if len(groups) != x.size:
        raise ValueError(f"groups must be as long as scores; got {len(groups)} groups and {x.size} scores.")
    names, code = _encode(groups)
    order = np.argsort(code, kind="stable")
    ends = np.searchsorted(code[order], np.arange(len(names) + 1))
    parts = [order[start:stop] for start, stop in pairwise(ends)]
    return {name: summarize_arrays(x[part], y[part]) for name, part in zip(names, parts, strict=True)}


def _from_frame(frame: Any, groups: Any, score: str | None, label: str | None) -> dict[str, Summary]:
    """In memory by arrays; else one query for the groups and one for each of them, computed where the rows are."""
    import narwhals as nw

    from calcert.sources.tables import columns_of, summarize_query

    _check_name(groups, list(frame.collect_schema().names()))
    x, y = columns_of(frame.drop(groups), score, label)
    if isinstance(frame, nw.DataFrame):
        return _from_arrays(frame[x].to_native(), frame[y].to_native(), _values(frame[groups].to_list()))
    column = nw.col(groups)
    found = frame.select(column).unique().head(LIMIT + 1).collect()[groups].to_list()
    names, _ = _encode(_values(found))
    parts: dict[str, list[Any]] = {name: [] for name in names}
    for value in found:
        parts[_name(value)].append(value)
    summaries = {}
    for name, values in parts.items():
        present = [value for value in values if value is not None]
        here = column.is_in(present) if present else column.is_null()
        if present and len(present) < len(values):
            here = here | column.is_null()
        summaries[name] = summarize_query(frame.filter(here), x, y)
    return summaries


def _from_files(paths: Sequence[Any], groups: Any, score: str | None, label: str | None) -> dict[str, Summary]:
    import narwhals as nw

    from calcert.sources.columns import choose
    from calcert.sources.duckdb_table import Table, connect
    from calcert.sources.paths import resolve

    files, form = resolve(paths)
    with connect(limited=False) as engine:
        table = Table(engine, files, form)
        columns = table.columns()
        _check_name(groups, [column.name for column in columns])
        x, y = choose([c for c in columns if c.name != groups], score, label, table.name, table.first)
        rows = nw.from_native(table.with_groups(x, y, groups))
        return _from_frame(rows, "group", "score", "label")


def _check_name(groups: Any, columns: list[str]) -> None:
    if not isinstance(groups, str):
        raise TypeError(f"groups must name a column of the table; got {type(groups).__name__}.")
    if groups not in columns:
        known = ", ".join(map(repr, columns))
        raise ValueError(f"groups must be a column of the table; got {groups!r}. It has {known}.")


def _values(groups: Any) -> NDArray[Any]:
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


def _encode(groups: NDArray[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """The names of the groups, in order, and the number of each row's group."""
    if groups.dtype.kind in "iub":
        values, place = np.unique(groups, return_inverse=True)
        _refuse_many(values.size)
        return [_name(value) for value in values], place
    known: dict[str, int] = {}
    code = np.array([known.setdefault(_name(value), len(known)) for value in groups], np.int64)
    _refuse_many(len(known))
    names = sorted(known)
    rank = np.empty(len(names), np.int64)
    rank[[known[name] for name in names]] = np.arange(len(names))
    return names, rank[code]


def _refuse_many(count: int) -> None:
    if count > LIMIT:
        raise ValueError(
            f"groups must have at most {LIMIT:,} distinct values; got more. Is this a column that names every row?"
        )


def _name(value: Any) -> str:
    if value is None or value != value or str(value) in ("<NA>", "NaT"):
        return MISSING
    return str(value)
