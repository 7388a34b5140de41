"""Parquet files whose statistics are not those of their values, through engines that read them where they are.

One value of a file is another than its statistics say: NaN, out of range, or a number that is fine. Engines that trust
statistics leave checks and rows out. Each must say what arrays of the same values say, or refuse what these refuse.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import calcert
from tests.campaign import Counts

Columns = dict[str, NDArray[Any]]

ENGINES = ("DuckDB", "Ibis", "polars")
ASKED: tuple[dict[str, Any], ...] = (
    {},
    {"groups": "g"},
    {"clusters": "u"},
    {"counts": "w"},
    {"weights": "w", "largest_weight": 1e6},
    {"clusters": "u", "weights": "w", "largest_weight": 1e9},
    {"groups": "g", "clusters": "u"},
    {"soft_labels": True, "weight_unit": 0.25},
)
VALUES = {
    "p": (np.nan, 1.5, -1e-300, 1 + 2**-52, np.inf, -np.inf, 0.0, 1e-9, 0.97, 1.0),
    "y": (np.nan, 2, -1, 0.5, np.inf, 0, 1),
    "w": (np.nan, -1, 0.5, np.inf, 0, 7, 300, 70_000),
    "u": (np.nan, -1, 7, 64, 255, 256, 300, 32_000, 2**40, 2**60),
    "g": (np.nan, -1, 7, 8, 16, 64, 255, 300, 32_000),
}
TYPES = {
    "p": ("f8", "f4"),
    "y": ("f8", "i8", "i4"),
    "w": ("f8", "i8", "i4"),
    "u": ("i8", "i4", "f8"),
    "g": ("i8", "i2"),
}


def rows(rng: np.random.Generator, soft: bool) -> Columns:
    """Rows that are fine, of random types."""
    size = int(rng.integers(20, 400))
    scores = rng.random(size) if rng.random() < 0.7 else rng.integers(1, 20, size) / 20
    labels = rng.integers(0, 5, size) / 4 if soft else rng.random(size) < scores
    found = {
        "p": scores,
        "y": labels,
        "w": rng.integers(1, 6, size),
        "u": rng.integers(0, rng.integers(2, 60), size),
        "g": rng.integers(0, rng.integers(2, 9), size),
    }
    kinds = {name: rng.choice(TYPES[name]) for name in found} | ({"y": "f8"} if soft else {})
    return {name: values.astype(kinds[name]) for name, values in found.items()}


def planted(path: Path, columns: Columns, name: str, value: float) -> Columns | None:
    """The true columns of a file in which one value is other than its statistics say; None where it cannot be."""
    pq.write_table(pa.table(columns), path, use_dictionary=False, compression="none")
    with np.errstate(all="ignore"):
        other = np.append(columns[name][:-1], np.asarray(value).astype(columns[name].dtype))
    content, old = path.read_bytes(), columns[name].tobytes()
    if content.count(old) != 1 or (columns[name].dtype.kind == "i" and int(other[-1]) != value):
        return None
    path.write_bytes(content.replace(old, other.tobytes()))
    return {**columns, name: other}


def table(path: Path, engine: str) -> Any:
    """The file as a table of an engine."""
    if engine == "DuckDB":
        return duckdb.connect().read_parquet(str(path))
    return polars.scan_parquet(path) if engine == "polars" else ibis.duckdb.connect().read_parquet(path)


def counted(given: calcert.Rows) -> Any:
    """What the rows come to: one Summary, or one for each group."""
    return given.summary() if given.groups is None else dict(given.by_group().summaries)


def judge(counts: Counts, rng: np.random.Generator, path: Path, engine: str) -> None:
    """Plant one value and compare what the engine says with what arrays say."""
    asked = ASKED[rng.integers(len(ASKED))]
    used = ["p", "y", *(column for column in asked.values() if isinstance(column, str))]
    name = str(rng.choice(used))
    value = VALUES[name][rng.integers(len(VALUES[name]))]
    true = planted(path, rows(rng, "soft_labels" in asked), name, value)
    if true is None:
        return
    kind = f"{engine}, {name}"
    tried = f"{value!r} among {true[name].size} of {true[name].dtype} in {name!r}, {asked}"
    try:
        arrays: dict[str, Any] = {
            key: true[column] if isinstance(column, str) else column for key, column in asked.items()
        }
        wanted = counted(calcert.Rows(true["p"], true["y"], **arrays))
    except (ValueError, OverflowError):
        wanted = None
    try:
        found = counted(calcert.Rows(table(path, engine), score="p", label="y", **asked))
    except (ValueError, OverflowError) as error:
        if wanted is None and "must" in str(error):
            counts.add(kind, "refused in words")
        else:
            counts.fail(kind, f"{tried}: refused, {error}")
    except Exception as error:  # An engine's own words.
        counts.fail(kind, f"{tried}: {type(error).__name__}: {error}")
    else:
        if wanted is not None and found == wanted:
            counts.add(kind, "same as arrays")
        else:
            counts.fail(kind, f"{tried}: {'another result' if wanted is not None else 'accepted'}")


def run(budget: float, seed: int) -> Counts:
    """Plant values for about `budget` seconds; see :mod:`tests.campaign`."""
    end, rng, counts = time.monotonic() + budget, np.random.default_rng(seed), Counts()
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        number = 0
        while number < 20 * len(ENGINES) or time.monotonic() < end:
            judge(counts, rng, Path(folder) / f"{number}.parquet", ENGINES[number % len(ENGINES)])
            (Path(folder) / f"{number}.parquet").unlink(missing_ok=True)
            number += 1
    return counts
