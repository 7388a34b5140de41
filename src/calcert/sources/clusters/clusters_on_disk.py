"""Rows kept by the part of their clusters: in memory, and beyond half a gigabyte in a temporary file."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np

from calcert.foundation.array_types import Integers

SMALL = 1 << 21
"""Bytes that fit the fast memory of a processor, whatever they are."""

IN_MEMORY = 1 << 29
"""Bytes that are kept in memory."""


class _Batch(NamedTuple):
    """Columns of rows sorted by part: where parts begin, and the columns or where they are in the file."""

    ends: Integers
    columns: list[Integers] | list[int]


class KeptParts:
    """Columns of 64-bit integers, given batch by batch and asked for part by part."""

    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def add(self, columns: list[Integers], ends: Integers) -> None:
        """Keep a batch; rows of part p are those from ends[p] up to ends[p + 1]."""
        self._bytes += sum(column.nbytes for column in columns)
        self._batches.append(_Batch(ends, columns if self._bytes <= IN_MEMORY else self._written(columns)))

    def parts(self) -> Iterator[list[Integers]]:
        """The columns of all rows of each part; few rows are one part, as parts are for what is too large otherwise."""
        if self._bytes <= SMALL and self._file is None:
            yield [np.concatenate(columns) for columns in zip(*(batch.columns for batch in self._batches), strict=True)]
            return
        for number in range(self._batches[0].ends.size - 1):
            yield self._part(number)

    def _part(self, number: int) -> list[Integers]:
        """The columns of all rows of a part, in memory of their own."""
        found = [
            [self._slice(column, *batch.ends[number : number + 2].tolist()) for column in batch.columns]
            for batch in self._batches
        ]
        return [np.concatenate(columns) for columns in zip(*found, strict=True)]

    def _slice(self, column: Integers | int, start: int, stop: int) -> Integers:
        if not isinstance(column, int):
            return column[start:stop]
        assert self._file is not None
        values = np.empty(stop - start, np.int64)
        self._file.seek(column + 8 * start)
        if self._file.readinto(values.data) != values.nbytes:  # type: ignore[attr-defined]
            raise OSError("a temporary file must keep what was written; got less.")
        return values

    def _written(self, columns: list[Integers]) -> list[int]:
        try:
            if self._file is None:
                # It has no name, and goes with this object, or when the process ends.
                self._file = tempfile.TemporaryFile(prefix="calcert-")  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            places = []
            for column in columns:
                places.append(self._file.seek(0, 2))
                self._file.write(column.data)
        except OSError as error:
            raise MemoryError(
                f"clusters need about {self._bytes >> 20:,} MB and more in {tempfile.gettempdir()}; got: {error}. Let "
                "TMPDIR name a folder with more room."
            ) from error
        return places
