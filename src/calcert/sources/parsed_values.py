"""Scores and labels as text files write them: read as the nearest double, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

from calcert.foundation.validation import missing_message, unreadable_message

BOOLEANS = {"true": True, "false": False}

Kind = Literal["real", "integer", "boolean", "unknown"]
WORDS = {"real": "numbers", "integer": "whole numbers", "boolean": "true or false", "unknown": "text"}
"""What the kinds of columns are called in words."""


GAPS = ("", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "\\n")
"""How files write a value that is not there, in small letters."""


def is_gap(value: Any) -> bool:
    """True where a value is not there."""
    return value is None or value != value or (isinstance(value, str) and value.strip().lower() in GAPS)


class Unreadable(Exception):
    """A value that is no score or no label, or not there; `wanted` says what it must be where somebody said so."""

    def __init__(self, value: Any, wanted: str | None = None, *, missing: bool = False) -> None:
        super().__init__(value)
        self.value = value
        self.wanted = wanted
        self.missing = missing or is_gap(value)

    def message(self, name: str, where: str) -> str:
        """What to say of it; `name` is scores or labels."""
        if self.missing:
            return missing_message(name, where, self.value)
        return unreadable_message(name, self.value, where, self.wanted)


def number(text: str) -> float | None:
    """The number that a text is, if it is one: no thousands, no other digits than 0 to 9."""
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def is_value(text: str) -> bool:
    """True where a text is what a row holds: a number, or true or false."""
    return number(text) is not None or text.strip().lower() in BOOLEANS


def kind_of(values: Sequence[Any], number: Callable[[str], float | None] = number) -> Kind:
    """What a column holds, as far as some of its values tell; those that are missing tell nothing.

    `number` reads a text that may be one.
    """
    there = [value for value in values if value is not None and value != ""]
    if there and all(isinstance(value, (str, bool)) and str(value).strip().lower() in BOOLEANS for value in there):
        return "boolean"
    numbers = [number(value) if isinstance(value, str) else value for value in there]
    if not there or any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in numbers):
        return "unknown"
    return "integer" if all(str(value).strip().lstrip("+-").isdigit() for value in there) else "real"


def score_in_text(text: str | None) -> float:
    """A score that is written out."""
    found = number(text) if text is not None else None
    if found is None:
        raise Unreadable(text)
    return found


def label_in_text(text: str | None) -> float:
    """A label that is written out: a number, or true or false."""
    found = number(text) if text is not None else None
    if found is not None:
        # Whole numbers stay whole, so that errors show them as people write them.
        return int(found) if found.is_integer() else found
    if text is not None and text.strip().lower() in BOOLEANS:
        return BOOLEANS[text.strip().lower()]
    raise Unreadable(text)


def score_in_json(value: Any) -> float:
    """A score in JSON: a number, and no text that looks like one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable(value)
    return _double(value)


def label_in_json(value: Any) -> float:
    """A label in JSON: a number, true or false."""
    if not isinstance(value, (int, float)):
        raise Unreadable(value)
    return value if isinstance(value, int) and abs(value) < 1 << 53 else _double(value)


def score_in_cell(value: Any) -> float:
    """A score in a column of any kind: a number, or a text that is one."""
    if isinstance(value, str):
        return score_in_text(value)
    return float(value) if isinstance(value, Decimal) else score_in_json(value)


def label_in_cell(value: Any) -> float:
    """A label in a column of any kind: a number, true or false, or a text that is one of these."""
    if isinstance(value, str):
        return label_in_text(value)
    return float(value) if isinstance(value, Decimal) else label_in_json(value)


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
