"""Files, decoded by DuckDB and counted by the array kernel, batch by batch.

DuckDB decodes on its own threads and hands over batches in the order of the rows, so that an error can name file and
row. A few row groups are in memory at a time, and nothing is ever written to disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.progress import RowProgress
from calcert.sources.arrays import Collector
from calcert.sources.columns import choose
from calcert.sources.embedded import Table, connect
from calcert.sources.paths import Format, resolve
from calcert.summary import Summary
from calcert.validation import missing_message

BATCH = 1 << 17
"""Rows per batch."""


def summarize_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None = None, label: str | None = None
) -> Summary:
    """The Summary of all rows of some files; folders and globs stand for the files in them."""
    files, form = resolve(paths)
    try:
        return _summarize(files, form, score, label, limited=form == "parquet")
    except MemoryError:
        # Giant row groups: they need what they need.
        return _summarize(files, form, score, label, limited=False)


def _summarize(files: list[str], form: Format, score: str | None, label: str | None, *, limited: bool) -> Summary:
    import duckdb

    with connect(limited=limited) as engine:
        table = Table(engine, files, form)
        try:
            return _count(table, score, label)
        except (duckdb.Error, OSError) as error:
            words = " ".join(str(error).strip().split("\n\n")[0].split())
            if "Out of Memory" in words:
                raise MemoryError(f"{table.name} needs more memory than there is: {words}") from error
            raise ValueError(
                f"{table.name} must be complete {form} with the same columns throughout; DuckDB says: {words} "
                "If the file was copied, copy it again; if there are several, summarise them apart."
            ) from error


def _count(table: Table, score: str | None, label: str | None) -> Summary:
    columns = table.columns()
    if table.is_empty():
        raise ValueError(f"{table.name} must hold at least one row; got none.")
    x, y = choose(columns, score, label, table.name, table.first)
    table.check_same_types(x, y)
    collector = Collector(table.place)
    with RowProgress(f"reading {table.name}") as progress:
        for batch in table.batches(x, y, BATCH):
            scores, labels = (
                _values(name, column, lambda row: table.place(collector.rows + row))
                for name, column in zip(("scores", "labels"), batch.columns, strict=True)
            )
            collector.add(scores, labels)
            progress.advance_to(collector.rows, table.share_read())
    return collector.summary()


def _values(name: str, column: Any, place: Any) -> NDArray[Any]:
    """An Arrow column as NumPy, without a copy."""
    if column.null_count:
        first = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(missing_message(name, place(first)))
    values: NDArray[Any] = column.to_numpy()
    return values
