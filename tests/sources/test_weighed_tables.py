"""The same rows with clusters and weights give the same Summary from every kind of source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pytest

import calcert
from calcert import Summary

RNG = np.random.default_rng(0)
N = 3000
SCORES = {"many": RNG.beta(0.3, 0.3, N), "few": RNG.integers(0, 21, N) / 20}
CLUSTER, WEIGHT, VOTES = RNG.integers(0, 400, N), RNG.integers(0, 4, N), RNG.integers(0, 6, N) / 5
DESIGNS: dict[str, dict[str, Any]] = {
    "clusters": {"clusters": "user"},
    "weights": {"weights": "w"},
    "both": {"clusters": "user", "weights": "w", "weight_unit": 0.5},
    "declared": {"clusters": "user", "weights": "w", "largest_weight": 200.0, "largest_gain": 150.0},
    "counts": {"counts": "w"},
    "shares": {"soft_labels": True},
    "shares and weights": {"soft_labels": True, "weights": "w", "weight_unit": 0.2},
    "all": {"soft_labels": True, "clusters": "user", "weights": "w", "weight_unit": 0.2},
}


def frame(kind: str) -> polars.DataFrame:
    labels = np.random.default_rng(1).random(N) < SCORES[kind]
    names = [f"user {number}" for number in CLUSTER]
    return polars.DataFrame({"p": SCORES[kind], "y": labels.astype(int), "user": names, "w": WEIGHT})


def in_memory(table: polars.DataFrame, options: dict[str, Any]) -> Summary:
    columns: dict[str, Any] = {
        name: table[value].to_numpy() if isinstance(value, str) else value for name, value in options.items()
    }
    return calcert.summarize(table["p"].to_numpy(), table["y"].to_numpy(), **columns)


def written(write: str, name: str) -> Callable[[polars.DataFrame, Path], Any]:
    def build(table: polars.DataFrame, folder: Path) -> Any:
        getattr(table, write)(folder / name)
        return folder / name

    return build


SOURCES: dict[str, Callable[[polars.DataFrame, Path], Any]] = {
    "polars": lambda table, folder: table,
    "polars, lazy": lambda table, folder: table.lazy(),
    "pandas": lambda table, folder: table.to_pandas(),
    "pyarrow": lambda table, folder: table.to_arrow(),
    "duckdb": lambda table, folder: duckdb.connect().from_arrow(table.to_arrow()),
    "parquet": written("write_parquet", "rows.parquet"),
    "csv": written("write_csv", "rows.csv"),
    "json lines": written("write_ndjson", "rows.jsonl"),
}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_summary_of_arrays(source: str, design: str, tmp_path: Path) -> None:
    for kind in SCORES:
        table = frame(kind)
        if "soft_labels" in DESIGNS[design]:
            table = table.with_columns(y=polars.Series(VOTES))
        found = calcert.summarize(SOURCES[source](table, tmp_path), score="p", label="y", **DESIGNS[design])
        assert found == in_memory(table, DESIGNS[design])


def test_columns_of_clusters_and_weights_are_not_taken_for_scores_or_labels() -> None:
    table = polars.DataFrame({"p": [0.25, 0.75], "y": [0, 1], "user": [7, 7], "w": [2.0, 1.0]}).lazy()
    assert calcert.summarize(table, clusters="user", weights="w").n == 3


def test_several_parquet_files_are_one_table(tmp_path: Path) -> None:
    table = frame("many")
    table.head(1000).write_parquet(tmp_path / "a.parquet")
    table.tail(N - 1000).write_parquet(tmp_path / "b.parquet")
    found = calcert.summarize(tmp_path, score="p", label="y", **DESIGNS["both"])
    assert found == in_memory(table, DESIGNS["both"])


@pytest.mark.parametrize("source", ["polars, lazy", "duckdb", "parquet", "csv"])
@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"user": None}, {"clusters": "user"}, "clusters must have no missing values"),
        ({"w": 0.3}, {"weights": "w"}, "weights must be whole multiples of weight_unit = 1"),
        ({"w": -1.0}, {"weights": "w"}, "not negative"),
        ({}, {"weights": "w", "largest_weight": 1.5}, "largest_weight must bound the weight of all rows"),
        ({"p": 1.5}, {"clusters": "user"}, r"scores must lie in \[0, 1\]; got 1.5"),
        ({"y": 3}, {"clusters": "user"}, "labels must be 0 or 1"),
        ({}, {"clusters": "usr"}, "clusters must be a column of .*; got 'usr'.* Did you mean 'user'"),
        ({}, {"weights": "user"}, "weights must name a column of numbers"),
    ],
)
def test_bad_rows_are_refused_in_words(
    source: str, changes: dict[str, Any], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    table = frame("many").head(50).with_columns(polars.col("w").cast(polars.Float64))
    for name, value in changes.items():
        here = polars.int_range(polars.len()) == 7
        table = table.with_columns(polars.when(here).then(polars.lit(value)).otherwise(polars.col(name)).alias(name))
    with pytest.raises((ValueError, TypeError), match=message):
        calcert.summarize(SOURCES[source](table, tmp_path), score="p", label="y", **options)


@pytest.mark.parametrize("source", ["polars, lazy", "duckdb", "parquet"])
@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"p": [0.5, 2.0, 0.5], "y": [0.5, 0.5, 1]},
            {"soft_labels": True},
            r"got 2 (in .*\(1 of 3 rows\)|at row 1 of)",
        ),
        ({"p": [0.5] * 3, "y": [0.5, 1.5, 1]}, {"soft_labels": True}, r"labels must lie in \[0, 1\]"),
        (
            {"p": [0.5] * 3, "y": [0.5, 1 / 11, 1]},
            {"soft_labels": True},
            "whole multiples of weight_unit = (1/12600|7.93651e-05)",
        ),
        ({"p": [0.5] * 3, "y": [0, 1, 1], "k": [1, 1.5, 2]}, {"counts": "k"}, "counts must be whole numbers"),
        (
            {"p": [0.5] * 3, "y": [0, 1, 1], "k": [0.0, 1e-12, 2]},
            {"weights": "k"},
            "whole multiples of weight_unit = 1",
        ),
        ({"p": [0.5] * 3, "y": [0, 1, 1], "k": ["a", "", "b"]}, {"clusters": "k"}, "clusters must have no missing"),
        ({"p": [0.5] * 3, "y": [0, 1, 1], "k": [1.0, float("nan"), 2]}, {"clusters": "k"}, "no missing values"),
        ({"p": [0.5] * 3, "y": [0, 1, 1], "k": [1.0, 2.0**53, 2]}, {"clusters": "k"}, "2.53 on"),
    ],
)
def test_what_is_wrong_with_shares_counts_and_names_is_said_by_all(
    source: str, columns: dict[str, list[Any]], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    rows = SOURCES[source](polars.DataFrame(columns, strict=False), tmp_path)
    with pytest.raises(ValueError, match=message):
        calcert.summarize(rows, score="p", label="y", **options)


def test_weights_that_are_one_number_for_each_label_are_refused_by_engines_too() -> None:
    table = frame("many").with_columns(w=polars.col("y") * 9 + 1).lazy()
    with pytest.raises(ValueError, match="pass largest_weight=10"):
        calcert.summarize(table, score="p", label="y", weights="w")


def test_shares_and_counts_of_files_are_read(tmp_path: Path) -> None:
    table = polars.DataFrame({"p": [0.25, 0.75, 0.5], "y": [0.5, 1.0, 0.1], "k": [1, 2, 3]})
    for name in ("write_parquet", "write_csv"):
        path = written(name, f"rows.{name.removeprefix('write_')}")(table, tmp_path)
        found = calcert.summarize(path, score="p", label="y", soft_labels=True)
        assert found == calcert.summarize(table["p"], table["y"], soft_labels=True)
        path = written(name, f"counts.{name.removeprefix('write_')}")(table.with_columns(y=polars.lit(1)), tmp_path)
        assert calcert.summarize(path, score="p", label="y", counts="k").n == 6
