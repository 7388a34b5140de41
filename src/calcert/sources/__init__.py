"""Sources: anything that holds rows, and how it becomes a Summary."""

from __future__ import annotations

from typing import Any

from calcert.sources.arrays import summarize_arrays
from calcert.sources.kinds import refuse_ignored, source_of
from calcert.summary.counts import Summary


def summarize(scores: Any, labels: Any = None, *, score: str | None = None, label: str | None = None) -> Summary:
    """Read all rows once and return their Summary, the same one to the last bit from every kind of source.

    Parameters
    ----------
    scores
        Scores in [0, 1]: a list, or a NumPy, pandas, polars, pyarrow or torch (CPU) one-dimensional array. Or a whole
        table that holds scores and labels: the path of a Parquet, CSV, TSV or JSON-lines file (compressed or not), a
        glob, a folder or a list of files; a pandas, polars or pyarrow data frame; a DuckDB relation, a polars lazy
        frame, a PySpark or Dask data frame or an Ibis table, which compute the Summary where the rows are. A Summary
        is returned as it is.
    labels
        Labels 0/1 or bool, same length, any of the same types; left out for a table.
    score, label
        Names of the columns of a table. A name left out is found if exactly one pair of columns is plausible, and the
        logger ``calcert`` says which.

    Examples
    --------
    >>> calcert.summarize([0.1, 0.8, 0.8], [0, 1, 0])
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    >>> import polars
    >>> frame = polars.DataFrame({"p": [0.1, 0.8, 0.8], "y": [False, True, False]})
    >>> calcert.summarize(frame.lazy(), score="p", label="y")
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    """
    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    # Files and engines have imports of their own: only those who bring them pay.
    if source.kind == "files":
        from calcert.sources.files import summarize_files

        return summarize_files(source.value, score, label)
    if source.kind == "table":
        from calcert.sources.tables import summarize_table

        return summarize_table(source.value, score, label)
    return scores if isinstance(scores, Summary) else summarize_arrays(scores, labels)
