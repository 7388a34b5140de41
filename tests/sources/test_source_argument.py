"""What does not go with a source is refused: no argument is passed over in silence."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import calcert

ROWS = pa.table({"p": [0.5, 0.25], "y": [1, 0], "g": ["a", "b"]})
SUMMARY = calcert.summarize([0.5, 0.25], [1, 0])


@pytest.mark.parametrize(
    ("arguments", "names", "said"),
    [
        ((SUMMARY, [1, 0]), {}, "labels must be left out where scores is a Summary, which holds them; got list."),
        ((SUMMARY,), {"score": "p"}, "score and label must name columns of a table; got Summary"),
        ((SUMMARY,), {"groups": ["a", "b"]}, "groups must come with rows; got a Summary"),
        ((ROWS, [1, 0]), {"score": "p", "label": "y"}, "labels must be left out where scores is a whole table"),
        ((ROWS, [1, 0]), {"groups": "g"}, "labels must be left out where scores is a whole table"),
        ((ROWS, [1, 0]), {}, r"For a table of probabilities alone pass its array, such as scores\.to_numpy\(\)"),
        (("rows.csv", [1, 0]), {"groups": "g"}, "labels must be left out where scores is a whole table"),
        (([0.5, 0.25], [1, 0]), {"label": "y"}, "score and label must name columns of a table; got list"),
        (([0.5, 0.25], [1, 0]), {"label": "y", "groups": ["a", "b"]}, "score and label must name columns of a table"),
        ((np.full((2, 3), 1 / 3), [1, 0]), {"score": "p"}, "score and label must name columns of a table; got ndarray"),
    ],
)
def test_arguments_that_would_be_ignored_are_refused(arguments: Any, names: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        calcert.certify(*arguments, **names)


def test_a_summary_is_its_own_summary() -> None:
    assert calcert.summarize(SUMMARY) is SUMMARY
    with pytest.raises(TypeError, match="labels must be left out where scores is a Summary"):
        calcert.summarize(SUMMARY, [1, 0])


def test_columns_of_one_name_are_refused_in_every_frame(build: Any) -> None:
    native = build(ROWS)
    if type(native).__module__.startswith(("pandas", "dask")):
        native.columns = ["p", "p", "g"]
    elif isinstance(native, pa.Table):
        native = native.rename_columns(["p", "p", "g"])
    elif type(native).__name__ == "DuckDBPyRelation":
        native = native.project("p, p + 0.1 AS p, y")
    else:
        pytest.skip("such a frame cannot be made")
    with pytest.raises(ValueError, match="every column must have a name of its own; got 'p' more than once"):
        calcert.summarize(native, score="p", label="y")


def test_columns_that_differ_by_case_are_refused_in_every_engine(build_anywhere: Any) -> None:
    try:
        native = build_anywhere(pa.table({"P": [0.9, 0.9], "p": [0.5, 0.25], "y": [1, 0]}))
    except Exception:
        pytest.skip("such a table cannot be made")
    # DuckDB calls one of them by another name before anybody is asked.
    alone = r"name one column of the .* alone; got 'p', but it has 'P'"
    gone = r"be a column of .*; got 'p'\. It has .* 'P'"
    with pytest.raises(ValueError, match=f"score must ({alone}|{gone})"):
        calcert.summarize(native, score="p", label="y")


def test_a_table_of_sqlite_is_refused_by_name(tmp_path: Path) -> None:
    ibis = pytest.importorskip("ibis")
    with sqlite3.connect(tmp_path / "rows.db") as database:
        database.execute("CREATE TABLE predictions (p REAL, y BOOLEAN, g TEXT)")
        database.executemany("INSERT INTO predictions VALUES (?, ?, NULL)", [(0.5, "yes"), ("abc", 1), (0.25, 0.7)])
    table = ibis.sqlite.connect(tmp_path / "rows.db").table("predictions")
    for rows in (table, table.filter(table.p < 1)):
        with pytest.raises(TypeError, match=r"got one of SQLite.*pandas\.read_sql"):
            calcert.summarize(rows, score="p", label="y")
    with pytest.raises(TypeError, match="got one of SQLite"):
        calcert.certify(table, score="p", label="y", groups="g")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="got 'yes' of type str at row 0"):
        calcert.summarize(pandas.read_sql("SELECT 0.5 AS p, y FROM predictions", database), score="p", label="y")
    database.close()
