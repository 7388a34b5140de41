"""Text read fast, by engines that are told everything and asked to guess nothing; in doubt they give up.

Arrow reads CSV and DuckDB JSON lines: which columns, which types, one way of quoting. Beside them all bytes are counted
into records, by another program, and the rows must be as many. Whatever is unusual (a value that is missing or of
another kind, a quote in a strange place, a count that differs) is a Doubt, and the exact reader reads the file instead.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.interruption import load
from calcert.sources.columns import Column
from calcert.sources.files.arrow_columns import numbers_of
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.files.duckdb_parquet import connect, interruptible, quoted
from calcert.sources.files.files_row_by_row import Batch, TextTable
from calcert.sources.files.json_file import JsonFile
from calcert.sources.files.paths import keys_in_folders, literal
from calcert.sources.files.record_count import RecordCount
from calcert.sources.files.text_bytes import TextBytes
from calcert.sources.parsed_values import BOOLEANS, Unreadable, label_in_text, score_in_text

BLOCK = 1 << 20
"""Bytes that Arrow parses at a time."""

ROWS = 1 << 17
"""Rows that DuckDB gives at a time."""

SPELLINGS = {value: [f(text) for f in (str.lower, str.upper, str.title)] for text, value in BOOLEANS.items()}


class Doubt(ValueError):
    """The file is to be read exactly."""


def left_to_the_exact_reader(row: int) -> NoReturn:
    """Where a row stands is not known here, and need not be: a row that is refused here is read again."""
    raise Doubt


def fast_batches(table: TextTable, score: Column, label: Column, group: str | None = None) -> Generator[Batch]:
    """The rows of a table as :meth:`TextTable.batches` gives them; otherwise, at any time, a ValueError."""
    for file in table.files:
        table.now_reading(file)
        if isinstance(file, CsvFile):
            batches = _csv(file, score, label, group)
        elif isinstance(file, JsonFile) and group is None and not file.is_array():
            batches = _json(file, score, label)
        else:
            raise Doubt
        for batch in batches:
            table.account.rows[file.path] += batch.scores.size
            yield batch


def _csv(file: CsvFile, score: Column, label: Column, group: str | None) -> Iterator[Batch]:
    arrow, csv = load("pyarrow"), load("pyarrow.csv")
    header = file.header()
    names = [str(place) for place in range(len(header.names))]
    asked = [score.name, label.name] if group is None else [score.name, label.name, group]
    places, added = file.places(header, asked)
    types = [arrow.float64(), arrow.bool_() if label.kind == "boolean" else arrow.float64(), arrow.string()]
    wanted = {names[place]: kind for place, kind in zip(places, types, strict=False) if place < len(names)}
    count = RecordCount(header.delimiter)
    rows = 0
    with TextBytes(file.path) as file.content:
        _skip(file.content, len(header.text.encode("utf-8", "surrogateescape")))
        try:
            for batch in csv.open_csv(
                _Watched(file.content, count),
                csv.ReadOptions(column_names=names, block_size=BLOCK),
                csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
                csv.ConvertOptions(
                    include_columns=list(wanted) or names[:1],
                    column_types=wanted,
                    null_values=[""],
                    true_values=SPELLINGS[True],
                    false_values=SPELLINGS[False],
                ),
            ):
                rows += batch.num_rows
                found = [
                    batch.column(names[place]) if place < len(names) else added[place - len(names)] for place in places
                ]
                yield Batch(
                    _numbers(found[0], batch.num_rows, score_in_text),
                    _numbers(found[1], batch.num_rows, label_in_text),
                    _texts(found[2], batch.num_rows) if group is not None else (),
                )
        except arrow.ArrowException as error:
            raise Doubt from error
    _settle(count, rows)


class _Watched:
    """Bytes on their way to Arrow, counted into records."""

    closed = False

    def __init__(self, content: TextBytes, count: RecordCount) -> None:
        self._content = content
        self._count = count

    def read(self, size: int) -> bytes:
        found = self._content.read(size)
        self._count.add(found)
        return found

    def readable(self) -> bool:
        return True


def _json(file: JsonFile, score: Column, label: Column) -> Iterator[Batch]:
    # A name with a dot may be that of a key, or of one inside another object: in one file it must not be both.
    if {score.name, label.name} & keys_in_folders(file.path).keys() or "." in score.name + label.name:
        raise Doubt
    duckdb = load("duckdb")
    count = RecordCount()
    rows = 0
    with TextBytes(file.path) as content:
        while block := content.read(BLOCK):
            count.add(block)
    columns = ", ".join(f"{quoted(column.name, chr(39))}: 'JSON'" for column in (score, label))
    texts = [f"CAST({quoted(column.name)} AS VARCHAR)" for column in (score, label)]
    # A text is a JSON text with its quotes, so that the cast gives nothing: only numbers are taken for numbers.
    query = (
        f"SELECT TRY_CAST({texts[0]} AS DOUBLE), "
        f"CASE {texts[1]} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE TRY_CAST({texts[1]} AS DOUBLE) END "
        f"FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}})"
    )
    try:
        with connect(limited=False) as engine, interruptible():
            for batch in engine.sql(query, params=[[literal(file.path)]]).to_arrow_reader(ROWS):
                rows += batch.num_rows
                scores, labels = (_numbers(column, batch.num_rows) for column in batch.columns)
                yield Batch(scores, labels)
    except (duckdb.Error, OSError) as error:  # On its way through Arrow, an error of DuckDB becomes an OSError.
        raise Doubt from error
    _settle(count, rows)


def _skip(content: TextBytes, size: int) -> None:
    while size > 0:
        size -= len(content.read(size))


def _numbers(found: Any, rows: int, read: Callable[[str], float] | None = None) -> NDArray[Any]:
    """A column of Arrow as NumPy, or one value for all rows."""
    if isinstance(found, str) and read is not None:
        try:
            return np.full(rows, read(found), np.float64)
        except Unreadable:
            raise Doubt from None
    if found.null_count:
        raise Doubt
    return numbers_of(found)


def _texts(found: Any, rows: int) -> Sequence[str]:
    return [found] * rows if isinstance(found, str) else found.to_pylist()


def _settle(count: RecordCount, rows: int) -> None:
    """Every record of the file must be a row that was given."""
    if rows != count.records or not count.complete:
        raise Doubt
