"""What reading files came to: which columns, how many rows of each file, which were left out and why, and labels."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from calcert.foundation.facts import ReadFile
from calcert.foundation.number_text import rows_text
from calcert.foundation.refusal import NoRows, WrongValue
from calcert.foundation.refusal import reading as reading_argument
from calcert.sources.parsed_values import PLAIN, Reading

LOG = logging.getLogger("calcert")

SHOWN = 6
"""Different labels that are named one by one."""


@dataclass
class Account:
    """What reading files came to."""

    columns: dict[str, str] = field(default_factory=dict)
    rows: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    files: list[ReadFile] = field(default_factory=list)
    low: int = 0
    warnings: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Forget the rows that were counted: they are read again."""
        self.rows.clear()
        self.dropped.clear()
        self.labels.clear()
        self.low = 0

    def finish(self, name: str, label: str, reading: Reading) -> None:
        """Say what was made of rows and labels of the files of that name, through the logger ``calcert``."""
        positive = reading.positive
        if positive is not None and self.labels and reading.label not in self.labels:
            shown = ", ".join(f"{value!r} ({rows_text(rows)})" for value, rows in self.labels.most_common(SHOWN))
            raise WrongValue(
                reading_argument("positive"),
                f"must be a label of {name}",
                repr(positive),
                "",
                f"{label!r} holds {shown}.",
            )
        if not self.rows.total():
            raise NoRows.of(name, self.left_out)
        meaning = f"label {self.meaning(reading)}" if positive is not None else ""
        for words in filter(None, (meaning, self.left_out, self.doubt)):
            LOG.warning("%s: %s", name, words)

    @property
    def doubt(self) -> str:
        """That scores look as if some were percentages and some shares, in words; nothing where they do not."""
        if not self.low:
            return ""
        return (
            f"{self.low:,} of {rows_text(sum(self.rows.values()))} have scores of 1 or less, taken for 1% or less "
            "(--percent); if these are shares in [0, 1], the bounds are wrong: write all scores in one way"
        )

    @property
    def left_out(self) -> str:
        """How many rows were left out, in words; nothing where none was."""
        dropped = sum(self.dropped.values())
        if not dropped:
            return ""
        why = ", ".join(f"{count:,} without {what}" for what, count in self.dropped.items())
        return f"{dropped:,} of {rows_text(dropped + sum(self.rows.values()))} were left out: {why}"

    def meaning(self, spelling: Reading) -> str:
        """Which labels became 1 and which 0, in words."""
        positive = spelling.label
        others = Counter({value: rows for value, rows in self.labels.items() if value != positive})
        shown = ", ".join(f"{value!r} ({rows_text(rows)})" for value, rows in others.most_common(SHOWN))
        more = f" and {len(others) - SHOWN:,} more" if len(others) > SHOWN else ""
        return f"{positive!r} is 1 ({rows_text(self.labels[positive])}); {shown or 'nothing'}{more} is 0"


class Files(list[str]):
    """Paths of files, how their values are written, when reading began and, afterwards, an account of it."""

    def __init__(self, paths: Iterable[str | os.PathLike[str]], spelling: Reading = PLAIN) -> None:
        super().__init__(os.fspath(path) for path in paths)
        self.spelling = spelling
        self.account = Account()
        self.begun = time.time_ns()
        self.from_logs: dict[str, str] = {}  # Columns that were left out, as logs of a language model say.
        self.remarks: list[str] = []  # To be made when rows are read.

    def make_remarks(self, name: str) -> None:
        """Once, however often the files of that name are read."""
        while self.remarks:
            LOG.warning("%s: %s", name, self.remarks.pop(0))
