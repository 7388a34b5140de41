"""Files with columns of clusters, weights or counts, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.progress import RowProgress
from calcert.foundation.validation import Place
from calcert.sources.columns import Column, check_groups, choose_all
from calcert.sources.files.arrow_columns import arrow_values
from calcert.sources.files.duckdb_parquet import ParquetTable, parquet_table
from calcert.sources.files.files import text_or_parquet
from calcert.sources.files.files_row_by_row import TextTable
from calcert.sources.parsed_values import Reading
from calcert.sources.units.cluster_names import Numbering
from calcert.sources.units.weighed_arrays import CHUNK, Weigher
from calcert.sources.units.weighing_options import Weighing
from calcert.summary.summary import Summary


def weigh_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None, label: str | None, weighing: Weighing
) -> Summary:
    """The Summary of all rows of some files, with the columns of clusters, weights or counts that were named."""
    files, account, text = text_or_parquet(paths)
    if text is not None:
        weigher = Weigher(weighing, text.place)
        for scores, labels, given, _ in text_batches(text, score, label, weighing):
            weigher.add(scores, labels, given)
        return weigher.summary()
    with parquet_table(files, limited=False) as table:
        if table.rows == 0:
            raise ValueError(f"{table.name} must hold at least one row; got none.")
        x, y, others = choose_all(table.columns(), score, label, weighing.columns, table.name, table.first)
        table.check_same(x.name, y.name, *(column.name for column in others.values()))
        account.columns = {"score": x.name, "label": y.name} | {name: c.name for name, c in others.items()}
        return _weigh_parquet(table, x, y, others, weighing)


def _weigh_parquet(
    table: ParquetTable, score: Column, label: Column, others: dict[str, Column], weighing: Weighing
) -> Summary:
    weigher, numbering = Weigher(weighing, table.place), Numbering(table.place)
    names = ["scores", "labels", *others]

    def values(name: str, column: Any) -> NDArray[Any]:
        if name == "clusters":
            return numbering.arrow_numbers(column)
        return arrow_values(name, column, lambda row: table.place(weigher.rows + row))

    with RowProgress(f"reading {table.name}") as progress:
        for batch in table.batches(score, label, CHUNK, others):
            x, y, *more = (values(name, column) for name, column in zip(names, batch.columns, strict=True))
            weigher.add(x, y, dict(zip(others, more, strict=True)))
            progress.advance_to(weigher.rows, table.share_read())
    table.check_complete(weigher.rows)
    return weigher.summary()


def text_batches(
    table: TextTable, score: str | None, label: str | None, weighing: Weighing, group: str | None = None
) -> Iterator[tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]], Sequence[Any]]]:
    """Scores, labels, the columns of clusters, weights or counts, and groups where they are named, batch by batch."""
    columns = table.columns()
    with table.named_columns():
        if group is not None:
            check_groups(group, columns, table.name)
            columns = [column for column in columns if column.name != group]
        x, y, others = choose_all(columns, score, label, weighing.columns, table.name)
    table.check_names(x.name, y.name, given=score is not None and label is not None)
    named = {name: column.name for name, column in others.items()} | ({} if group is None else {"groups": group})
    table.account.columns = {"score": x.name, "label": y.name, **named}
    numbering, rows = Numbering(table.place), 0
    batches = table.batches(x.name, y.name, group, tuple(column.name for column in others.values()))
    with closing(batches), RowProgress(f"reading {table.name}") as progress:
        for batch in batches:
            values = [batch.groups[place :: len(named)] for place in range(len(named))]
            read = {
                name: numbering.numbers([_cluster_name(value) for value in found])
                if name == "clusters"
                else _weights_as_numbers(name, found, table.spelling, lambda row, rows=rows: table.place(rows + row))  # type: ignore[misc]
                for name, found in zip(others, values, strict=False)
            }
            yield batch.scores, batch.labels, read, values[-1] if group is not None else ()
            rows += batch.scores.size
            progress.advance_to(rows, table.share_read())
    if not rows:
        raise table.without_rows()


def _cluster_name(value: Any) -> Any:
    """The name of a cluster as it is written, without blanks around it; in JSON a number may be one."""
    if isinstance(value, str):
        return value.strip()
    return value if value is None or isinstance(value, int) else str(value)


def _weights_as_numbers(name: str, values: Sequence[Any], spelling: Reading, place: Place) -> NDArray[np.float64]:
    found = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            # None is no number, which float says.
            found[row] = float(spelling.number(value) if isinstance(value, str) else value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be numbers; got {value!r} {place(row)}.") from None
    return found
