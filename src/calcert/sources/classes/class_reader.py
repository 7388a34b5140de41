"""Frames, engines and files with columns of probabilities of many classes, read exactly and in one pass.

All of them are in memory then, eight bytes a row and class.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.progress import RowProgress
from calcert.foundation.validation import Place, missing_message
from calcert.sources.arrays import checked_array
from calcert.sources.classes.class_columns import FEWEST, ClassColumns, choose_classes
from calcert.sources.classes.class_rows import AT_ROW, ClassCollector, ClassRows
from calcert.sources.files.arrow_columns import arrow_values
from calcert.sources.files.files_row_by_row import TextTable
from calcert.sources.parsed_values import Reader, Unreadable, is_gap, score_in_json, score_in_text
from calcert.sources.source_argument import Source

VALUES = 1 << 21
"""Probabilities that are read at a time."""


def read_classes(source: Source, columns: Any, label: str | None, names: Sequence[str] | None) -> ClassRows:
    """The rows of a whole table, with its columns of probabilities and of labels."""
    if source.kind == "files":
        return _from_files(source.value, columns, label, names)
    if source.kind == "table":
        return _from_frame(source.value, columns, label, names)
    raise TypeError(
        f"class_columns must name columns of a table; got {type(source.value).__name__}, which has none. "
        "Pass an array of shape (rows, K) without it, or a data frame or file."
    )


def _from_frame(frame: Any, columns: Any, label: str | None, names: Sequence[str] | None) -> ClassRows:
    """Of an engine, the columns are fetched by one query."""
    import narwhals as nw

    from calcert.sources.engines.tables import column_of, columns_in, remark

    source = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    chosen = choose_classes(columns_in(frame), columns, label, names, source)
    remark(frame, *chosen.all_names)
    rows = frame.select(**{name: column_of(frame, name) for name in chosen.all_names}).lazy().collect()
    collector = ClassCollector(chosen, AT_ROW, len(rows))
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
        raise ValueError(missing_message("labels", f"at row {int(series.is_null().arg_true()[0])}"))
    collector.add(p, series.to_list())
    return collector.found(source)


def _as_arrow(series: Any) -> Any:
    import pyarrow

    try:
        return series.to_arrow()
    except pyarrow.ArrowException as error:
        raise TypeError(f"probabilities must be lists of numbers in [0, 1]; {series.name!r} holds others.") from error


def _from_files(paths: Any, columns: Any, label: str | None, names: Sequence[str] | None) -> ClassRows:
    from calcert.sources.files.duckdb_parquet import parquet_table
    from calcert.sources.files.files import text_or_parquet
    from calcert.sources.overlooked_columns import LOOKED_AT, remark_on_clusters

    files, account, text = text_or_parquet(paths)
    if text is not None:
        return _from_text(text, columns, label, names)
    with parquet_table(files, limited=False) as table:
        chosen = choose_classes(table.columns(), columns, label, names, table.name)
        table.check_same(*chosen.all_names)
        taken = (*chosen.scores, chosen.label)
        remark_on_clusters(table.columns(), taken, table.name, lambda name: table.examples(name, LOOKED_AT))
        account.columns = chosen.account
        collector = ClassCollector(chosen, table.place, table.rows)

        def place(row: int) -> str:
            return table.place(collector.rows + row)

        with RowProgress(f"reading {table.name}", total=table.rows) as progress:
            for batch in table.classes(chosen.scores, chosen.label, max(VALUES // len(chosen.scores), 1)):
                *found, labels = batch.columns
                if chosen.listed:
                    p = probabilities_in_lists(found[0], place).T
                else:
                    named = zip(chosen.scores, found, strict=True)
                    p = np.stack([arrow_values(f"probabilities {one.name!r}", part, place) for one, part in named])
                collector.add(p, labels.to_pylist())
                progress.advance_to(collector.rows)
        rows = collector.found(table.name)
        table.check_complete(collector.rows)
        return rows


def _from_text(table: TextTable, columns: Any, label: str | None, names: Sequence[str] | None) -> ClassRows:
    if table.spelling.positive is not None:
        raise ValueError("--positive must not come with classes: labels are names or numbers of classes.")
    with table.named_columns():
        chosen = choose_classes(table.columns(), columns, label, names, table.name)
    table.account.columns = chosen.account
    collector = ClassCollector(chosen, table.place)

    def place(row: int) -> str:
        return table.place(collector.rows + row)

    batches = table.raw_batches(chosen.all_names, max(VALUES // len(chosen.scores), 1))
    with closing(batches), RowProgress(f"reading {table.name}") as progress:
        for read, rows in batches:
            p = [probabilities_in_text(values, read, chosen, place, row) for row, values in enumerate(rows)]
            check_sizes(np.array(list(map(len, p))), place)
            collector.add(np.array(p).T, [row[-1] for row in rows])
            progress.advance_to(collector.rows, table.share_read())
    return collector.found(table.name)


def probabilities_in_lists(lists: Any, place: Place) -> NDArray[Any]:
    """An Arrow column of lists of one length as an array, shape (rows, K)."""
    import pyarrow.compute

    if not str(lists.type).startswith(("list", "large_list", "fixed_size_list")):
        raise TypeError(f"probabilities must be lists of numbers in [0, 1]; got values of type {lists.type}.")
    if lists.null_count:
        first = int(np.argmax(pyarrow.compute.is_null(lists).to_numpy(zero_copy_only=False)))
        raise ValueError(missing_message("probabilities", place(first)))
    size = pyarrow.compute.list_value_length(lists).to_numpy()
    check_sizes(size, place)
    inner = lists.flatten()
    if inner.null_count:
        first = int(np.argmax(pyarrow.compute.is_null(inner).to_numpy(zero_copy_only=False))) // int(size[0])
        raise ValueError(missing_message("probabilities", place(first)))
    if str(inner.type) == "bool":
        raise TypeError("probabilities must be lists of numbers in [0, 1]; got true and false.")
    return checked_array("probabilities", inner).reshape(len(lists), -1)


def probabilities_in_text(
    values: Sequence[Any], read: Reader, chosen: ClassColumns, place: Place, row: int
) -> list[float]:
    """The probabilities of a row of text, or of JSON, each read exactly."""
    values = values[:-1]
    if chosen.listed:
        values, read = _list_in_text(values[0], place, row), score_in_json
    # All at once, as these readers do it one by one; where anything is unusual, they are asked about every value.
    kinds = set(map(type, values))
    quick = kinds <= {int, float} if read is score_in_json else read is score_in_text and kinds == {str}
    text = "".join(values) if quick and read is score_in_text else ""
    try:
        if quick and text.isascii() and "_" not in text:
            return list(map(float, values))
    except (ValueError, OverflowError):
        pass
    found = []
    for number, value in enumerate(values):
        try:
            found.append(float(read(value)))
        except Unreadable as error:
            which = "" if chosen.listed else f", column {chosen.all_names[number]!r}"
            raise ValueError(error.message("scores", f"{place(row)}{which}")) from None
    return found


def _list_in_text(value: Any, place: Place, row: int) -> list[Any]:
    """A list in JSON, or in a text that is one."""
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            found = value
    if not isinstance(found, list):
        if is_gap(found):
            raise ValueError(missing_message("probabilities", place(row), value))
        raise ValueError(
            f"probabilities must be lists of numbers, such as [0.2, 0.3, 0.5]; got {str(value)[:60]!r} {place(row)}."
        )
    return found


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
