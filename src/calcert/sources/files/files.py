"""Files, decoded by engines or by ourselves and counted by the array kernel, batch by batch, or at once if small.

Parquet is decoded by DuckDB on its own threads, in the order of the rows, so that an error can name file and row. Text
is read exactly where it is small, and otherwise fast, with the exact reader in reserve. A few row groups are in memory
at a time, nothing is ever written to disk, and every row that a file has must have been counted in the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.progress import RowProgress
from calcert.foundation.validation import NoRows, Place, refuse_bad
from calcert.sources.collector import Collector
from calcert.sources.columns import Column, check_groups, choose
from calcert.sources.few_rows import count_few
from calcert.sources.files.arrow_columns import arrow_values, unmasked
from calcert.sources.files.duckdb_parquet import ParquetTable, parquet_table
from calcert.sources.files.files_row_by_row import Batch, TextTable
from calcert.sources.files.paths import remark_on_copies, resolve
from calcert.sources.files.reading_account import Account, Files
from calcert.sources.overlooked_columns import LOOKED_AT, remark_on_clusters
from calcert.sources.parsed_values import PLAIN
from calcert.summary.summary import Summary

BATCH = 1 << 17
"""Rows per batch."""

SMALL = 1 << 20
"""Bytes of text that are read exactly before an engine would be loaded."""

NAMES = ("scores", "labels")


class Taker(Protocol):
    """Whatever takes rows chunk by chunk, and knows how many it has got; when it has settled, it has looked at all."""

    @property
    def rows(self) -> int: ...

    @property
    def add(self) -> Callable[..., None]: ...

    def settle(self) -> None: ...


Taking = TypeVar("Taking", bound=Taker)

Start = Callable[[Place, bool], Taking]
"""Makes a taker, given a function that says where a row stands, and whether the rows are few."""


def summarize_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None = None, label: str | None = None
) -> Summary:
    """The Summary of all rows of some files; folders and globs stand for the files in them."""

    def start(place: Place, few: bool) -> Collector | KeptRows:
        return KeptRows(place) if few and "numba" not in sys.modules else Collector(place)

    return read_files(paths, score, label, start).summary()


def read_files(
    paths: Sequence[str | os.PathLike[str]],
    score: str | None,
    label: str | None,
    start: Start[Taking],
    groups: Any = None,
    argument: str = "groups",
) -> Taking:
    """What `start` made, when it has taken all rows of the files, with one more column where `groups` names it."""
    files, account, text = text_or_parquet(paths)
    beside = {} if groups is None else {argument: groups}
    if text is not None:
        return _read_text(text, score, label, start, beside)
    try:
        return _read_parquet(files, score, label, start, beside, account, limited=True)
    except MemoryError:
        # Giant row groups: they need what they need.
        return _read_parquet(files, score, label, start, beside, account, limited=False)


def text_or_parquet(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[str], Account, TextTable | None]:
    """All files, their account, and the table to be read row by row; None for Parquet that engines can read."""
    files, form = resolve(paths)
    remark_on_copies(files)
    said = paths if isinstance(paths, Files) else Files(paths)
    if form == "parquet" and said.spelling == PLAIN:
        return files, said.account, None
    return files, said.account, TextTable(files, form, said.spelling, said.account)


def _read_text(
    table: TextTable, score: str | None, label: str | None, start: Start[Taking], beside: dict[str, Any]
) -> Taking:
    columns = table.columns()
    with table.named_columns():
        for argument, name in beside.items():
            check_groups(name, columns, table.name, argument)
        x, y = choose(columns, score, label, table.name, beside=beside)
    table.check_names(x.name, y.name, given=score is not None and label is not None)
    if not beside:
        remark_on_clusters(columns, (x, y), table.name, lambda name: table.examples(name, LOOKED_AT), by_values=True)
    table.account.columns = {"score": x.name, "label": y.name, **beside}
    groups = next(iter(beside.values()), None)
    small = table.is_small(SMALL)
    if not small and table.is_plain:
        from calcert.sources.files.fast_reader import fast_batches, left_to_the_exact_reader

        try:
            return _take(table, fast_batches(table, x, y, groups), start(left_to_the_exact_reader, False))
        except ValueError:
            # Whatever it is, the exact reader says it in words, or reads what is only unusual.
            pass
    try:
        return _take(table, table.batches(x.name, y.name, groups), start(table.place, small))
    except NoRows:
        raise
    except ValueError as error:
        raise ValueError(f"{error}{table.bad_rows(x.name, y.name)}") from error


def _take(table: TextTable, batches: Generator[Batch], taker: Taking) -> Taking:
    with closing(batches), RowProgress(f"reading {table.name}") as progress:
        for batch in batches:
            taker.add(*(batch if batch.groups else batch[:2]))
            progress.advance_to(taker.rows, table.share_read())
        taker.settle()
    if taker.rows == 0:
        raise table.without_rows()
    return taker


def _read_parquet(
    files: list[str],
    score: str | None,
    label: str | None,
    start: Start[Taking],
    beside: dict[str, Any],
    account: Account,
    *,
    limited: bool,
) -> Taking:
    with parquet_table(files, limited=limited) as table:
        if table.rows == 0:
            raise NoRows(f"{table.name} must hold at least one row; got none.")
        columns = table.columns()
        for argument, name in beside.items():
            check_groups(name, columns, table.name, argument)
        x, y = choose(columns, score, label, table.name, table.first, beside)
        account.columns = {"score": x.name, "label": y.name, **beside}
        account.rows.update(table.rows_by_file)
        table.check_same(*account.columns.values())
        if not beside:
            remark_on_clusters(
                columns, (x, y), table.name, lambda name: table.examples(name, LOOKED_AT), by_values=True
            )
        others = {name: column for name in beside for column in columns if column.name == beside[name]}
        return _pass_on(table, x, y, others, start)


def _pass_on(table: ParquetTable, x: Column, y: Column, others: dict[str, Column], start: Start[Taking]) -> Taking:
    # Once numba is loaded, reading by batches is the faster way for few rows, too.
    few = "numba" not in sys.modules and table.is_small() and not others
    taker = start(table.place, few)
    if few:
        scores, labels = (unmasked(*part, table.place) for part in zip(NAMES, table.whole(x, y), strict=True))
        taker.add(scores, labels)
    else:
        with RowProgress(f"reading {table.name}") as progress:
            for batch in table.batches(x, y, BATCH, others):
                if any(column.null_count for column in batch.columns[:2]):
                    taker.settle()  # A bad row before the missing value is named first.
                scores, labels = (
                    arrow_values(name, column, lambda row: table.place(taker.rows + row))
                    for name, column in zip(NAMES, batch.columns[:2], strict=True)
                )
                taker.add(scores, labels, *batch.columns[2:])
                progress.advance_to(taker.rows, table.share_read())
            taker.settle()
    table.check_complete(taker.rows)
    return taker


def read_rows(
    paths: Sequence[str | os.PathLike[str]], score: str | None = None, label: str | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores and labels of all rows of some files, checked; folders and globs stand for the files in them."""
    return read_files(paths, score, label, lambda place, few: KeptRows(place)).columns()


class KeptRows:
    """Keeps every row."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._scores: list[NDArray[np.float64]] = []
        self._labels: list[NDArray[np.int8]] = []
        self.rows = 0

    def add(self, scores: NDArray[Any], labels: NDArray[Any]) -> None:
        refuse_bad(scores, labels, lambda row: self._place(self.rows + row))
        self._scores.append(scores.astype(np.float64, copy=False))
        self._labels.append(labels.astype(np.int8, copy=False))
        self.rows += scores.size

    def settle(self) -> None:
        """Nothing waits."""

    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        if len(self._scores) == 1:
            return self._scores[0], self._labels[0]
        return np.concatenate(self._scores), np.concatenate(self._labels)

    def summary(self) -> Summary:
        """That of all rows: few enough to be counted in memory."""
        return count_few(*self.columns())
