"""Readers of CSV and JSON that share nothing with those of the package: modules of Python, and exact fractions."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
BOOLEANS = {"true": 1.0, "false": 0.0}

Rows = list[tuple[float, float]]


class NoRows(Exception):
    """The text is no table of scores and labels, or holds a row that is none."""


def csv_records(content: bytes, delimiter: str) -> list[list[str]]:
    """The records of a CSV file, the header first; empty lines are none."""
    text = content.decode("utf-8-sig", "surrogateescape")
    csv.field_size_limit(1 << 30)
    try:
        found = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error as error:
        raise NoRows(str(error)) from error
    if len(found) < 2 or any(len(row) != len(found[0]) for row in found):
        raise NoRows("no rows, or ragged ones")
    return found


def csv_rows(content: bytes, delimiter: str) -> Rows:
    """Scores p and labels y of a CSV file."""
    header, *rows = csv_records(content, delimiter)
    places = []
    for name in ("p", "y"):
        if [column.lower() for column in header].count(name) != 1 or name not in header:
            raise NoRows("columns")
        places.append(header.index(name))
    return [checked(in_text(row[places[0]]), in_text(row[places[1]], BOOLEANS)) for row in rows]


def json_objects(content: bytes, *, relaxed: bool = False) -> list[list[tuple[str, Any]]]:
    """The objects of a JSON file as pairs, so that a key may be there twice; `relaxed` bears what is not quite JSON."""
    text = content.decode("utf-8-sig", "surrogateescape")
    if text.lstrip().startswith("["):
        parts = [text]
    else:
        parts = [line for line in text.split("\n") if line.strip(" \t\r")]
    try:
        found = [_decoded(part, relaxed=relaxed) for part in parts]
    except (ValueError, RecursionError) as error:
        raise NoRows(str(error)) from error
    objects = found[0] if found and text.lstrip().startswith("[") else found
    if not isinstance(objects, list) or not objects or not all(isinstance(one, Pairs) for one in objects):
        raise NoRows("no objects")
    return objects


class Pairs(list[tuple[str, Any]]):
    """An object."""


def _decoded(text: str, *, relaxed: bool) -> Any:
    if relaxed:
        text = re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda found: found[1] or "", text)
        text = re.sub(r'("(?:\\.|[^"\\])*")|(?i:-?\b(?:nan|inf(?:inity)?)\b)', lambda found: found[1] or "NaN", text)
    return json.loads(text, object_pairs_hook=Pairs, parse_float=Fraction, parse_int=Fraction)


def json_rows(content: bytes, *, relaxed: bool = False) -> Rows:
    """Scores p and labels y of a JSON file."""
    rows = []
    for pairs in json_objects(content, relaxed=relaxed):
        values = []
        for name in ("p", "y"):
            found = [value for key, value in pairs if key == name]
            if len(found) != 1:
                raise NoRows("keys")
            values.append(found[0])
        score, label = values
        if isinstance(label, bool):
            label = Fraction(int(label))
        if not isinstance(score, Fraction) or not isinstance(label, Fraction):
            raise NoRows("not numbers")
        rows.append(checked(to_double(score), to_double(label)))
    return rows


def in_text(text: str, words: dict[str, float] | None = None) -> float:
    """The nearest double of a number that is written out."""
    if words and text.strip().lower() in words:
        return words[text.strip().lower()]
    if not NUMBER.fullmatch(text):
        raise NoRows("not a number")
    return to_double(Fraction(text.strip()))


def to_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise NoRows("too large") from error


def checked(score: float, label: float) -> tuple[float, float]:
    if not 0 <= score <= 1 or label not in (0, 1):
        raise NoRows("no score, or no label")
    return score, label
