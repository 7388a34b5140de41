"""One Parquet file row by row, for values that no engine is to interpret."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.interruption import load
from calcert.sources.files.paths import value_in_folders
from calcert.sources.parsed_values import label_in_cell, score_in_cell

ROWS = 1 << 14
"""Rows that are decoded at a time."""


class ParquetFile:
    """A file by its path, read from the beginning whenever it is asked something."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = visible(path)

    score_reader, label_reader = staticmethod(score_in_cell), staticmethod(label_in_cell)

    def place(self, number: int) -> str:
        """Where a row stands, in words, counted from 0."""
        return f"at row {number} of {self.name}"

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""
        file = self._opened()
        batch = next(file.iter_batches(rows), None)
        return [(name, [] if batch is None else batch.column(name).to_pylist()) for name in file.schema_arrow.names]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The number of each row, and what it holds in some columns."""
        file = self._opened()
        own = file.schema_arrow.names
        given = {name: value_in_folders(self.path, name, own) for name in names}
        number = 0
        for batch in file.iter_batches(ROWS, columns=[name for name in names if given[name] is None]):
            columns = [
                batch.column(name).to_pylist() if given[name] is None else [given[name]] * batch.num_rows
                for name in names
            ]
            for values in zip(*columns, strict=True):
                yield number, values
                number += 1

    def _opened(self) -> Any:
        arrow, parquet = load("pyarrow"), load("pyarrow.parquet")
        try:
            return parquet.ParquetFile(self.path)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.name} must be complete parquet; {error}. Write it again.") from error
