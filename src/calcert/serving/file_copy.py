"""A copy of a file with one more column: the perturbed scores. Everything else stays as it is.

Rows flow through in chunks, so that a file may be larger than memory. Draws come from one generator in the order of the
rows, so that chunks do not matter: they are those of :func:`calcert.perturb` on the whole column.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from calcert.foundation.progress import RowProgress
from calcert.foundation.regular_file import check_regular
from calcert.foundation.uninterrupted import load
from calcert.foundation.validation import missing_message, score_message
from calcert.foundation.visible import visible
from calcert.foundation.whole_file import replacing
from calcert.serving.noise import Floats, Noise
from calcert.serving.text_column import csv_table, json_table
from calcert.sources.columns import Column, check_new_column, choose_score
from calcert.sources.text_bytes import BYTE_ORDER_MARK, HEAD, check_text, lines_of, opened

CHUNK = 1 << 16
STREAM = "-"
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}


@dataclass(frozen=True)
class Perturbation:
    """What to do: the column of scores (None to find it), the name of the new one, the noise and the generator."""

    score: str | None
    column: str
    noise: Noise
    rng: np.random.Generator

    def draw(self, scores: Floats, place: Callable[[int], str]) -> Floats:
        """Perturbed scores; an invalid score is an error that names its place."""
        bad = ~((scores >= 0) & (scores <= 1))
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(score_message(scores, row, place(row)))
        return self.noise.sample(scores, self.rng.random(scores.shape))


@dataclass(frozen=True)
class Copied:
    """What was done: rows copied, and the column that was perturbed."""

    rows: int
    score: str


def perturb_file(source: str, target: str, how: Perturbation) -> Copied:
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


def _copy_text(source: str, target: str, form: str | None, how: Perturbation) -> Copied:
    name = "standard input" if source == STREAM else visible(source)
    with _reading(source) as (text, share), _writing(target) as file, RowProgress(f"perturbing {name}") as progress:
        lines = lines_of(text, name)
        if source == STREAM:
            first = next(lines, "")
            check_text(first[:HEAD].encode("utf-8", "surrogateescape"), name)
            form = "json" if first.removeprefix(BYTE_ORDER_MARK).lstrip().startswith("{") else "csv"
            lines = chain([first], lines)
        table = (json_table if form == "json" else csv_table)(lines, name, how.score, how.column)
        file.write(table.head)
        rows = 0
        while chunk := list(islice(table.rows, CHUNK)):
            drawn = how.draw(np.array([row.score for row in chunk]), [row.where for row in chunk].__getitem__)
            file.writelines(table.appended(row.text, value) for row, value in zip(chunk, drawn.tolist(), strict=True))
            rows += len(chunk)
            progress.advance_to(rows, share())
        _refuse_none(rows, name)
    return Copied(rows, table.score)


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


def _copy_parquet(source: str, target: Path, how: Perturbation) -> Copied:
    pyarrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    name = visible(source)
    try:
        with parquet.ParquetFile(source) as file, ExitStack() as stack:
            schema = file.schema_arrow
            check_new_column(how.column, schema.names, name)
            chosen = choose_score(_columns(schema), how.score, name).name
            _refuse_none(file.metadata.num_rows, name)
            wider = schema.append(pyarrow.field(how.column, pyarrow.float64(), nullable=False))
            writer = stack.enter_context(parquet.ParquetWriter(target, wider, compression=_compression(file)))
            progress = stack.enter_context(RowProgress(f"perturbing {name}", total=file.metadata.num_rows))
            rows = 0
            for batch in file.iter_batches(CHUNK):

                def place(row: int, before: int = rows) -> str:
                    return f"at row {before + row} of {name}"

                drawn = how.draw(_scores(batch.column(chosen), place), place)
                writer.write_batch(
                    pyarrow.RecordBatch.from_arrays([*batch.columns, pyarrow.array(drawn)], schema=wider)
                )
                rows += batch.num_rows
                progress.advance_to(rows)
            if rows != file.metadata.num_rows:
                raise ValueError(
                    f"{name} must be complete Parquet; it says that it has {file.metadata.num_rows:,} rows, and "
                    f"{rows:,} were found. Write it again."
                )
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name} must be complete Parquet; Arrow says: {error}") from error
    return Copied(rows, chosen)


def _columns(schema: Any) -> list[Column]:
    from pyarrow import types

    def column(field: Any) -> Column:
        if types.is_floating(field.type) or types.is_decimal(field.type):
            return Column(field.name, "real", str(field.type))
        if types.is_integer(field.type):
            return Column(field.name, "integer", str(field.type))
        return Column(field.name, "other", str(field.type))

    return [column(field) for field in schema]


def _scores(values: Any, place: Callable[[int], str]) -> Floats:
    from calcert.sources.arrays import column

    if values.null_count:
        first = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(missing_message("scores", place(first)))
    return np.asarray(column("scores", values), np.float64)


def _compression(file: Any) -> str:
    """What the file itself uses."""
    found: str = file.metadata.row_group(0).column(0).compression.lower()
    return "none" if found == "uncompressed" else found


def _refuse_none(rows: int, source: str) -> None:
    if rows == 0:
        raise ValueError(f"{source} must hold at least one row; got none.")
