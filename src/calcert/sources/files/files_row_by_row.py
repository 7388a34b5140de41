"""CSV, JSON and sheets as tables, read exactly, row by row, in Python: the reader that has the last word.

Every other way of reading text must give these rows, or leave the file to this one.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import rows_text
from calcert.foundation.validation import NoRows
from calcert.sources.columns import WORDS, Column, Kind, kind_of
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.files.json_file import JsonFile
from calcert.sources.files.paths import COMPRESSED, Format, columns_of_folders, keys_in_folders, title
from calcert.sources.files.reading_account import SHOWN, Account
from calcert.sources.parsed_values import PLAIN, Reader, Reading, Unreadable, is_value, label_in_text, score_in_text

SAMPLE = 1000
"""Rows that are looked at to find columns that were not named, and to know how labels are written."""

LOG = logging.getLogger("calcert")

CHUNK = 1 << 15
"""Rows of a batch."""

FAULTS = ("missing scores", "unusable scores", "missing labels", "unusable labels")
"""What can be wrong with a row, in words."""

MOST_LOOKED_AT = 1_000_000
"""Rows that are read again to say how many are bad."""


class File(Protocol):
    """One file that is read row by row, from the beginning whenever it is asked something."""

    @property
    def path(self) -> str: ...

    @property
    def score_reader(self) -> Reader: ...

    @property
    def label_reader(self) -> Reader: ...

    def sample(self, rows: int, /) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""

    def rows(self, names: Sequence[str], /) -> Generator[tuple[int, Sequence[Any]]]:
        """A number for each row, and what it holds in some columns."""

    def place(self, number: int, /) -> str:
        """Where the row of that number stands, in words."""


class Batch(NamedTuple):
    """Some rows: scores, labels and, where asked for, what their group is called, or other columns row by row."""

    scores: NDArray[Any]
    labels: NDArray[Any]
    groups: Sequence[Any] = ()


class TextTable:
    """CSV files, or JSON files, rows in the order of the files."""

    def __init__(
        self, paths: list[str], form: Format, spelling: Reading = PLAIN, account: Account | None = None
    ) -> None:
        self.files = [_file_of_form(path, form, spelling) for path in paths]
        self.name = title(paths)
        self.spelling = spelling
        self.account = account or Account()
        self._reading, self._first_of_batch = self.files[0], 0
        self._lines_of_batch: list[int] = []
        self._sampled: dict[str, list[Any]] | None = None

    @property
    def is_plain(self) -> bool:
        """True where an engine can read it as well."""
        return self.spelling == PLAIN and isinstance(self.files[0], (CsvFile, JsonFile))

    def columns(self) -> list[Column]:
        """What the first file has, as its first rows look, and what the names of folders add."""
        found = [(name, self._kind_of_column(values)) for name, values in self.files[0].sample(SAMPLE)]
        own = [Column(name, kind, WORDS[kind]) for name, kind in found]
        return own + columns_of_folders([file.path for file in self.files])

    def _kind_of_column(self, values: list[Any]) -> Kind:
        there = values if self.spelling == PLAIN else [v for v in values if not self.spelling.is_gap(v)]
        return kind_of(there, self.spelling.number)

    def examples(self, name: str, rows: int) -> list[Any]:
        """The first values of a column of the first file; none where the name of a folder gives it."""
        if self._sampled is None:
            self._sampled = dict(self.files[0].sample(rows))
        return self._sampled.get(name, [])

    def check_names(self, score: str, label: str, *, given: bool) -> None:
        """Columns that were found, or both of them, must not be called like values: that would be the first row."""
        suspects = is_value(score), is_value(label)
        if isinstance(self.files[0], CsvFile) and (all(suspects) or (any(suspects) and not given)):
            raise ValueError(
                f"{self.name} must begin with a line of column names; got {score!r} and {label!r}, which look like "
                "values. Write a line of names above the rows."
            )

    @contextmanager
    def named_columns(self) -> Iterator[None]:
        """Where columns are not found because titles stand above their names, say so."""
        try:
            yield
        except ValueError as error:
            raise ValueError(getattr(self.files[0], "title_message", str)() or error) from error

    def is_small(self, size: int) -> bool:
        """True where the files have at most so many bytes, decompressed."""
        # A tenth is about what compression leaves.
        packed = any(file.path.lower().endswith(COMPRESSED) for file in self.files)
        return sum(os.path.getsize(file.path) for file in self.files) <= (size // 10 if packed else size)

    def batches(
        self, score: str, label: str, group: str | None = None, others: tuple[str, ...] = ()
    ) -> Generator[Batch]:
        """All rows, in order. A row that is none is an error that names it, when all rows before it were given."""
        needed = [score, label, *others]
        names = needed if group is None else [*needed, group]
        self._begin()
        for file in self.files:
            self.now_reading(file)
            readers = self._readers(file, score, label)
            with closing(file.rows(names)) as rows:
                left = self._kept(rows, needed)
                while True:
                    batch, trouble = self._batch(left, *readers)
                    size = batch.scores.size
                    self.account.rows[file.path] += size
                    if size:
                        yield batch
                    if trouble is not None:
                        raise trouble
                    if not size:
                        break
                    self._first_of_batch += size
        self._say_what_was_made_of_it(label)

    def raw_batches(self, names: list[str], size: int) -> Generator[tuple[Reader, list[Sequence[Any]]]]:
        """What all rows hold in some columns, the last of them labels, as it stands, and how to read scores there."""
        self._begin()
        for file in self.files:
            self.now_reading(file)
            read, _ = self._readers(file, names[0], names[-1])
            with closing(file.rows(names)) as rows:
                left = self._kept(rows, names)
                while batch := list(islice(left, size)):
                    self._lines_of_batch = [line for line, _ in batch]
                    self.account.rows[file.path] += len(batch)
                    yield read, [values for _, values in batch]
                    self._first_of_batch += len(batch)
        self.account.low = 0  # Of many classes most are unlikely.
        self._say_what_was_made_of_it(names[-1])

    def _begin(self) -> None:
        self._first_of_batch = 0
        self.account.begin()

    def _kept(self, rows: Iterable[Any], names: list[str]) -> Iterator[Any]:
        """The rows without those that are to be left out, which are counted by the first column that they lack.

        A group, which stands after the columns of these names, is never a reason to leave a row out.
        """
        if not self.spelling.drop_missing:
            yield from rows
            return
        for line, values in rows:
            there = [None if self.spelling.is_gap(value) else value for value in values]
            gap = next((name for name, value in zip(names, there, strict=False) if value is None), None)
            if gap is None:
                yield line, there
            else:
                self.account.dropped[gap] += 1

    def _say_what_was_made_of_it(self, label: str) -> None:
        """Rows that were left out, and labels in words, through the logger ``calcert``."""
        positive, seen = self.spelling.positive, self.account.labels
        if positive is not None and seen and self.spelling.label not in seen:
            shown = ", ".join(f"{value!r} ({rows_text(rows)})" for value, rows in seen.most_common(SHOWN))
            raise ValueError(f"positive must be a label of {self.name}; got {positive!r}. {label!r} holds {shown}.")
        meaning = f"label {self.account.meaning(self.spelling)}" if positive is not None else ""
        for words in filter(None, (meaning, self.account.left_out, self.account.doubt)):
            LOG.warning("%s: %s", self.name, words)

    def without_rows(self) -> NoRows:
        """What to raise where no row is left to count."""
        lack = f": {self.account.left_out}" if self.account.left_out else ""
        return NoRows(f"{self.name} must hold at least one row; got none{lack}.")

    def now_reading(self, file: File) -> None:
        """Which of the files is being read, for the share."""
        self._reading = file

    def place(self, row: int) -> str:
        """Where a row among those given last stands, in words."""
        return self._reading.place(self._lines_of_batch[row - self._first_of_batch])

    def bad_rows(self, score: str, label: str, *, shares: bool = False) -> str:
        """How many scores and labels are not there, or none, in words; nothing where that cannot be told."""
        found: dict[str, Counter[str]] = {what: Counter() for what in FAULTS}
        total = 0
        account, self.account = self.account, Account()
        try:
            for file in self.files:
                readers = self._readers(file, score, label)
                with closing(file.rows([score, label])) as rows:
                    for _, values in islice(rows, MOST_LOOKED_AT - total):
                        total += 1
                        for what, value in _faults(values, *readers, shares):
                            found[what][repr(value)] += 1
        except ValueError:
            return ""
        finally:
            self.account = account
        beginning = "" if total < MOST_LOOKED_AT else "the first "
        told = []
        for what, seen in found.items():
            if seen and not (self.spelling.drop_missing and what.startswith("missing")):
                such = " and ".join(value for value, _ in seen.most_common(2))
                told.append(f"{seen.total():,} {what}" + ("" if what.startswith("missing") else f" such as {such}"))
        if sum(seen.total() for seen in found.values()) == 1:
            return f" It is the only bad value in {beginning}{total:,} rows." if total > 1 else ""
        return f" In {beginning}{total:,} rows: {', '.join(told)}." if told else ""

    def share_read(self) -> float:
        """How much of the files has been read, between 0 and 1."""
        before, content = self.files.index(self._reading), getattr(self._reading, "content", None)
        return (before + (content.share_read() if content is not None else 0.0)) / len(self.files)

    def _readers(self, file: File, score: str, label: str) -> tuple[Any, Any]:
        """How scores and labels are written: as the file does, or as the name of a folder, or as was said."""
        keys = keys_in_folders(file.path)
        plain = (
            score_in_text if score in keys else file.score_reader,
            label_in_text if label in keys else file.label_reader,
        )
        return plain if self.spelling == PLAIN else self.spelling.readers(*plain, self.account)

    def _batch(self, rows: Iterator[Any], read_score: Any, read_label: Any) -> tuple[Batch, ValueError | None]:
        """The next rows, and what is wrong with the row after them, if anything is."""
        scores: list[float] = []
        labels: list[float] = []
        groups: list[Any] = []
        self._lines_of_batch = []
        trouble = None
        name = "scores"
        try:
            for line, values in islice(rows, CHUNK):
                self._lines_of_batch.append(line)
                name = "scores"
                score = read_score(values[0])
                name = "labels"
                labels.append(read_label(values[1]))
                scores.append(score)
                groups += values[2:]
        except Unreadable as error:
            trouble = ValueError(error.message(name, self.place(self._first_of_batch + len(scores))))
        except ValueError as error:
            trouble = error
        return Batch(np.array(scores, np.float64), _labels_as_array(labels), groups), trouble


def _file_of_form(path: str, form: Format, spelling: Reading) -> File:
    if spelling.sheet is not None and form != "sheet":
        raise ValueError(f"--sheet must come with a workbook (.xlsx); got {visible(path)}.")
    if spelling.skip_lines and form not in ("csv", "sheet"):
        raise ValueError(f"--skip-lines must come with CSV or a workbook (.xlsx); got {visible(path)}.")
    if form == "sheet":
        # Only those who have workbooks need openpyxl.
        from calcert.sources.files.sheet_file import SheetFile

        return SheetFile(path, spelling.sheet, spelling.skip_lines)
    if form == "parquet":
        from calcert.sources.files.parquet_row_by_row import ParquetFile

        return ParquetFile(path)
    return CsvFile(path, spelling.skip_lines) if form == "csv" else JsonFile(path)


def _faults(values: Sequence[Any], read_score: Reader, read_label: Reader, shares: bool) -> Iterator[tuple[str, Any]]:
    """What is wrong with a row."""
    for name, value, read in (("scores", values[0], read_score), ("labels", values[1], read_label)):
        try:
            found = read(value)
        except Unreadable as error:
            yield f"{'missing' if error.missing else 'unusable'} {name}", value
        else:
            good = 0 <= found <= 1 if name == "scores" or shares else found in (0, 1)
            if not good:
                yield f"{'missing' if found != found else 'unusable'} {name}", value


def _labels_as_array(values: list[float]) -> NDArray[Any]:
    """Labels as whole numbers where they are all such."""
    whole = all(isinstance(value, int) and abs(value) < 1 << 63 for value in values)
    return np.array(values, np.int64 if whole else np.float64)
