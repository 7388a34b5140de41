"""Rows with ids: one hash for one id, whatever holds it, and ids that name no row or two are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars
import pytest

import calcert
from calcert.sources.rows import Rows
from calcert.sources.rows_in_memory import identified_rows

IDS, SCORES, LABELS = [7, 8, 1_000_000_007], [0.25, 0.5, 1.0], [0, 1, 1]
FRAME = polars.DataFrame({"id": IDS, "p": SCORES, "y": LABELS})
EXPECTED = identified_rows(Rows(SCORES, LABELS), IDS)


def sources(folder: Path) -> dict[str, Any]:
    FRAME.write_csv(folder / "rows.csv")
    FRAME.write_parquet(folder / "rows.parquet")
    (folder / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in FRAME.to_dicts()))
    return {
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
        "json lines": folder / "rows.jsonl",
        "polars": FRAME,
        "lazy polars": FRAME.lazy(),
        "pandas with floats for ids": FRAME.to_pandas().astype({"id": float}),
        "pandas with text for ids": FRAME.to_pandas().astype({"id": str}),
        "duckdb": duckdb.from_arrow(FRAME.to_arrow()),
    }


@pytest.mark.parametrize("kind", range(8))
def test_an_id_has_one_hash_whatever_holds_it(tmp_path: Path, kind: int) -> None:
    source = list(sources(tmp_path).values())[kind]
    found = identified_rows(Rows(source, score="p", label="y"), "id")
    assert found.ids.tolist() == EXPECTED.ids.tolist()
    assert calcert.summarize(found.scores, found.labels) == calcert.summarize(SCORES, LABELS)


def test_arrays_of_ids() -> None:
    for ids in (np.array(IDS), pd.Series(IDS), polars.Series(IDS), [" 7", "8 ", "1000000007"], np.array(IDS, float)):
        assert identified_rows(Rows(SCORES, LABELS), ids).ids.tolist() == EXPECTED.ids.tolist()


def test_rows_that_are_left_out_take_their_ids_along(tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("id,p,y\n7,0.25,0\n9,,1\n8,0.5,1\n10,0.5,\n1000000007,1.0,1\n")
    rows = Rows(tmp_path / "gaps.csv", score="p", label="y", reading=calcert.Reading(drop_missing=True))
    assert identified_rows(rows, "id").ids.tolist() == EXPECTED.ids.tolist()


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([1, 2, 1], "ids must name one row each; got 1 again at row 2"),
        ([1, "1", 2], "ids must name one row each; got '1' again at row 1"),
        (["a", " ", "b"], "ids must have no missing values; got one at row 1"),
        ([1.0, float("nan"), 2.0], "ids must have no missing values; got one at row 1"),
        ([1, 2], "ids must be as many as scores; got 2 ids and 3 scores"),
    ],
)
def test_ids_that_name_no_row_or_two_are_refused(ids: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        identified_rows(Rows(SCORES, LABELS), ids)


def test_ids_of_files_are_refused_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,p,y\n7,0.25,0\n8,0.5,1\n7,0.5,1\n")
    with pytest.raises(ValueError, match=r"ids must name one row each; got '7' again .*line 4"):
        identified_rows(Rows(tmp_path / "rows.csv", score="p", label="y"), "id")
    with pytest.raises(ValueError, match=r"ids must be a column of .*; got 'key'"):
        identified_rows(Rows(tmp_path / "rows.csv", score="p", label="y"), "key")


def test_ids_need_rows() -> None:
    with pytest.raises(TypeError, match="ids must come with rows; got a Summary"):
        identified_rows(Rows(calcert.summarize(SCORES, LABELS)), IDS)
    with pytest.raises(TypeError, match="ids must be an array as long as scores, as there is no table"):
        identified_rows(Rows(SCORES, LABELS), "id")
