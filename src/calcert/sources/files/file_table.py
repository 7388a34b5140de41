"""Files as one table: which columns are meant, what every row holds in them, and where it stands.

Parquet is decoded by Arrow. Text is read exactly where it is small, and otherwise fast, with the exact reader in
reserve, which has the last word. Some rows are in memory at a time, and nothing is ever written to disk.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from calcert.foundation.escaped_text import visible
from calcert.foundation.long_work import load
from calcert.foundation.refusal import WrongValue
from calcert.foundation.refused_values import Place
from calcert.sources.columns import WORDS, Column, check_alone, check_groups, choose_all, kind_of, named, no_names
from calcert.sources.files import fast_text
from calcert.sources.files import paths as named_files
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.files.fast_text import Kind
from calcert.sources.files.json_file import JsonFile
from calcert.sources.files.model_logs import json_file_of
from calcert.sources.files.parquet_file import ParquetFile
from calcert.sources.files.paths import FILE_NAME, Format, keys_in_folders
from calcert.sources.files.text_bytes import is_utf_8, not_utf_8
from calcert.sources.files.value_columns import Coded, Values, coded, coded_list, gaps, in_batches, kept
from calcert.sources.parsed_values import Reading, ValueReaders, is_value, label_in_text, score_in_text
from calcert.sources.signs_of_dependence import LOOKED_AT, remark_on_clusters
from calcert.sources.source_argument import Files

if TYPE_CHECKING:
    from calcert.sources.files.sheet_file import SheetFile

    File: TypeAlias = CsvFile | JsonFile | ParquetFile | SheetFile

SMALL = 1 << 20
"""Bytes of text that are read exactly before an engine would be loaded."""

SAMPLE = 3000
"""Rows that are looked at to find columns that were not named, and to know how labels are written."""

CHUNK = 1 << 15
"""Rows of a batch of text that is read exactly."""


Taken = TypeVar("Taken")


class Batch(NamedTuple):
    """Some rows of a file: what they hold in each column that was asked for, and their numbers in the file."""

    file: File
    values: list[Values]
    lines: Sequence[int]


class FileTable:
    """Files of one format, rows in the order of the files."""

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self._said = paths if isinstance(paths, Files) else Files(paths)
        self.reading, self.account = self._said.spelling, self._said.account
        files, self.form = named_files.resolve(paths)
        named_files.remark_on_copies(files)
        self.files = [_file_of_form(path, self.form, self.reading) for path in files]
        for file in self.files:
            file.digests = self._said.digests
        self.name = named_files.title(files)
        self._file = self.files[0]
        self._firsts: list[int] = []
        self._given: list[tuple[File, Sequence[int]]] = []
        self._names: dict[str, str] = {}  # Of files, where these are a column.

    @cached_property
    def _sample(self) -> list[tuple[str, list[Any]]]:
        return self.files[0].sample(SAMPLE)

    def columns(self) -> list[Column]:
        """What the first file has, as it says or as its first rows look, and what the names of folders add."""
        first = self.files[0]
        if isinstance(first, ParquetFile) and self.reading.is_plain:
            own = first.columns()
        else:
            kinds = [(name, self._kind_of_column(values)) for name, values in self._sample]
            own = [Column(name, kind, WORDS[kind]) for name, kind in kinds]
        return own + named_files.columns_of_folders([file.path for file in self.files])

    def _kind_of_column(self, values: list[Any]) -> Any:
        there = values if self.reading.is_plain else [v for v in values if not self.reading.is_gap(v)]
        return kind_of(there, self.reading.number)

    @cached_property
    def _first_values(self) -> dict[str, list[Any]]:
        return dict(self._sample)

    def examples(self, name: str) -> list[Any]:
        """The first values of a column of the first file; none where the name of a folder gives it."""
        first = self.files[0]
        if isinstance(first, ParquetFile):
            return first.first_values(name, LOOKED_AT)
        return self._first_values.get(name, [])

    def choose(
        self, score: str | None, label: str | None, others: Mapping[str, Any], named_last: Mapping[str, Any]
    ) -> dict[str, Column]:
        """The columns that are meant, by what they are; what was found or overlooked is remarked on.

        Those that are `named_last`, groups or ids, may hold anything.
        """
        columns = self.columns()
        columns += self._columns_elsewhere([score, label, *others.values(), *named_last.values()], columns)
        with self.named_columns():
            for argument, name in named_last.items():
                check_groups(name, columns, self.name, argument)
            rest = [column for column in columns if column.name not in named_last.values()]

            def example(name: str) -> Any:
                return next((value for value in self.examples(name) if value is not None), None)

            x, y, beside = choose_all(rest, score, label, others, self.name, example)
        suspects = is_value(x.name), is_value(y.name)
        given = score is not None and label is not None
        if isinstance(self.files[0], CsvFile) and (all(suspects) or (any(suspects) and not given)):
            # Columns that were found, or both of them, must not be called like values: that would be the first row.
            got = f"{x.name!r} and {y.name!r}, which look like values"
            raise no_names(self.name, got, "Write a line of names above the rows.")
        found = {"score": x, "label": y, **beside}
        found |= {argument: named(columns, argument, name, self.name) for argument, name in named_last.items()}
        self._said.make_remarks(self.name)
        account = {argument: column.name for argument, column in found.items()}
        self.look_at(found.values(), account, remark=not (others or named_last))
        return found

    def _columns_elsewhere(self, names: Sequence[Any], columns: Sequence[Column]) -> list[Column]:
        """Columns that were named, and are not listed: what is inside lists of JSON, and the names of the files."""
        found, first = [], self.files[0]
        for name in dict.fromkeys(map(str, names)) - {column.name: None for column in columns}.keys():
            values = first.inside_lists(name, SAMPLE) if isinstance(first, JsonFile) else []
            if any(value is not None for value in values):
                kind = self._kind_of_column(values)
                found.append(Column(name, kind, WORDS[kind]))
            elif name == FILE_NAME:
                self._names = named_files.names_of_files([file.path for file in self.files])
                found.append(Column(name, "unknown", "names of files"))
        return found

    def look_at(self, chosen: Collection[Column], account: dict[str, str], *, remark: bool) -> None:
        """The columns that were chosen must be those of every file; what is beside them may be remarked on."""
        if remark:
            flat = [column for column in self.columns() if "<" not in column.type]
            self.account.warnings += remark_on_clusters(flat, chosen, self.name, self.examples, by_values=True)
        self._check_same({column.name for column in chosen})
        self.account.columns = account

    @contextmanager
    def named_columns(self) -> Iterator[None]:
        """Where columns are not found because titles stand above their names, or for their letters, say so."""
        try:
            yield
        except ValueError as error:
            odd = next((column.name for column in self.columns() if not is_utf_8(column.name)), None)
            if odd is not None:
                raise not_utf_8("names of columns", odd, f"in {self.name}") from error
            raise self.files[0].title_above() or error from None

    def _check_same(self, names: set[str]) -> None:
        """All Parquet files must have these columns, each alone and of one type."""
        parquet = [file for file in self.files if isinstance(file, ParquetFile)] if self.reading.is_plain else []
        first: list[str] = []
        for file in parquet:
            own = file.columns()
            here = sorted(f"{column.name} {column.type}" for column in own if column.name in names)
            first = first or here
            if here != first and not keys_in_folders(file.path).keys() & names:
                got = f"{', '.join(first)} in {visible(parquet[0].path)} and {', '.join(here)} in {file.name}"
                raise WrongValue("all files", "must have the same columns and types", got, "", named_files.APART)
            for name in sorted(names):
                check_alone(own, "score, label and groups", name, file.name)

    def _is_small(self) -> bool:
        # A tenth is about what compression leaves.
        packed = any(file.path.lower().endswith(named_files.COMPRESSED) for file in self.files)
        return sum(os.path.getsize(file.path) for file in self.files) <= (SMALL // 10 if packed else SMALL)

    @property
    def number_kind(self) -> Kind:
        """What engines may read columns of numbers as."""
        return "numbers" if self.reading.is_plain else "words"

    def read(self, take: Callable[[Place, bool], Taken]) -> Taken:
        """What `take` makes of all rows: it is told how to say where a row stands, and whether to read fast."""
        if self.form in ("csv", "json") and not self._is_small():
            try:
                return take(fast_text.left_to_the_exact_reader, True)
            except ValueError:
                # Whatever it is, the exact reader says it in words, or reads what is only unusual.
                pass
        return take(self.place, False)

    def batches(
        self, names: Sequence[str], needed: int, kinds: Sequence[Kind], *, fast: bool, most: int = 1 << 17
    ) -> Generator[Batch]:
        """What all rows hold in some columns, in order; a row that cannot be read is an error when its turn comes.

        Rows that lack a value in one of the first `needed` columns are left out, where that was said. `kinds` says
        what engines read, and `most` how many rows are given at a time.
        """
        self.account.begin()
        self._firsts, self._given, total = [], [], 0
        for file in self.files:
            self._file = file
            for values, lines in self._batches_of(file, names, kinds, fast, most):
                values, lines = self._complete(values, lines, names[:needed])
                if not isinstance(lines, range):
                    self._firsts, self._given = [], []  # Only the last batch is asked for.
                self._firsts.append(total)
                self._given.append((file, lines))
                total += len(lines)
                self.account.rows[file.path] += len(lines)
                yield Batch(file, values, lines)

    def exact_batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """What all rows hold in some columns, whatever is wrong with them, beside the account."""
        for file in self.files:
            yield from (Batch(file, *some) for some in self._batches_of(file, names, (), fast=False, most=CHUNK))

    def _batches_of(
        self, file: Any, names: Sequence[str], kinds: Sequence[Kind], fast: bool, most: int
    ) -> Iterator[tuple[list[Values], Sequence[int]]]:
        """Every file gives its own columns; what stands in the names of its folders, or in its own, is added."""
        given = keys_in_folders(file.path)
        if self._names:
            given[FILE_NAME] = self._names[file.path]
            kinds = [kind for name, kind in zip(names, kinds, strict=False) if name != FILE_NAME]
        asked = [name for name in names if not (self._names and name == FILE_NAME)]
        batches: Iterator[tuple[list[Values], Sequence[int]]]
        if fast:
            batches = (fast_text.fast_csv if isinstance(file, CsvFile) else fast_text.fast_json)(file, asked, kinds)
        elif isinstance(file, ParquetFile):
            batches = file.batches(asked, most)
        else:
            batches = in_batches(file.rows(asked), min(most, CHUNK))
        for values, lines in batches:
            own = iter(values)
            yield [coded_list([given[name]] * len(lines)) if name in given else next(own) for name in names], lines

    def _complete(
        self, values: list[Values], lines: Sequence[int], names: Sequence[str]
    ) -> tuple[list[Values], Sequence[int]]:
        """The rows that lack nothing; others are counted by the first column that they lack."""
        if not self.reading.drop_missing:
            return values, lines
        numeric = load("pyarrow").types.is_primitive
        values = [v if not isinstance(v, Coded) and numeric(v.type) else coded(v) for v in values]
        left = np.ones(len(lines), bool)
        for name, column in zip(names, values, strict=False):
            missing = gaps(column, self.reading.is_gap) & left
            left &= ~missing
            if missing.any():
                self.account.dropped[name] += int(missing.sum())
        if left.all():
            return values, lines
        return [kept(column, left) for column in values], np.array(lines)[left].tolist()

    def place(self, row: int) -> str:
        """Where a row stands, in words; rows are counted from 0 over all that were given."""
        batch = bisect_right(self._firsts, row) - 1
        file, lines = self._given[batch]
        return file.place(lines[row - self._firsts[batch]])

    def readers(self, file: File, score: str, label: str) -> ValueReaders:
        """How scores and labels are written: as the file does, or as the name of a folder, or as was said."""
        keys = keys_in_folders(file.path)
        return ValueReaders(
            self.reading,
            score_in_text if score in keys else file.score_reader,
            label_in_text if label in keys else file.label_reader,
        )

    def share_read(self) -> float:
        """How much of the files has been read, between 0 and 1."""
        inside = 0.0 if self._file.content is None else self._file.content.share_read()
        return (self.files.index(self._file) + inside) / len(self.files)

    def finish(self, label: str) -> None:
        """Say what was made of all rows, of which there must be some."""
        self.account.finish(self.name, label, self.reading)


def _file_of_form(path: str, form: Format, reading: Reading) -> File:
    named_files.check_fitting(path, form, reading)
    if form == "sheet":
        # Only those who have workbooks need openpyxl.
        from calcert.sources.files.sheet_file import SheetFile

        return SheetFile(path, reading.sheet, reading.skip_lines)
    if form == "parquet":
        return ParquetFile(path)
    return CsvFile(path, reading.skip_lines, reading.encoding) if form == "csv" else json_file_of(path, reading)
