"""Rows by all values of several columns: one Summary for each combination of values that occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.sources.arrays import check_indexes, checked_pair
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.groups.group_names import (
    BETWEEN,
    MISSING,
    MOST_COMBINATIONS,
    group_name,
    group_values,
    numbered_groups,
    refuse_many,
    rows_of_groups,
)
from calcert.sources.groups.grouped import summarize_groups, summarize_parts, weighed_columns
from calcert.sources.source_argument import Source
from calcert.summary.summary import Summary

Combination = tuple[str, ...]
"""A value of each column, by its name."""

ABSENT = "\x1e"
"""What stands for a missing value in a column of combinations that an engine makes."""


class Segments(NamedTuple):
    """The names of the columns, the rows of every segment by partition, which is a column or a pair, and all rows."""

    columns: tuple[str, ...]
    partitions: dict[tuple[str, ...], dict[str, Summary]]
    rows: Summary


def summarize_segments(
    source: Source, labels: Any, groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> Segments:
    """The Summary of every value of some columns and every pair of values that occurs; a cluster is cut to its rows.

    `groups` are names of columns of a table or of files; or, beside arrays, a data frame as long as they are.
    """
    if weighing.given:
        return _of_clusters(source, labels, groups, score, label, weighing)
    columns, found = _combinations(source, labels, groups, score, label)
    return Segments(columns, {names: _joined(columns, names, found) for names in _pairs(columns)}, _sum(found.values()))


def _pairs(columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each column, and each pair of columns."""
    return [*((name,) for name in columns), *combinations(columns, 2)]


def _joined(
    columns: tuple[str, ...], names: tuple[str, ...], found: Mapping[Combination, Summary]
) -> dict[str, Summary]:
    """The rows of every segment of one partition, by its name."""
    places = [columns.index(name) for name in names]
    parts: dict[str, list[Summary]] = {}
    for values, part in found.items():
        parts.setdefault(_called(names, [values[place] for place in places]), []).append(part)
    return {name: _sum(each) for name, each in parts.items()}


