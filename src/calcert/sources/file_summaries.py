"""Files into Summaries: plain, clustered and weighted rows, all at once or by group, on one road.

Every value becomes a number, the number of a cluster or that of a group; then rows are counted as arrays are.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.long_work import RowProgress
from calcert.foundation.number_text import rows_text
from calcert.foundation.refusal import WrongValue, about_files
from calcert.foundation.refused_values import Place
from calcert.sources.clusters.cluster_names import Numbering
from calcert.sources.clusters.weighed_arrays import Weigher
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.collector import Collector
from calcert.sources.columns import Column
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.files.fast_text import Kind
from calcert.sources.files.file_table import Batch, FileTable
from calcert.sources.files.value_columns import Numbers, Values, coded
from calcert.sources.groups.group_names import CombinedNumbers, GroupNumbers
from calcert.sources.groups.rows_by_group import RowsByGroup
from calcert.sources.parsed_values import Reader, Unreadable
from calcert.sources.signs_of_dependence import RowOrder
from calcert.sources.source_argument import Files
from calcert.summary.query_result import CLUSTER_COLUMNS, COLUMNS
from calcert.summary.summary import Summary

ONE_PERCENT = 0.01

NOTHING: Integers = np.zeros(0, np.int64)
"""In place of groups where there are none."""

ARGUMENTS = {"score": "scores", "label": "labels"}
"""What columns are called in errors."""


Sink = Any
"""Takes rows batch by batch (`add`); when it has settled (`settle`), it has looked at all."""

Start = Callable[[Place, Mapping[str, int]], Sink]
"""Makes what takes rows, of how to say where one stands, and of the numbers of groups by name, once all are read."""


def file_summaries(
    paths: Sequence[str | os.PathLike[str]],
    score: str | None,
    label: str | None,
    sampling: Weighing = PLAIN_ROWS,
    group: str | Sequence[str] | None = None,
) -> dict[str | None, Summary]:
    """The Summary of all rows of some files, under None, or of every group by its name.

    Folders and globs stand for the files in them; `Files` also say how values are written, and keep an account of what
    reading came to. `sampling` names columns of clusters, weights or counts, `group` the column of groups; a cluster is
    cut to the rows that it has in a group. Of several columns every combination of values is a group, called like
    its values with a separator between them.
    """
    columns = [] if group is None else [group] if isinstance(group, str) else group
    named = {f"groups{place or ''}": column for place, column in enumerate(columns)}
    found = read_files(
        paths,
        score,
        label,
        lambda place, groups: RowsByGroup(sampling, place, groups) if named else AllRows(sampling, place),
        sampling,
        named,
    )
    if isinstance(found, AllRows) and isinstance(paths, Files):
        paths.account.warnings += found.order.warnings
    summaries: dict[str | None, Summary] = found.summaries()
    return summaries


@about_files
def read_files(
    paths: Sequence[str | os.PathLike[str]],
    score: str | None,
    label: str | None,
    start: Start,
    sampling: Weighing,
    named_last: Mapping[str, Any],
) -> Sink:
    """What takes all rows of some files, each with its values in the columns that are `named_last`, groups or ids."""
    table = FileTable(paths)
    chosen = table.choose(score, label, sampling.columns, named_last)
    try:
        found = table.read(lambda place, fast: _take(table, chosen, start, place, fast=fast))
    except WrongValue as error:
        bad = bad_rows(table, chosen["score"].name, chosen["label"].name, shares=sampling.soft_labels)
        if not bad:
            raise
        raise error.saying(bad) from None
    table.finish(chosen["label"].name)
    return found


def _take(table: FileTable, chosen: Mapping[str, Column], start: Start, place: Place, *, fast: bool) -> Sink:
    """Give all rows to what takes them; a row that is none is refused when those before it have been looked at."""
    columns, rows = _Columns(table, chosen, place), 0
    sink = start(place, columns.groups.known if columns.groups is not None else {})
    batches = table.batches(columns.names, columns.needed, columns.kinds, fast=fast)
    with closing(batches), RowProgress(f"reading {table.name}") as progress:
        for batch in batches:
            x, y, others, group, trouble = columns.read(batch)
            sink.add(x, y, others, group)
            rows += x.size
            if trouble is not None or not isinstance(batch.lines, range):
                sink.settle()  # Where its rows stand is known for this batch alone.
            if trouble is not None:
                raise trouble[1].refusal(trouble[0], place(rows))
            progress.advance_to(rows, table.share_read())
        sink.settle()
    return sink


class _Columns:
    """The columns that were chosen, batch by batch, as what is counted."""

    def __init__(self, table: FileTable, chosen: Mapping[str, Column], place: Place) -> None:
        self.names = [column.name for column in chosen.values()]
        attributes = [argument for argument in chosen if argument.startswith("groups")]
        self.needed = len(chosen.keys() - {*attributes, "ids"})
        kinds: dict[str, Kind] = {"clusters": "names", "ids": "words", **dict.fromkeys(attributes, "words")}
        if chosen["label"].kind not in ("real", "integer"):
            kinds["label"] = "words"
        self.kinds = [kinds.get(argument, table.number_kind) for argument in chosen]
        self._arguments = list(chosen)
        self._table = table
        each = [GroupNumbers(table.reading, place) for _ in attributes]
        self.groups: Any = CombinedNumbers(each) if len(each) > 1 else each[0] if each else None
        self._attributes = attributes
        self._clusters = Numbering(place) if "clusters" in chosen else None
        self._file: Any = None
        self._readers: dict[str, Numbers] = {}

    def read(
        self, batch: Batch
    ) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]], Integers, tuple[str, Unreadable] | None]:
        """Scores, labels, other columns and groups up to the first row that is none, and what is wrong with that."""
        if batch.file is not self._file:
            self._begin(batch.file)
        given = dict(zip(self._arguments, batch.values, strict=True))
        if self._table.reading.positive is not None:
            given["label"] = coded(given["label"])
        end, trouble = len(batch.lines), None
        found: dict[str, NDArray[Any]] = {}
        for argument, reader in self._readers.items():
            found[argument], wrong = reader.of(given[argument])
            if wrong is not None and found[argument].size < end:
                end, trouble = found[argument].size, (ARGUMENTS.get(argument, argument), wrong)
        found = {argument: numbers[:end] for argument, numbers in found.items()}
        self._count(found["score"], given["label"], end)
        attributes = [coded(given[argument]) for argument in self._attributes]
        group = self.groups.of(*attributes, end=end) if attributes else NOTHING
        if self._clusters is not None:
            found["clusters"] = self._clusters.column_numbers(given["clusters"], end)
        if "ids" in given:
            ids = coded(given["ids"])
            found["ids"] = np.array([ids.values[code] for code in ids.codes[:end].tolist()], object)
        return found.pop("score"), found.pop("label"), found, group, trouble

    def _begin(self, file: Any) -> None:
        reading = self._table.reading
        plain = reading.plain_numbers
        read = self._read = self._table.readers(file, *self.names[:2])
        self._file = file
        self._readers = {
            "score": Numbers(read.score, plain=reading.plain_scores),
            "label": Numbers(read.label, plain=plain and reading.positive is None),
        }
        measures = [argument for argument in self._arguments if argument in ("weights", "counts")]
        self._readers |= {argument: Numbers(read.weight, plain=plain) for argument in measures}

    def _count(self, scores: NDArray[Any], labels: Values, end: int) -> None:
        """Tell the account what labels were written, and how many percentages may be shares."""
        reading, account = self._table.reading, self._table.account
        if reading.positive is not None:
            times = np.bincount(labels.codes[:end], minlength=len(labels.values)).tolist()
            for value, rows in zip(labels.values, times, strict=True):
                account.labels[reading.label_as_written(value)] += rows
        if reading.percent and not self._read.signed:
            account.low += int(((scores > 0) & (scores <= ONE_PERCENT)).sum())


class AllRows:
    """Takes rows for one Summary."""

    def __init__(self, sampling: Weighing, place: Place) -> None:
        self._sink: Any = Weigher(sampling, place) if sampling.given else Collector(place)
        self._weighed = bool(sampling.given)
        self.order = RowOrder()

    def add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, Any], group: Integers) -> None:
        """Add rows, which are in no groups."""
        self._sink.add(scores, labels, *([others] if self._weighed else []))
        if not self._weighed:
            self.order.add(scores, labels)

    def settle(self) -> None:
        """Wait until everything is counted."""
        self._sink.settle()

    def summaries(self) -> dict[str | None, Summary]:
        """That of all rows."""
        return {None: self._sink.summary()}


MOST_LOOKED_AT = 1_000_000
"""Rows that are read again."""


def bad_rows(table: FileTable, score: str, label: str, *, shares: bool) -> str:
    """How many scores and labels are not there, or none, in words; nothing where that cannot be told."""
    found: dict[str, Counter[str]] = {f"{what} {name}": Counter() for name in ("scores", "labels") for what in FAULTS}
    total = 0
    try:
        for batch in table.exact_batches([score, label]):
            size = min(len(batch.lines), MOST_LOOKED_AT - total)
            total += size
            readers = table.readers(batch.file, score, label)
            for name, values, read in zip(
                ("scores", "labels"), batch.values, (readers.score, readers.label), strict=True
            ):
                column = coded(values)
                times = np.bincount(column.codes[:size], minlength=len(column.values)).tolist()
                for value, rows in zip(column.values, times, strict=True):
                    what = _fault(value, read, shares or name == "scores")
                    if what and rows:
                        found[f"{what} {name}"][repr(value)] += rows
            if total == MOST_LOOKED_AT:
                break
    except ValueError:
        return ""
    beginning = "" if total < MOST_LOOKED_AT else "the first "
    told = []
    for what, seen in found.items():
        if seen and not (table.reading.drop_missing and what.startswith("missing")):
            such = " and ".join(value for value, _ in seen.most_common(2))
            told.append(f"{seen.total():,} {what}" + ("" if what.startswith("missing") else f" such as {such}"))
    if sum(seen.total() for seen in found.values()) == 1:
        return f"It is the only bad value in {beginning}{total:,} rows." if total > 1 else ""
    return f"In {beginning}{rows_text(total)}: {', '.join(told)}." if told else ""


FAULTS = ("missing", "unusable")


def _fault(value: Any, read: Reader, shares: bool) -> str:
    """What is wrong with a value, in a word; nothing where nothing is."""
    try:
        found = read(value)
    except Unreadable as error:
        return "missing" if error.missing else "unusable"
    good = 0 <= found <= 1 if shares else found in (0, 1)
    return "" if good else "missing" if found != found else "unusable"


def saved_query(paths: Sequence[str], sampling: Weighing) -> Summary | None:
    """The Summary in the one file that is such a result; None where it is none."""
    path = paths[0]
    if len(paths) > 1 or not path.lower().endswith(".csv") or not os.path.isfile(path) or not os.access(path, os.R_OK):
        return None
    file = CsvFile(path)
    try:
        here = {name.lower(): name for name in file.header().names}
    except ValueError:  # Whatever cannot be read is no such result, and whoever reads it next says why.
        return None
    if here.keys() not in (set(COLUMNS), set(CLUSTER_COLUMNS)):
        return None
    try:
        known = CLUSTER_COLUMNS if len(here) == len(CLUSTER_COLUMNS) else COLUMNS
        rows = [values for _, values in file.rows([here[name] for name in known])]
        # Databases write a score that is not there as nothing, NULL or \N.
        lines = [dict(zip(known, values, strict=True)) for values in rows]
        read = [{name: _score_or_null(v) if name == "score" else int(v) for name, v in line.items()} for line in lines]
        return Summary.from_cells(read, **{name: getattr(sampling, name) for name in sampling.given})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file.name} must be the whole result of the query of calcert sql: {error}") from error


def _score_or_null(text: str) -> float | None:
    return None if text.strip().lower() in ("", "null", "\\n", "none") else float(text)
