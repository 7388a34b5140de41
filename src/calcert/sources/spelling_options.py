"""How people's files write scores and labels, said beforehand: decimal commas, percent, words for labels, gaps.

Nothing is guessed: what was not said is refused with its line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calcert.sources.parsed_values import Reader, Unreadable, is_gap, is_sheet_error, label_in_text, number_in_text

if TYPE_CHECKING:
    from calcert.sources.reading_account import Account


@dataclass(frozen=True)
class Spelling:
    """How a file writes its values, as its owner says.

    Attributes
    ----------
    decimal
        What stands before the decimals: "." or ",".
    percent
        True where scores are percentages, 7.56 or 7.56%, all of them one way.
    positive
        The value of the column of labels that means 1; all others mean 0. None where labels are 0/1 or booleans.
    drop_missing
        True where rows without a score or a label, or without another column that was asked for, are left out.
    missing
        What stands for a value that is not there, beside nothing, NA, N/A, #N/A, NaN, null and None.
    sheet
        The sheet of a workbook; None where there is but one.
    skip_lines
        Lines, or rows of a sheet, above the column names.
    """

    decimal: str = "."
    percent: bool = False
    positive: str | None = None
    drop_missing: bool = False
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    skip_lines: int = 0

    @property
    def label(self) -> str:
        """The positive label as labels are counted."""
        return _written(self.positive, self.decimal)

    def is_gap(self, value: Any) -> bool:
        """True where a value is not there."""
        return is_gap(value) or (isinstance(value, str) and value.strip() in self.missing)

    def readers(self, score: Reader, label: Reader, account: Account) -> tuple[Reader, Reader]:
        """How to read scores and labels that are not there to be read by `score` and `label`; the account is kept."""
        spelled = _Spelled(self, score, label, account)
        return spelled.score, spelled.label

    def number(self, text: str) -> float | None:
        """The number that a text is, if it is one."""
        if self.decimal == ",":
            text = text.replace(",", ".", 1) if "." not in text else ""
        return number_in_text(text)


PLAIN = Spelling()


class Percentage(float):
    """A number that a sheet shows as a percentage: 0.0756 for 7.56%."""


class _Spelled:
    """Reads one table, in which a percent sign stands at all scores or at none."""

    def __init__(self, spelling: Spelling, score: Reader, label: Reader, account: Account) -> None:
        self._spelling = spelling
        self._plain_score, self._plain_label = score, label
        self._account = account
        self._signed: bool | None = None

    def score(self, value: Any) -> float:
        spelling = self._spelling
        if spelling.is_gap(value):
            raise Unreadable(value, missing=True)
        if not spelling.percent and (spelling.decimal == "." or not isinstance(value, str)):
            return self._plain_score(value)
        found = self._percentage(value) if spelling.percent else spelling.number(value.strip())
        if found is None or not 0 <= found <= 1:
            comma = " with a decimal comma" if spelling.decimal == "," else ""
            if not comma and "," in str(value):
                comma = " with a decimal point, or --decimal , must be given"
            if not spelling.percent and str(value).rstrip().endswith("%"):
                comma += ", or --percent must be given"
            what = "percentages from 0 to 100" if spelling.percent else "numbers in [0, 1]"
            raise Unreadable(value, f"{what}{comma}")
        return found

    def label(self, value: Any) -> float:
        spelling = self._spelling
        if spelling.is_gap(value):
            raise Unreadable(value, missing=True)
        if spelling.positive is None:
            comma = spelling.decimal == "," and isinstance(value, str) and "," in value
            return label_in_text(value.replace(",", ".", 1)) if comma else self._plain_label(value)
        text, positive = _written(value, spelling.decimal), spelling.label
        if text != positive and text.casefold() == positive.casefold():
            way = f" (or --positive {text} must be given)"
            raise Unreadable(value, f"{positive!r} or values that differ from it by more than capitals{way}")
        if text != positive and is_sheet_error(text):
            raise Unreadable(value, "values and no errors of a spreadsheet")
        self._account.labels[text] += 1
        return int(text == positive)

    def _percentage(self, value: Any) -> float | None:
        """The hundredth part as the nearest double of what is written: its decimal point moves, nothing is divided."""
        if isinstance(value, Percentage):
            raise Unreadable(value, "percentages; the sheet shows this as one, so that --percent must be left out")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return None
        text = value.strip() if isinstance(value, str) else repr(value)
        signed = text.endswith("%")
        found = self._spelling.number(text.removesuffix("%").rstrip()) if isinstance(value, str) else float(value)
        if found is None or not math.isfinite(found):
            return None
        if self._signed not in (None, signed):
            raise Unreadable(value, "percentages all with the sign % or all without it")
        self._signed = signed
        self._account.low += not signed and found <= 1
        digits, _, exponent = text.removesuffix("%").rstrip().replace(",", ".").lower().partition("e")
        return float(f"{digits}e{int(exponent or 0) - 2}")


def _written(value: Any, decimal: str) -> str:
    """A label as people write it; 2.0 is 2, in numbers and in text, as programs write one for the other."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    whole, _, decimals = text.partition(decimal if isinstance(value, str) else ".")
    return whole if whole.lstrip("+-").isdecimal() and decimals and not decimals.strip("0") else text
