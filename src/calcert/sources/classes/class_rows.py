"""Rows of a classifier with many classes, read exactly and in one pass from arrays, frames, engines and files.

A class is a group to which every row belongs, with a score and a label of its own. Files are counted batch by batch;
the rows of arrays, frames and engines are in memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.long_work import RowProgress
from calcert.foundation.refusal import Way, WrongValue, about_files, reading
from calcert.foundation.refused_values import Place, missing_value
from calcert.foundation.validation import check_scores
from calcert.sources.arrays import SUM_TOLERANCE, array_of_any_shape, checked_array, refuse_rounding
from calcert.sources.classes.class_columns import FEWEST, ClassColumns, ClassNumbers, check_names, choose_classes
from calcert.sources.files.value_columns import Coded, Numbers, Values, coded, is_dictionary
from calcert.sources.groups.rows_by_group import RowsOfGroup
from calcert.sources.parsed_values import Reader, Reading, Unreadable, is_gap, score_in_json
from calcert.sources.source_argument import Source
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.sources.files.file_table import FileTable

Measured = Mapping[str, Callable[[Floats, Integers], Floats]]
"""What is to be known of every row, from its probabilities, shape (rows, K), and the numbers of classes."""

LARGE = 1 << 17
"""Rows of a class that are kept; more of them are counted. Of arrays, which are in memory anyhow, all are kept."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The rows of the prediction (top-label), those of each class against the rest, and what was measured of each row.

    `names` are what the classes are called, if known.
    """

    prediction: Summary
    classes: Sequence[RowsOfGroup]
    names: tuple[str, ...] | None
    measured: Mapping[str, Floats]

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def of_class(self, number: int) -> Summary:
        """The rows of one class against the rest."""
        return self.classes[number].summary()


class ClassCollector:
    """Takes rows batch by batch, checks and counts them."""

    def __init__(
        self,
        names: Sequence[str] | None,
        place: Place,
        measured: Measured,
        columns: Sequence[str] | None = None,
        large: float = LARGE,
    ) -> None:
        self._names, self._place, self._columns = names, place, columns
        self._measure, self._measured = measured, {name: [np.zeros(0)] for name in measured}
        self._numbers: ClassNumbers | None = None
        self._large = large
        self._classes: list[RowsOfGroup] = []
        self._prediction = RowsOfGroup()
        self.rows = 0

    def add(self, p: NDArray[Any], labels: Sequence[Any] | NDArray[Any]) -> None:
        """Add rows: probabilities, shape (K, rows), and labels of any kind."""
        before = self.rows

        def place(row: int) -> str:
            return self._place(before + row)

        if self._numbers is None:
            called = None if self._names is None else check_names(self._names, len(p))
            self._numbers = ClassNumbers(called, len(p))
            self._classes = [RowsOfGroup(large=self._large) for _ in p]
        if len(p) != len(self._classes):
            raise ValueError(
                f"probabilities must be as many in every row; got {len(p)} {place(0)}, and {len(self._classes)} before."
            )
        _check_range(p, place, self._columns)
        _check_sums(p, place)
        y = self._numbers.of(labels, place)
        for number, rows in enumerate(self._classes):
            rows.add({"scores": p[number], "labels": y == number})
        # The first of classes that tie is the prediction.
        self._prediction.add({"scores": p.max(axis=0), "labels": p.argmax(axis=0) == y})
        for name, measure in self._measure.items():
            self._measured[name].append(measure(p.T, y))
        self.rows += p.shape[1]

    def found(self, source: str) -> ClassRows:
        """All rows."""
        if not self.rows:
            raise ValueError(f"{source} must hold at least one row; got none.")
        measured = {name: np.concatenate(parts) for name, parts in self._measured.items()}
        names = None if self._names is None else check_names(self._names, len(self._classes))
        return ClassRows(self._prediction.summary(), self._classes, names, measured)


def _check_range(p: NDArray[Any], place: Place, columns: Sequence[str] | None) -> None:
    """Every probability, shape (K, rows), must be one."""
    if p.size and not (p.min() >= 0 and p.max() <= 1):  # Neither holds of NaN.
        good = (p >= 0) & (p <= 1)
        row = int(np.argmin(good.all(axis=0)))
        column = int(np.argmin(good[:, row]))
        where = f"{place(row)}, column {column if columns is None else repr(columns[column])}"
        way = Way(f"{SOFTMAX}.", f"{WRITE}.")
        raise WrongValue("probabilities", "must lie in [0, 1]", repr(float(p[column, row])), where, way)


def _check_sums(p: NDArray[Any], place: Place) -> None:
    """The probabilities of every row must add up to 1."""
    total = p.sum(axis=0, dtype=np.float64)
    wrong = np.abs(total - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        wanted, apart = f"must add up to 1 in every row, within {SUM_TOLERANCE:g}", "certify each column on its own."
        way = Way(f"{SOFTMAX}; {APART}, {apart}", f"{WRITE}; {APART}, {apart}")
        raise WrongValue("probabilities", wanted, f"{total[row]:.6g}", place(row), way)


SOFTMAX = "For logits pass scipy.special.softmax(logits, axis=1)"
WRITE = "If they are logits, write their softmax to the file"
APART = "where classes do not exclude each other"


VALUES = 1 << 21
"""Probabilities that are read at a time."""

AT_ROW = "at row {}".format
"""Where a row in memory stands: its number is all there is to say."""


@dataclass(frozen=True)
class ClassReader:
    """Which columns are asked for, what classes are called, and what is to be measured of every row."""

    asked: Any
    label: str | None
    names: Sequence[str] | None
    measured: Measured

    def of(self, source: Source, labels: Any = None) -> ClassRows:
        """The rows of a whole table, with its columns of probabilities and of labels; or of arrays and `labels`."""
        if self.asked is None:
            return self._in_arrays(source.value, labels)
        if source.kind == "files":
            return self._in_files(source.value)
        if source.kind == "table":
            return self._in_frame(source.value)
        raise TypeError(
            f"class_columns must name columns of a table; got {type(source.value).__name__}, which has none. "
            "Pass an array of shape (rows, K) without it, or a data frame or file."
        )

    def _in_arrays(self, probabilities: Any, labels: Any) -> ClassRows:
        raw = array_of_any_shape(probabilities)
        refuse_rounding("probabilities", raw)
        p = raw.astype(np.float64, copy=False) if raw.dtype.kind in "fiu" else check_scores(raw)
        if labels is None:
            raise TypeError("labels must be given: the number of the class of every row, 0 to K - 1; got None.")
        y = array_of_any_shape(labels)
        if y.ndim != 1 or y.size != p.shape[0]:
            raise ValueError(
                f"labels must be one number a row; got shape {y.shape} for {p.shape[0]} rows of probabilities. "
                "For one-hot labels pass labels.argmax(axis=1)."
            )
        collector = ClassCollector(self.names, AT_ROW, self.measured, large=math.inf)
        if p.size:
            collector.add(p.T, y)
        return collector.found("probabilities")

    def _in_frame(self, frame: Any) -> ClassRows:
        """Of an engine, the columns are fetched by one query."""
        import narwhals as nw

        from calcert.sources.engines.tables import column_of, columns_in, remark

        source = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
        chosen = choose_classes(columns_in(frame), self.asked, self.label, self.names, source)
        remark(frame, *chosen.all_names)
        rows = frame.select(**{name: column_of(frame, name) for name in chosen.all_names}).lazy().collect()
        collector = self._collector(chosen, AT_ROW, math.inf)
        if not len(rows):
            return collector.found(source)
        if chosen.listed:
            p = probabilities_in_lists(_as_arrow(rows[chosen.scores[0].name]), AT_ROW).T
        else:
            p = np.empty((len(chosen.scores), len(rows)))
            for place, one in enumerate(chosen.scores):
                p[place] = checked_array(f"probabilities {one.name!r}", rows[one.name].to_native())
        series = rows[chosen.label.name]
        if series.null_count():
            raise missing_value("labels", f"at row {int(series.is_null().arg_true()[0])}")
        collector.add(p, series.to_list())
        return collector.found(source)

    @about_files
    def _in_files(self, paths: Any) -> ClassRows:
        from calcert.sources.files.file_table import FileTable

        table = FileTable(paths)
        if table.reading.positive is not None:
            raise WrongValue(reading("positive"), "must not come with classes: labels are names or numbers of classes")
        with table.named_columns():
            chosen = choose_classes(table.columns(), self.asked, self.label, self.names, table.name)
        table.look_at((*chosen.scores, chosen.label), chosen.account, remark=True)
        collector = table.read(lambda place, fast: self._collected(table, chosen, place, fast=fast))
        table.finish(chosen.label.name)
        return collector.found(table.name)

    def _collector(self, chosen: ClassColumns, place: Place, large: float) -> ClassCollector:
        columns = None if chosen.listed else chosen.all_names
        return ClassCollector(chosen.names, place, self.measured, columns, large)

    def _collected(self, table: FileTable, chosen: ClassColumns, place: Place, *, fast: bool) -> ClassCollector:
        """All rows of some files; a row that is none is refused when those before it have been looked at."""
        collector, size = self._collector(chosen, place, LARGE), len(chosen.scores)
        kind = table.number_kind if not chosen.listed else "words"
        batches = table.batches(
            chosen.all_names, size + 1, [*[kind] * size, "words"], fast=fast, most=max(VALUES // size, 1)
        )

        def here(row: int) -> str:
            return place(collector.rows + row)

        with closing(batches), RowProgress(f"reading {table.name}") as progress:
            for batch in batches:
                *scores, labels = batch.values
                read = table.readers(batch.file, chosen.all_names[0], chosen.all_names[-1]).score
                p, trouble = _lists(scores[0], here) if chosen.listed else _columns(scores, read, chosen, table.reading)
                known = coded(labels)
                collector.add(p, [known.values[code] for code in known.codes[: p.shape[1]].tolist()])
                if trouble is not None:
                    raise trouble(here(0))
                progress.advance_to(collector.rows, table.share_read())
        return collector


def _as_arrow(series: Any) -> Any:
    import pyarrow

    try:
        return series.to_arrow()
    except pyarrow.ArrowException as error:
        raise TypeError(f"probabilities must be lists of numbers in [0, 1]; {series.name!r} holds others.") from error


def _columns(
    scores: Sequence[Values], read: Reader, chosen: ClassColumns, reading: Reading
) -> tuple[NDArray[Any], Callable[[str], WrongValue] | None]:
    """Probabilities, shape (K, rows), up to the first row that lacks one, and what is wrong with that."""
    numbers = Numbers(read, plain=reading.plain_scores)
    found = [numbers.of(column) for column in scores]
    end = min(values.size for values, _ in found)
    wrong = next(((place, error) for place, (values, error) in enumerate(found) if error and values.size == end), None)
    p = np.stack([values[:end] for values, _ in found])
    if wrong is None:
        return p, None
    column, error = chosen.all_names[wrong[0]], wrong[1]
    return p, lambda where: error.refusal("scores", f"{where}, column {column!r}")


def _lists(lists: Values, place: Place) -> tuple[NDArray[Any], None]:
    """Probabilities in lists, shape (K, rows)."""
    if not isinstance(lists, Coded) and not is_dictionary(lists):
        return probabilities_in_lists(lists, place).T, None
    column = coded(lists)
    found = [
        _list_in_text(value, lambda row, code=code: place(column.first(code)))  # type: ignore[misc]
        for code, value in enumerate(column.values)
    ]
    check_sizes(np.array(list(map(len, found)))[column.codes], place)
    return np.array(found, np.float64)[column.codes].T, None


def probabilities_in_lists(lists: Any, place: Place) -> NDArray[Any]:
    """An Arrow column of lists of one length as an array, shape (rows, K)."""
    import pyarrow.compute

    if not str(lists.type).startswith(("list", "large_list", "fixed_size_list")):
        raise TypeError(f"probabilities must be lists of numbers in [0, 1]; got values of type {lists.type}.")
    if lists.null_count:
        first = int(np.argmax(pyarrow.compute.is_null(lists).to_numpy(zero_copy_only=False)))
        raise missing_value("probabilities", place(first))
    size = pyarrow.compute.list_value_length(lists).to_numpy()
    check_sizes(size, place)
    inner = lists.flatten()
    if inner.null_count:
        first = int(np.argmax(pyarrow.compute.is_null(inner).to_numpy(zero_copy_only=False))) // int(size[0])
        raise missing_value("probabilities", place(first))
    if str(inner.type) == "bool":
        raise TypeError("probabilities must be lists of numbers in [0, 1]; got true and false.")
    return checked_array("probabilities", inner).reshape(len(lists), -1)


def _list_in_text(value: Any, place: Callable[[int], str]) -> list[float]:
    """A list in JSON, or in a text that is one."""
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            found = value
    if not isinstance(found, list):
        if is_gap(found):
            raise missing_value("probabilities", place(0), value)
        raise ValueError(
            f"probabilities must be lists of numbers, such as [0.2, 0.3, 0.5]; got {str(value)[:60]!r} {place(0)}."
        )
    try:
        return [score_in_json(number) for number in found]
    except Unreadable as error:
        raise error.refusal("scores", place(0)) from None


def check_sizes(sizes: NDArray[Any], place: Place) -> None:
    """The probabilities must be as many in every row."""
    if sizes[0] < FEWEST:
        raise ValueError(f"probabilities must be of at least {FEWEST} classes; got {sizes[0]} {place(0)}.")
    other = sizes != sizes[0]
    if other.any():
        row = int(np.argmax(other))
        raise ValueError(
            f"probabilities must be as many in every row; got {sizes[0]} {place(0)} and {sizes[row]} {place(row)}."
        )
