"""Files with columns of clusters, weights or counts: batch by batch, or by DuckDB's GROUP BY where names are text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.progress import RowProgress
from calcert.sources.cluster_names import Numbering
from calcert.sources.columns import Column
from calcert.sources.duckdb_table import SMALL_INTEGER, Table
from calcert.sources.exact_text import TextTable
from calcert.sources.files import arrow_values, parquet_table
from calcert.sources.paths import resolve
from calcert.sources.spelling import PLAIN, account_of, spelling_of
from calcert.sources.values_in_text import Unreadable, score_in_text
from calcert.sources.weigher import CHUNK, Weigher
from calcert.sources.weighing import Weighing, choose_all
from calcert.summary.counts import Summary


def weigh_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None, label: str | None, weighing: Weighing
) -> Summary:
    """The Summary of all rows of some files, with the columns of clusters, weights or counts that were named."""
    files, form = resolve(paths)
    spelling, account = spelling_of(paths), account_of(paths)
    if form != "parquet" or spelling != PLAIN:
        return _text(TextTable(files, form, spelling, account), score, label, weighing)
    with parquet_table(files, limited=False) as table:
        if table.rows == 0:
            raise ValueError(f"{table.name} must hold at least one row; got none.")
        x, y, others = choose_all(table.columns(), score, label, weighing, table.name, table.first)
        table.check_same(x.name, y.name, *(column.name for column in others.values()))
        account.columns = {"score": x.name, "label": y.name} | {name: c.name for name, c in others.items()}
        if "clusters" not in others or others["clusters"].type in SMALL_INTEGER:
            return _batches(table, x, y, others, weighing)
        # Engines have imports of their own: only those who bring them pay.
        import narwhals as nw

        from calcert.sources.weighed_tables import weigh_table

        given = {name: column.name for name, column in others.items()}
        rows: Any = nw.from_native(table.with_others(x, y, given))
        if weighing.in_memory:
            rows = rows.collect()
        named: dict[str, Any] = {name: name for name in others}
        return weigh_table(rows, "score", "label", replace(weighing, **named))


def _batches(table: Table, score: Column, label: Column, others: dict[str, Column], weighing: Weighing) -> Summary:
    weigher = Weigher(weighing, table.place)
    names = ["scores", "labels", *others]
    with RowProgress(f"reading {table.name}") as progress:
        for batch in table.batches(score, label, CHUNK, list(others.values())):
            x, y, *more = (
                arrow_values(name, column, lambda row: table.place(weigher.rows + row))
                for name, column in zip(names, batch.columns, strict=True)
            )
            weigher.add(x, y, dict(zip(others, more, strict=True)))
            progress.advance_to(weigher.rows, table.share_read())
    if weigher.rows != table.rows:
        raise ValueError(
            f"{table.name} must be complete parquet; it says that it has {table.rows:,} rows, and {weigher.rows:,} "
            "were found. Write it again."
        )
    return weigher.summary()


def _text(table: TextTable, score: str | None, label: str | None, weighing: Weighing) -> Summary:
    x, y, others = choose_all(table.columns(), score, label, weighing, table.name)
    table.check_names(x.name, y.name, given=score is not None and label is not None)
    names = tuple(column.name for column in others.values())
    table.account.columns = {"score": x.name, "label": y.name} | {name: c.name for name, c in others.items()}
    batches = table.batches(x.name, y.name, others=names)
    weigher, numbering = Weigher(weighing, table.place), Numbering(table.place)
    with closing(batches), RowProgress(f"reading {table.name}") as progress:
        for batch in batches:
            columns = {name: batch.groups[place :: len(names)] for place, name in enumerate(others)}
            read = {
                name: numbering.numbers([_name(value) for value in values])
                if name == "clusters"
                else _numbers(name, values, lambda row: table.place(weigher.rows + row))
                for name, values in columns.items()
            }
            weigher.add(batch.scores, batch.labels, read)
            progress.advance_to(weigher.rows, table.share_read())
    if not weigher.rows:
        raise ValueError(f"{table.name} must hold at least one row; got none.")
    return weigher.summary()


def _name(value: Any) -> Any:
    """The name of a cluster as it is written; in JSON a number may be one."""
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _numbers(name: str, values: Sequence[Any], place: Callable[[int], str]) -> NDArray[np.float64]:
    found = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            found[row] = score_in_text(value) if isinstance(value, str) else float(value)
        except (Unreadable, TypeError, ValueError):
            raise ValueError(f"{name} must be numbers; got {value!r} {place(row)}.") from None
    return found
