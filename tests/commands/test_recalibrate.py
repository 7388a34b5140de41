"""``calcert recalibrate`` and ``calcert apply``: a map in a file, and a copy with recalibrated scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.reports.recalibrate import Recalibration

from .conftest import Run


@pytest.fixture
def map_file(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "map.json"
    done = run("recalibrate", "rows.csv", "--score", "p", "--label", "y", "--out", str(path))
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("After the map, a score is on average at most 0.0")
    return path


def test_the_map_in_the_file_is_that_of_the_library(map_file: Path, rows: tuple[Any, Any]) -> None:
    found = Recalibration.from_dict(json.loads(map_file.read_text()))
    expected = calcert.recalibrate(*rows)
    assert found.map == expected.map
    assert found.l1 == expected.l1


def test_every_format_gets_the_recalibrated_scores(
    run: Run, map_file: Path, rows: tuple[Any, Any], tmp_path: Path
) -> None:
    expected = calcert.recalibrate(*rows)(rows[0]).tolist()
    for source, target in (("rows.parquet", "out.parquet"), ("rows.jsonl", "out.jsonl"), ("rows.csv", "out.csv")):
        done = run("apply", str(map_file), source, "--score", "p", "--out", str(tmp_path / target))
        assert done.exit_code == 0, done.stderr
        assert "column 'recalibrated' is 'p' recalibrated" in done.stdout
    assert pq.read_table(tmp_path / "out.parquet")["recalibrated"].to_pylist() == expected
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["recalibrated"] for line in lines] == expected
    rest = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [float(line.rpartition(",")[2]) for line in rest] == expected


def test_the_expression_is_sql(run: Run, rows: tuple[Any, Any]) -> None:
    done = run("recalibrate", "rows.csv", "--score", "p", "--label", "y", "--sql", "p")
    scores = np.linspace(0, 1, 21)
    with duckdb.connect() as database:
        listed = ", ".join(f"({x!r})" for x in scores.tolist())
        found = database.execute(f"SELECT {done.stdout} FROM (VALUES {listed}) AS t(p)").fetchall()
    assert [row[0] for row in found] == calcert.recalibrate(*rows)(scores).tolist()


def test_a_page_a_picture_and_json_are_written(run: Run, tmp_path: Path) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "curves.png"
    done = run(
        *("recalibrate", "rows.csv", "--score", "p", "--label", "y", "--curve", "logistic", "--levels", "0", "--json"),
        *("--html", str(page), "--plot", str(picture)),
    )
    assert done.exit_code == 0, done.stderr
    found = Recalibration.from_dict(json.loads(done.stdout))
    assert found.curve == "logistic"
    assert len(found.map.coefficients) == 3
    assert "Before and after recalibration" in page.read_text()
    assert picture.stat().st_size > 1_000


def test_what_is_no_map_is_refused(run: Run, map_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    for content in ("{", "[]", json.dumps({"kind": "report", "schema": 2}), "[" * 100_000):
        wrong.write_text(content)
        done = run("apply", str(wrong), "rows.csv", "--score", "p", "--out", str(tmp_path / "out.csv"))
        assert done.exit_code == 2
        assert "MAP must be what calcert recalibrate --out wrote" in done.stderr
    assert not (tmp_path / "out.csv").exists()
    for target in (str(map_file), "rows.csv"):
        done = run("apply", str(map_file), "rows.csv", "--score", "p", "--out", target)
        assert done.exit_code == 2


def test_a_copy_keeps_the_encoding_of_its_text(run: Run, map_file: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("Größe,p\nä,0.5\n", encoding="cp1252")
    out = tmp_path / "out.csv"
    done = run(
        "apply", str(map_file), str(tmp_path / "in.csv"), "--score", "p", "--out", str(out), "--encoding", "cp1252"
    )
    assert done.exit_code == 0, done.stderr
    assert out.read_text(encoding="cp1252").startswith("Größe,p,recalibrated\nä,0.5,0.")
