"""The examples of map-reduce give the Summary of all rows, whatever the partitions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import calcert

rng = np.random.default_rng(9)
SCORES = rng.random(20_000)
LABELS = rng.random(20_000) < SCORES
EXPECTED = calcert.summarize(SCORES, LABELS)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    return importlib.import_module


@pytest.mark.parametrize("partitions", [1, 3])
def test_spark_workers_each_send_one_summary(
    spark: Any, partitions: int, tmp_path: Path, example: Callable[[str], ModuleType]
) -> None:
    from pyspark import cloudpickle

    workers = example("spark_map_in_arrow")
    pyarrow.parquet.write_table(pa.table({"score": SCORES, "label": LABELS}), tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet")).repartition(partitions)
    # By value, because the workers cannot import the example.
    cloudpickle.register_pickle_by_value(workers)
    assert workers.summarize_on_workers(frame) == EXPECTED
    assert workers.summarize_on_workers(frame.filter("score > 2")) == calcert.Summary.empty()


@pytest.mark.parametrize("partitions", [1, 20])
def test_dask_workers_add_up_in_a_tree(partitions: int, example: Callable[[str], ModuleType]) -> None:
    dask = pytest.importorskip("dask")
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    workers = example("dask_map_reduce")
    frame = frames.from_pandas(pandas.DataFrame({"score": SCORES, "label": LABELS}), npartitions=partitions)
    with dask.config.set(scheduler="synchronous"):
        assert workers.summarize_on_workers(frame) == EXPECTED
        assert workers.summarize_on_workers(frame[frame["score"] > 2]) == calcert.Summary.empty()
