"""A copy of a file with one more column: perturbed scores, or weights of the rows that stay. The rest is as it is.

Rows flow through in chunks, so that a file may be larger than memory. Draws come from one generator in the order of the
rows, so that chunks do not matter: they are those of :func:`calcert.perturb` on the whole column.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.escaped_text import visible
from calcert.foundation.interruption import load
from calcert.foundation.progress import RowProgress
from calcert.foundation.validation import missing_message, score_message
from calcert.foundation.whole_regular_file import check_regular, replacing
from calcert.serving.appended_text_column import TextRow, TextTable, Wanted, csv_table, json_table
from calcert.serving.noise import Noise
from calcert.sources.columns import Column, check_new_column, choose_score
from calcert.sources.csv_file import CsvFile
from calcert.sources.text_bytes import BYTE_ORDER_MARK, HEAD, check_text, lines_of, opened

CHUNK = 1 << 16
STREAM = "-"
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}


Place = Callable[[int], str]
"""Says in words where a row of a chunk stands."""

Added = tuple[NDArray[np.bool_] | None, Floats]
"""Which rows of a chunk stay, None for all, and their values in the new column."""


@dataclass(frozen=True)
class Perturbation:
    """What to do: which column is wanted, the noise and the generator."""

    doing: ClassVar = "perturbing"

    wanted: Wanted
    noise: Noise
    rng: np.random.Generator

    def added(self, scores: Floats, start: int, place: Place) -> Added:
        """All rows, and their perturbed scores."""
        return None, self.noise.sample(scores, self.rng.random(scores.shape))

    def check_end(self, rows: int) -> None:
        """Any number of rows will do."""


@dataclass(frozen=True, eq=False)
class Selection:
    """What to do: which column is wanted and, of all rows, their scores and weights.

    Rows without weight are left out.
    """

    doing: ClassVar = "copying"
    CHANGED: ClassVar = "the file must stay as it is while it is read twice"

    wanted: Wanted
    scores: Floats
    weights: Floats

    def added(self, scores: Floats, start: int, place: Place) -> Added:
        """The rows with weights, and these; a file that is not what it was is an error."""
        before, weights = (values[start : start + scores.size] for values in (self.scores, self.weights))
        if not np.array_equal(scores, before):
            raise ValueError(f"{self.CHANGED}; scores from {place(0)} on are not what they were.")
        return weights > 0, weights[weights > 0]

    def check_end(self, rows: int) -> None:
        """All rows must have come."""
        if rows != self.scores.size:
            raise ValueError(f"{self.CHANGED}; of {self.scores.size:,} rows {rows:,} are left.")


How = Perturbation | Selection


@dataclass(frozen=True)
class Copied:
    """What was done: rows read, and the column of scores."""

    rows: int
    score: str


def copy_file(source: str, target: str, how: How) -> Copied:
    """Copy `source` to `target`, both of one format; ``-`` is text on standard input or output."""
    formats = {format_of(path) for path in (source, target) if path != STREAM}
    if len(formats) > 1:
        raise ValueError(f"IN and OUT must have one format; got {visible(source)} and {visible(target)}.")
    if source != STREAM and not os.path.lexists(source):
        raise FileNotFoundError(f"IN must be a file; there is no {source!r} (seen from {visible(os.getcwd())}).")
    for path in (source, target):
        if path != STREAM and os.path.lexists(path):
            check_regular(path)
    if "parquet" not in formats:
        return _copy_text(source, target, formats.pop() if formats else None, how)
    if STREAM in (source, target):
        raise ValueError("Parquet must have a name for both IN and OUT; - is for text.")
    with replacing(Path(target)) as unfinished:
        return _copy_parquet(source, unfinished, how)


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
        with _parquet(source, wanted, "reading", whole=False) as (_, chosen, batches):
            return np.concatenate([scores for _, scores, _ in batches]), chosen
    with _text(source, format_of(source), wanted, "reading") as (table, chunks):
        return np.concatenate([scores for _, scores, _ in chunks]), table.score


def _copy_text(source: str, target: str, form: str | None, how: How) -> Copied:
    with _text(source, form, how.wanted, how.doing) as (table, chunks), _writing(target) as file:
        file.write(table.head)
        rows = 0
        for chunk, scores, place in chunks:
            kept, values = how.added(scores, rows, place)
            stay = chunk if kept is None else [row for row, stays in zip(chunk, kept, strict=True) if stays]
            file.writelines(table.appended(row.text, value) for row, value in zip(stay, values.tolist(), strict=True))
            rows += len(chunk)
        how.check_end(rows)
    return Copied(rows, table.score)


@contextmanager
def _text(
    source: str, form: str | None, wanted: Wanted, doing: str
) -> Iterator[tuple[TextTable, Iterator[tuple[list[TextRow], Floats, Place]]]]:
    """A table of text to which a column is to be added, and its rows in chunks with their scores."""
    name = "standard input" if source == STREAM else visible(source)
    with _reading(source) as (text, share), RowProgress(f"{doing} {name}") as progress:
        lines = lines_of(text, name)
        if source == STREAM:
            first = next(lines, "")
            check_text(first[:HEAD].encode("utf-8", "surrogateescape"), name)
            form = "json" if first.removeprefix(BYTE_ORDER_MARK).lstrip().startswith("{") else "csv"
            lines = chain([first], lines)
        if form == "json" and wanted.spelling.skip_lines:
            raise ValueError(f"--skip-lines must come with CSV; got JSON in {name}.")
        try:
            table = (json_table if form == "json" else csv_table)(lines, name, wanted)
        except ValueError as error:
            if form == "json" or source == STREAM:
                raise
            raise ValueError(CsvFile(source, wanted.spelling.skip_lines).title_message() or error) from error

        def chunks() -> Iterator[tuple[list[TextRow], Floats, Place]]:
            rows = 0
            while chunk := list(islice(table.rows, CHUNK)):
                place = [row.where for row in chunk].__getitem__
                yield chunk, _checked(np.array([row.score for row in chunk]), place), place
                rows += len(chunk)
                progress.advance_to(rows, share())
            _refuse_none(rows, name)

        yield table, chunks()


@contextmanager
def _reading(source: str) -> Iterator[tuple[IO[str], Callable[[], float | None]]]:
    """The text as it is, and how much of the file has been read."""
    if source != STREAM:
        with opened(source) as (text, content):
            yield text, content.share_read
        return
    text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="surrogateescape", newline="")
    try:
        yield text, lambda: None
    finally:
        # Standard input is not ours to close.
        text.detach()


@contextmanager
def _writing(target: str) -> Iterator[IO[str]]:
    """Text that appears under the name `target` when all of it is there."""
    style: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}
    if target == STREAM:
        text = io.TextIOWrapper(sys.stdout.buffer, **style)
        try:
            yield text
        finally:
            text.flush()
            text.detach()
        return
    with replacing(Path(target)) as unfinished:
        if target.lower().endswith(".gz"):
            with gzip.open(unfinished, "wt", **style) as file:
                yield file
        else:
            with unfinished.open("w", **style) as file:
                yield file


def _copy_parquet(source: str, target: Path, how: How) -> Copied:
    pyarrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    with _parquet(source, how.wanted, how.doing) as (file, chosen, batches):
        wider = file.schema_arrow.append(pyarrow.field(how.wanted.column, pyarrow.float64(), nullable=False))
        rows = 0
        with parquet.ParquetWriter(target, wider, compression=_compression(file)) as writer:
            for batch, scores, place in batches:
                kept, values = how.added(scores, rows, place)
                rows += batch.num_rows
                stay = batch if kept is None else batch.filter(pyarrow.array(kept))
                writer.write_batch(
                    pyarrow.RecordBatch.from_arrays([*stay.columns, pyarrow.array(values)], schema=wider)
                )
        how.check_end(rows)
    return Copied(rows, chosen)


@contextmanager
def _parquet(
    source: str, wanted: Wanted, doing: str, *, whole: bool = True
) -> Iterator[tuple[Any, str, Iterator[tuple[Any, Floats, Place]]]]:
    """Parquet to which a column is to be added, its column of scores, and its batches, `whole` or scores alone."""
    pyarrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    name = visible(source)
    try:
        with parquet.ParquetFile(source) as file:
            schema, total = file.schema_arrow, file.metadata.num_rows
            check_new_column(wanted.column, schema.names, name)
            chosen = choose_score(_columns_to_copy(schema), wanted.score, name).name
            _refuse_none(total, name)

            def batches() -> Iterator[tuple[Any, Floats, Place]]:
                rows = 0
                with RowProgress(f"{doing} {name}", total=total) as progress:
                    for batch in file.iter_batches(CHUNK, columns=None if whole else [chosen]):

                        def place(row: int, before: int = rows) -> str:
                            return f"at row {before + row} of {name}"

                        yield batch, _checked(_scores_to_copy(batch.column(chosen), place), place), place
                        rows += batch.num_rows
                        progress.advance_to(rows)
                if rows != total:
                    raise ValueError(
                        f"{name} must be complete Parquet; it says that it has {total:,} rows, and {rows:,} were "
                        "found. Write it again."
                    )

            yield file, chosen, batches()
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name} must be complete Parquet; Arrow says: {error}") from error


def _checked(scores: Floats, place: Place) -> Floats:
    """The scores; an invalid one is an error that names its place."""
    bad = ~((scores >= 0) & (scores <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(score_message(scores, row, place(row)))
    return scores


def _columns_to_copy(schema: Any) -> list[Column]:
    from pyarrow import types

    def column(field: Any) -> Column:
        if types.is_floating(field.type) or types.is_decimal(field.type):
            return Column(field.name, "real", str(field.type))
        if types.is_integer(field.type):
            return Column(field.name, "integer", str(field.type))
        return Column(field.name, "other", str(field.type))

    return [column(field) for field in schema]


def _scores_to_copy(values: Any, place: Place) -> Floats:
    from calcert.sources.arrays import checked_array

    if values.null_count:
        first = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(missing_message("scores", place(first)))
    return np.asarray(checked_array("scores", values), np.float64)


def _compression(file: Any) -> str:
    """What the file itself uses."""
    found: str = file.metadata.row_group(0).column(0).compression.lower()
    return "none" if found == "uncompressed" else found


def _refuse_none(rows: int, source: str) -> None:
    if rows == 0:
        raise ValueError(f"{source} must hold at least one row; got none.")
