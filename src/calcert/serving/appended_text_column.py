"""Text tables, CSV or JSON lines, that get one more column: what was written stays as it was written, byte for byte."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from calcert.sources.columns import Column, check_new_column, choose_score, named
from calcert.sources.csv_file import read_header, records
from calcert.sources.json_file import line_records, names_in, value_of
from calcert.sources.parsed_values import PLAIN, Reader, Spelling, Unreadable, is_value, score_in_json, score_in_text
from calcert.sources.reading_account import Account


@dataclass(frozen=True)
class Wanted:
    """The column of scores (None to find it), the name of the new one, and how values are written.

    `label` names a column that rows must not lack either, where rows that lack something are left out; these are
    counted in the account.
    """

    score: str | None
    column: str
    spelling: Spelling = PLAIN
    label: str | None = None
    account: Account = field(default_factory=Account)

    def score_reader(self, plain: Reader) -> Reader:
        """How to read the scores of one table."""
        return plain if self.spelling == PLAIN else self.spelling.readers(plain, plain, Account())[0]

    def stays(self, score: str, value: Any, label: Any) -> bool:
        """True for a row that is not to be left out for a gap."""
        missing = score if self.spelling.is_gap(value) else self.label if self.spelling.is_gap(label) else None
        if not self.spelling.drop_missing or missing is None:
            return True
        self.account.dropped[missing] += 1
        return False


class TextRow(NamedTuple):
    """A row as it stands in the file, its score, and where it is in words."""

    text: str
    score: float
    where: str


@dataclass(frozen=True)
class TextTable:
    """The first line with the new column in it, the column of scores, then every row.

    `appended` is the text of a row with a new value at its end.
    """

    head: str
    score: str
    rows: Iterator[TextRow]
    appended: Callable[[str, float], str]


def csv_table(lines: Iterator[str], source: str, wanted: Wanted) -> TextTable:
    """A CSV file with a header; `source` names it in errors."""
    header = read_header(lines, source, wanted.spelling.skip_lines)
    names, delimiter = header.names, header.delimiter
    check_new_column(wanted.column, names, source)
    columns = [Column(name, "unknown", "text") for name in names]
    chosen = choose_score(columns, wanted.score, source).name
    if wanted.score is None and is_value(chosen):
        raise ValueError(f"{source} must begin with a line of column names; got {chosen!r}, which looks like a value.")
    place = names.index(chosen)
    beside = place if wanted.label is None else names.index(named(columns, "label", wanted.label, source).name)
    read = wanted.score_reader(score_in_text)

    def rows() -> Iterator[TextRow]:
        for line, text, values in records(lines, delimiter, source, header.lines):
            where = f"on line {line} of {source}"
            if len(values) != len(names):
                raise ValueError(
                    f"every line must have as many values as the header, {len(names)}; got {len(values)} {where}."
                )
            if values == names:
                raise ValueError(f"column names must be there once; got them again {where}.")
            if not wanted.stays(chosen, values[place], values[beside]):
                continue
            try:
                yield TextRow(text, read(values[place]), where)
            except Unreadable as error:
                raise ValueError(error.message("scores", where)) from None

    def appended(text: str, value: float) -> str:
        written = repr(value).replace(".", wanted.spelling.decimal)
        return _before_line_end(text, f"{delimiter}{_cell(written, delimiter)}")

    head = _before_line_end(header.text, delimiter + _cell(wanted.column, delimiter))
    return TextTable(head, chosen, rows(), appended)


def json_table(lines: Iterator[str], source: str, wanted: Wanted) -> TextTable:
    """JSON lines: one object a line; the first says which columns there are."""
    found = line_records(lines, source)
    first = next(found, None)
    if first is None:
        raise ValueError(f"{source} must hold at least one row; got none.")
    columns = [Column(name, "unknown", "JSON") for name in dict.fromkeys([*first.values, *names_in(first.values)])]
    chosen = choose_score(columns, wanted.score, source).name
    key = json.dumps(wanted.column, ensure_ascii=False)
    read = wanted.score_reader(score_in_json)

    def rows() -> Iterator[TextRow]:
        for line, text, values in chain([first], found):
            where = f"on line {line} of {source}"
            check_new_column(wanted.column, list(values), source)
            score = value_of(values, chosen, where)
            label = score if wanted.label is None else value_of(values, wanted.label, where)
            if not wanted.stays(chosen, score, label):
                continue
            try:
                yield TextRow(text, read(score), where)
            except Unreadable as error:
                raise ValueError(error.message("scores", where)) from None

    def appended(text: str, value: float) -> str:
        body = text.rstrip()
        return f"{body[:-1].rstrip()}, {key}: {value!r}}}{text[len(body) :] or chr(10)}"

    return TextTable("", chosen, rows(), appended)


def _before_line_end(text: str, addition: str) -> str:
    body = text.rstrip("\r\n")
    return f"{body}{addition}{text[len(body) :] or chr(10)}"


def _cell(value: str, delimiter: str) -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="").writerow([value])
    return written.getvalue()
