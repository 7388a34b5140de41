"""Map-reduce on Dask: every partition becomes one Summary, and summaries add up in a tree.

    python examples/dask_map_reduce.py "predictions/*.parquet"

`calcert.summarize(frame)` does the same with a GROUP BY. This way sends a few hundred kilobytes per partition whatever
the partitions hold, and runs the array kernel on the workers.
"""

from __future__ import annotations

import sys

import dask.bag
import dask.dataframe
import pandas

import calcert


def summarize_partition(part: pandas.DataFrame) -> calcert.Summary:
    """One partition with the columns score and label."""
    return calcert.summarize(part["score"], part["label"]) if len(part) else calcert.Summary.empty()


def summarize_on_workers(frame: dask.dataframe.DataFrame) -> calcert.Summary:
    """The Summary of a data frame with the columns score and label."""
    parts = frame[["score", "label"]].to_delayed()
    summaries = dask.bag.from_delayed([dask.delayed(lambda part: [summarize_partition(part)])(part) for part in parts])
    total: calcert.Summary = summaries.fold(calcert.Summary.__add__, split_every=8).compute()
    return total


if __name__ == "__main__":
    print(calcert.certify(summarize_on_workers(dask.dataframe.read_parquet(sys.argv[1]))))
