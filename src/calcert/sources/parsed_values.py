"""Scores and labels as files write them: read as the nearest double, or not at all.

How people write them is said beforehand, as a Reading: decimal commas, percent, words for labels, gaps. Nothing is
guessed: what was not said is refused with its line.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from calcert.foundation.refusal import Argument, Phrase, Way, WrongValue, reading
from calcert.foundation.refused_values import ONE_AGAINST_THE_REST, PERCENT_SIGNS, missing_value

Reader = Callable[[Any], float]
"""Reads a score or a label as it stands in a file."""

BOOLEANS = {"true": True, "false": False}

GAPS = ("", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "\\n")
"""How files write a value that is not there, in small letters."""


def is_gap(value: Any) -> bool:
    """True where a value is not there."""
    return value is None or value != value or (isinstance(value, str) and value.strip().lower() in GAPS)


class Unreadable(Exception):
    """A value that is no score or no label, or not there; `wanted` says what it must be where somebody said so."""

    def __init__(self, value: Any, wanted: Phrase | None = None, *, missing: bool = False) -> None:
        super().__init__(value)
        self.value = value
        self.wanted = wanted
        self.missing = missing or is_gap(value)

    def refusal(self, name: str, where: str) -> WrongValue:
        """What to say of it; `name` is scores or labels."""
        value, wanted = self.value, self.wanted
        if self.missing:
            return missing_value(name, where, value)
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
        if name == "labels" and wanted is None:
            return WrongValue(name, "must be 0 or 1 (or bool)", shown, where, *text_label_ways(value))
        wordy = name == "scores" and isinstance(value, str) and not any(letter.isdigit() for letter in value)
        ways: list[Way | Phrase] = []
        if wordy or is_sheet_error(value):
            gap = reading("missing", (value.strip(),), reading("drop_missing", True))
            ways = [("If it stands for a missing value, pass ", gap, ".")]
        elif isinstance(value, str) and wanted is None:
            text = value.strip()
            if value.isascii() and text.replace(".", "", 1).isdigit():
                ways = ["Write it without quotes."]
            ways += [PERCENT_SIGNS] if text.endswith("%") else []
            ways += [COMMAS] if text.rstrip("% ").replace(",", "", 1).isdigit() and "," in value else []
        wanted = wanted or "numbers in [0, 1]"
        required = ("must be ", *((wanted,) if isinstance(wanted, str) else wanted))
        return WrongValue(name, required, shown, where, *ways)


def number_in_text(text: str) -> float | None:
    """The number that a text is, if it is one: no thousands, no other digits than 0 to 9."""
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def is_value(text: str) -> bool:
    """True where a text is what a row holds: a number, or true or false."""
    return number_in_text(text) is not None or text.strip().lower() in BOOLEANS


def is_like_value(value: Any) -> bool:
    """True where a value is a number in some way of writing it, or true or false."""
    text = str(value).strip().removesuffix("%").rstrip()
    return is_value(text) or is_value(text.replace(",", ".", 1))


def score_in_text(text: str | None) -> float:
    """A score that is written out."""
    found = number_in_text(text or "")
    if found is None:
        raise Unreadable(text)
    return found


def label_in_text(text: str | None) -> float:
    """A label that is written out: a number, or true or false."""
    found = number_in_text(text or "")
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
    return _nearest_double(value)


def label_in_json(value: Any) -> float:
    """A label in JSON: a number, true or false."""
    if not isinstance(value, (int, float)):
        raise Unreadable(value)
    return value if isinstance(value, int) and abs(value) < 1 << 53 else _nearest_double(value)


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


def _nearest_double(value: float) -> float:
    """A number as a double, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def is_sheet_error(value: Any) -> bool:
    """True for what spreadsheets write where they could compute nothing, in any language: #NV, #DIV/0!, #REF!."""
    return isinstance(value, str) and value.strip().startswith("#") and value.isupper()


AFFIRMATIVE = {"yes": "no", "y": "n", "true": "false", "t": "f", "ja": "nein", "j": "n", "oui": "non", "si": "no"}
"""Words for yes, and the words for no that go with them."""


