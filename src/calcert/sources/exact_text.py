"""CSV and JSON as tables, read exactly, row by row, in Python: the reader that has the last word, and the words.

Every other way of reading text must give these rows, or leave the file to this one.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.sources.columns import Column
from calcert.sources.csv_text import CsvFile
from calcert.sources.json_text import JsonFile
from calcert.sources.partitions import columns_of_folders, keys_of
from calcert.sources.paths import COMPRESSED, title
from calcert.sources.values_in_text import WORDS, Unreadable, is_value, kind_of, label_in_text, score_in_text

SAMPLE = 1000
"""Rows that are looked at to find columns that were not named, and to know how labels are written."""

CHUNK = 1 << 15


class Batch(NamedTuple):
    """Some rows: scores, labels and, where asked for, what their group is called, or other columns row by row."""

    scores: NDArray[Any]
    labels: NDArray[Any]
    groups: Sequence[Any] = ()


class TextTable:
    """CSV files, or JSON files, rows in the order of the files."""

    def __init__(self, paths: list[str], form: Literal["csv", "json"]) -> None:
        self.files: list[CsvFile | JsonFile] = [CsvFile(path) if form == "csv" else JsonFile(path) for path in paths]
        self.name = title(paths)
        self._reading, self._first, self._earlier = self.files[0], 0, 0
        self._lines: list[int] = []

    def columns(self) -> list[Column]:
        """What the first file has, as its first rows look, and what the names of folders add."""
        found = [(name, kind_of(values)) for name, values in self.files[0].sample(SAMPLE)]
        own = [Column(name, kind, WORDS[kind]) for name, kind in found]
        return own + columns_of_folders([file.path for file in self.files])

    def examples(self, name: str, rows: int) -> list[Any]:
        """The first values of a column of the first file; none where the name of a folder gives it."""
        return dict(self.files[0].sample(rows)).get(name, [])

    def check_names(self, score: str, label: str, *, given: bool) -> None:
        """Columns that were found, or both of them, must not be called like values: that would be the first row."""
        suspects = is_value(score), is_value(label)
        if isinstance(self.files[0], CsvFile) and (all(suspects) or (any(suspects) and not given)):
            raise ValueError(
                f"{self.name} must begin with a line of column names; got {score!r} and {label!r}, which look like "
                "values. Write a line of names above the rows."
            )

    def is_small(self, size: int) -> bool:
        """True where the files have at most so many bytes, decompressed."""
        # A tenth is about what compression leaves.
        packed = any(file.path.lower().endswith(COMPRESSED) for file in self.files)
        return sum(os.path.getsize(file.path) for file in self.files) <= (size // 10 if packed else size)

    def batches(
        self, score: str, label: str, group: str | None = None, others: tuple[str, ...] = ()
    ) -> Generator[Batch]:
        """All rows, in order. A row that is none is an error that names it, when all rows before it were given."""
        names = [score, label, *others] if group is None else [score, label, group]
        self._first = 0
        for file in self.files:
            self._earlier = self._first
            self.now_reading(file)
            size = 1
            with closing(file.rows(names)) as rows:
                while size:
                    batch, trouble = self._batch(rows, *self._readers(file, score, label))
                    size = batch.scores.size
                    if size:
                        yield batch
                    if trouble is not None:
                        raise trouble
                    self._first += size

    def now_reading(self, file: CsvFile | JsonFile) -> None:
        """Which of the files is being read, for the share."""
        self._reading = file

    def place(self, row: int) -> str:
        """Row, file and line, in words, of a row among those given last."""
        line = self._lines[row - self._first]
        return f"at row {row - self._earlier} of {self._reading.name}" + (f" (line {line})" if line else "")

    def share_read(self) -> float:
        """How much of the files has been read, between 0 and 1."""
        before, content = self.files.index(self._reading), self._reading.content
        return (before + (content.share_read() if content is not None else 0.0)) / len(self.files)

    def _readers(self, file: CsvFile | JsonFile, score: str, label: str) -> tuple[Any, Any]:
        """How scores and labels are written: as the file does, or as the name of a folder."""
        keys = keys_of(file.path)
        return (
            score_in_text if score in keys else file.score_reader,
            label_in_text if label in keys else file.label_reader,
        )

    def _batch(self, rows: Iterator[Any], read_score: Any, read_label: Any) -> tuple[Batch, ValueError | None]:
        """The next rows, and what is wrong with the row after them, if anything is."""
        scores: list[float] = []
        labels: list[float] = []
        groups: list[Any] = []
        self._lines = []
        trouble = None
        name = "scores"
        try:
            for line, values in islice(rows, CHUNK):
                self._lines.append(line)
                name = "scores"
                score = read_score(values[0])
                name = "labels"
                labels.append(read_label(values[1]))
                scores.append(score)
                groups += values[2:]
        except Unreadable as error:
            trouble = ValueError(error.message(name, self.place(self._first + len(scores))))
        except ValueError as error:
            trouble = error
        return Batch(np.array(scores, np.float64), _labels(labels), groups), trouble


def _labels(values: list[float]) -> NDArray[Any]:
    """Labels as whole numbers where they are all such."""
    whole = all(isinstance(value, int) and abs(value) < 1 << 63 for value in values)
    return np.array(values, np.int64 if whole else np.float64)
