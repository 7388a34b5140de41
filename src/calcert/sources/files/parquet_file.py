"""One Parquet file, read by Arrow: every page whose checksum is there must have it, and every row must come."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from calcert.foundation.long_work import load
from calcert.sources.columns import Column
from calcert.sources.files.paths import RowsFile, real
from calcert.sources.files.value_columns import Values

BUFFER = 1 << 20
"""Bytes of a column that are fetched at a time."""

EXACT_DIGITS = 38
"""Decimals with more digits are not what other readers can read exactly."""


class ParquetFile(RowsFile):
    """A file of Parquet."""

    def columns(self) -> list[Column]:
        """What the file says of its columns."""
        with self.opened() as file:
            return [Column(field.name, *_kind(field.type)) for field in file.schema_arrow]

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""
        return [(column.name, self.first_values(column.name, rows)) for column in self.columns()]

    def first_values(self, name: str, rows: int) -> list[Any]:
        """What the first rows hold in a column; nothing where it is not there once."""
        with self.opened() as file:
            batch = next(file.iter_batches(rows, columns=[name]), None)
            if batch is None or batch.schema.get_field_index(name) < 0:
                return []
            return list(batch.column(name).to_pylist())

    def batches(self, names: Sequence[str], most: int) -> Generator[tuple[list[Values], range]]:
        """Columns of its own, at most so many rows at a time however large row groups are, and the numbers of rows."""
        own = [column.name for column in self.columns()]
        read, rows = self.own_columns(names, own), 0
        # A column of the file must be read for its rows, even if folders name all that is asked for.
        for batch in self.whole_batches(most, read or own[:1]):
            values = [batch.column(batch.schema.get_field_index(name)) for name in read]
            yield values, range(rows, rows + batch.num_rows)
            rows += batch.num_rows

    def whole_batches(self, most: int, columns: Sequence[str] | None = None) -> Generator[Any]:
        """All rows as Arrow has them, with all columns or some."""
        rows = 0
        with self.opened() as file:
            total = file.metadata.num_rows
            for batch in file.iter_batches(most, columns=columns):
                yield batch
                rows += batch.num_rows
        if rows != total:
            raise ValueError(
                f"{self.name} must be complete parquet; it says that it has {total:,} rows, and {rows:,} were found. "
                "Write it again."
            )

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The file as Arrow knows it."""
        arrow, parquet = load("pyarrow"), load("pyarrow.parquet")
        try:
            # Row groups are not fetched whole, so that memory does not grow with their size.
            options = {"pre_buffer": False, "buffer_size": BUFFER, "page_checksum_verification": True}
            with parquet.ParquetFile(real(self.path), **options) as file:
                yield file
        except (arrow.ArrowException, OSError) as error:
            words = " ".join(str(error).split())
            raise ValueError(
                f"{self.name} must be complete parquet that can be read; Arrow says: {words} If the file was copied, "
                "copy it again."
            ) from error


def _kind(kind: Any) -> tuple[Any, str]:
    """What a column of a type of Arrow holds, and the type in words."""
    types = load("pyarrow").types
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_decimal(kind) and kind.precision > EXACT_DIGITS:
        return "other", f"{kind.precision} decimal digits, too many to be read exactly"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "real", str(kind)
    return "integer" if types.is_integer(kind) else "boolean" if types.is_boolean(kind) else "other", str(kind)
