"""All rows themselves, for what must see them: columns that can be split, or rows with an id each."""

from __future__ import annotations

import hashlib
import math
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.refused_values import Place, missing_value, refuse_bad
from calcert.sources.arrays import as_numpy, checked_pair
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.rows import Rows


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Scores, labels and, where they were named, clusters (as integers) and weights; and what was said of the rows."""

    scores: Floats
    labels: Floats
    clusters: Integers | None
    weights: Floats | None
    sampling: Weighing

    @property
    def number(self) -> int:
        """How many rows there are."""
        return self.scores.size

    @property
    def cluster_numbers(self) -> Integers:
        """For every row, the number of its cluster; its own where there are none."""
        if self.clusters is None:
            return np.arange(self.number)
        return np.asarray(np.unique(self.clusters, return_inverse=True)[1])

    def part(self, chosen: NDArray[Any]) -> RowsInMemory:
        """Some of the rows."""
        clusters, weights = (None if of is None else of[chosen] for of in (self.clusters, self.weights))
        return replace(self, scores=self.scores[chosen], labels=self.labels[chosen], clusters=clusters, weights=weights)

    def rows(self, scores: Floats | None = None) -> Rows:
        """The rows to certify, with other scores where they are given."""
        names = ("largest_weight", "largest_gain", "weight_unit", "soft_labels", "pair_sums")
        said = {name: getattr(self.sampling, name) for name in names}
        own = self.scores if scores is None else scores
        return Rows(own, self.labels, clusters=self.clusters, weights=self.weights, **said)


def rows_in_memory(rows: Rows, doing: str) -> RowsInMemory:
    """All rows of arrays, data frames and files; `doing` says what for, where they are refused."""
    kind, value = rows.source
    if rows.groups is not None or rows.has_classes:
        many = "classes" if rows.has_classes else "groups"
        raise TypeError(f"{many} must be left out of {doing}; got them. Take the rows of each apart.")
    if rows.counts is not None:
        raise TypeError(f"counts must be left out of {doing}, which splits rows; got them. Pass every row by itself.")
    if kind == "summary":
        raise TypeError(f"{doing} must see the rows; got a Summary, which knows their number alone.")
    if not rows.source.in_memory and kind != "files":
        raise TypeError(
            f"{doing} must have the rows in memory; got a table of {value.implementation.value}. Fetch its columns of "
            "scores and labels as a data frame first, or write them to a Parquet file and pass its path."
        )
    scores, labels, sampling = value, rows.labels, rows.sampling
    if kind == "files":
        kept = kept_rows(value, rows.score, rows.label, sampling)
        others = kept.columns()
        return _checked(others.pop("scores"), others.pop("labels"), others, sampling, kept.place)
    if kind == "table":
        from calcert.sources.engines.tables import chosen_columns, columns_in_memory

        chosen = chosen_columns(value, rows.score, rows.label, sampling)
        scores, labels, sampling = columns_in_memory(value, chosen, sampling)
    from calcert.sources.clusters.weighed_columns import columns_of

    return _checked(*columns_of(scores, labels, sampling), sampling)


def _checked(
    scores: NDArray[Any],
    labels: NDArray[Any],
    others: Mapping[str, NDArray[Any]],
    sampling: Weighing,
    place: Place = "at row {}".format,
) -> RowsInMemory:
    """The rows, refused as they would be where they are counted."""
    if not sampling.given:
        refuse_bad(scores, labels, place)
    weights = others.get("weights")
    held = RowsInMemory(
        np.ascontiguousarray(scores, np.float64),
        np.ascontiguousarray(labels, np.float64),
        others.get("clusters"),
        None if weights is None else np.ascontiguousarray(weights, np.float64),
        sampling,
    )
    if sampling.given:
        held.rows().summary()
    return held


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
        kept = kept_rows(source.value, score, label, ids=ids).columns()
        return IdentifiedRows(kept["scores"], kept["labels"], kept["ids"])
    if source.kind == "table":
        return _identified_in_table(source.value, score, label, ids)
    if isinstance(ids, str):
        raise TypeError(f"ids must be an array as long as scores, as there is no table; got {ids!r}.")
    found = checked_pair(source.value, rows.labels)
    values = as_numpy("ids", ids).tolist()
    if len(values) != found[0].size:
        raise ValueError(f"ids must be as many as scores; got {len(values):,} ids and {found[0].size:,} scores.")
    return IdentifiedRows(*found, Hashes("at row {}".format).of(values))


def _identified_in_table(frame: Any, score: str | None, label: str | None, ids: Any) -> IdentifiedRows:
    from calcert.sources.engines.tables import chosen_columns, column_of, number

    table, chosen = frame.lazy(), chosen_columns(frame, score, label, groups=ids, argument="ids")
    numbers = {"score": number(table, chosen.score), "label": number(table, chosen.label)}
    rows = table.select(**numbers, id=column_of(table, ids)).collect()
    found = checked_pair(rows["score"].to_native(), rows["label"].to_native())
    return IdentifiedRows(*found, Hashes("at row {}".format).of(rows["id"].to_list()))


def read_rows(
    paths: Sequence[str | os.PathLike[str]], score: str | None = None, label: str | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores and labels of all rows of some files, checked."""
    found = kept_rows(paths, score, label).columns()
    return found["scores"], found["labels"]


def kept_rows(
    paths: Sequence[str | os.PathLike[str]],
    score: str | None,
    label: str | None,
    sampling: Weighing = PLAIN_ROWS,
    **named_last: Any,
) -> KeptRows:
    """All rows of some files, each with a hash of its value in one more column, `ids`, where that is named."""
    from calcert.sources.file_summaries import read_files

    def start(place: Place, _: Mapping[str, int]) -> KeptRows:
        return KeptRows(place, shares=sampling.soft_labels)

    kept: KeptRows = read_files(paths, score, label, start, sampling, named_last)
    return kept


class KeptRows:
    """Keeps every row; labels may be `shares` where that was said."""

    def __init__(self, place: Place, *, shares: bool) -> None:
        self.place, self._shares = place, shares
        self._hashes = Hashes(place)
        self._kept: list[dict[str, NDArray[Any]]] = []
        self._rows = 0

    def add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, Any], group: Integers) -> None:
        """Add rows; shares are looked at when they are counted."""
        refuse_bad(scores, np.rint(labels) if self._shares else labels, lambda row: self.place(self._rows + row))
        kept = labels if self._shares else labels.astype(np.int8)
        hashed = {"ids": self._hashes.of(others["ids"])} if "ids" in others else {}
        self._kept.append({"scores": scores.astype(np.float64), "labels": kept, **others, **hashed})
        self._rows += scores.size

    def settle(self) -> None:
        """Nothing waits."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """All rows: scores, labels and other columns."""
        return {name: np.concatenate([part[name] for part in self._kept]) for name in self._kept[0]}


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
