"""What kind of source it is that somebody passed, asked in one place; and what does not go with it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from calcert.summary.summary import Summary


class Source(NamedTuple):
    """A Summary, a list of paths, a frame or table of narwhals, or scores that are none of these."""

    kind: Literal["summary", "files", "table", "arrays"]
    value: Any


def source_of(scores: Any) -> Source:
    """Which kind of source `scores` is."""
    if isinstance(scores, Summary):
        return Source("summary", scores)
    if _is_path(scores):
        return Source("files", [scores])
    if isinstance(scores, (list, tuple)) and scores and all(map(_is_path, scores)):
        return Source("files", scores)
    if isinstance(scores, (list, tuple, np.ndarray)):
        return Source("arrays", scores)
    # Engines have imports of their own: only those who bring them pay.
    import narwhals as nw

    _refuse_same_names(scores)
    frame = nw.from_native(scores, pass_through=True)
    return Source("table", frame) if isinstance(frame, (nw.DataFrame, nw.LazyFrame)) else Source("arrays", scores)


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


def _refuse_same_names(frame: Any) -> None:
    """Engines take one of two columns of the same name without a word, or fail in strange ones."""
    if type(frame).__module__.startswith("polars"):
        # Has no such columns, and warns of the price of asking for them.
        return
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    twice = [name for name, times in Counter(names).items() if times > 1] if isinstance(names, Iterable) else []
    if twice:
        raise ValueError(f"every column must have a name of its own; got {twice[0]!r} more than once. Rename them.")


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))
