"""CSV as RFC 4180 has it, record by record, and a file of it: every line belongs to a record, no value is guessed.

A line of column names, then as many values on each record as there are names. A value in double quotes may hold line
breaks, and a quote in it is written twice; a quote inside a value that does not begin with one is itself. Empty lines
are no records.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from calcert.foundation.refusal import WrongValue, reading
from calcert.sources.columns import TITLES, no_names, title_above
from calcert.sources.files.paths import RowsFile
from calcert.sources.files.text_bytes import BYTE_ORDER_MARK, LONGEST, UTF_8, Record, lines_of, opened
from calcert.sources.parsed_values import is_value, label_in_text, score_in_text

DELIMITERS = ",;\t|"
LINE_ENDS = ("", "\n", "\r\n", "\r")
SEPARATOR = re.compile('"?sep=.?"?', re.IGNORECASE)
QUOTED = re.compile('"(?:[^"]|"")*"')


@dataclass(frozen=True)
class Header:
    """The names of the columns, what separates them, and the text of the file up to the end of their line."""

    names: list[str]
    delimiter: str
    text: str
    lines: int


def read_header(lines: Iterator[str], source: str, skip: int = 0) -> Header:
    """The line of column names, taken from the lines after `skip` of them; `source` names the file in errors."""
    above = list(islice(lines, skip))
    taken: list[str] = []
    quotes = size = 0
    for line in lines:
        taken.append(line)
        quotes += line.count('"')
        size += len(line)
        # Where quotes do not pair yet, a name goes on in the next line.
        if (line.removeprefix(BYTE_ORDER_MARK) not in LINE_ENDS and quotes % 2 == 0) or size > LONGEST:
            break
    text = "".join(taken)
    bare = text.removeprefix(BYTE_ORDER_MARK).lstrip("\r\n")
    if SEPARATOR.fullmatch(bare.strip()):
        got = f"{bare.strip()!r} on line {skip + len(taken)}, which spreadsheets write above it"
        way = ("Delete that line, or pass ", reading("skip_lines", skip + len(taken)), ".")
        raise WrongValue(source, "must begin with a line of column names", got, "", way)
    if bare.startswith(("{", "[{")):
        raise no_names(source, f"{bare.strip()[:40]!r}, which looks like JSON", "Call a file of JSON lines .jsonl.")
    delimiter = max(DELIMITERS, key=QUOTED.sub("", bare).count)
    found = list(records(io.StringIO(bare, newline=""), delimiter, source))
    if len(found) != 1:
        after = f" after {skip:,} lines" if skip else ""
        raise no_names(source, f"{bare.strip()[:40]!r}{after}")
    names = found[0].values
    if all(is_value(name) for name in names if name.strip()):
        raise no_names(source, f"{bare.strip()[:40]!r}, which looks like a row", "Write a line of names above it.")
    return Header(names, delimiter, "".join([*above, text]), skip + len(taken))


def records(lines: Iterator[str], delimiter: str, source: str, line: int = 0) -> Iterator[Record]:
    """All records; `line` lines have gone before."""
    for text in lines:
        line += 1
        if '"' in text:
            taken, values = _quoted(text, lines, delimiter, f"on line {line} of {source}")
            yield Record(line, "".join(taken), values)
            line += len(taken) - 1
        elif text not in LINE_ENDS:
            yield Record(line, text, text.rstrip("\r\n").split(delimiter))


def checked(found: Iterator[Record], header: Header, source: str) -> Iterator[Record]:
    """Records below a header: each as long as it is, and none that repeats it."""
    names, width = header.names, len(header.names)
    for record in found:
        line, _, values = record
        if len(values) != width:
            raise ValueError(
                f"every row must have as many values as there are columns, {width}; got {len(values)} on line {line} "
                f"of {source}. Delete lines that are no rows, such as totals and remarks, and write a value that holds "
                f"{header.delimiter!r} in quotes."
            )
        if values == names:
            raise ValueError(
                f"column names must be there once; got them again on line {line} of {source}. If files were joined, "
                "pass them apart."
            )
        yield record


def _quoted(text: str, lines: Iterator[str], delimiter: str, where: str) -> tuple[list[str], list[str]]:
    """The lines that a record with quotes takes, of which `text` is the first, and its values."""
    values: list[str] = []
    taken = [text]
    start = 0
    while True:
        if text[start : start + 1] != '"':
            end = text.find(delimiter, start)
            if end < 0:
                values.append(text[start:].rstrip("\r\n"))
                return taken, values
            values.append(text[start:end])
            start = end + 1
            continue
        parts, size, start = [], 0, start + 1
        while True:
            end = text.find('"', start)
            if end >= 0 and text[end + 1 : end + 2] == '"':
                parts.append(text[start : end + 1])
                start = end + 2
            elif end >= 0:
                parts.append(text[start:end])
                break
            else:
                parts.append(text[start:])
                size += len(text)
                text, start = next(lines, ""), 0
                taken.append(text)
                if not text or size > LONGEST:
                    raise ValueError(f"every quote must be closed; got one that is not, {where}.")
        values.append("".join(parts))
        after = text[end + 1 :]
        if after in LINE_ENDS:
            return taken, values
        if not after.startswith(delimiter):
            raise ValueError(
                f"a value in quotes must end with them; got {after.strip()[:20]!r} after {values[-1][:20]!r} {where}. "
                "A quote inside such a value is written twice."
            )
        start = end + 2


def _values(line: str) -> list[str]:
    """The values of a line that is looked at alone."""
    bare = line.removeprefix(BYTE_ORDER_MARK)
    delimiter = max(DELIMITERS, key=QUOTED.sub("", bare).count)
    return next(csv.reader([bare], delimiter=delimiter), [])


class CsvFile(RowsFile):
    """A file of CSV."""

    where = "on line {} of {}"
    score_reader, label_reader = staticmethod(score_in_text), staticmethod(label_in_text)

    def __init__(self, path: str, skip: int = 0, encoding: str = UTF_8) -> None:
        super().__init__(path)
        self.encoding = encoding
        self._skip = skip
        self._header: Header | None = None

    def header(self) -> Header:
        """The line of column names, as it was when the file was opened last."""
        if self._header is not None:
            return self._header
        with self._opened() as (header, _):
            return header

    def title_above(self) -> WrongValue | None:
        with opened(self.path, encoding=self.encoding) as (text, _):
            lines = list(islice(lines_of(text, self.name), TITLES))
        header = self.header()
        return title_above(header.names, header.lines, enumerate(map(_values, lines), 1), "line", self.name)

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""
        with self._opened() as (header, found):
            values = [record.values for record in islice(found, rows)]
        return [(name, [row[k] for row in values if k < len(row)]) for k, name in enumerate(header.names)]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The line that each row begins on, and what it holds in columns of its own; all rows must be of one length."""
        with self._opened() as (header, found):
            places = [header.names.index(name) for name in self.own_columns(names, header.names)]
            for line, _, values in checked(found, header, self.name):
                yield line, [values[place] for place in places]

    @contextmanager
    def _opened(self) -> Iterator[tuple[Header, Iterator[Record]]]:
        with opened(self.path, encoding=self.encoding, digests=self.digests) as (text, self.content):
            lines = lines_of(text, self.name)
            header = self._header = read_header(lines, self.name, self._skip)
            yield header, records(lines, header.delimiter, self.name, header.lines)
