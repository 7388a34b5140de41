"""Sources: anything that holds rows, and how it becomes a Summary."""

from __future__ import annotations

import os
from typing import Any

from calcert.sources.arrays import summarize_arrays
from calcert.summary.counts import Summary


def summarize(scores: Any, labels: Any = None, *, score: str | None = None, label: str | None = None) -> Summary:
    """Read all rows once and return their Summary, the same one to the last bit from every kind of source.

    Parameters
    ----------
    scores
        Scores in [0, 1]: a list, or a NumPy, pandas, polars, pyarrow or torch (CPU) one-dimensional array. Or a whole
        table that holds scores and labels: the path of a Parquet, CSV, TSV or JSON-lines file (compressed or not), a
        glob, a folder or a list of files; a pandas, polars or pyarrow data frame; a DuckDB relation, a polars lazy
        frame, a PySpark or Dask data frame or an Ibis table, which compute the Summary where the rows are.
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
    # Files and engines have imports of their own: only those who bring them pay.
    if _is_path(scores) or (isinstance(scores, (list, tuple)) and scores and all(map(_is_path, scores))):
        _refuse_labels(labels)
        from calcert.sources.files import summarize_files

        return summarize_files([scores] if _is_path(scores) else list(scores), score, label)
    import narwhals as nw

    frame = nw.from_native(scores, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        _refuse_labels(labels)
        from calcert.sources.tables import summarize_table

        return summarize_table(frame, score, label)
    if score is not None or label is not None:
        raise TypeError(
            "score and label must name columns of a table; got "
            f"{type(scores).__name__}, which has none. Pass two arrays without names, or a data frame or file."
        )
    return summarize_arrays(scores, labels)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _refuse_labels(labels: Any) -> None:
    if labels is not None:
        raise TypeError(
            f"labels must be left out where scores is a whole table; got {type(labels).__name__}. "
            "Name the columns of the table: score='...', label='...'."
        )
