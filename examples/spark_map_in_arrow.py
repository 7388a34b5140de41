"""Map-reduce on Spark: every partition becomes one Summary, and summaries add up on the driver.

    spark-submit examples/spark_map_in_arrow.py predictions.parquet

`calcert.summarize(frame)` does the same with a GROUP BY and needs calcert on the driver only. This way needs it on the
workers too, and suits rows that are scored there: call the model inside `summarize_batches`, and no score is stored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import pyarrow
from pyspark.sql import DataFrame, SparkSession

import calcert


def summarize_batches(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """One partition: its Summary as one row of bytes."""
    total = calcert.Summary.empty()
    for batch in batches:
        if batch.num_rows:
            total += calcert.summarize(batch.column("score"), batch.column("label"))
    yield pyarrow.RecordBatch.from_pydict({"summary": [total.to_bytes()]})


def summarize_on_workers(frame: DataFrame) -> calcert.Summary:
    """The Summary of a data frame with the columns score and label."""
    partitions = frame.select("score", "label").mapInArrow(summarize_batches, "summary binary")
    return sum(
        (calcert.Summary.from_bytes(bytes(row.summary)) for row in partitions.collect()), calcert.Summary.empty()
    )


if __name__ == "__main__":
    spark = SparkSession.builder.appName("calcert").getOrCreate()
    print(calcert.certify(summarize_on_workers(spark.read.parquet(sys.argv[1]))))
