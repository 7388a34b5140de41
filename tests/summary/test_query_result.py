"""What a database returned is taken in every shape, and refused if it is not what the query gives."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calcert
from calcert.summary.query_result import COLUMNS

rng = np.random.default_rng(7)
SCORES = np.round(rng.random(500), 2)
LABELS = rng.random(500) < SCORES
EXPECTED = calcert.summarize(SCORES, LABELS)
PREDICTIONS = pa.table({"p": SCORES, "y": LABELS})
LINES: list[tuple[Any, ...]] = (
    duckdb.connect()
    .register("predictions", PREDICTIONS)
    .execute(calcert.sql.summary_query("predictions", "p", "y", "duckdb"))
    .fetchall()
)


def as_dicts(rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


SHAPES = {
    "tuples": LINES,
    "lists": [list(line) for line in LINES],
    "a generator": (line for line in LINES),
    "dicts": as_dicts(LINES),
    "dicts with capitals": [{name.upper(): value for name, value in line.items()} for line in as_dicts(LINES)],
    "decimals": [(*map(Decimal, line[:5]), line[5]) for line in LINES],
    "pandas": pd.DataFrame(as_dicts(LINES)),
    "pandas with floats": pd.DataFrame(as_dicts(LINES)).astype(float),
    "polars": pl.DataFrame(as_dicts(LINES), infer_schema_length=None),
    "pyarrow": pa.Table.from_pylist(as_dicts(LINES)),
    "another order": LINES[::-1],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_taken_in_every_shape(shape: str) -> None:
    assert calcert.Summary.from_cells(SHAPES[shape]) == EXPECTED


def changed(line: int, column: str, value: Any) -> list[tuple[Any, ...]]:
    rows = [list(row) for row in LINES]
    rows[line][COLUMNS.index(column)] = value
    return [tuple(row) for row in rows]


CELLS = [number for number, line in enumerate(LINES) if line[5] is None]
SCORED = [number for number, line in enumerate(LINES) if line[5] is not None]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "at least one row"),
        ("SELECT", "rows must be the rows that the query returned"),
        (7, "rows must be the rows that the query returned"),
        (
            [(1, 2, 3)],
            "rows must be tuples \\(cell, label, row_count, offset_sum, table_rows, score\\); got \\(1, 2, 3\\)",
        ),
        ([{"cell": 1}], "rows must have the columns cell, label"),
        (LINES[:-1], "same rows; got 49. rows by score and 500 by cell"),
        (LINES[1:], "whole result of the query; got lines for \\d+ of 500 rows"),
        (LINES[:20], "whole result|same rows"),
        ([LINES[number] for number in CELLS], "same rows; got 0 rows by score and 500 by cell"),
        (changed(CELLS[0], "cell", 108545), "cell must lie in 0 to 108544; got 108545 in line 0"),
        (changed(CELLS[0], "cell", -1), "scores must lie in .* NaN or outside and 0 missing"),
        (changed(CELLS[0], "label", 2), "label must lie in 0 to 1; got 2"),
        (changed(CELLS[0], "label", -2), "labels must be .* 0 neither and \\d+ missing"),
        (changed(CELLS[0], "offset_sum", -1), "offset_sum must fit the cell and its rows; got -1"),
        (changed(CELLS[0], "offset_sum", 2**40), "offset_sum must fit the cell and its rows"),
        (changed(CELLS[0], "offset_sum", 1.5), "offset_sum must be an integer; got 1.5 of type float in line 0"),
        (changed(CELLS[0], "offset_sum", 2.0**60), "offset_sum must be an integer"),
        (changed(CELLS[0], "offset_sum", 2**70), "offset_sum must be an integer"),
        (changed(CELLS[0], "row_count", "12"), "row_count must be an integer; got '12' of type str"),
        (changed(CELLS[0], "row_count", None), "row_count must be an integer; got None"),
        (changed(SCORED[0], "score", 1.5), "same rows"),
        (changed(SCORED[0], "score", 0.123456), "same rows"),
        (changed(SCORED[0], "score", LINES[SCORED[0]][5] + 2**-35), "same rows.*lost digits"),
        (changed(SCORED[0], "row_count", 2**20), "same rows"),
        (changed(SCORED[0], "row_count", -1), "row_count must lie in 1 to"),
        (changed(SCORED[0], "label", 2), "label must lie in 0 to 1; got 2"),
        (changed(SCORED[0], "label", -1), "label must lie in 0 to 1; got -1"),
    ],
)
def test_rows_that_the_query_does_not_give_are_refused(rows: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        calcert.Summary.from_cells(rows)


def test_more_rows_than_a_summary_holds_are_refused() -> None:
    # A table of 2^37 rows, all of them score 1.
    line = (108544, 1, 2**36, 0, 2**37, None)
    with pytest.raises(OverflowError, match="at most 2\\^36 rows"):
        calcert.Summary.from_cells([line, (108544, 0, *line[2:])])
