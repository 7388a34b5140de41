"""Rows by group: one Summary for each value of a column, from every kind of source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.sources.arrays import check_indexes, pair, summarize_arrays
from calcert.sources.files import Kept
from calcert.sources.source_kinds import refuse_ignored, source_of
from calcert.sources.weighing import PLAIN_ROWS, Weighing, choose_all
from calcert.summary.summary import Summary

MISSING = "missing"
"""The group of rows that have none: shown like any other, never dropped."""

LIMIT = 1000
"""More values than this are no groups but names of rows."""


def summarize_groups(
    scores: Any,
    labels: Any,
    groups: Any,
    *,
    score: str | None = None,
    label: str | None = None,
    weighing: Weighing = PLAIN_ROWS,
) -> dict[str, Summary]:
    """The Summary of every group, by the group's name; a cluster is cut to the rows that it has in a group.

    `groups` is an array as long as the scores, or the name of a column where `scores` is a whole table.
    """
    if isinstance(groups, str) and groups in (score, label):
        raise ValueError(f"groups must be another column than score and label; got {groups!r} for both.")
    for name, other in weighing.columns.items():
        if isinstance(groups, str) and isinstance(other, str) and groups == other:
            raise ValueError(f"groups must be another column than {name}; got {groups!r} for both.")
    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    if source.kind == "summary":
        raise TypeError("groups must come with rows; got a Summary, which does not know whose rows it holds.")
    if source.kind == "files":
        return _from_files(source.value, groups, score, label, weighing)
    if source.kind == "table":
        return _from_frame(source.value, groups, score, label, weighing)
    if isinstance(groups, str):
        raise TypeError(f"groups must be an array as long as scores, as there is no table; got {groups!r}.")
    check_indexes(scores=scores, groups=groups)
    return _from_arrays(scores, labels, _values(groups), weighing)


def _from_arrays(scores: Any, labels: Any, groups: NDArray[Any], weighing: Weighing) -> dict[str, Summary]:
    columns = weighed_columns(scores, labels, weighing)
    if len(groups) != columns[0].size:
        raise ValueError(f"groups must be as long as scores; got {len(groups)} groups and {columns[0].size} scores.")
    return summarize_parts(columns, weighing, _parts(*_encode(groups)))


def weighed_columns(scores: Any, labels: Any, weighing: Weighing) -> tuple[Any, Any, dict[str, Any]]:
    """Checked columns in memory: of scores, of labels, and what says how rows come."""
    if not weighing.given:
        return *pair(scores, labels), {}
    from calcert.sources.weigher import columns_of

    return columns_of(scores, labels, weighing)


def summarize_parts(
    columns: tuple[Any, Any, dict[str, Any]], weighing: Weighing, parts: Mapping[str, NDArray[np.int64]]
) -> dict[str, Summary]:
    """The Summary of every part of the rows."""
    if weighing.given:
        from calcert.sources.weigher import weigh_parts

        return weigh_parts(columns, weighing, parts)
    x, y, _ = columns
    return {name: summarize_arrays(x[part], y[part]) for name, part in parts.items()}


def _parts(names: list[str], code: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """The rows of every group."""
    order = np.argsort(code, kind="stable")
    ends = np.searchsorted(code[order], np.arange(len(names) + 1))
    return {name: order[start:stop] for name, (start, stop) in zip(names, pairwise(ends), strict=True)}


def _from_frame(
    frame: Any, groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    """In memory by arrays; else one query for the groups and one for each of them, computed where the rows are."""
    import narwhals as nw

    from calcert.sources.columns import check_groups
    from calcert.sources.tables import columns_in, first, summarize_query
    from calcert.sources.weighed_tables import weigh_table

    check_groups(groups, columns_in(frame), "the table")
    kind = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    rest = [column for column in columns_in(frame) if column.name != groups]
    *chosen, others = choose_all(rest, score, label, weighing, kind, lambda name: first(frame, name))
    x, y = (column.name for column in chosen)
    if isinstance(frame, nw.DataFrame):
        given = {name: frame[column.name].to_native() for name, column in others.items()}
        columns = frame[x].to_native(), frame[y].to_native()
        return _from_arrays(*columns, _values(frame[groups].to_list()), replace(weighing, **given))
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
        part = frame.filter(here)
        summaries[name] = weigh_table(part, x, y, weighing) if weighing.given else summarize_query(part, x, y)
    rows, found = int(frame.select(nw.len()).collect().item()), sum(part.rows for part in summaries.values())
    if rows != found and weighing.counts is None:
        raise ValueError(
            f"every row must be in one group; got {rows:,} rows, and {found:,} in groups. The table changed between "
            f"two reads, or the engine cannot tell the values of {groups!r} apart: name groups by text."
        )
    return summaries


def _from_files(
    paths: Sequence[Any], groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    import narwhals as nw

    from calcert.sources.columns import check_groups
    from calcert.sources.exact_text import TextTable
    from calcert.sources.files import parquet_table, read_text
    from calcert.sources.paths import resolve
    from calcert.sources.spelling import PLAIN, account_of, spelling_of

    files, form = resolve(paths)
    spelling, account = spelling_of(paths), account_of(paths)
    if form != "parquet" or spelling != PLAIN:
        rows = TextTable(files, form, spelling, account)
        if weighing.given:
            return _weighed_text(rows, groups, score, label, weighing)
        return read_text(rows, score, label, lambda place, few: _Kept(place), groups).summaries()
    with parquet_table(files, limited=False) as table:
        columns = table.columns()
        check_groups(groups, columns, table.name)
        rest = [column for column in columns if column.name != groups]
        x, y, others = choose_all(rest, score, label, weighing, table.name, table.first)
        names = {name: column.name for name, column in others.items()}
        table.check_same(x.name, y.name, groups, *names.values())
        account.columns = {"score": x.name, "label": y.name, "groups": groups, **names}
        lazy = nw.from_native(table.with_others(x, y, {"group": groups, **names}))
        renamed: dict[str, Any] = {name: name for name in names}
        return _from_frame(lazy, "group", "score", "label", replace(weighing, **renamed))


def _weighed_text(
    table: Any, groups: str, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    from calcert.sources.weighed_files import text_batches
    from calcert.sources.weigher import Weigher

    # One that takes all rows says what is wrong with one, and where, before groups part them.
    every, known = Weigher(weighing, table.place), dict[str, int]()
    codes: list[int] = []
    kept: list[dict[str, NDArray[Any]]] = []
    for x, y, others, names in text_batches(table, score, label, weighing, groups):
        every.add(x, y, others)
        kept.append({"scores": x, "labels": y, **others})
        codes += [known.setdefault(_name(name or None), len(known)) for name in names]
        _refuse_many(len(known))
    whole = {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}
    columns = whole.pop("scores"), whole.pop("labels"), whole
    return summarize_parts(columns, weighing, _parts(*_in_order(known, np.array(codes, np.int64))))


class _Kept(Kept):
    """Keeps every row with the number of its group."""

    def __init__(self, place: Callable[[int], str]) -> None:
        super().__init__(place)
        self._known: dict[str, int] = {}
        self._codes: list[NDArray[np.int64]] = []

    def add(self, scores: NDArray[Any], labels: NDArray[Any], groups: Sequence[Any] = ()) -> None:
        super().add(scores, labels)
        codes = [self._known.setdefault(_name(group or None), len(self._known)) for group in groups]
        _refuse_many(len(self._known))
        self._codes.append(np.array(codes, np.int64))

    def summaries(self) -> dict[str, Summary]:
        parts = _parts(*_in_order(self._known, np.concatenate(self._codes)))
        return summarize_parts((*self.columns(), {}), PLAIN_ROWS, parts)


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
    return _in_order(known, code)


def _in_order(known: dict[str, int], code: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """The names that have been given numbers, sorted, and the numbers of the rows accordingly."""
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
