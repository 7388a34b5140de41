"""Reads the scores, labels and weights of one table, in the way that a Reading says they are written."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from calcert.foundation.refusal import Argument, reading
from calcert.sources.parsed_values import Reader, Reading, Unreadable, is_sheet_error, label_in_text


class Percentage(float):
    """A number that a sheet shows as a percentage: 0.0756 for 7.56%."""


class ValueReaders:
    """Reads the values of one table, by `score` and `label` where nobody said how they are written.

    A percent sign stands at all scores or at none.
    """

    def __init__(self, reading: Reading, score: Reader, label: Reader) -> None:
        self._spelling = reading
        self._plain_score, self._plain_label = score, label
        self.score: Reader = score if reading.is_plain else self._score
        self.label: Reader = label if reading.is_plain else self._label
        self.signed: bool | None = None

    def _score(self, value: Any) -> float:
        spelling = self._spelling
        if spelling.is_gap(value):
            raise Unreadable(value, missing=True)
        if spelling.mixed_percent:
            return self._percentage_or_share(value)
        if not spelling.percent and (spelling.decimal == "." or not isinstance(value, str)):
            return self._plain_score(value)
        found = self._percentage(value) if spelling.percent else spelling.number(value.strip())
        if found is None or not 0 <= found <= 1:
            wanted: tuple[str | Argument, ...] = (
                "percentages from 0 to 100" if spelling.percent else "numbers in [0, 1]",
            )
            if spelling.decimal == ",":
                wanted += (" with a decimal comma",)
            elif "," in str(value):
                wanted += (" with a decimal point, or ", reading("decimal", ","), " must be given")
            if not spelling.percent and str(value).rstrip().endswith("%"):
                wanted += (", or ", reading("percent", True), " must be given")
            raise Unreadable(value, wanted)
        return found

    def _percentage_or_share(self, value: Any) -> float:
        """95%, 95 and 0.95 in one column; the nearest double of what is written."""
        text = value.strip() if isinstance(value, str) else repr(value)
        number = None if isinstance(value, bool) else self._spelling.number(text.removesuffix("%").rstrip())
        if text.lstrip("+0") == "1":
            raise Unreadable(value, "written so that they are clear: 1 without a sign may be 1%, 1.0 or 100%")
        if number is None or not 0 <= number <= 100:
            raise Unreadable(value, "percentages from 0 to 100, or shares from 0 to 1")
        return number if number <= 1 and not text.endswith("%") else _hundredth(text)

    def _label(self, value: Any) -> float:
        spelling = self._spelling
        if spelling.is_gap(value):
            raise Unreadable(value, missing=True)
        if spelling.positive is None:
            comma = spelling.decimal == "," and isinstance(value, str) and "," in value
            return label_in_text(value.replace(",", ".", 1)) if comma else self._plain_label(value)
        text, positive = spelling.label_as_written(value), spelling.label
        if text != positive and text.casefold() == positive.casefold():
            apart = f"{positive!r} or values that differ from it by more than capitals (or "
            raise Unreadable(value, (apart, reading("positive", text), " must be given)"))
        if text != positive and is_sheet_error(text):
            raise Unreadable(value, "values and no errors of a spreadsheet")
        return int(text == positive)

    def weight(self, value: Any) -> float:
        """A weight, or a number of rows."""
        found = self._spelling.number(value) if isinstance(value, str) else value
        if not isinstance(found, (int, float, Decimal)) or self._spelling.is_gap(value):
            raise Unreadable(value, "numbers")
        return float(found)

    def _percentage(self, value: Any) -> float | None:
        """The hundredth part as the nearest double of what is written: its decimal point moves, nothing is divided."""
        if isinstance(value, Percentage):
            raise Unreadable(
                value, ("percentages; the sheet shows this as one, so that ", reading("percent"), " must be left out")
            )
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return None
        text = value.strip() if isinstance(value, str) else repr(value)
        signed = text.endswith("%")
        found = self._spelling.number(text.removesuffix("%").rstrip()) if isinstance(value, str) else float(value)
        if found is None or not math.isfinite(found):
            return None
        if self.signed not in (None, signed):
            raise Unreadable(value, "percentages all with the sign % or all without it")
        self.signed = signed
        return _hundredth(text)


def _hundredth(text: str) -> float:
    digits, _, exponent = text.removesuffix("%").rstrip().replace(",", ".").lower().partition("e")
    return float(f"{digits}e{int(exponent or 0) - 2}")