COMMAS = Way("Write decimal points, not commas.", ("For decimal commas pass ", reading("decimal", ","), "."))


def text_label_ways(value: Any) -> tuple[Way, ...]:
    """What to do about a label that is text; nothing where it is not."""
    if not isinstance(value, str):
        return ()
    word = value.strip().lower()
    yes = word if word in AFFIRMATIVE else next((yes for yes, no in AFFIRMATIVE.items() if no == word), None)
    if yes is None:
        return (ONE_AGAINST_THE_REST,)
    spelled = yes.upper() if value.strip().isupper() else yes.capitalize() if value.strip()[:1].isupper() else yes
    of = "For labels in words pass "
    # Of a word for no there is no telling which word for yes goes with it.
    files: Phrase = (of, reading("positive", spelled), ".")
    if word != yes:
        files = ("For labels in words name the one that means 1: ", reading("positive"), ".")
    return (Way(f"{of}labels == {spelled!r}.", files, metrics=f"{of}pos_label={spelled!r}."),)


@dataclass(frozen=True)
class Reading:
    """How a file writes its values, as its owner says.

    Attributes
    ----------
    decimal
        What stands before the decimals: "." or ",".
    percent
        True where scores are percentages, 7.56 or 7.56%, all of them one way.
    mixed_percent
        True where scores are percentages and shares among each other, as language models write them: 95%, 95 and 0.95.
        What has no sign is a share up to 1 and a percentage above. A whole 1 may be either, and is refused.
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
    encoding
        That of text, such as "cp1252" or "utf-16".
    filter
        Which filter of a log of lm-evaluation-harness, where it has several, such as "strict-match".

    Examples
    --------
    >>> reading = calcert.Reading(decimal=",", percent=True, positive="J", drop_missing=True, missing=("k.A.",))
    >>> rows = calcert.Rows("portfolio.csv", score="PD", label="Ausfall", reading=reading)
    >>> rows.reading.decimal
    ','
    """

    decimal: str = "."
    percent: bool = False
    positive: str | None = None
    drop_missing: bool = False
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    skip_lines: int = 0
    encoding: str = "utf-8"
    mixed_percent: bool = False
    filter: str | None = None

    def __post_init__(self) -> None:
        if self.percent and self.mixed_percent:
            raise WrongValue("percent", "must be left out where mixed_percent is True", "both")
        try:
            "".encode(self.encoding)
            object.__setattr__(self, "encoding", codecs.lookup(self.encoding).name)
        except (LookupError, TypeError):
            raise WrongValue(
                Argument("encoding"),
                "must be one of text that Python knows, such as 'cp1252' or 'utf-16'",
                repr(self.encoding),
            ) from None

    @property
    def is_plain(self) -> bool:
        """True where values are numbers as programs write them."""
        return replace(self, sheet=None, skip_lines=0, encoding=PLAIN.encoding, filter=None) == PLAIN

    @property
    def plain_numbers(self) -> bool:
        """True where a text that is a number is that number."""
        return self.decimal == "." and not self.missing

    @property
    def plain_scores(self) -> bool:
        """True where a score that is a number is that number."""
        return self.plain_numbers and not (self.percent or self.mixed_percent)

    @property
    def label(self) -> str:
        """The positive label as labels are counted."""
        return self.label_as_written(self.positive)

    def is_gap(self, value: Any) -> bool:
        """True where a value is not there."""
        return is_gap(value) or (isinstance(value, str) and value.strip() in self.missing)

    def label_as_written(self, value: Any) -> str:
        """A label as people write it; 2.0 is 2, in numbers and in text, as programs write one for the other."""
        if isinstance(value, bool):
            return str(value).lower()
        text = str(value).strip()
        whole, _, decimals = text.partition(self.decimal if isinstance(value, str) else ".")
        return whole if whole.lstrip("+-").isdecimal() and decimals and not decimals.strip("0") else text

    def number(self, text: str) -> float | None:
        """The number that a text is, if it is one."""
        if self.decimal == ",":
            text = text.replace(",", ".", 1) if "." not in text else ""
        return number_in_text(text)


PLAIN = Reading()
"""How values are written where nobody says anything."""


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
