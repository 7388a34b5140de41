"""All rows themselves, for what must see them: columns that can be split, clusters kept together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.refused_values import Place, refuse_bad
from calcert.sources.clusters.weighing_options import Weighing
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
        said = {name: getattr(self.sampling, name) for name in ("largest_weight", "largest_gain", "weight_unit")}
        flags = {name: getattr(self.sampling, name) for name in ("soft_labels", "pair_sums")}
        own = self.scores if scores is None else scores
        return Rows(own, self.labels, clusters=self.clusters, weights=self.weights, **said, **flags)


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
        return _in_files(rows)
    if kind == "table":
        from calcert.sources.engines.tables import chosen_columns, columns_in_memory

        chosen = chosen_columns(value, rows.score, rows.label, sampling)
        scores, labels, sampling = columns_in_memory(value, chosen, sampling)
    from calcert.sources.clusters.weighed_columns import columns_of

    return _checked(*columns_of(scores, labels, sampling), sampling)


def _in_files(rows: Rows) -> RowsInMemory:
    from calcert.sources.file_summaries import KeptRows, kept_rows

    keep = partial(KeptRows, shares=rows.sampling.soft_labels)
    kept = kept_rows(rows.source.value, rows.score, rows.label, keep, sampling=rows.sampling)
    others = kept.columns()
    return _checked(others.pop("scores"), others.pop("labels"), others, rows.sampling, kept.place)


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
