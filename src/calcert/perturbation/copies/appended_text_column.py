"""Text tables, CSV or JSON lines, that get one more column: what was written stays as it was written, byte for byte."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.escaped_text import visible
from calcert.foundation.progress import RowProgress
from calcert.foundation.refusal import Argument, WrongValue
from calcert.foundation.refused_values import Place, checked_scores
from calcert.foundation.whole_regular_file import replacing
from calcert.perturbation.copies.appended_column import Wanted, check_new_column, refuse_no_rows
from calcert.sources.columns import Column, choose_score, named
from calcert.sources.files.csv_file import CsvFile, read_header, records
from calcert.sources.files.json_file import line_records, names_in, value_of
from calcert.sources.files.text_bytes import BYTE_ORDER_MARK, HEAD, UTF_8, check_text, lines_of, opened
from calcert.sources.parsed_values import Unreadable, is_value, score_in_json, score_in_text

STREAM = "-"
"""The name of standard input and of standard output, between which text may be copied."""


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
                raise error.refusal("scores", where) from None

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
                raise error.refusal("scores", where) from None

    def appended(text: str, value: float) -> str:
        body = text.rstrip()
        return f"{body[:-1].rstrip()}, {key}: {value!r}}}{text[len(body) :] or chr(10)}"

    return TextTable("", chosen, rows(), appended)


@contextmanager
def text_to_copy(
    source: str, form: str | None, wanted: Wanted, doing: str, most: int
) -> Iterator[tuple[TextTable, Iterator[tuple[list[TextRow], Floats, Place]]]]:
    """A table of text to which a column is to be added, and its rows with their scores, `most` of them at a time."""
    name = "standard input" if source == STREAM else visible(source)
    with reading_text(source, wanted.spelling.encoding) as (text, share), RowProgress(f"{doing} {name}") as progress:
        lines = lines_of(text, name)
        if source == STREAM:
            first = next(lines, "")
            check_text(first[:HEAD].encode("utf-8", "surrogateescape"), name)
            form = "json" if first.removeprefix(BYTE_ORDER_MARK).lstrip().startswith("{") else "csv"
            lines = chain([first], lines)
        if form == "json" and wanted.spelling.skip_lines:
            raise WrongValue(Argument("skip_lines"), "must come with CSV", f"JSON in {name}")
        try:
            table = (json_table if form == "json" else csv_table)(lines, name, wanted)
        except ValueError as error:
            if form == "json" or source == STREAM:
                raise
            above = CsvFile(source, wanted.spelling.skip_lines, wanted.spelling.encoding).title_above()
            raise above or error from None

        def chunks() -> Iterator[tuple[list[TextRow], Floats, Place]]:
            rows = 0
            while chunk := list(islice(table.rows, most)):
                place = [row.where for row in chunk].__getitem__
                yield chunk, checked_scores(np.array([row.score for row in chunk]), place), place
                rows += len(chunk)
                progress.advance_to(rows, share())
            refuse_no_rows(rows, name)

        yield table, chunks()


@contextmanager
def reading_text(source: str, encoding: str) -> Iterator[tuple[IO[str], Callable[[], float | None]]]:
    """The text as it is, and how much of the file has been read."""
    if source != STREAM:
        with opened(source, encoding=encoding) as (text, content):
            yield text, content.share_read
        return
    text = io.TextIOWrapper(sys.stdin.buffer, **_style(encoding))
    try:
        yield text, lambda: None
    except UnicodeDecodeError as error:
        raise WrongValue(
            "standard input",
            f"must be text in {encoding}; {error}",
            None,
            "",
            ("Pass another ", Argument("encoding"), "."),
        ) from error
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
    with replacing(Path(target)) as unfinished:
        if target.lower().endswith(".gz"):
            with gzip.open(unfinished, "wt", **style) as file:
                yield file
        else:
            with unfinished.open("w", **style) as file:
                yield file


def _style(encoding: str) -> dict[str, Any]:
    """How text is read and written; bytes that are not UTF-8 survive as they are where nothing else was said."""
    return {"encoding": encoding, "errors": "surrogateescape" if encoding == UTF_8 else "strict", "newline": ""}


def _before_line_end(text: str, addition: str) -> str:
    """A line of CSV with something more at its end."""
    body = text.rstrip("\r\n")
    return f"{body}{addition}{text[len(body) :] or chr(10)}"


def _cell(value: str, delimiter: str) -> str:
    """A value as CSV writes it, in quotation marks where it needs them."""
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="").writerow([value])
    return written.getvalue()
