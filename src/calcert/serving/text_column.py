"""Text tables, CSV or JSON lines, that get one more column: what was written stays as it was written, byte for byte."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from calcert.sources.columns import Column, check_new_column, choose_score
from calcert.sources.csv_text import read_header, records
from calcert.sources.json_text import line_records, value_of
from calcert.sources.values_in_text import Unreadable, is_value, score_in_json, score_in_text


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


def csv_table(lines: Iterator[str], source: str, score: str | None, new: str) -> TextTable:
    """A CSV file with a header; `source` names it in errors."""
    header = read_header(lines, source)
    names, delimiter = header.names, header.delimiter
    check_new_column(new, names, source)
    chosen = choose_score([Column(name, "unknown", "text") for name in names], score, source).name
    if score is None and is_value(chosen):
        raise ValueError(f"{source} must begin with a line of column names; got {chosen!r}, which looks like a value.")
    place = names.index(chosen)

    def rows() -> Iterator[TextRow]:
        for line, text, values in records(lines, delimiter, source, header.lines):
            where = f"on line {line} of {source}"
            if len(values) != len(names):
                raise ValueError(
                    f"every line must have as many values as the header, {len(names)}; got {len(values)} {where}."
                )
            if values == names:
                raise ValueError(f"column names must be there once; got them again {where}.")
            try:
                yield TextRow(text, score_in_text(values[place]), where)
            except Unreadable as error:
                raise ValueError(error.message("scores", where)) from None

    def appended(text: str, value: float) -> str:
        return _before_line_end(text, f"{delimiter}{value!r}")

    return TextTable(_before_line_end(header.text, delimiter + _cell(new, delimiter)), chosen, rows(), appended)


def json_table(lines: Iterator[str], source: str, score: str | None, new: str) -> TextTable:
    """JSON lines: one object a line; the first says which columns there are."""
    found = line_records(lines, source)
    first = next(found, None)
    if first is None:
        raise ValueError(f"{source} must hold at least one row; got none.")
    chosen = choose_score([Column(name, "unknown", "JSON") for name in first.values], score, source).name
    key = json.dumps(new, ensure_ascii=False)

    def rows() -> Iterator[TextRow]:
        for line, text, values in chain([first], found):
            where = f"on line {line} of {source}"
            check_new_column(new, list(values), source)
            try:
                yield TextRow(text, score_in_json(value_of(values, chosen, where)), where)
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
