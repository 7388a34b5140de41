"""Groups that may overlap: a list of them, each with the rows that belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.sources.arrays import check_indexes
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.groups.grouped import summarize_parts, weighed_columns
from calcert.sources.source_argument import refuse_ignored, source_of
from calcert.summary.summary import Summary


class Listed(NamedTuple):
    """The Summaries of the groups that have rows, the names of those without, and the rows that are in any group."""

    summaries: dict[str, Summary]
    empty: tuple[str, ...]
    rows: int


def summarize_listed(
    scores: Any,
    labels: Any,
    groups: Mapping[Any, Any],
    *,
    score: str | None = None,
    label: str | None = None,
    weighing: Weighing = PLAIN_ROWS,
) -> Listed:
    """The Summary of every group: `groups` maps names to columns that say of every row whether it belongs."""
    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    if not source.in_memory:
        raise TypeError(
            f"a mapping of groups must come with rows in memory; got {type(scores).__name__}. Read the rows into "
            "arrays or a data frame first, or pass the one column that names the group of every row."
        )
    if not groups:
        raise ValueError("groups must name at least one group; got none.")
    if source.kind == "table":
        from calcert.sources.engines.tables import chosen_columns, columns_in_memory

        chosen = chosen_columns(source.value, score, label, weighing)
        scores, labels, weighing = columns_in_memory(source.value, chosen, weighing)
    columns = weighed_columns(scores, labels, weighing)
    rows = columns[0].size
    members = {str(name): _members(str(name), column, scores, rows) for name, column in groups.items()}
    if len(members) < len(groups):
        raise ValueError("every group must have a name of its own, as text; got one twice.")
    there = {name: member for name, member in members.items() if member.any()}
    if not there:
        raise ValueError(f"groups must have rows; got {len(members)} groups without any.")
    summaries = summarize_parts(columns, weighing, {name: np.flatnonzero(member) for name, member in there.items()})
    empty = tuple(name for name in members if name not in there)
    return Listed(summaries, empty, int(np.logical_or.reduce(list(there.values())).sum()))


def _members(name: str, column: Any, scores: Any, rows: int) -> NDArray[np.bool_]:
    """Who belongs: one of True and False, or of 1 and 0, for every row."""
    check_indexes(**{"scores": scores, f"group {name!r}": column})
    values = np.asarray(column)
    if values.shape != (rows,):
        raise ValueError(
            f"group {name!r} must say of each of {rows} rows whether it belongs; got shape {values.shape}."
        )
    answers = [] if values.dtype == bool else values.tolist()
    row = next((row for row, value in enumerate(answers) if not _is_answer(value)), None)
    if row is not None:
        raise ValueError(
            f"group {name!r} must be True or False for every row; got {values[row]!r} at row {row}. For a column that "
            "names the group of every row pass it as groups, without a mapping."
        )
    return values.astype(bool)


def _is_answer(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and value in (0, 1)
