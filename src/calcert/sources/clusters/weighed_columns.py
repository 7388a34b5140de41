"""Columns in memory, in clusters, with weights, shares for labels or counts, into Summaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.sources.arrays import check_indexes, checked_array
from calcert.sources.clusters.cluster_names import as_integers
from calcert.sources.clusters.weighed_arrays import Weigher
from calcert.sources.clusters.weighing_options import Weighing
from calcert.summary.summary import Summary

Columns = tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]
"""Scores, labels, and by their arguments clusters, weights or counts."""


def weigh_arrays(scores: Any, labels: Any, weighing: Weighing) -> Summary:
    """The Summary of columns in memory."""
    x, y, others = columns_of(scores, labels, weighing)
    weigher = Weigher(weighing)
    weigher.add(x, y, others)
    return weigher.summary()


def weigh_parts(columns: Columns, weighing: Weighing, parts: Mapping[str, Integers]) -> dict[str, Summary]:
    """The Summary of every part of the rows, by name: clusters are cut to the rows that they have there."""
    x, y, others = columns

    def weigher_of(name: str, part: Integers) -> Weigher:
        weigher = Weigher(weighing, lambda row: f"at row {part[row]}")
        weigher.add(x[part], y[part], {other: values[part] for other, values in others.items()})
        weigher.refuse_weightless(name)
        return weigher

    return summaries_alike(((name, weigher_of(name, part)) for name, part in parts.items()), weighing)


def summaries_alike(groups: Iterable[tuple[str, Weigher]], weighing: Weighing) -> dict[str, Summary]:
    """The Summaries of groups, in one quantum: that of the group whose shares have most decimals."""
    if not weighing.soft_labels:  # Then there is one quantum, and the tables of one group are in memory at a time.
        return {name: weigher.summary() for name, weigher in groups}
    weighers = dict(groups)
    finest = min((weigher.quantum for weigher in weighers.values()), default=1.0)
    for weigher in weighers.values():
        if weigher.quantum > 1.5 * finest:
            weigher.refine(finest)
    return {name: weigher.summary() for name, weigher in weighers.items()}


def columns_of(scores: Any, labels: Any, weighing: Weighing) -> Columns:
    """Scores, labels and the other columns in memory, equally long; clusters as integers."""
    x, y = checked_array("scores", scores), checked_array("labels", labels)
    check_indexes(scores=scores, labels=labels, **weighing.columns)
    others = {
        name: as_integers(values) if name == "clusters" else _weights_or_counts(name, values)
        for name, values in weighing.columns.items()
    }
    for name, values in (("labels", y), *others.items()):
        if values.size != x.size:
            raise ValueError(f"{name} must be as long as scores; got {values.size} {name} and {x.size} scores.")
    return x, y, others


def _weights_or_counts(name: str, values: Any) -> NDArray[Any]:
    """A column of weights or counts in memory."""
    if isinstance(values, str):
        raise TypeError(f"{name} must be an array as long as scores, as there is no table; got {values!r}.")
    return checked_array(name, values)
