"""A column that a file of any format is to get, and text tables that get it: what was written stays, byte for byte.

Rows are CSV records or JSON lines, each with its text as it stands in the file.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from calcert.foundation.array_types import Floats
from calcert.foundation.escaped_text import visible
from calcert.foundation.long_work import RowProgress
from calcert.foundation.refusal import Argument, NoRows, WrongValue
from calcert.foundation.refused_values import Place, checked_scores
from calcert.foundation.whole_regular_file import replacing
from calcert.sources.columns import Column, choose_score, named
from calcert.sources.files.csv_file import CsvFile, checked, read_header, records
from calcert.sources.files.json_file import line_records, names_in, value_of
from calcert.sources.files.text_bytes import BYTE_ORDER_MARK, HEAD, UTF_8, check_text, lines_of, opened
from calcert.sources.files.value_columns import Numbers, Values, coded_list
from calcert.sources.parsed_values import PLAIN, Reading, ValueReaders, is_value, score_in_json, score_in_text
from calcert.sources.source_argument import Account

STREAM = "-"
"""The name of standard input and of standard output, between which text may be copied."""

Chunk = tuple[Any, Floats, Place]
"""Some rows, their scores, and where they stand."""


@dataclass(frozen=True)
class Wanted:
    """The column of scores (None to find it), the name of the new one, and how values are written.

    `label` names a column that rows must not lack either, where rows that lack something are left out; these are
    counted in the account.
    """

    score: str | None
    column: str
    spelling: Reading = PLAIN
    label: str | None = None
    account: Account = field(default_factory=Account)

    def stays(self, score: str, value: Any, label: Any) -> bool:
        """True for a row that is not to be left out for a gap."""
        missing = score if self.spelling.is_gap(value) else self.label if self.spelling.is_gap(label) else None
        if not self.spelling.drop_missing or missing is None:
            return True
        self.account.dropped[missing] += 1
        return False

    def check_new(self, names: Sequence[str], source: str) -> None:
        """The new column must not be there already, not even in capitals."""
        if self.column.lower() in map(str.lower, names):
            there = next(name for name in names if name.lower() == self.column.lower())
            raise ValueError(
                f"the new column must have a name of its own; got {self.column!r}, and {source} has {there!r} already. "
                "Choose another."
            )


def scores_of(values: Values, numbers: Numbers, place: Place) -> Floats:
    """Some rows of a column as scores; the first value that is none is refused."""
    found, trouble = numbers.of(values)
    scores = checked_scores(found.astype(float), place)
    if trouble is not None:
        raise trouble.refusal("scores", place(scores.size))
    return scores


class TextRow(NamedTuple):
    """A row: its line, its text as it stands in the file, its score, and its label where one was wanted."""

    line: int
    text: str
    score: Any
    label: Any


class TextTable(NamedTuple):
    """The first line with the new column in it, the column of scores, and every row.

    `appended` is the text of a row with a new value at its end.
    """

    head: str
    score: str
    rows: Iterator[TextRow]
    appended: Callable[[str, float], str]


def _csv_table(lines: Iterator[str], source: str, wanted: Wanted) -> TextTable:
    header = read_header(lines, source, wanted.spelling.skip_lines)
    wanted.check_new(header.names, source)
    columns = [Column(name, "unknown", "text") for name in header.names]
    chosen = choose_score(columns, wanted.score, source).name
    if wanted.score is None and is_value(chosen):
        raise ValueError(f"{source} must begin with a line of column names; got {chosen!r}, which looks like a value.")
    place = header.names.index(chosen)
    beside = place if wanted.label is None else header.names.index(named(columns, "label", wanted.label, source).name)
    found = checked(records(lines, header.delimiter, source, header.lines), header, source)
    rows = (TextRow(line, text, values[place], values[beside]) for line, text, values in found)

    def appended(text: str, value: float | str) -> str:
        cell = value if isinstance(value, str) else repr(value).replace(".", wanted.spelling.decimal)
        if cell is value or header.delimiter in cell:
            written = io.StringIO()
            csv.writer(written, delimiter=header.delimiter, lineterminator="").writerow([cell])
            cell = written.getvalue()
        body = text.rstrip("\r\n")
        return f"{body}{header.delimiter}{cell}{text[len(body) :] or chr(10)}"

    return TextTable(appended(header.text, wanted.column), chosen, rows, appended)


def _json_table(lines: Iterator[str], source: str, wanted: Wanted) -> TextTable:
    """JSON lines: one object a line; the first says which columns there are."""
    found = line_records(lines, source)
    first = next(found, None)
    if first is None:
        raise NoRows.of(source)
    columns = [Column(name, "unknown", "JSON") for name in dict.fromkeys([*first.values, *names_in(first.values)])]
    chosen, key = choose_score(columns, wanted.score, source).name, json.dumps(wanted.column, ensure_ascii=False)

    def rows() -> Iterator[TextRow]:
        for line, text, values in chain([first], found):
            where = f"on line {line} of {source}"
            wanted.check_new(list(values), source)
            score = value_of(values, chosen, where)
            yield TextRow(line, text, score, value_of(values, wanted.label, where) if wanted.label else score)

    def appended(text: str, value: float) -> str:
        body = text.rstrip()
        return f"{body[:-1].rstrip()}, {key}: {value!r}}}{text[len(body) :] or chr(10)}"

    return TextTable("", chosen, rows(), appended)


@contextmanager
def text_to_copy(
    source: str, form: str | None, wanted: Wanted, doing: str, most: int
) -> Iterator[tuple[TextTable, Iterator[Chunk]]]:
    """A table of text to which a column is to be added, and its rows with their scores, `most` of them at a time."""
    name = "standard input" if source == STREAM else visible(source)
    with _reading(source, wanted.spelling.encoding) as (text, share), RowProgress(f"{doing} {name}") as progress:
        lines = lines_of(text, name)
        if source == STREAM:
            first = next(lines, "")
            check_text(first[:HEAD].encode("utf-8", "surrogateescape"), name)
            form = "json" if first.removeprefix(BYTE_ORDER_MARK).lstrip().startswith("{") else "csv"
            lines = chain([first], lines)
        if form == "json" and wanted.spelling.skip_lines:
            raise WrongValue(Argument("skip_lines"), "must come with CSV", f"JSON in {name}")
        try:
            table = (_json_table if form == "json" else _csv_table)(lines, name, wanted)
        except ValueError as error:
            if form == "json" or source == STREAM:
                raise
            above = CsvFile(source, wanted.spelling.skip_lines, wanted.spelling.encoding).title_above()
            raise above or error from None

        def chunks() -> Iterator[Chunk]:
            plain, rows = score_in_json if form == "json" else score_in_text, 0
            numbers = Numbers(ValueReaders(wanted.spelling, plain, plain).score, plain=False)
            stay = (row for row in table.rows if wanted.stays(table.score, row.score, row.label))
            while chunk := list(islice(stay, most)):

                def place(row: int, chunk: list[TextRow] = chunk) -> str:
                    return f"on line {chunk[row].line} of {name}"

                yield chunk, scores_of(coded_list(row.score for row in chunk), numbers, place), place
                rows += len(chunk)
                progress.advance_to(rows, share())
            if not rows:
                raise NoRows.of(name)

        yield table, chunks()


@contextmanager
def _reading(source: str, encoding: str) -> Iterator[tuple[IO[str], Callable[[], float | None]]]:
    """The text as it is, and how much of the file has been read."""
    if source != STREAM:
        with opened(source, encoding=encoding) as (text, content):
            yield text, content.share_read
        return
    text = io.TextIOWrapper(sys.stdin.buffer, **_style(encoding))
    try:
        yield text, lambda: None
    except UnicodeDecodeError as error:
        wanted, way = f"must be text in {encoding}; {error}", ("Pass another ", Argument("encoding"), ".")
        raise WrongValue("standard input", wanted, None, "", way) from error
    finally:
        # Standard input is not ours to close.
        text.detach()


@contextmanager
def writing_text(target: str, encoding: str) -> Iterator[IO[str]]:
    """Text that appears under the name `target` when all of it is there."""
    style = _style(encoding)
    if target == STREAM:
        text = io.TextIOWrapper(sys.stdout.buffer, **style)
        try:
            yield text
        finally:
            text.flush()
            text.detach()
        return
    opening: Any = gzip.open if target.lower().endswith(".gz") else open
    with replacing(Path(target)) as unfinished, opening(unfinished, "wt", **style) as file:
        yield file


def _style(encoding: str) -> dict[str, Any]:
    """How text is read and written; bytes that are not UTF-8 survive as they are where nothing else was said."""
    return {"encoding": encoding, "errors": "surrogateescape" if encoding == UTF_8 else "strict", "newline": ""}
