"""Text tables, CSV or JSON lines, that get one more column: what was written stays as it was written, byte for byte."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from calcert.foundation.validation import missing_message
from calcert.sources.columns import Column, check_new_column, choose_score

DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class TextTable:
    """The first line with the new column in it, the column of scores, then every row as text and its score.

    `appended` is a row with a new value at its end.
    """

    head: str
    score: str
    rows: Iterator[tuple[str, float]]
    appended: Callable[[str, float], str]


def csv_table(lines: Iterator[str], source: str, score: str | None, new: str) -> TextTable:
    """A CSV file with a header; `source` names it in errors."""
    first = next(lines, "")
    # A byte order mark is no part of the first name, but it stays in the file.
    bare = first.removeprefix("\ufeff")
    delimiter = max(DELIMITERS, key=bare.count)
    names = next(csv.reader([bare], delimiter=delimiter), [])
    if not names:
        raise ValueError(f"{source} must begin with a line of column names; got an empty line.")
    check_new_column(new, names, source)
    chosen = choose_score([Column(name, "unknown", "text") for name in names], score, source).name
    place = names.index(chosen)

    def rows() -> Iterator[tuple[str, float]]:
        row = -1
        for text, values in _records(lines, delimiter):
            if not values:
                continue
            row += 1
            if len(values) != len(names):
                raise ValueError(
                    f"every line must have as many values as the header, {len(names)}; got {len(values)} "
                    f"at row {row} of {source}."
                )
            yield text, _number(values[place].strip(), f"at row {row} of {source}")

    def appended(text: str, value: float) -> str:
        return _before_line_end(text, f"{delimiter}{value!r}")

    return TextTable(_before_line_end(first, delimiter + _cell(new, delimiter)), chosen, rows(), appended)


def _records(lines: Iterator[str], delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Every record as it stands in the file, line breaks inside quotes included, and its values."""
    taken: list[str] = []

    def remembered() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    for values in csv.reader(remembered(), delimiter=delimiter):
        yield "".join(taken), values
        taken.clear()


def json_table(lines: Iterator[str], source: str, score: str | None, new: str) -> TextTable:
    """JSON lines: one object a line; the first says which columns there are."""
    first = next((line for line in lines if line.strip()), "")
    names = list(_json_object(first, f"at row 0 of {source}"))
    chosen = choose_score([Column(name, "unknown", "JSON") for name in names], score, source).name
    key = json.dumps(new, ensure_ascii=False)

    def rows() -> Iterator[tuple[str, float]]:
        row = -1
        for text in _with_first(first, lines):
            if not text.strip():
                continue
            row += 1
            where = f"at row {row} of {source}"
            values = _json_object(text, where)
            check_new_column(new, list(values), source)
            yield text, _number(values.get(chosen), where)

    def appended(text: str, value: float) -> str:
        body = text.rstrip()
        return f"{body[:-1].rstrip()}, {key}: {value!r}}}{text[len(body) :] or chr(10)}"

    return TextTable("", chosen, rows(), appended)


def _json_object(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"every line must be a JSON object; got {text.strip()[:60]!r} {where}.") from error
    if not isinstance(found, dict):
        raise ValueError(f"every line must be a JSON object; got {text.strip()[:60]!r} {where}.")
    return found


def _with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _number(value: Any, where: str) -> float:
    if value is None or value == "":
        raise ValueError(missing_message("scores", where))
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"scores must be numbers in [0, 1]; got {value!r} {where}.") from None


def _before_line_end(text: str, addition: str) -> str:
    body = text.rstrip("\r\n")
    return f"{body}{addition}{text[len(body) :] or chr(10)}"


def _cell(value: str, delimiter: str) -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="").writerow([value])
    return written.getvalue()
