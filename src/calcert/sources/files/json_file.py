"""JSON objects, in lines or in an array, record by record: half an object, or a key that is there twice, is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TextIO

from calcert.sources.files.paths import RowsFile, keys_in_folders, value_in_folders
from calcert.sources.files.text_bytes import BYTE_ORDER_MARK, LONGEST, UTF_8, Record, lines_of, opened
from calcert.sources.parsed_values import label_in_json, score_in_json

WHITE = " \t\r\n"
PIECE = 1 << 16
DEEPEST = 8
"""Objects in objects that columns are looked for in."""


class Ambiguous(dict[str, Any]):
    """An object in which some keys are there twice."""

    twice: frozenset[str]


def value_of(values: dict[str, Any], name: str, where: str) -> Any:
    """The value of a key, None where it is not there; of a key that is there twice, none can be told.

    ``outer.inner`` is the key ``inner`` of the object ``outer``, unless there is a key with that dot in its name, and
    ``outer.0`` the first item of the list ``outer``.
    """
    if isinstance(values, Ambiguous) and name in values.twice:
        raise ValueError(f"every key must be there once; got {name!r} twice {where}.")
    outer, dot, inner = name.partition(".")
    within = values.get(outer) if dot else None
    if isinstance(within, list):
        within = {str(place): value for place, value in enumerate(within)}
    if not isinstance(within, dict):
        return values.get(name)
    if isinstance(values, Ambiguous) and outer in values.twice:
        raise ValueError(f"every key must be there once; got {outer!r} twice {where}.")
    if name in values:
        raise ValueError(f"{name!r} must be one value; got that key and {inner!r} of {outer!r} {where}. Rename one.")
    return value_of(within, inner, where)


def names_in(values: dict[str, Any], depth: int = DEEPEST) -> Iterator[str]:
    """What the values of an object are called, those of objects in it as ``outer.inner``."""
    for name, value in values.items():
        if depth and value and isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in names_in(value, depth - 1))
        else:
            yield name


SPREAD = (
    " Where objects are spread over lines, write one per line: jq -c . rows.json > rows.jsonl. Where one object holds "
    "the list of rows under a key: jq -c '.key[]' rows.json > rows.jsonl."
)


def line_records(lines: Iterator[str], source: str) -> Iterator[Record]:
    """All records where each is a line; empty lines are none."""
    for number, text in enumerate(lines, 1):
        bare = text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text
        if bare.strip(WHITE):
            yield Record(number, text, _parsed(bare, f"on line {number} of {source}"))


def array_records(text: TextIO, source: str) -> Iterator[Record]:
    """All records where they are one array, of which little is in memory at a time."""
    window = Window(text, source)
    for value in window.items():
        yield Record(0, "", _checked(value, f"in {source}"))
    if window.mark():
        raise ValueError(f"{source} must be one array of JSON objects; got more after it.")


class Window:
    """The part of a text that is being looked at."""

    def __init__(
        self, text: TextIO, source: str, wanted: str = "one array of JSON objects", longest: int = LONGEST
    ) -> None:
        self._text = text
        self._source = source
        self._wanted, self._longest = wanted, longest
        self._seen = text.read(PIECE).removeprefix(BYTE_ORDER_MARK)
        self._start = 0

    def mark(self) -> str:
        """The next character that is not white; nothing at the end."""
        while True:
            while self._start < len(self._seen) and self._seen[self._start] in WHITE:
                self._start += 1
            if self._start < len(self._seen):
                return self._seen[self._start]
            self._seen, self._start = self._text.read(PIECE), 0
            if not self._seen:
                return ""

    def pass_mark(self, wanted: str) -> str:
        """The next character, which must be one of these, and is passed."""
        mark = self.mark()
        if not mark or mark not in wanted:
            found = repr(self._seen[self._start :][:40]) if mark else "the end of the file"
            raise ValueError(f"{self._source} must be {self._wanted}; got {found} where {wanted} belongs.")
        self._start += 1
        return mark

    def items(self) -> Iterator[Any]:
        """All values of the array that comes next."""
        mark = self.pass_mark("[")
        if self.mark() == "]":
            mark = self.pass_mark("]")
        while mark != "]":
            yield self.value()
            mark = self.pass_mark(",]")

    def value(self) -> Any:
        """The JSON value that comes next, which is passed."""
        self.mark()
        size = PIECE
        while True:
            try:
                found, self._start = DECODER.raw_decode(self._seen, self._start)
                return found
            except RecursionError:
                raise ValueError(f"values must not be nested so deeply; got some in {self._source}.") from None
            except ValueError as error:
                # Perhaps it goes on in what has not been read yet.
                more = self._text.read(size)
                self._seen, self._start, size = self._seen[self._start :] + more, 0, 2 * size
                if not more or len(self._seen) > self._longest:
                    raise ValueError(
                        f"{self._source} must be {self._wanted}; got {self._seen[:40]!r}, which is none."
                    ) from error


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        found = DECODER.decode(text.strip(WHITE))
    except RecursionError:
        raise ValueError(f"values must not be nested so deeply; got {text[:40]!r} {where}.") from None
    except ValueError as error:
        bare = text.strip(WHITE)
        way = SPREAD if bare.startswith("{") and not bare.endswith("}") else ""
        raise ValueError(f"every line must be a JSON object; got {text.strip()[:60]!r} {where}.{way}") from error
    return _checked(found, where)


def _checked(found: Any, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"every line must be a JSON object; got {repr(found)[:60]} {where}.")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    found = Ambiguous(values)
    found.twice = frozenset(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_object)

FIRST = 1 << 12


class JsonFile(RowsFile):
    """A file of JSON objects."""

    score_reader, label_reader = staticmethod(score_in_json), staticmethod(label_in_json)

    def __init__(self, path: str, encoding: str = UTF_8) -> None:
        super().__init__(path)
        self.encoding = encoding

    def is_array(self) -> bool:
        """True where all objects are in one array."""
        return self.head().lstrip().startswith("[")

    def head(self) -> str:
        """How the text begins."""
        with opened(self.path, encoding=self.encoding) as (text, _):
            return text.read(FIRST).removeprefix(BYTE_ORDER_MARK)

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """All keys of the first objects, those of objects in them as ``outer.inner``, and what these hold."""
        with self._opened() as found:
            objects = [record.values for record in islice(found, rows)]
        names = dict.fromkeys(chain.from_iterable(map(names_in, objects)))
        return [(name, [_shown(row, name) for row in objects]) for name in names]

    def inside_lists(self, name: str, rows: int) -> list[Any]:
        """What the first objects hold at a path that leads through lists, ``answers.0.confidence``; none elsewhere."""
        if not any(part.isdecimal() for part in name.split(".")[1:]):
            return []
        with self._opened() as found:
            return [_shown(record.values, name) for record in islice(found, rows)]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The line that each object is on, or its number in an array, and what it holds under keys of its own."""
        keys = keys_in_folders(self.path).keys() & set(names)
        with self._opened() as found:
            for row, (line, _, values) in enumerate(found):
                for name in keys:
                    value_in_folders(self.path, name, list(values))
                number = line or row
                where = self.place(number)
                yield number, [value_of(values, name, where) for name in names if name not in keys]

    @contextmanager
    def _opened(self) -> Iterator[Iterator[Record]]:
        array = self.is_array()
        self.where = "at row {} of {}" if array else "on line {} of {}"
        with opened(self.path, "\n", self.encoding, self.digests) as (text, self.content):
            yield array_records(text, self.name) if array else line_records(lines_of(text, self.name), self.name)


def _shown(values: dict[str, Any], name: str) -> Any:
    """A value to judge a column by; whoever reads it says what is wrong with one that cannot be told."""
    try:
        return value_of(values, name, "")
    except ValueError:
        return None
