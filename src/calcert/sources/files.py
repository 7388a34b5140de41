"""Files, decoded by DuckDB and counted by the array kernel, batch by batch, or at once if they are small.

DuckDB decodes on its own threads and hands over batches in the order of the rows, so that an error can name file and
row. A few row groups are in memory at a time, and nothing is ever written to disk.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.progress import RowProgress
from calcert.foundation.validation import missing_message
from calcert.sources.arrays import Collector
from calcert.sources.columns import choose
from calcert.sources.duckdb_table import Table, connect
from calcert.sources.paths import Format, resolve
from calcert.summary.counts import Summary

BATCH = 1 << 17
"""Rows per batch."""

NAMES = ("scores", "labels")


class Taker(Protocol):
    """Whatever takes rows chunk by chunk, and knows how many it has got."""

    @property
    def rows(self) -> int: ...

    def add(self, scores: NDArray[Any], labels: NDArray[Any]) -> None: ...


Taking = TypeVar("Taking", bound=Taker)

Start = Callable[[Callable[[int], str], bool], Taking]
"""Makes a taker, given a function that says where a row stands, and whether the rows are few."""


def summarize_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None = None, label: str | None = None
) -> Summary:
    """The Summary of all rows of some files; folders and globs stand for the files in them."""
    return read_files(paths, score, label, lambda place, few: Collector(place, few=few)).summary()


def read_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None, label: str | None, start: Start[Taking]
) -> Taking:
    """What `start` made, when it has taken all rows of the files."""
    files, form = resolve(paths)
    try:
        return _read(files, form, score, label, start, limited=form == "parquet")
    except MemoryError:
        # Giant row groups: they need what they need.
        return _read(files, form, score, label, start, limited=False)


def _read(
    files: list[str], form: Format, score: str | None, label: str | None, start: Start[Taking], *, limited: bool
) -> Taking:
    import duckdb

    with connect(limited=limited) as engine:
        table = Table(engine, files, form)
        try:
            return _pass_on(table, score, label, start)
        except (duckdb.Error, OSError) as error:
            words = " ".join(str(error).strip().split("\n\n")[0].split())
            if "Out of Memory" in words:
                raise MemoryError(f"{table.name} needs more memory than there is: {words}") from error
            raise ValueError(
                f"{table.name} must be complete {form} with the same columns throughout; DuckDB says: {words} "
                "If the file was copied, copy it again; if there are several, summarise them apart."
            ) from error


def _pass_on(table: Table, score: str | None, label: str | None, start: Start[Taking]) -> Taking:
    columns = table.columns()
    if table.is_empty():
        raise ValueError(f"{table.name} must hold at least one row; got none.")
    x, y = choose(columns, score, label, table.name, table.first)
    table.check_same_types(x, y)
    # Once numba is loaded, reading by batches is the faster way for few rows, too.
    few = "numba" not in sys.modules and table.is_small()
    taker = start(table.place, few)
    if few:
        scores, labels = (_unmasked(*part, table.place) for part in zip(NAMES, table.whole(x, y), strict=True))
        taker.add(scores, labels)
        return taker
    with RowProgress(f"reading {table.name}") as progress:
        for batch in table.batches(x, y, BATCH):
            scores, labels = (
                _values(name, column, lambda row: table.place(taker.rows + row))
                for name, column in zip(NAMES, batch.columns, strict=True)
            )
            taker.add(scores, labels)
            progress.advance_to(taker.rows, table.share_read())
    return taker


def _values(name: str, column: Any, place: Callable[[int], str]) -> NDArray[Any]:
    """An Arrow column as NumPy, without a copy."""
    if column.null_count:
        first = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(missing_message(name, place(first)))
    values: NDArray[Any] = column.to_numpy()
    return values


def _unmasked(name: str, column: NDArray[Any], place: Callable[[int], str]) -> NDArray[Any]:
    """A column that DuckDB made for NumPy, of which no value may be missing."""
    if type(column) is np.ndarray:
        # Not even asking spares the import of numpy.ma.
        return column
    missing = np.ma.getmaskarray(column)
    if missing.any():
        raise ValueError(missing_message(name, place(int(np.argmax(missing)))))
    return np.ma.getdata(column)
