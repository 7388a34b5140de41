"""Tables that seem to hold many rows a user are remarked on, once; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import calcert

N = 400
RNG = np.random.default_rng(0)


def table(name: str, values: object) -> polars.DataFrame:
    return polars.DataFrame({"p": RNG.random(N), "y": RNG.integers(0, 2, N), name: values})


REPEATED = np.arange(N) // 4


@pytest.mark.parametrize(
    "name",
    [
        "user_id",
        "Patient",
        "account no",
        "session",
        "loan_id",
        "device-uuid",
        "question",
        "prompt.id",
        "id",
        "userId",
        "Kundennummer",
    ],
)
@pytest.mark.parametrize("source", ["frame", "lazy", "parquet", "csv", "jsonl"])
def test_names_that_come_again_are_remarked_on(
    name: str, source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frame = table(name, [f"n{value}" for value in REPEATED])
    path = tmp_path / f"rows.{source}"
    if source in ("parquet", "csv"):
        getattr(frame, f"write_{source}")(path)
    if source == "jsonl":
        frame.write_ndjson(path)
    calcert.summarize({"frame": frame, "lazy": frame.lazy()}.get(source, path), score="p", label="y")
    (message,) = caplog.messages
    assert f"column {name!r} has values that come again" in message
    assert "(--clusters)" in message


@pytest.mark.parametrize("source", ["frame", "lazy", "parquet", "csv", "jsonl"])
def test_weights_that_nobody_named_are_remarked_on(
    source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frame = table("weight", 1.0 + REPEATED)
    path = tmp_path / f"rows.{source}"
    if source in ("parquet", "csv"):
        getattr(frame, f"write_{source}")(path)
    if source == "jsonl":
        frame.write_ndjson(path)
    rows = {"frame": frame, "lazy": frame.lazy()}.get(source, path)
    calcert.summarize(rows, score="p", label="y")
    (message,) = caplog.messages
    assert "column 'weight' is not used" in message
    calcert.summarize(rows, score="p", label="y", weights="weight")
    calcert.summarize(table("weight", [1.0] * N), score="p", label="y")  # All count the same.
    calcert.summarize(table("weight", [f"{value} kg" for value in REPEATED]), score="p", label="y")
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("values", [[f"K-{10_000 + value}" for value in REPEATED], 700_100 + REPEATED])
@pytest.mark.parametrize("source", ["parquet", "csv", "jsonl"])
def test_keys_in_files_that_come_again_are_remarked_on_whatever_they_are_called(
    values: Any, source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / f"rows.{source}"
    frame = table("Kunde", values)
    getattr(frame, "write_ndjson" if source == "jsonl" else f"write_{source}")(path)
    calcert.summarize(path, score="p", label="y")
    (message,) = caplog.messages
    assert "column 'Kunde' has values that come again" in message


@pytest.mark.parametrize(
    "values",
    [
        700_100 + np.arange(N),
        [f"2024-01-{1 + value % 28:02}" for value in REPEATED],
        20_240_101 + REPEATED % 28,
        18 + REPEATED % 70,
        [f"word {value}" for value in REPEATED],
        [f"name{'abcdefghijklmnopqrstuvwxyz'[value % 26]}" for value in REPEATED],
    ],
)
def test_what_looks_like_no_key_is_not(values: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table("Spalte", values).write_csv(tmp_path / "rows.csv")
    calcert.summarize(tmp_path / "rows.csv", score="p", label="y")
    assert caplog.messages == []


def test_other_columns_are_not(caplog: pytest.LogCaptureFixture) -> None:
    for name, values in (
        ("user_id", np.arange(N)),
        ("region_id", np.arange(N) % 5),
        ("amount", REPEATED),
        ("user_id", REPEATED.astype(float)),
    ):
        calcert.summarize(table(name, values), score="p", label="y")
    calcert.summarize(table("user_id", REPEATED), score="p", label="y", clusters="user_id")
    assert caplog.messages == []
