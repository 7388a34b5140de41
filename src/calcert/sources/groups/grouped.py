"""Rows by group: one Summary for each value of a column, from every kind of source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.sources.arrays import check_indexes, checked_pair, summarize_arrays
from calcert.sources.columns import choose_all
from calcert.sources.groups.group_names import MISSING, MOST, group_values, numbered_groups, rows_of_groups
from calcert.sources.source_argument import refuse_ignored, source_of
from calcert.sources.units.weighing_options import PLAIN_ROWS, Weighing
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.query_result import Listing
from calcert.summary.summary import Summary

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
        from calcert.sources.file_summaries import file_summaries

        return {str(name): part for name, part in file_summaries(source.value, score, label, weighing, groups).items()}
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
    return {names[number]: rows for number, rows in rows_of_groups(code, len(names))}


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
