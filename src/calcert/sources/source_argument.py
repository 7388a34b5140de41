"""What kind of source it is that somebody passed, asked in one place; and what does not go with it."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

import numpy as np

from calcert.sources.parsed_values import PLAIN, Reading
from calcert.summary.summary import Summary


class Source(NamedTuple):
    """A Summary, a list of paths, a frame or table of narwhals, or scores that are none of these."""

    kind: Literal["summary", "files", "table", "arrays"]
    value: Any

    @property
    def in_memory(self) -> bool:
        """True for arrays and data frames whose rows are here, so that they can be read twice."""
        if self.kind != "table":
            return self.kind == "arrays"
        import narwhals as nw

        return isinstance(self.value, nw.DataFrame)


def source_of(scores: Any, reading: Reading = PLAIN) -> Source:
    """Which kind of source `scores` is; `reading` says how files write their values."""
    paths = [scores] if _is_path(scores) else scores
    if isinstance(paths, (list, tuple)) and paths and all(map(_is_path, paths)):
        from calcert.sources.files.reading_account import Files

        return Source("files", paths if isinstance(paths, Files) else Files(paths, reading))
    if reading != PLAIN:
        raise TypeError(f"reading must come with files; got {type(scores).__name__}, whose values are numbers already.")
    if isinstance(scores, Summary):
        return Source("summary", scores)
    if isinstance(scores, (list, tuple, np.ndarray)):
        return Source("arrays", scores)
    # Engines have imports of their own: only those who bring them pay.
    import narwhals as nw

    from calcert.sources.columns import refuse_same_names

    refuse_same_names(scores)
    frame = nw.from_native(scores, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return Source("arrays", scores)
    return Source("table", _of_backend(frame) if frame.implementation.is_ibis() else frame)


def _of_backend(frame: Any) -> Any:
    """A table of Ibis, whose engines differ in what they can do and in what they check."""
    import narwhals as nw

    table = frame.to_native()
    backend = table.get_backend()
    if backend.name == "sqlite":
        raise TypeError(
            "an Ibis table must have values of the type of their column; got one of SQLite, which keeps text among "
            "numbers, and Ibis reads it as 0. Read the rows first: pandas.read_sql(query, sqlite3.connect(path))."
        )
    # Polars itself can do more than Ibis knows of.
    return nw.from_native(backend.compile(table)) if backend.name == "polars" else frame


def refuse_ignored(source: Source, labels: Any, score: str | None, label: str | None) -> None:
    """Arguments that would be passed over in silence are refused."""
    if labels is not None and source.kind == "summary":
        raise TypeError(
            f"labels must be left out where scores is a Summary, which holds them; got {type(labels).__name__}."
        )
    if labels is not None and source.kind != "arrays":
        way = " For a table of probabilities alone pass its array, such as scores.to_numpy()."
        alone = way if source.kind == "table" else ""
        raise TypeError(
            f"labels must be left out where scores is a whole table; got {type(labels).__name__}. "
            f"Name the columns of the table: score='...', label='...'.{alone}"
        )
    if (score is not None or label is not None) and source.kind in ("summary", "arrays"):
        raise TypeError(
            "score and label must name columns of a table; got "
            f"{type(source.value).__name__}, which has none. Pass two arrays without names, or a data frame or file."
        )


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))
