"""Parquet that gets one more column: its rows with their scores, batch by batch, and how its copy is compressed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.escaped_text import visible
from calcert.foundation.interruption import load
from calcert.foundation.progress import RowProgress
from calcert.foundation.refused_values import Place, checked_scores, missing_value
from calcert.perturbation.copies.appended_column import Wanted, check_new_column, refuse_no_rows
from calcert.sources.columns import Column, choose_score


@contextmanager
def parquet_to_copy(
    source: str, wanted: Wanted, doing: str, most: int, *, whole: bool = True
) -> Iterator[tuple[Any, str, Iterator[tuple[Any, Floats, Place]]]]:
    """Parquet to which a column is to be added, its column of scores, and its rows in batches of `most` at a time.

    Batches are `whole`, or of scores alone.
    """
    pyarrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    name = visible(source)
    try:
        with parquet.ParquetFile(source) as file:
            schema, total = file.schema_arrow, file.metadata.num_rows
            check_new_column(wanted.column, schema.names, name)
            chosen = choose_score(_columns_of(schema), wanted.score, name).name
            refuse_no_rows(total, name)

            def batches() -> Iterator[tuple[Any, Floats, Place]]:
                rows = 0
                with RowProgress(f"{doing} {name}", total=total) as progress:
                    for batch in file.iter_batches(most, columns=None if whole else [chosen]):

                        def place(row: int, before: int = rows) -> str:
                            return f"at row {before + row} of {name}"

                        yield batch, checked_scores(_scores_of(batch.column(chosen), place), place), place
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


def _columns_of(schema: Any) -> list[Column]:
    """The columns of Arrow, and which of them may hold scores."""
    from pyarrow import types

    def column(field: Any) -> Column:
        if types.is_floating(field.type) or types.is_decimal(field.type):
            return Column(field.name, "real", str(field.type))
        if types.is_integer(field.type):
            return Column(field.name, "integer", str(field.type))
        return Column(field.name, "other", str(field.type))

    return [column(field) for field in schema]


def _scores_of(values: Any, place: Place) -> Floats:
    """A column of Arrow as scores; a missing value is an error that names its place."""
    from calcert.sources.arrays import checked_array

    if values.null_count:
        first = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise missing_value("scores", place(first))
    return np.asarray(checked_array("scores", values), np.float64)


def compression_of(file: Any) -> str:
    """How a Parquet file is compressed, and a copy of it should be."""
    found: str = file.metadata.row_group(0).column(0).compression.lower()
    return "none" if found == "uncompressed" else found