def _called(names: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _sum(parts: Iterable[Summary]) -> Summary:
    first, *others = parts
    return first.plus(*others, disjoint=True)


def _of_clusters(
    source: Source, labels: Any, groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> Segments:
    """In memory: a cluster may have rows in several segments, so that sums of Summaries will not do."""
    if not source.in_memory:
        raise TypeError(
            "clusters must come with rows in memory where several columns of groups are named; got "
            f"{source.kind}. Read the rows into a data frame first, or name one column."
        )
    import narwhals as nw

    if source.kind == "arrays":
        frame = nw.from_native(groups, eager_only=True)
        check_indexes(scores=source.value, groups=groups)
        columns = tuple(frame.columns)
        rows = weighed_columns(source.value, labels, weighing)
    else:
        from calcert.sources.engines.tables import chosen_columns, columns_in_memory

        frame = source.value
        columns = _named_in(frame, groups, (score, label, weighing.clusters))
        rest = frame.drop(*columns)
        x, y, told = columns_in_memory(rest, chosen_columns(rest, score, label, weighing), weighing)
        rows = weighed_columns(x, y, told)
    values = {name: numbered_groups(_as_long(frame[name].to_list(), rows[0].size)) for name in columns}
    found = {names: summarize_parts(rows, weighing, _members(names, values)) for names in _pairs(columns)}
    return Segments(columns, found, summarize_parts(rows, weighing, {"": np.arange(rows[0].size)})[""])


def _members(names: tuple[str, ...], values: Mapping[str, tuple[list[str], Integers]]) -> dict[str, Integers]:
    """The rows of every segment of a partition."""
    called, code = values[names[0]]
    combined = [(name,) for name in called]
    for column in names[1:]:
        others, place = values[column]
        there, code = np.unique(code * len(others) + place, return_inverse=True)
        combined = [(*combined[k // len(others)], others[k % len(others)]) for k in there.tolist()]
    refuse_many(len(combined), MOST_COMBINATIONS)
    return {_called(names, combined[number]): rows for number, rows in rows_of_groups(code, len(combined))}


def _combinations(
    source: Source, labels: Any, groups: Any, score: str | None, label: str | None
) -> tuple[tuple[str, ...], dict[Combination, Summary]]:
    """The names of the columns, and the Summary of every combination of their values that occurs."""
    if source.kind == "arrays":
        import narwhals as nw

        frame = nw.from_native(groups, eager_only=True)
        check_indexes(scores=source.value, groups=groups)
        columns = tuple(frame.columns)
        return columns, _in_memory(source.value, labels, [frame[name].to_list() for name in columns])
    if source.kind == "files":
        from calcert.sources.file_summaries import file_summaries

        columns = checked_columns(groups, (score, label))
        found = file_summaries(source.value, score, label, PLAIN_ROWS, columns)
        return columns, {tuple(str(name).split(BETWEEN)): part for name, part in found.items()}
    columns = _named_in(source.value, groups, (score, label))
    return columns, _in_table(source, columns, score, label)


def _named_in(frame: Any, groups: Sequence[str], others: Sequence[Any]) -> tuple[str, ...]:
    from calcert.sources.columns import check_groups
    from calcert.sources.engines.tables import columns_in

    columns = checked_columns(groups, others)
    for name in columns:
        check_groups(name, columns_in(frame), "the table")
    return columns


def _as_long(column: Any, rows: int) -> NDArray[Any]:
    values = group_values(column)
    if values.size != rows:
        raise ValueError(f"groups must be as long as scores; got {values.size} values and {rows} scores.")
    return values


def checked_columns(groups: Sequence[str], others: Sequence[Any]) -> tuple[str, ...]:
    """Names of different columns, none of which is that of scores, labels or clusters."""
    columns, taken = tuple(groups), [name for name in others if isinstance(name, str)]
    if len({*columns}) < len(columns) or any(name in taken for name in columns):
        raise ValueError(
            f"groups must name different columns, none of them that of scores, labels or clusters; got {list(columns)}."
        )
    return columns


def _in_memory(scores: Any, labels: Any, columns: list[Any]) -> dict[Combination, Summary]:
    x, y = checked_pair(scores, labels)
    code, names = np.zeros(x.size, np.int64), [()]
    for column in columns:
        of_column, place = numbered_groups(_as_long(column, x.size))
        there, code = np.unique(code * len(of_column) + place, return_inverse=True)
        names = [(*names[k // len(of_column)], of_column[k % len(of_column)]) for k in there.tolist()]
        refuse_many(len(names), MOST_COMBINATIONS)
    parts = {str(number): rows for number, rows in rows_of_groups(code, len(names))}
    return {names[int(number)]: s for number, s in summarize_parts((x, y, {}), PLAIN_ROWS, parts).items()}


def _in_table(
    source: Source, columns: tuple[str, ...], score: str | None, label: str | None
) -> dict[Combination, Summary]:
    """In memory by arrays; else by one more column, in which the engine has the combination of every row."""
    import narwhals as nw

    from calcert.sources.engines.tables import chosen_columns, column_of, columns_in_memory

    frame = source.value
    if isinstance(frame, nw.DataFrame):
        rest = frame.drop(*columns)
        scores, labels, _ = columns_in_memory(rest, chosen_columns(rest, score, label), PLAIN_ROWS)
        return _in_memory(scores, labels, [frame[name].to_list() for name in columns])
    texts = [
        nw.when(column_of(frame, name).is_null()).then(nw.lit(ABSENT)).otherwise(column_of(frame, name).cast(nw.String))
        for name in columns
    ]
    joined = "calcert combination"
    table = frame.with_columns(nw.concat_str(texts, separator=BETWEEN).alias(joined)).drop(*columns)
    found = summarize_groups(table.to_native(), None, joined, score=score, label=label)
    return {tuple(_name(value) for value in name.split(BETWEEN)): part for name, part in found.items()}


def _name(value: str) -> str:
    return MISSING if value == ABSENT else group_name(value)
