"""Sources: anything that holds rows, and how it becomes a Summary."""

from __future__ import annotations

from typing import Any

from calcert.sources.arrays import summarize_arrays
from calcert.summary import Summary


def summarize(scores: Any, labels: Any = None) -> Summary:
    """Read all rows once and return their Summary.

    Parameters
    ----------
    scores
        Scores in [0, 1]: a list, or a NumPy, pandas, polars, pyarrow or torch (CPU) one-dimensional array.
    labels
        Labels 0/1 or bool, same length, any of the same types.

    Examples
    --------
    >>> calcert.summarize([0.1, 0.8, 0.8], [0, 1, 0])
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    """
    return summarize_arrays(scores, labels)
