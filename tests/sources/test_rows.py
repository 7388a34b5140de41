"""Rows: what the command line can say of rows, Python can say, and every function takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import calcert
from calcert.testing import assert_calibrated

rng = np.random.default_rng(0)
N = 600
P = rng.integers(0, 1001, N) / 1000
TABLE = pl.DataFrame({"p": P, "y": (rng.random(N) < P).astype(int), "user": rng.integers(0, 90, N)})
WHOLE = calcert.summarize(TABLE["p"], TABLE["y"])


def test_a_german_export_is_read_in_python(tmp_path: Path) -> None:
    lines = [f"{100 * p:.1f}".replace(".", ",") + f";{'J' if y else 'N'}" for p, y in TABLE.select("p", "y").rows()]
    (tmp_path / "export.csv").write_text("Titel\n\nPD;Ausfall\n" + "\n".join([*lines, "k.A.;J"]) + "\n")
    reading = calcert.Reading(
        decimal=",", percent=True, positive="J", drop_missing=True, missing=("k.A.",), skip_lines=2
    )
    rows = calcert.Rows(tmp_path / "export.csv", score="PD", label="Ausfall", reading=reading)
    assert rows.summary() == WHOLE
    assert rows.account.left_out == "1 of 601 rows were left out: 1 without PD"


def test_a_sheet_is_named_in_python(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_sheet("rows").append(["p", "y"])
    for values in TABLE.select("p", "y").rows():
        book["rows"].append(values)
    book.active.append(["notes"])
    book.save(tmp_path / "export.xlsx")
    assert calcert.Rows(tmp_path / "export.xlsx", reading=calcert.Reading(sheet="rows")).summary() == WHOLE


def test_the_saved_result_of_the_query_is_read_in_python(tmp_path: Path) -> None:
    import duckdb

    duckdb.register("t", TABLE.to_arrow())
    found = duckdb.sql(calcert.sql.summary_query("t", "p", "y", "duckdb"))
    assert found is not None
    found.write_csv(str(tmp_path / "cells.csv"))
    assert calcert.summarize(tmp_path / "cells.csv") == WHOLE


@pytest.mark.parametrize("kind", ["arrays", "frame", "lazy", "parquet", "summary"])
def test_every_function_takes_rows_of_every_kind(kind: str, tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "f.parquet")
    rows = {
        "arrays": calcert.Rows(TABLE["p"], TABLE["y"]),
        "frame": calcert.Rows(TABLE, score="p", label="y"),
        "lazy": calcert.Rows(TABLE.lazy(), score="p", label="y"),
        "parquet": calcert.Rows(tmp_path / "f.parquet", score="p", label="y"),
        "summary": calcert.Rows(WHOLE),
    }[kind]
    assert calcert.summarize(rows) == WHOLE
    assert calcert.certify(rows).certificates == calcert.certify(WHOLE).certificates
    assert calcert.compare({"a": rows, "b": rows}).models == calcert.compare({"a": WHOLE, "b": WHOLE}).models
    assert calcert.bounds.calibration_test(rows, draws=99) == calcert.bounds.calibration_test(WHOLE, draws=99)
    assert assert_calibrated(rows, max=0.5) == calcert.certify(WHOLE).l1
    monitor = calcert.Monitor(tmp_path / "state")
    assert monitor.add(rows, batch_id="one").rows == N


def test_what_is_said_of_rows_is_checked_where_they_are_made() -> None:
    for wrong, words in {
        "weights": "weights must come with rows; got a Summary",
        "groups": "groups must come with rows; got a Summary",
    }.items():
        with pytest.raises(TypeError, match=words):
            calcert.Rows(WHOLE, **{wrong: [1] * N})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="groups must be left out where all rows are counted together"):
        calcert.summarize(TABLE["p"], TABLE["y"], groups=TABLE["user"])
    with pytest.raises(TypeError, match=r"reading must be calcert\.Reading\(\.\.\.\); got dict"):
        calcert.Rows("rows.csv", reading={"percent": True})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'delta'"):
        calcert.certify(WHOLE, delta=0.05)  # type: ignore[call-overload]


def test_a_sheet_without_names_or_with_rows_far_apart_is_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for values in TABLE.select("p", "y").rows():
        book.active.append(values)
    book.save(tmp_path / "nameless.xlsx")
    with pytest.raises(ValueError, match=r"must begin with a row of column names; got '0\.\d+' in row 1"):
        calcert.summarize(tmp_path / "nameless.xlsx")
    book = openpyxl.Workbook()
    book.active.append(["p", "y"])
    book.active.cell(900_000, 1, 0.5)
    book.active.cell(900_000, 2, 1)
    book.save(tmp_path / "leap.xlsx")
    with pytest.raises(ValueError, match="increasing numbers without large gaps; got 900,000 after 1"):
        calcert.summarize(tmp_path / "leap.xlsx")
