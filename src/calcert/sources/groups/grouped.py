"""Rows by group: one Summary for each value of a column, from every kind of source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.sources.arrays import check_indexes, checked_pair, summarize_arrays
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.groups.group_names import group_values, rows_by_name
from calcert.sources.source_argument import refuse_ignored, source_of
from calcert.summary.summary import Summary


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
        return _groups_in_table(source.value, groups, score, label, weighing)
    if isinstance(groups, str):
        raise TypeError(f"groups must be an array as long as scores, as there is no table; got {groups!r}.")
    check_indexes(scores=scores, groups=groups)
    return _groups_in_arrays(scores, labels, group_values(groups), weighing)


def _groups_in_arrays(scores: Any, labels: Any, groups: NDArray[Any], weighing: Weighing) -> dict[str, Summary]:
    columns = weighed_columns(scores, labels, weighing)
    if len(groups) != columns[0].size:
        raise ValueError(f"groups must be as long as scores; got {len(groups)} groups and {columns[0].size} scores.")
    return summarize_parts(columns, weighing, rows_by_name(groups))


def weighed_columns(scores: Any, labels: Any, weighing: Weighing) -> tuple[Any, Any, dict[str, Any]]:
    """Checked columns in memory: of scores, of labels, and what says how rows come."""
    if not weighing.given:
        return *checked_pair(scores, labels), {}
    from calcert.sources.clusters.weighed_columns import columns_of

    return columns_of(scores, labels, weighing)


def summarize_parts(
    columns: tuple[Any, Any, dict[str, Any]], weighing: Weighing, parts: Mapping[str, NDArray[np.int64]]
) -> dict[str, Summary]:
    """The Summary of every part of the rows."""
    if weighing.given:
        from calcert.sources.clusters.weighed_columns import weigh_parts

        return weigh_parts(columns, weighing, parts)
    x, y, _ = columns
    return {name: summarize_arrays(x[part], y[part]) for name, part in parts.items()}


def _groups_in_table(
    frame: Any, groups: Any, score: str | None, label: str | None, weighing: Weighing
) -> dict[str, Summary]:
    """In memory by arrays, else computed where the rows are."""
    import narwhals as nw

    from calcert.sources.engines.query_plan import table_summaries
    from calcert.sources.engines.tables import chosen_columns, columns_in_memory

    chosen = chosen_columns(frame, score, label, weighing, groups)
    if frame.implementation.is_dask() and weighing.clusters is not None:
        # Its windows do not go with what else is asked: the columns are fetched.
        frame = frame.select(*chosen.names).collect()
    if not isinstance(frame, nw.DataFrame):
        return {str(name): part for name, part in table_summaries(frame, chosen, weighing).items()}
    scores, labels, weighing = columns_in_memory(frame, chosen, weighing)
    return _groups_in_arrays(scores, labels, group_values(frame[groups].to_list()), weighing)
