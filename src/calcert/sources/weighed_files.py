"""Files with columns of clusters or weights: Parquet by DuckDB's own GROUP BY, text read exactly and kept in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from calcert.foundation.progress import RowProgress
from calcert.foundation.validation import missing_message
from calcert.sources.exact_text import TextTable
from calcert.sources.files import parquet_table
from calcert.sources.paths import resolve
from calcert.sources.spelling import PLAIN, account_of, spelling_of
from calcert.sources.values_in_text import Unreadable, score_in_text
from calcert.sources.weighed_arrays import Weighing, choose_all, weigh_arrays
from calcert.summary.counts import Summary


def weigh_files(
    paths: Sequence[str | os.PathLike[str]], score: str | None, label: str | None, weighing: Weighing
) -> Summary:
    """The Summary of all rows of some files, with the columns of clusters, weights or counts that were named."""
    # Engines have imports of their own: only those who bring them pay.
    import narwhals as nw

    from calcert.sources.weighed_tables import weigh_table

    files, form = resolve(paths)
    spelling, account = spelling_of(paths), account_of(paths)
    if form != "parquet" or spelling != PLAIN:
        return _text(TextTable(files, form, spelling, account), score, label, weighing)
    with parquet_table(files, limited=False) as table:
        if table.rows == 0:
            raise ValueError(f"{table.name} must hold at least one row; got none.")
        x, y, others = choose_all(table.columns(), score, label, weighing, table.name, table.first)
        table.check_same(x.name, y.name, *(column.name for column in others.values()))
        given = {name: column.name for name, column in others.items()}
        account.columns = {"score": x.name, "label": y.name} | given
        rows: Any = nw.from_native(table.with_others(x, y, given))
        if weighing.counts is not None or weighing.soft_labels:
            rows = rows.collect()
        named: dict[str, Any] = {name: name for name in others}
        return weigh_table(rows, "score", "label", replace(weighing, **named))


def _text(table: TextTable, score: str | None, label: str | None, weighing: Weighing) -> Summary:
    x, y, others = choose_all(table.columns(), score, label, weighing, table.name)
    table.check_names(x.name, y.name, given=score is not None and label is not None)
    names = [column.name for column in others.values()]
    table.account.columns = {"score": x.name, "label": y.name} | {name: c.name for name, c in others.items()}
    scores, labels = [], []
    values: dict[str, list[Any]] = {name: [] for name in others}
    batches = table.batches(x.name, y.name, others=tuple(names))
    rows = 0
    with closing(batches), RowProgress(f"reading {table.name}") as progress:
        for batch in batches:
            scores.append(batch.scores)
            labels.append(batch.labels.astype(np.float64))
            for place, name in enumerate(others):
                column = batch.groups[place :: len(names)]
                read = _cluster if name == "clusters" else _number
                values[name] += [read(name, value, table.place, rows + row) for row, value in enumerate(column)]
            rows += batch.scores.size
            progress.advance_to(rows, table.share_read())
    if not rows:
        raise ValueError(f"{table.name} must hold at least one row; got none.")
    columns: dict[str, Any] = {name: np.array(found) if name != "clusters" else found for name, found in values.items()}
    return weigh_arrays(np.concatenate(scores), np.concatenate(labels), replace(weighing, **columns))


def _cluster(name: str, value: Any, place: Callable[[int], str], row: int) -> Any:
    if value is None or value == "":
        raise ValueError(missing_message(name, place(row)))
    return value if isinstance(value, (str, int)) else str(value)


def _number(name: str, value: Any, place: Callable[[int], str], row: int) -> float:
    try:
        return float(score_in_text(value)) if isinstance(value, str) else float(value)
    except (Unreadable, TypeError, ValueError):
        raise ValueError(f"{name} must be numbers; got {value!r} {place(row)}.") from None
