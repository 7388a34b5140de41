"""One file of JSON objects: lines, or one array."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

from calcert.foundation.visible import visible
from calcert.sources.json_records import Record, array_records, line_records, value_of
from calcert.sources.partitions import constant, keys_of
from calcert.sources.text_file import BYTE_ORDER_MARK, TextBytes, lines_of, opened
from calcert.sources.text_values import label_in_json, score_in_json

FIRST = 1 << 12


class JsonFile:
    """A file by its path, read from the beginning whenever it is asked something."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = visible(path)
        self.content: TextBytes | None = None

    score_reader, label_reader = staticmethod(score_in_json), staticmethod(label_in_json)

    def is_array(self) -> bool:
        """True where all objects are in one array."""
        with opened(self.path) as (text, _):
            return text.read(FIRST).removeprefix(BYTE_ORDER_MARK).lstrip().startswith("[")

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """All keys of the first objects, and what these hold."""
        with self._opened() as found:
            objects = [record.values for record in islice(found, rows)]
        return [(name, [row.get(name) for row in objects]) for name in dict.fromkeys(chain.from_iterable(objects))]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The line that each object is on, and what it holds under some keys."""
        keys = keys_of(self.path).keys() & set(names)
        with self._opened() as found:
            for row, (line, _, values) in enumerate(found):
                # Folders give what the object does not hold itself.
                given = {name: constant(self.path, name, list(values)) for name in keys}
                where = f"at row {row} of {self.name}" + (f" (line {line})" if line else "")
                yield line, [given[name] if name in given else value_of(values, name, where) for name in names]

    @contextmanager
    def _opened(self) -> Iterator[Iterator[Record]]:
        array = self.is_array()
        with opened(self.path, "\n") as (text, self.content):
            yield array_records(text, self.name) if array else line_records(lines_of(text, self.name), self.name)
