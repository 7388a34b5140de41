"""Groups are read at once: a few queries where an engine has the rows, one pass over files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.groups import rows_by_group
from calcert.sources.groups.grouped import summarize_groups
from tests.sources.test_engines import AWKWARD

Build = Callable[[pa.Table], Any]

MOST_QUERIES = 3


def rows_in_groups(groups: int, rows: int = 20_000) -> pa.Table:
    """Groups with few scores, with many, with many in few cells, some of them rows of no group."""
    rng = np.random.default_rng(groups)
    group = np.concatenate([rng.integers(groups, size=rows), np.zeros(9_000, int), np.ones(9_000, int)])
    scores = np.concatenate([rng.choice([*AWKWARD, 0.3], rows), rng.random(9_000), 0.5 + rng.random(9_000) / 64])
    names = np.array([None if number == 2 else f"{number} of {groups}" for number in range(groups)])[group]
    return pa.table({"p": scores, "y": (rng.random(scores.size) < scores).astype(np.int8), "g": pa.array(names)})


def one_by_one(rows: pa.Table) -> dict[str, calcert.Summary]:
    scores, labels, names = (rows[name].to_numpy() for name in rows.column_names)
    names = np.array(["missing" if name is None else name for name in names])
    return {name: calcert.summarize(scores[names == name], labels[names == name]) for name in np.unique(names)}


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """As many numbers as queries that an engine was asked."""
    asked: list[int] = []
    collect: Any = nw.LazyFrame.collect

    def counted(frame: Any, *given: Any, **named: Any) -> Any:
        asked.append(len(asked))
        return collect(frame, *given, **named)

    monkeypatch.setattr(nw.LazyFrame, "collect", counted)
    return asked


@pytest.mark.parametrize(
    "change", ["INSERT INTO rows_ VALUES (0.5, 1, 'c', 1)", "DELETE FROM rows_ WHERE g = 'b'", "UPDATE rows_ SET w = 2"]
)
@pytest.mark.parametrize("weights", [False, True])
def test_a_table_that_changes_between_two_reads_is_refused(
    monkeypatch: pytest.MonkeyPatch, change: str, weights: bool
) -> None:
    database = pytest.importorskip("duckdb").connect()
    database.execute("CREATE TABLE rows_ (p DOUBLE, y INTEGER, g VARCHAR, w INTEGER)")
    database.execute("INSERT INTO rows_ VALUES (0.5, 0, 'a', 1), (0.25, 1, 'b', 1), (0.75, 1, 'b', 1)")
    rows, collect, asked = database.table("rows_"), nw.LazyFrame.collect, iter(range(10))
    weighing = Weighing(weights="w", largest_weight=2.0) if weights else PLAIN_ROWS
    before_the_third = 2

    def changing(frame: Any) -> Any:
        if next(asked) == before_the_third - (weights and "UPDATE" in change):
            database.execute(change)
        return collect(frame)

    monkeypatch.setattr(nw.LazyFrame, "collect", changing)
    if "UPDATE" in change and not weights:
        pytest.skip("nobody asks for weights")
    with pytest.raises(ValueError, match="between two reads"):
        summarize_groups(rows, None, "g", score="p", label="y", weighing=weighing)


def write(path: Path, rows: pa.Table) -> Path:
    pq.write_table(rows, path, row_group_size=7_000)
    return path


@pytest.mark.parametrize("groups", [20, 1000])
def test_groups_of_files_are_read_in_one_pass_whether_rows_are_kept_or_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queries: list[int], groups: int
) -> None:
    rows = rows_in_groups(groups)
    path = write(tmp_path / "rows.parquet", rows)
    expected = one_by_one(rows)
    assert summarize_groups(path, None, "g", score="p", label="y") == expected
    monkeypatch.setattr(rows_by_group, "WAITING", 10_000)
    monkeypatch.setattr(rows_by_group, "LARGE", 300)
    assert summarize_groups(path, None, "g", score="p", label="y") == expected
    assert not queries


@pytest.mark.parametrize(
    "values",
    [
        pa.array([3, None, 3, 7], pa.int16()),
        pa.array([True, None, True, False]),
        pa.array([0.5, None, 0.5, float("nan")]),
        pa.array(["x", None, "x", "y"]).dictionary_encode(),
        pa.array([date(2024, 1, 2), None, date(2024, 1, 2), date(2024, 1, 3)]),
        pa.array([["x"], None, ["x"], ["y"]]),
    ],
)
def test_groups_of_every_type_have_the_names_that_they_have_in_memory(tmp_path: Path, values: pa.Array) -> None:
    rows = pa.table({"p": [0.5, 0.25, 0.75, 1.0], "y": [1, 0, 0, 1], "g": values})
    found = summarize_groups(write(tmp_path / "rows.parquet", rows), None, "g", score="p", label="y")
    assert found == summarize_groups(rows["p"], rows["y"], values.to_pylist())


@pytest.mark.parametrize("weights", [False, True])
def test_zero_and_false_name_groups_of_json_lines(tmp_path: Path, weights: bool) -> None:
    path = tmp_path / "rows.jsonl"
    groups = ["0", "0", "1", "false", "true", '""', "null"]
    path.write_text("".join(f'{{"p": 0.5, "y": 1, "g": {group}, "w": 1}}\n' for group in groups))
    weighing = Weighing(weights="w", largest_weight=1.0) if weights else PLAIN_ROWS
    found = summarize_groups(path, None, "g", score="p", label="y", weighing=weighing)
    assert {name: part.rows for name, part in found.items()} == {"0": 2, "1": 1, "False": 1, "True": 1, "missing": 2}


def test_a_bad_row_of_a_file_with_groups_is_named(tmp_path: Path) -> None:
    rows = pa.table({"p": [0.5] * 9_000 + [1.5], "y": [1] * 9_001, "g": ["a", "b", "c"] * 3_000 + ["d"]})
    path = write(tmp_path / "rows.parquet", rows)
    with pytest.raises(ValueError, match=r"got 1\.5 at row 9000 of .*rows\.parquet"):
        calcert.certify(path, score="p", label="y", groups="g")
    path = write(tmp_path / "many.parquet", pa.table({"p": [0.5] * 2_000, "y": [1] * 2_000, "g": range(2_000)}))
    with pytest.raises(ValueError, match="at most 1,000 distinct values"):
        calcert.certify(path, score="p", label="y", groups="g")


@pytest.mark.parametrize("groups", [20, 1000])
def test_every_engine_gives_all_groups_in_three_queries(build_anywhere: Build, queries: list[int], groups: int) -> None:
    rows = rows_in_groups(groups)
    found = summarize_groups(build_anywhere(rows), None, "g", score="p", label="y")
    assert found == one_by_one(rows)
    assert len(found) == groups
    assert [part.is_finite for part in found.values()].count(False) == 2
    assert len(queries) <= MOST_QUERIES


WEIGHINGS: dict[str, dict[str, Any]] = {
    "clusters": {"clusters": "unit"},
    "weights": {"weights": "w", "largest_weight": 10.0},
    "counts": {"counts": "w"},
    "all": {"clusters": "unit", "weights": "w", "soft_labels": True, "weight_unit": 0.25},
}


@pytest.mark.parametrize("weighing", WEIGHINGS)
def test_clusters_and_weights_of_groups_take_three_queries_too(
    build_anywhere: Build, queries: list[int], weighing: str
) -> None:
    rng, plain, options = np.random.default_rng(3), rows_in_groups(20), WEIGHINGS[weighing]
    columns = {"unit": rng.integers(0, 900, len(plain)), "w": rng.integers(0, 4, len(plain))}
    labels = rng.integers(0, 5, len(plain)) / 4 if "soft_labels" in options else plain["y"]
    rows = pa.table({"p": plain["p"], "y": labels, "g": plain["g"], **columns})
    arrays = Weighing(**{name: columns.get(column, column) for name, column in options.items()})
    expected = summarize_groups(rows["p"], rows["y"], plain["g"].to_pylist(), weighing=arrays)
    native = build_anywhere(rows)
    queries.clear()
    assert summarize_groups(native, None, "g", score="p", label="y", weighing=Weighing(**options)) == expected
    assert len(queries) <= MOST_QUERIES


@pytest.mark.parametrize("named", ["g", None])
def test_weights_that_are_all_zero_are_refused(named: str | None) -> None:
    polars = pytest.importorskip("polars")
    rows = polars.DataFrame({"p": [0.5, 0.25], "y": [0, 1], "g": ["a", "b"], "w": [1 if named else 0, 0]}).lazy()
    chosen: Any = {"score": "p", "label": "y"}
    if named is None:
        with pytest.raises(ValueError, match=r"weights must not all be zero; got nothing else\."):
            calcert.summarize(rows, **chosen, weights="w")
    else:
        with pytest.raises(ValueError, match="weights must not all be zero in any group; got nothing else in 'b'"):
            summarize_groups(rows, None, named, **chosen, weighing=Weighing(weights="w"))


def test_two_values_of_one_name_are_no_group_of_clusters() -> None:
    polars = pytest.importorskip("polars")
    rows = polars.DataFrame({"p": [0.5] * 3, "y": [0, 1, 1], "g": [1.0, float("nan"), None], "u": [1, 1, 1]}).lazy()
    assert summarize_groups(rows, None, "g", score="p", label="y")["missing"].n == 2
    with pytest.raises(ValueError, match="groups must be told apart by their values; got several in 'g'"):
        summarize_groups(rows, None, "g", score="p", label="y", weighing=Weighing(clusters="u"))


@pytest.mark.parametrize("groups", [20, 1000])
def test_the_log_of_duckdb_has_three_queries(groups: int) -> None:
    duckdb = pytest.importorskip("duckdb")
    database, rows = duckdb.connect(), rows_in_groups(groups)
    database.register("arrow_rows", rows)
    database.execute("CREATE TABLE predictions AS SELECT * FROM arrow_rows")
    relation = database.table("predictions")
    database.execute("CALL enable_logging('QueryLog')")
    assert summarize_groups(relation, None, "g", score="p", label="y") == one_by_one(rows)
    logged = database.execute("SELECT message FROM duckdb_logs WHERE type = 'QueryLog'").fetchall()
    assert 2 <= sum("SELECT" in query for (query,) in logged) <= MOST_QUERIES


def test_a_group_called_missing_is_not_that_of_rows_without_one() -> None:
    rows = pa.table({"p": [0.5] * 5, "y": [0, 1, 0, 1, 1], "g": ["missing", None, "missing", "<NA>", "a"]})
    found = summarize_groups(rows, None, "g", score="p", label="y")
    assert {name: part.rows for name, part in found.items()} == {"'missing'": 2, "<NA>": 1, "a": 1, "missing": 1}


def test_groups_that_are_called_missing_in_quotes_are_kept_apart() -> None:
    names = ["missing", "'missing'", "\"'missing'\"", "'\"\\'missing\\'\"'", "\\missing", None]
    rows = pa.table({"p": [0.5] * 6, "y": [0, 1] * 3, "g": names})
    found = summarize_groups(rows, None, "g", score="p", label="y")
    assert len(found) == len(names)
    assert found["missing"].rows == 1
