"""Rows with an id each, so that those that were counted before can be left out."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.refused_values import Place, missing_value
from calcert.sources.arrays import as_numpy, checked_pair
from calcert.sources.rows import Rows


class IdentifiedRows(NamedTuple):
    """Scores and labels, and a hash of 64 bits of every id."""

    scores: NDArray[np.float64]
    labels: NDArray[np.int8]
    ids: Integers


def identified_rows(rows: Rows, ids: Any) -> IdentifiedRows:
    """All rows, each with its id; `ids` is an array, or the name of a column."""
    source, score, label = rows.source, rows.score, rows.label
    if source.kind == "summary":
        raise TypeError("ids must come with rows; got a Summary, which knows no row from another.")
    if source.kind == "files":
        return _in_files(source.value, score, label, ids)
    if source.kind == "table":
        return _in_table(source.value, score, label, ids)
    if isinstance(ids, str):
        raise TypeError(f"ids must be an array as long as scores, as there is no table; got {ids!r}.")
    found = checked_pair(source.value, rows.labels)
    values = as_numpy("ids", ids).tolist()
    if len(values) != found[0].size:
        raise ValueError(f"ids must be as many as scores; got {len(values):,} ids and {found[0].size:,} scores.")
    return IdentifiedRows(*found, Hashes("at row {}".format).of(values))


def _in_files(paths: list[Any], score: str | None, label: str | None, ids: Any) -> IdentifiedRows:
    from calcert.sources.file_summaries import KeptRows, kept_rows

    class KeptIds(KeptRows):
        """Keeps every row with the hash of its id."""

        def __init__(self, place: Place) -> None:
            super().__init__(place)
            self._hashes, self.ids = Hashes(place), [np.zeros(0, np.int64)]

        def add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, Any], group: Integers) -> None:
            super().add(scores, labels, {}, group)
            self.ids.append(self._hashes.of(others["ids"]))

    kept = kept_rows(paths, score, label, KeptIds, ids=ids)
    found = kept.columns()
    return IdentifiedRows(found["scores"], found["labels"], np.concatenate(kept.ids))


def _in_table(frame: Any, score: str | None, label: str | None, ids: Any) -> IdentifiedRows:
    from calcert.sources.engines.tables import chosen_columns, column_of, number

    table, chosen = frame.lazy(), chosen_columns(frame, score, label, groups=ids, argument="ids")
    numbers = {"score": number(table, chosen.score), "label": number(table, chosen.label)}
    rows = table.select(**numbers, id=column_of(table, ids)).collect()
    found = checked_pair(rows["score"].to_native(), rows["label"].to_native())
    return IdentifiedRows(*found, Hashes("at row {}".format).of(rows["id"].to_list()))


class Hashes:
    """Hashes of ids, the same for 7, 7.0 and "7"; each id must name one row."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._seen: set[bytes] = set()

    def of(self, ids: Iterable[Any]) -> Integers:
        """Of the ids of the next rows."""
        found = []
        for value in ids:
            text = _text(value)
            name = hashlib.blake2b(text, digest_size=8).digest()
            if not text:
                raise missing_value("ids", self._place(len(self._seen)))
            if name in self._seen:
                where = self._place(len(self._seen))
                raise ValueError(f"ids must name one row each; got {value!r} again {where}. Keep one row of each.")
            self._seen.add(name)
            found.append(name)
        return np.frombuffer(b"".join(found), "<i8").astype(np.int64)


def _text(value: Any) -> bytes:
    """An id as it is hashed; nothing where it is missing."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        value = "" if not math.isfinite(value) else math.floor(value) if value == math.floor(value) else value
    text = "" if value is None or str(value) in ("<NA>", "NaT") else str(value).strip()
    return text.encode("utf-8", "surrogatepass")
