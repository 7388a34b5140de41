"""One CSV file with a line of column names."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from typing import Any

from calcert.foundation.visible import visible
from calcert.sources.columns import Column, check_alone
from calcert.sources.csv_records import Header, Record, read_header, records
from calcert.sources.partitions import constant
from calcert.sources.text_file import TextBytes, lines_of, opened
from calcert.sources.text_values import label_in_text, score_in_text


class CsvFile:
    """A file by its path, read from the beginning whenever it is asked something."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = visible(path)
        self.content: TextBytes | None = None

    score_reader, label_reader = staticmethod(score_in_text), staticmethod(label_in_text)

    def header(self) -> Header:
        """The line of column names."""
        with self._opened() as (header, _):
            return header

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""
        with self._opened() as (header, found):
            values = [record.values for record in islice(found, rows)]
        return [(name, [row[k] for row in values if k < len(row)]) for k, name in enumerate(header.names)]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The line that each row begins on, and what it holds in some columns; all rows must be of one length."""
        with self._opened() as (header, found):
            places, added = self.places(header, names)
            pick = itemgetter(*places)
            width = len(header.names)
            for row, (line, _, values) in enumerate(found):
                if len(values) != width:
                    raise ValueError(
                        f"every row must have as many values as there are columns, {width}; got {len(values)} "
                        f"at row {row} of {self.name} (line {line})."
                    )
                if values == header.names:
                    raise ValueError(
                        f"column names must be there once; got them again at row {row} of {self.name} (line {line}). "
                        "If files were joined, pass them apart."
                    )
                yield line, pick(values + added if added else values)

    def places(self, header: Header, names: Sequence[str]) -> tuple[list[int], list[str]]:
        """Where the columns stand in each record; those that only folders name follow, with the values they have."""
        own = [Column(name, "unknown", f"column {number}") for number, name in enumerate(header.names, 1)]
        places: list[int] = []
        added: list[str] = []
        for name in names:
            check_alone(own, "score, label and groups", name, self.name)
            given = constant(self.path, name, header.names)
            places.append(header.names.index(name) if given is None else len(own) + len(added))
            added += [] if given is None else [given]
        return places, added

    @contextmanager
    def _opened(self) -> Iterator[tuple[Header, Iterator[Record]]]:
        with opened(self.path) as (text, self.content):
            lines = lines_of(text, self.name)
            header = read_header(lines, self.name)
            yield header, records(lines, header.delimiter, self.name, header.lines)
