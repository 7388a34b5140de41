"""A copy of a file with one more column: perturbed or recalibrated scores, or weights of the rows that stay.

Rows flow through in chunks, so that a file may be larger than memory. Draws come from one generator in the order of the
rows, so that chunks do not matter: they are those of :func:`calcert.perturb` on the whole column.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.escaped_text import visible
from calcert.foundation.interruption import load
from calcert.foundation.refusal import Argument, WrongValue
from calcert.foundation.refused_values import Place
from calcert.foundation.whole_regular_file import check_regular, replacing
from calcert.perturbation.copies.appended_column import Wanted
from calcert.perturbation.copies.appended_parquet_column import compression_of, parquet_to_copy
from calcert.perturbation.copies.appended_text_column import STREAM, text_to_copy, writing_text
from calcert.perturbation.noise import Noise
from calcert.perturbation.score_map import ScoreMap
from calcert.sources.parsed_values import PLAIN

CHUNK = 1 << 16
"""Rows of a file that are copied at a time."""

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
"""The formats of files that are copied, by the ends of their names."""

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


@dataclass(frozen=True)
class Recalibrating:
    """What to do: which column is wanted, and the map."""

    doing: ClassVar = "recalibrating"

    wanted: Wanted
    map: ScoreMap

    def added(self, scores: Floats, start: int, place: Place) -> Added:
        """All rows, and their recalibrated scores."""
        return None, self.map.mapped(scores)

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


How = Perturbation | Recalibrating | Selection


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
    if how.wanted.spelling.skip_lines or how.wanted.spelling.encoding != PLAIN.encoding:
        raise WrongValue(
            (Argument("skip_lines"), " and ", Argument("encoding")), "must come with text", visible(source)
        )
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
        with parquet_to_copy(source, wanted, "reading", CHUNK, whole=False) as (_, chosen, batches):
            return np.concatenate([scores for _, scores, _ in batches]), chosen
    with text_to_copy(source, format_of(source), wanted, "reading", CHUNK) as (table, chunks):
        return np.concatenate([scores for _, scores, _ in chunks]), table.score


def _copy_text(source: str, target: str, form: str | None, how: How) -> Copied:
    """Copy text, table to table, with what is added at the end of each row."""
    with (
        text_to_copy(source, form, how.wanted, how.doing, CHUNK) as (table, chunks),
        writing_text(target, how.wanted.spelling.encoding) as file,
    ):
        file.write(table.head)
        rows = 0
        for chunk, scores, place in chunks:
            kept, values = how.added(scores, rows, place)
            stay = chunk if kept is None else [row for row, stays in zip(chunk, kept, strict=True) if stays]
            file.writelines(table.appended(row.text, value) for row, value in zip(stay, values.tolist(), strict=True))
            rows += len(chunk)
        how.check_end(rows)
    return Copied(rows, table.score)


def _copy_parquet(source: str, target: Path, how: How) -> Copied:
    """Copy Parquet, batch by batch, with what is added as the last column."""
    pyarrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    with parquet_to_copy(source, how.wanted, how.doing, CHUNK) as (file, chosen, batches):
        wider = file.schema_arrow.append(pyarrow.field(how.wanted.column, pyarrow.float64(), nullable=False))
        rows = 0
        with parquet.ParquetWriter(target, wider, compression=compression_of(file)) as writer:
            for batch, scores, place in batches:
                kept, values = how.added(scores, rows, place)
                rows += batch.num_rows
                stay = batch if kept is None else batch.filter(pyarrow.array(kept))
                writer.write_batch(
                    pyarrow.RecordBatch.from_arrays([*stay.columns, pyarrow.array(values)], schema=wider)
                )
        how.check_end(rows)
    return Copied(rows, chosen)
