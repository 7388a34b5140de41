"""What kind of source somebody passed, what does not go with it, and what reading it came to."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from calcert.foundation.number_text import rows_text
from calcert.foundation.refusal import NoRows, WrongValue
from calcert.foundation.refusal import reading as reading_argument
from calcert.sources.parsed_values import PLAIN, Reading
from calcert.summary.summary import Summary

LOG = logging.getLogger("calcert")

PATH = (str, os.PathLike)

SHOWN = 6
"""Different labels that are named one by one."""


@dataclass
class Account:
    """What reading files came to."""

    columns: dict[str, str] = field(default_factory=dict)
    rows: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
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
            holds = f"{label!r} holds {shown}."
            raise WrongValue(reading_argument("positive"), f"must be a label of {name}", repr(positive), "", holds)
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
        self.digests: dict[str, str] | None = None  # SHA-256 of what was read, where somebody wants it: an empty one.

    @property
    def may_be_logs(self) -> bool:
        """False where the name of the first file tells another format."""
        from calcert.sources.files.paths import SUFFIXES

        return SUFFIXES.get(os.path.splitext(self[0])[1].lower(), "json") == "json"

    def make_remarks(self, name: str) -> None:
        """Once, however often the files of that name are read."""
        while self.remarks:
            LOG.warning("%s: %s", name, self.remarks.pop(0))


class Source(NamedTuple):
    """A Summary, a list of paths, a frame or table of narwhals, or scores that are none of these."""

    kind: Literal["summary", "files", "table", "arrays"]
    value: Any

    @property
    def in_memory(self) -> bool:
        """True for arrays and data frames whose rows are here, so that they can be read twice."""
        if self.kind != "table":
            return self.kind == "arrays"
        import narwhals as nw

        return isinstance(self.value, nw.DataFrame)


def source_of(scores: Any, reading: Reading = PLAIN) -> Source:
    """Which kind of source `scores` is; `reading` says how files write their values."""
    paths = [scores] if isinstance(scores, PATH) else scores
    if isinstance(paths, (list, tuple)) and paths and all(isinstance(path, PATH) for path in paths):
        return Source("files", paths if isinstance(paths, Files) else Files(paths, reading))
    if reading != PLAIN:
        raise TypeError(f"reading must come with files; got {type(scores).__name__}, whose values are numbers already.")
    if isinstance(scores, Summary):
        return Source("summary", scores)
    if isinstance(scores, (list, tuple, np.ndarray)):
        return Source("arrays", scores)
    # Engines have imports of their own: only those who bring them pay.
    import narwhals as nw

    from calcert.sources.columns import refuse_same_names

    refuse_same_names(scores)
    frame = nw.from_native(scores, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return Source("arrays", scores)
    return Source("table", _of_backend(frame) if frame.implementation.is_ibis() else frame)


def _of_backend(frame: Any) -> Any:
    """A table of Ibis, whose engines differ in what they can do and in what they check."""
    import narwhals as nw

    table = frame.to_native()
    backend = table.get_backend()
    if backend.name == "sqlite":
        raise TypeError(
            "an Ibis table must have values of the type of their column; got one of SQLite, which keeps text among "
            "numbers, and Ibis reads it as 0. Read the rows first: pandas.read_sql(query, sqlite3.connect(path))."
        )
    # Polars itself can do more than Ibis knows of.
    return nw.from_native(backend.compile(table)) if backend.name == "polars" else frame


def refuse_ignored(source: Source, labels: Any, score: str | None, label: str | None) -> None:
    """Arguments that would be passed over in silence are refused."""
    if labels is not None and source.kind == "summary":
        raise TypeError(
            f"labels must be left out where scores is a Summary, which holds them; got {type(labels).__name__}."
        )
    if labels is not None and source.kind != "arrays":
        way = " For a table of probabilities alone pass its array, such as scores.to_numpy()."
        alone = way if source.kind == "table" else ""
        raise TypeError(
            f"labels must be left out where scores is a whole table; got {type(labels).__name__}. "
            f"Name the columns of the table: score='...', label='...'.{alone}"
        )
    if (score is not None or label is not None) and source.kind in ("summary", "arrays"):
        raise TypeError(
            "score and label must name columns of a table; got "
            f"{type(source.value).__name__}, which has none. Pass two arrays without names, or a data frame or file."
        )
