"""Rows of many groups: one Summary for each value of a column, each name of a list, or each pair of attributes.

Columns in memory are parted by the numbers of their rows; files and engines count every group where the rows are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.refused_values import Place
from calcert.sources.arrays import check_indexes, checked_pair, summarize_arrays
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.groups.group_names import (
    BETWEEN,
    MISSING,
    MOST_COMBINATIONS,
    group_name,
    group_values,
    numbered_groups,
    refuse_many,
    rows_by_name,
    rows_of_groups,
)
from calcert.sources.groups.rows_by_group import RowsBySegment
from calcert.sources.source_argument import Source, refuse_ignored, source_of
from calcert.summary.summary import Summary

Combination = tuple[str, ...]
"""A value of each column, by its name."""

Columns = tuple[Any, Any, dict[str, Any]]
"""Checked columns in memory: of scores, of labels, and what says how rows come."""

ABSENT = "\x1e"
"""What stands for a missing value in a column of combinations that an engine makes."""


class Listed(NamedTuple):
    """The Summaries of the groups that have rows, the names of those without, and the rows that are in any group."""

    summaries: dict[str, Summary]
    empty: tuple[str, ...]
    rows: int


class Segments(NamedTuple):
    """The names of the columns, the rows of every segment by partition, which is a column or a pair, and all rows."""

    columns: tuple[str, ...]
    partitions: dict[tuple[str, ...], dict[str, Summary]]
    rows: Summary


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
    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    if source.kind == "files":
        from calcert.sources.file_summaries import file_summaries

        return {str(name): part for name, part in file_summaries(source.value, score, label, weighing, groups).items()}
    if source.kind == "table":
        from calcert.sources.engines.query_plan import table_summaries
        from calcert.sources.engines.tables import chosen_columns

        frame, chosen = source.value, chosen_columns(source.value, score, label, weighing, groups)
        if frame.implementation.is_dask() and weighing.clusters is not None:
            # Its windows do not go with what else is asked: the columns are fetched.
            source = source._replace(value=frame.select(*chosen.names).collect())
        if not source.in_memory:
            return {str(name): part for name, part in table_summaries(frame, chosen, weighing).items()}
        columns = _in_memory(source, labels, chosen.score.name, chosen.label.name, weighing)
        values = group_values(source.value[groups].to_list())
    else:
        if isinstance(groups, str):
            raise TypeError(f"groups must be an array as long as scores, as there is no table; got {groups!r}.")
        check_indexes(scores=scores, groups=groups)
        values, columns = group_values(groups), _in_memory(source, labels, score, label, weighing)
    return _of_parts(columns, weighing, rows_by_name(_as_long(values, columns[0].size)))


def summarize_listed(
    scores: Any,
    labels: Any,
    groups: Mapping[Any, Any],
    *,
    score: str | None = None,
    label: str | None = None,
    weighing: Weighing = PLAIN_ROWS,
) -> Listed:
    """The Summary of every group, which may overlap: `groups` maps names to columns that say which rows belong."""
    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    if not source.in_memory:
        raise TypeError(
            f"a mapping of groups must come with rows in memory; got {type(scores).__name__}. Read the rows into "
            "arrays or a data frame first, or pass the one column that names the group of every row."
        )
    if not groups:
        raise ValueError("groups must name at least one group; got none.")
    columns = _in_memory(source, labels, score, label, weighing)
    members = {str(name): _members(str(name), column, scores, columns[0].size) for name, column in groups.items()}
    if len(members) < len(groups):
        raise ValueError("every group must have a name of its own, as text; got one twice.")
    there = {name: member for name, member in members.items() if member.any()}
    if not there:
        raise ValueError(f"groups must have rows; got {len(members)} groups without any.")
    summaries = _of_parts(columns, weighing, {name: np.flatnonzero(member) for name, member in there.items()})
    empty = tuple(name for name in members if name not in there)
    return Listed(summaries, empty, int(np.logical_or.reduce(list(there.values())).sum()))


def summarize_segments(
    source: Source, labels: Any, groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> Segments:
    """The Summary of every value of some columns and every pair of values that occurs; a cluster is cut to its rows.

    `groups` are names of columns of a table or of files; or, beside arrays, a data frame as long as they are.
    """
    columns = _names_of(source, groups, (score, label, weighing.clusters))
    partitions: list[tuple[str, ...]] = [*((name,) for name in columns), *combinations(columns, 2)]
    if weighing.given and not source.in_memory:
        # A cluster may have rows in several segments, so that sums of Summaries will not do.
        *each, everything = _with_clusters(source, columns, [*partitions, ()], score, label, weighing)
        parted = zip(partitions, each, strict=True)
        return Segments(columns, {names: _called(names, parts) for names, parts in parted}, *everything.values())
    if source.kind == "files":
        from calcert.sources.file_summaries import file_summaries

        parts = file_summaries(source.value, score, label, PLAIN_ROWS, columns)
        found = {tuple(str(name).split(BETWEEN)): part for name, part in parts.items()}
    elif not source.in_memory:
        found = _in_engine(source.value, columns, columns, score, label, weighing)
    else:
        rows = _in_memory(source, labels, score, label, weighing, columns if source.kind == "table" else ())
        frame, size = _frame_of(source, groups), rows[0].size
        numbers = {name: numbered_groups(_as_long(group_values(frame[name].to_list()), size)) for name in columns}
        if weighing.given:
            by_cluster = {}
            for names in partitions:
                of_names = _combined([numbers[name] for name in names], size)
                by_cluster[names] = _called(names, _of_parts(rows, weighing, of_names))
            return Segments(columns, by_cluster, _of_parts(rows, weighing, {"": np.arange(size)})[""])
        found = _of_parts(rows, weighing, _combined(list(numbers.values()), size))
    by_partition = {}
    for names in partitions:
        places, joined = [columns.index(name) for name in names], dict[Combination, list[Summary]]()
        for values, part in found.items():
            joined.setdefault(tuple(values[place] for place in places), []).append(part)
        by_partition[names] = _called(names, {key: _sum(each) for key, each in joined.items()})
    return Segments(columns, by_partition, _sum(found.values()))


def _with_clusters(
    source: Source,
    columns: Sequence[str],
    partitions: Sequence[tuple[str, ...]],
    score: str | None,
    label: str | None,
    weighing: Weighing,
) -> list[dict[Combination, Summary]]:
    """The segments of each partition, from files in one pass, from an engine by queries for each."""
    if source.kind == "table":
        return [_in_engine(source.value, names, columns, score, label, weighing) for names in partitions]
    from calcert.sources.file_summaries import read_files

    places = [tuple(columns.index(name) for name in names) for names in partitions]
    named = {f"groups{place or ''}": column for place, column in enumerate(columns)}

    def start(place: Place, known: Mapping[str, int]) -> RowsBySegment:
        return RowsBySegment(weighing, place, known, places)

    found: list[dict[Combination, Summary]] = read_files(source.value, score, label, start, weighing, named).summaries()
    return found


def _in_memory(
    source: Source, labels: Any, score: str | None, label: str | None, weighing: Weighing, without: Sequence[str] = ()
) -> Columns:
    """The columns of arrays, or of a data frame, scores and labels not looked for in those to do `without`."""
    scores = source.value
    if source.kind == "table":
        from calcert.sources.engines.tables import chosen_columns, columns_in_memory

        frame = scores.drop(*without)
        chosen = chosen_columns(frame, score, label, weighing)
        scores, labels, weighing = columns_in_memory(frame, chosen, weighing)
    if not weighing.given:
        return *checked_pair(scores, labels), {}
    from calcert.sources.clusters.weighed_columns import columns_of

    return columns_of(scores, labels, weighing)


def _of_parts(columns: Columns, weighing: Weighing, parts: Mapping[Any, Integers]) -> dict[Any, Summary]:
    """The Summary of every part of the rows."""
    if weighing.given:
        from calcert.sources.clusters.weighed_columns import weigh_parts

        return weigh_parts(columns, weighing, parts)
    x, y, _ = columns
    return {name: summarize_arrays(x[part], y[part]) for name, part in parts.items()}


def _members(name: str, column: Any, scores: Any, rows: int) -> NDArray[np.bool_]:
    """Who belongs: one of True and False, or of 1 and 0, for every row."""
    check_indexes(**{"scores": scores, f"group {name!r}": column})
    values = np.asarray(column)
    if values.shape != (rows,):
        raise ValueError(
            f"group {name!r} must say of each of {rows} rows whether it belongs; got shape {values.shape}."
        )
    answers = [] if values.dtype == bool else values.tolist()
    bad = (row for row, value in enumerate(answers) if not isinstance(value, (bool, int, float)) or value not in (0, 1))
    row = next(bad, None)
    if row is not None:
        raise ValueError(
            f"group {name!r} must be True or False for every row; got {values[row]!r} at row {row}. For a column that "
            "names the group of every row pass it as groups, without a mapping."
        )
    return values.astype(bool)


def _as_long(values: NDArray[Any], rows: int) -> NDArray[Any]:
    if values.size != rows:
        raise ValueError(f"groups must be as long as scores; got {values.size} groups and {rows} scores.")
    return values


def _frame_of(source: Source, groups: Any) -> Any:
    """The data frame that has the attributes of rows in memory."""
    import narwhals as nw

    return source.value if source.kind == "table" else nw.from_native(groups, eager_only=True)


def _names_of(source: Source, groups: Any, others: Sequence[Any]) -> tuple[str, ...]:
    """Names of different columns, none of which is that of scores, labels or clusters."""
    if source.kind == "arrays":
        check_indexes(scores=source.value, groups=groups)
        return tuple(_frame_of(source, groups).columns)
    columns, taken = tuple(groups), [name for name in others if isinstance(name, str)]
    if len({*columns}) < len(columns) or any(name in taken for name in columns):
        raise ValueError(
            f"groups must name different columns, none of them that of scores, labels or clusters; got {list(columns)}."
        )
    if source.kind == "table":
        from calcert.sources.columns import check_groups
        from calcert.sources.engines.tables import columns_in

        known = columns_in(source.value)
        for name in columns:
            check_groups(name, known, "the table")
    return columns


def _combined(numbers: Sequence[tuple[list[str], Integers]], rows: int) -> dict[Combination, Integers]:
    """The rows of every combination of values that occurs."""
    combined: list[Combination] = [()]
    code = np.zeros(rows, np.int64)
    for names, place in numbers:
        there, code = np.unique(code * len(names) + place, return_inverse=True)
        combined = [(*combined[k // len(names)], names[k % len(names)]) for k in there.tolist()]
        refuse_many(len(combined), MOST_COMBINATIONS)
    return {combined[number]: rows for number, rows in rows_of_groups(code, len(combined))}


def _called(names: Sequence[str], parts: Mapping[Combination, Summary]) -> dict[str, Summary]:
    """Segments by what they are called, no two of them alike: names and values that could be taken apart are quoted."""
    return {
        ", ".join(f"{_quoted(name)}={_quoted(value)}" for name, value in zip(names, values, strict=True)): part
        for values, part in parts.items()
    }


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if any(mark in text for mark in '=,"') else text


def _sum(parts: Iterable[Summary]) -> Summary:
    first, *others = parts
    return first.plus(*others, disjoint=True)


def _in_engine(
    frame: Any, names: Sequence[str], columns: Sequence[str], score: str | None, label: str | None, weighing: Weighing
) -> dict[Combination, Summary]:
    """By one more column, in which the engine has what some of the `columns` of every row hold."""
    import narwhals as nw

    from calcert.sources.engines.query_plan import table_summaries
    from calcert.sources.engines.tables import chosen_columns, column_of

    texts = [
        nw.when(column_of(frame, name).is_null()).then(nw.lit(ABSENT)).otherwise(column_of(frame, name).cast(nw.String))
        for name in names
    ]
    joined = "calcert combination"
    combination = nw.concat_str(texts, separator=BETWEEN) if texts else nw.lit("")
    table = frame.with_columns(combination.alias(joined)).drop(*columns)
    found = table_summaries(table, chosen_columns(table, score, label, weighing, groups=joined), weighing)
    return {
        tuple(MISSING if value == ABSENT else group_name(value) for value in str(name).split(BETWEEN)): part
        for name, part in found.items()
    }
