"""Sources: anything that holds rows, and how it becomes a Summary."""

from __future__ import annotations

from typing import Any

from calcert.sources.rows import Rows
from calcert.summary.summary import Summary


def summarize(scores: Any, labels: Any = None, **rows: Any) -> Summary:
    """Read all rows once and return their Summary, the same one to the last bit from every kind of source.

    Parameters
    ----------
    scores, labels, rows
        The rows: what :class:`calcert.Rows` takes, or one of them. A Summary is returned unchanged.

    Returns
    -------
    Summary
        Counts of rows by score and label, all that certificates need.

    Examples
    --------
    >>> calcert.summarize([0.1, 0.8, 0.8], [0, 1, 0])
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    >>> calcert.summarize([0.1, 0.8, 0.8], [0, 1, 0], clusters=["ann", "ann", "bob"])
    Summary of 3 rows in 2 clusters: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    >>> import polars
    >>> frame = polars.DataFrame({"p": [0.1, 0.8, 0.8], "y": [False, True, False]})
    >>> calcert.summarize(frame.lazy(), score="p", label="y")
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    """
    return Rows.of(scores, labels, **rows).summary()
