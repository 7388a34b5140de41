"""Rows by all values of several columns: one Summary for each combination of values that occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calcert.sources.arrays import check_indexes, checked_pair
from calcert.sources.clusters.weighing_options import PLAIN_ROWS
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
from calcert.sources.groups.grouped import summarize_groups, summarize_parts
from calcert.sources.source_argument import Source
from calcert.summary.summary import Summary

Combination = tuple[str, ...]
"""A value of each column, by its name."""

ABSENT = "\x1e"
"""What stands for a missing value in a column of combinations that an engine makes."""


def summarize_combinations(
    source: Source, labels: Any, groups: Any, score: str | None, label: str | None
) -> tuple[tuple[str, ...], dict[Combination, Summary]]:
    """The names of the columns, and the Summary of every combination of their values that occurs.

    `groups` are names of columns of a table or of files; or, beside arrays, a data frame as long as they are.
    """
    if source.kind == "arrays":
        import narwhals as nw

        frame = nw.from_native(groups, eager_only=True)
        check_indexes(scores=source.value, groups=groups)
        columns = tuple(frame.columns)
        return columns, _in_memory(source.value, labels, [frame[name].to_list() for name in columns])
    columns = checked_columns(groups, (score, label))
    if source.kind == "files":
        from calcert.sources.file_summaries import file_summaries

        found = file_summaries(source.value, score, label, PLAIN_ROWS, columns)
        return columns, {tuple(str(name).split(BETWEEN)): part for name, part in found.items()}
    return columns, _in_table(source, columns, score, label)


def checked_columns(groups: Sequence[str], others: Sequence[str | None]) -> tuple[str, ...]:
    """Names of different columns, none of which is that of scores or labels."""
    columns = tuple(groups)
    if len({*columns}) < len(columns) or any(name in others for name in columns):
        raise ValueError(
            f"groups must name different columns, none of them that of scores or labels; got {list(columns)}."
        )
    return columns


def _in_memory(scores: Any, labels: Any, columns: list[Any]) -> dict[Combination, Summary]:
    x, y = checked_pair(scores, labels)
    code, names = np.zeros(x.size, np.int64), [()]
    for column in columns:
        values = group_values(column)
        if values.size != x.size:
            raise ValueError(f"groups must be as long as scores; got {values.size} values and {x.size} scores.")
        of_column, place = numbered_groups(values)
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

    from calcert.sources.columns import check_groups
    from calcert.sources.engines.tables import chosen_columns, column_of, columns_in, columns_in_memory

    frame = source.value
    for name in columns:
        check_groups(name, columns_in(frame), "the table")
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
