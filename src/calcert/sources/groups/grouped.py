"""Rows by group: one Summary for each value of a column, from every kind of source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.validation import Place, refuse_bad
from calcert.sources.arrays import check_indexes, checked_pair, summarize_arrays
from calcert.sources.collector import Collector
from calcert.sources.columns import choose_all
from calcert.sources.files.arrow_columns import numbers_of
from calcert.sources.groups.group_names import (
    MISSING,
    MOST,
    group_name,
    group_values,
    in_order,
    numbered_groups,
    refuse_many,
)
from calcert.sources.source_argument import refuse_ignored, source_of
from calcert.sources.units.weighing_options import PLAIN_ROWS, Weighing
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.query_result import Listing
from calcert.summary.summary import Summary

WAITING = 1 << 22
"""Rows of files that wait until they are given to their groups, so that even one of a thousand gets some thousand."""

LARGE = 1 << 19
"""Rows of a group that take as much memory as the table in which more of them are counted."""

NOTHING_LISTED = Listing(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


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
        return _groups_in_files(source.value, groups, score, label, weighing)
    if source.kind == "table":
        return _groups_in_frame(source.value, groups, score, label, weighing)
    if isinstance(groups, str):
        raise TypeError(f"groups must be an array as long as scores, as there is no table; got {groups!r}.")
    check_indexes(scores=scores, groups=groups)
    return _groups_in_arrays(scores, labels, group_values(groups), weighing)


def _groups_in_arrays(scores: Any, labels: Any, groups: NDArray[Any], weighing: Weighing) -> dict[str, Summary]:
    columns = weighed_columns(scores, labels, weighing)
    if len(groups) != columns[0].size:
        raise ValueError(f"groups must be as long as scores; got {len(groups)} groups and {columns[0].size} scores.")
    return summarize_parts(columns, weighing, _rows_by_group(*numbered_groups(groups)))


def weighed_columns(scores: Any, labels: Any, weighing: Weighing) -> tuple[Any, Any, dict[str, Any]]:
    """Checked columns in memory: of scores, of labels, and what says how rows come."""
    if not weighing.given:
        return *checked_pair(scores, labels), {}
    from calcert.sources.units.weighed_arrays import columns_of

    return columns_of(scores, labels, weighing)


def summarize_parts(
    columns: tuple[Any, Any, dict[str, Any]], weighing: Weighing, parts: Mapping[str, NDArray[np.int64]]
) -> dict[str, Summary]:
    """The Summary of every part of the rows."""
    if weighing.given:
        from calcert.sources.units.weighed_arrays import weigh_parts

        return weigh_parts(columns, weighing, parts)
    x, y, _ = columns
    return {name: summarize_arrays(x[part], y[part]) for name, part in parts.items()}


def _rows_by_group(names: list[str], code: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """The rows of every group."""
    # Sixteen bits are sorted without comparing.
    order = np.argsort(code.astype(np.uint16) if len(names) < 1 << 16 else code, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(code, minlength=len(names)))])
    return {name: order[start:stop] for name, (start, stop) in zip(names, pairwise(ends), strict=True)}


def _groups_in_frame(
    frame: Any, groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    """In memory by arrays, else computed where the rows are."""
    import narwhals as nw

    from calcert.sources.columns import check_groups
    from calcert.sources.engines.tables import columns_in, first

    check_groups(groups, columns_in(frame), "the table")
    kind = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    rest = [column for column in columns_in(frame) if column.name != groups]
    *chosen, others = choose_all(rest, score, label, weighing.columns, kind, lambda name: first(frame, name))
    x, y = (column.name for column in chosen)
    if isinstance(frame, nw.DataFrame):
        given = {name: frame[column.name].to_native() for name, column in others.items()}
        columns = frame[x].to_native(), frame[y].to_native()
        return _groups_in_arrays(*columns, group_values(frame[groups].to_list()), replace(weighing, **given))
    if weighing.given:
        return _weighed_by_query(frame, groups, x, y, weighing)
    return _groups_by_query(frame, groups, chosen)


def _groups_by_query(frame: Any, groups: str, chosen: list[Any]) -> dict[str, Summary]:
    """Three queries however many groups there are: for their names, for the cells of all, for the scores of all."""
    import narwhals as nw

    from calcert.sources.engines.tables import cells_by_group, column_of, complaint, number, placed, scores_by_group

    column = column_of(frame, groups)
    rows = frame.select(score=number(frame, chosen[0]), label=number(frame, chosen[1]), group=column)
    names = rows.group_by("group").agg(count=nw.len()).head(MOST + 1)
    numbered_groups(group_values(names.collect()["group"]))
    at = placed(rows, "group")
    group, lines = cells_by_group(at)
    if lines.rows.size == 0:
        raise ValueError("the table must hold at least one row; got none.")
    complaint(rows, lines, (chosen[0], chosen[1]))
    values = group_values(group)
    names, code = numbered_groups(values)
    parts = {name: lines.where(part) for name, part in _rows_by_group(names, code).items()}
    many = {name for name, part in parts.items() if np.unique(part.cell).size > DISTINCT_LIMIT}
    listed: dict[str, Listing | None] = {name: None if name in many else NOTHING_LISTED for name in parts}
    if len(many) < len(parts):
        examples = dict(zip(names, values[np.unique(code, return_index=True)[1]].tolist(), strict=True))
        group, listing, cut = scores_by_group(at, [examples[name] for name in many if name != MISSING])
        for name, part in _rows_by_group(*numbered_groups(group_values(group))).items():
            listed[name] = None if cut[part].any() else listing.where(part)
    if listed.keys() != parts.keys():
        raise ValueError(
            f"every row must be in one group; got rows of {len(parts)} groups, then of {len(listed)}. The table "
            "changed between two reads: summarise a fixed snapshot."
        )
    return {name: Summary.from_lines(part, listed[name]) for name, part in parts.items()}


def _weighed_by_query(frame: Any, groups: str, score: str, label: str, weighing: Weighing) -> dict[str, Summary]:
    """One query for the groups and a few for each of them, computed where the rows are."""
    import narwhals as nw

    from calcert.sources.engines.tables import column_of
    from calcert.sources.units.weighed_tables import weigh_table

    column = column_of(frame, groups)
    found = frame.select(group=column).unique().head(MOST + 1).collect()["group"].to_list()
    names, code = numbered_groups(group_values(found))
    summaries = {}
    for name, part in _rows_by_group(names, code).items():
        present = [found[place] for place in part if found[place] is not None]
        here = column.is_in(present) if present else column.is_null()
        if present and len(present) < len(part):
            here = here | column.is_null()
        summaries[name] = weigh_table(frame.filter(here), score, label, weighing)
    rows, there = int(frame.select(nw.len()).collect().item()), sum(part.rows for part in summaries.values())
    if rows != there and weighing.counts is None:
        raise ValueError(
            f"every row must be in one group; got {rows:,} rows, and {there:,} in groups. The table changed between "
            f"two reads, or the engine cannot tell the values of {groups!r} apart: name groups by text."
        )
    return summaries


def _groups_in_files(
    paths: Sequence[Any], groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    import narwhals as nw

    from calcert.sources.columns import check_groups
    from calcert.sources.files.duckdb_parquet import parquet_table
    from calcert.sources.files.files import read_files, text_or_parquet

    if not weighing.given:
        return read_files(paths, score, label, lambda place, few: ByGroup(place), groups).summaries()
    files, account, text = text_or_parquet(paths)
    if text is not None:
        return _weighed_text(text, groups, score, label, weighing)
    with parquet_table(files, limited=False) as table:
        columns = table.columns()
        check_groups(groups, columns, table.name)
        rest = [column for column in columns if column.name != groups]
        x, y, others = choose_all(rest, score, label, weighing.columns, table.name, table.first)
        names = {name: column.name for name, column in others.items()}
        table.check_same(x.name, y.name, groups, *names.values())
        account.columns = {"score": x.name, "label": y.name, "groups": groups, **names}
        lazy = nw.from_native(table.with_others(x, y, {"group": groups, **names}))
        renamed: dict[str, Any] = {name: name for name in names}
        return _groups_in_frame(lazy, "group", "score", "label", replace(weighing, **renamed))


def _weighed_text(
    table: Any, groups: str, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    from calcert.sources.units.weighed_arrays import Weigher
    from calcert.sources.units.weighed_files import text_batches

    # One that takes all rows says what is wrong with one, and where, before groups part them.
    every, known = Weigher(weighing, table.place), dict[str, int]()
    codes: list[int] = []
    kept: list[dict[str, NDArray[Any]]] = []
    for x, y, others, names in text_batches(table, score, label, weighing, groups):
        every.add(x, y, others)
        kept.append({"scores": x, "labels": y, **others})
        codes += [known.setdefault(group_name(None if name == "" else name), len(known)) for name in names]
        refuse_many(len(known))
    whole = {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}
    columns = whole.pop("scores"), whole.pop("labels"), whole
    return summarize_parts(columns, weighing, _rows_by_group(*in_order(known, np.array(codes, np.int64))))


class ByGroup:
    """Takes rows of files with their groups, chunk by chunk.

    `place` says in words where a row stands, for errors; rows are counted from 0 over all chunks.
    """

    def __init__(self, place: Place) -> None:
        self.rows = 0
        self._place = place
        self._known: dict[str, int] = {}
        self._waiting: list[tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]] = []
        self._waiting_rows = 0
        self._groups: defaultdict[str, _RowsOfGroup] = defaultdict(_RowsOfGroup)

    def add(self, scores: NDArray[Any], labels: NDArray[Any], groups: Any = ()) -> None:
        """Add rows; `groups` is a list, or a column of Arrow."""
        refuse_bad(scores, labels, lambda row: self._place(self.rows + row))
        self._waiting.append((scores.astype(np.float64), labels.astype(np.int8), self._group_numbers(groups)))
        self.rows += scores.size
        self._waiting_rows += scores.size
        if self._waiting_rows >= WAITING:
            self.settle()

    def settle(self) -> None:
        """Give rows that wait to their groups."""
        if self._waiting:
            x, y, code = (np.concatenate(part) for part in zip(*self._waiting, strict=True))
            for name, part in _rows_by_group(list(self._known), code).items():
                if part.size:
                    self._groups[name].add(x[part], y[part])
        self._waiting, self._waiting_rows = [], 0

    def summaries(self) -> dict[str, Summary]:
        """The Summary of every group, by its name."""
        return {name: self._groups[name].summary() for name in sorted(self._known)}

    def _group_numbers(self, groups: Any) -> NDArray[np.int64]:
        if isinstance(groups, (list, tuple)):
            return self._numbers_of_values([None if group == "" else group for group in groups])
        try:
            encoded = groups.dictionary_encode("encode")
        except NotImplementedError:  # of columns inside of columns
            return self._numbers_of_values(groups.to_pylist())
        number: NDArray[np.int64] = self._numbers_of_values(encoded.dictionary.to_pylist())[numbers_of(encoded.indices)]
        return number

    def _numbers_of_values(self, values: Sequence[Any]) -> NDArray[np.int64]:
        code = [self._known.setdefault(group_name(value), len(self._known)) for value in values]
        refuse_many(len(self._known))
        return np.array(code, np.int64)


class _RowsOfGroup:
    """The rows of a group: kept while they are few, then counted."""

    def __init__(self) -> None:
        self._rows = 0
        self._kept: list[tuple[NDArray[np.float64], NDArray[np.int8]]] = []
        self._collector: Collector | None = None

    def add(self, scores: NDArray[np.float64], labels: NDArray[np.int8]) -> None:
        self._rows += scores.size
        if self._collector is None:
            self._kept.append((scores, labels))
            if self._rows < LARGE:
                return
            self._collector, (scores, labels) = Collector(threads=1), self._kept_of_group()
            self._kept = []
        self._collector.add(scores, labels)

    def summary(self) -> Summary:
        return summarize_arrays(*self._kept_of_group()) if self._collector is None else self._collector.summary()

    def _kept_of_group(self) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        scores, labels = zip(*self._kept, strict=True)
        return np.concatenate(scores), np.concatenate(labels)
