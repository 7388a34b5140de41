"""A copy of a file with one more column: perturbed or recalibrated scores, or weights of the rows that stay.

Rows flow through in chunks, so that a file may be larger than memory. Draws come from one generator in the order of the
rows, so that chunks do not matter: they are those of :func:`calcert.perturb` on the whole column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.escaped_text import visible
from calcert.foundation.long_work import RowProgress, load
from calcert.foundation.refusal import Argument, NoRows, WrongValue
from calcert.foundation.refused_values import Place
from calcert.foundation.whole_regular_file import check_regular, replacing
from calcert.perturbation.appended_column import STREAM, Chunk, Wanted, scores_of, text_to_copy, writing_text
from calcert.sources.columns import choose_score
from calcert.sources.files.parquet_file import ParquetFile
from calcert.sources.files.value_columns import Numbers
from calcert.sources.parsed_values import PLAIN, score_in_cell

CHUNK = 1 << 16
"""Rows of a file that are copied at a time."""

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
"""The formats of files that are copied, by the ends of their names."""

CHANGED = "the file must stay as it is while it is read twice"

Added = Callable[[Floats, int, Place], Floats]
"""Makes the new column of a chunk from its scores, NaN for rows that do not stay; told where the chunk stands."""


class Copied(NamedTuple):
    """What was done: rows read, and the column of scores."""

    rows: int
    score: str


def selection(before: Floats, weights: Floats) -> Added:
    """Weights of the rows that have some; a file whose scores are not what they were is an error."""

    def added(scores: Floats, start: int, place: Place) -> Floats:
        here = slice(start, start + scores.size)
        if not np.array_equal(scores, before[here]):
            raise ValueError(f"{CHANGED}; scores from {place(0)} on are not what they were.")
        return np.where(weights[here] > 0, weights[here], np.nan)

    return added


def copy_file(
    source: str, target: str, wanted: Wanted, doing: str, added: Added, *, total: int | None = None
) -> Copied:
    """Copy `source` to `target`, both of one format; ``-`` is text on standard input or output.

    `doing` says what is done, and `total` how many rows must come.
    """
    formats = {format_of(path) for path in (source, target) if path != STREAM}
    if len(formats) > 1:
        raise ValueError(f"IN and OUT must have one format; got {visible(source)} and {visible(target)}.")
    if source != STREAM and not os.path.lexists(source):
        raise FileNotFoundError(f"IN must be a file; there is no {source!r} (seen from {visible(os.getcwd())}).")
    for path in (source, target):
        if path != STREAM and os.path.lexists(path):
            check_regular(path)
    form = formats.pop() if formats else None
    if form == "parquet" and STREAM in (source, target):
        raise ValueError("Parquet must have a name for both IN and OUT; - is for text.")
    if form == "parquet" and (wanted.spelling.skip_lines or wanted.spelling.encoding != PLAIN.encoding):
        both = (Argument("skip_lines"), " and ", Argument("encoding"))
        raise WrongValue(both, "must come with text", visible(source))
    rows, copying = 0, _copying_parquet if form == "parquet" else _copying_text
    with copying(source, target, form, wanted, doing) as (score, chunks, write):
        for chunk, scores, place in chunks:
            values = added(scores, rows, place)
            write(chunk, values, ~np.isnan(values))
            rows += scores.size
        if total is not None and rows != total:
            raise ValueError(f"{CHANGED}; of {total:,} rows {rows:,} are left.")
    return Copied(rows, score)


def format_of(path: str) -> str:
    """parquet, csv or json, from the name."""
    name = path.lower()
    found = FORMATS.get(os.path.splitext(name.removesuffix(".gz"))[1])
    if found is None or (found == "parquet" and name.endswith(".gz")):
        raise ValueError(
            f"the format of {visible(path)} must be known from its name: Parquet, CSV, TSV and JSON lines are "
            "copied, the last three also as .gz."
        )
    return found


def read_scores(source: str, wanted: Wanted) -> tuple[Floats, str]:
    """All scores of a file that could be copied with the new column, and the column they are in."""
    check_regular(source)
    if format_of(source) == "parquet":
        chosen, chunks = _parquet_to_copy(source, wanted, "reading", whole=False)
        return np.concatenate([scores for _, scores, _ in chunks]), chosen
    with text_to_copy(source, format_of(source), wanted, "reading", CHUNK) as (table, chunks):
        return np.concatenate([scores for _, scores, _ in chunks]), table.score


Copying = tuple[str, Iterator[Chunk], Callable[[Any, Floats, Any], None]]
"""The column of scores, the rows, and what writes some of them with their values, those that stay."""


@contextmanager
def _copying_text(source: str, target: str, form: str | None, wanted: Wanted, doing: str) -> Iterator[Copying]:
    with (
        text_to_copy(source, form, wanted, doing, CHUNK) as (table, chunks),
        writing_text(target, wanted.spelling.encoding) as file,
    ):
        file.write(table.head)

        def write(chunk: Any, values: Floats, stay: Any) -> None:
            rows = zip(chunk, values.tolist(), stay.tolist(), strict=True)
            file.writelines(table.appended(row.text, value) for row, value, stays in rows if stays)

        yield table.score, chunks, write


@contextmanager
def _copying_parquet(source: str, target: str, form: str | None, wanted: Wanted, doing: str) -> Iterator[Copying]:
    """Parquet is copied batch by batch, with the new column as the last one."""
    pyarrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    with replacing(Path(target)) as unfinished:
        chosen, chunks = _parquet_to_copy(source, wanted, doing)
        with ParquetFile(source).opened() as file:
            schema, compression = file.schema_arrow, file.metadata.row_group(0).column(0).compression.lower()
        wider = schema.append(pyarrow.field(wanted.column, pyarrow.float64(), nullable=False))
        same = "none" if compression == "uncompressed" else compression
        with parquet.ParquetWriter(unfinished, wider, compression=same) as writer:

            def write(chunk: Any, values: Floats, stay: Any) -> None:
                rows = chunk if stay.all() else chunk.filter(pyarrow.array(stay))
                columns = [*rows.columns, pyarrow.array(values[stay])]
                writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=wider))

            yield chosen, chunks, write


def _parquet_to_copy(source: str, wanted: Wanted, doing: str, *, whole: bool = True) -> tuple[str, Iterator[Chunk]]:
    """The column of scores of Parquet, and its rows in batches, which are `whole` or of scores alone."""
    file = ParquetFile(source)
    columns = [replace(c, kind="other") if c.kind == "boolean" else c for c in file.columns()]
    wanted.check_new([column.name for column in columns], file.name)
    chosen = choose_score(columns, wanted.score, file.name).name
    with file.opened() as opened:
        total = opened.metadata.num_rows
    if not total:
        raise NoRows.of(file.name)

    def chunks() -> Iterator[Chunk]:
        rows, numbers = 0, Numbers(score_in_cell, plain=True)
        with RowProgress(f"{doing} {file.name}", total=total) as progress:
            for batch in file.whole_batches(CHUNK, None if whole else [chosen]):

                def place(row: int, before: int = rows) -> str:
                    return file.place(before + row)

                yield batch, scores_of(batch.column(chosen), numbers, place), place
                rows += batch.num_rows
                progress.advance_to(rows)

    return chosen, chunks()
