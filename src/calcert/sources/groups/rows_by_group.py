"""Rows of files by group, batch by batch: kept while a group has few, then counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.refused_values import Place, refuse_bad
from calcert.sources.arrays import summarize_arrays
from calcert.sources.clusters.weighed_arrays import Weigher
from calcert.sources.clusters.weighed_columns import summaries_alike
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.collector import Collector
from calcert.sources.groups.group_names import BETWEEN, rows_of_groups
from calcert.summary.summary import Summary

WAITING = 1 << 22
"""Rows that wait until they are given to their groups, so that even one of a thousand gets some thousand."""

LARGE = 1 << 19
"""Rows of a group that take as much memory as the table in which more of them are counted."""

Columns = dict[str, NDArray[Any]]
"""Scores, labels and other columns by their arguments."""


class RowsByGroup:
    """Takes rows with the numbers of their groups; a cluster is cut to the rows that it has in a group.

    `place` says in words where a row stands, for errors; rows are counted from 0 over all batches.
    """

    def __init__(self, sampling: Weighing, place: Place, names: Mapping[str, int]) -> None:
        self._sampling, self._place, self._names = sampling, place, names
        # It is asked to look at rows alone: before groups part them it is known where they stand.
        self._looking = Weigher(sampling, place) if sampling.given else None
        self._rows = 0
        self._waiting: list[Columns] = []
        self._waiting_rows = 0
        self._groups: defaultdict[int, RowsOfGroup] = defaultdict(lambda: RowsOfGroup(sampling))

    def add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, Any], group: Integers) -> None:
        """Add rows."""
        if self._looking is None:
            refuse_bad(scores, labels, lambda row: self._place(self._rows + row))
            labels = labels.astype(np.int8)
        else:
            self._looking.look(scores, labels, others)
        self._waiting.append({"group": group, "scores": scores.astype(np.float64), "labels": labels, **others})
        self._rows += scores.size
        self._waiting_rows += scores.size
        if self._waiting_rows >= WAITING:
            self._part()

    def settle(self) -> None:
        """Everything has been looked at already."""

    def _part(self) -> None:
        """Give rows that wait to their groups."""
        columns = _joined(self._waiting)
        self._waiting, self._waiting_rows = [], 0
        for number, rows in rows_of_groups(columns.pop("group"), len(self._names)):
            self._groups[number].add({name: values[rows] for name, values in columns.items()})

    def summaries(self) -> dict[str | None, Summary]:
        """The Summary of every group, by its name."""
        if self._waiting:
            self._part()
        groups = {name: self._groups[self._names[name]] for name in sorted(self._names)}
        if self._looking is None:
            return {name: group.summary() for name, group in groups.items()}
        weighers = ((name, group.weigher(name)) for name, group in groups.items())
        return dict(summaries_alike(weighers, self._sampling).items())


class RowsBySegment:
    """Takes rows with the numbers of their combinations of values, and has a sink for every partition of these.

    A partition names the places of its values in a combination, and of no place, all rows are one segment.
    """

    def __init__(
        self, sampling: Weighing, place: Place, known: Mapping[str, int], partitions: Sequence[tuple[int, ...]]
    ) -> None:
        self._known, self._places = known, partitions
        self._names: list[dict[str, int]] = [{} for _ in partitions]
        self._sinks = [RowsByGroup(sampling, place, names) for names in self._names]
        self._segments: list[list[int]] = [[] for _ in partitions]

    def add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, Any], group: Integers) -> None:
        """Add rows."""
        new = [name.split(BETWEEN) for name in list(self._known)[len(self._segments[0]) :]]
        for places, names, segments, sink in zip(self._places, self._names, self._segments, self._sinks, strict=True):
            for values in new:
                name = BETWEEN.join(values[place] for place in places)
                segments.append(names.setdefault(name, len(names)))
            sink.add(scores, labels, others, np.array(segments, np.int64)[group])

    def settle(self) -> None:
        """Everything has been looked at already."""

    def summaries(self) -> list[dict[tuple[str, ...], Summary]]:
        """Those of the segments of each partition."""
        return [
            {tuple(str(name).split(BETWEEN)): part for name, part in sink.summaries().items()} for sink in self._sinks
        ]


class RowsOfGroup:
    """The rows of a group or a class: kept while they are few, counted when there are `large` numbers of them."""

    def __init__(self, sampling: Weighing = PLAIN_ROWS, large: float = LARGE) -> None:
        self._sampling, self._large = sampling, large
        self._rows = 0
        self._kept: list[Columns] = []
        self._sink: Collector | Weigher | None = None

    def add(self, columns: Columns) -> None:
        """Add rows."""
        self._rows += columns["scores"].size
        self._kept.append(columns)
        if self._rows >= self._large:
            self._count()

    def _count(self) -> None:
        """Count the rows that were kept."""
        if self._sink is None:
            self._sink = Weigher(self._sampling) if self._sampling.given else Collector(threads=1)
        others = _joined(self._kept)
        self._kept = []
        self._sink.add(others.pop("scores"), others.pop("labels"), *([others] if self._sampling.given else []))

    def weigher(self, name: str) -> Weigher:
        if self._kept:
            self._count()
        weigher, self._sink = self._sink, None
        assert isinstance(weigher, Weigher)
        weigher.refuse_weightless(name)
        return weigher

    def summary(self) -> Summary:
        """The Summary of all rows, which have no weights."""
        if self._sink is None:
            columns = _joined(self._kept)
            return summarize_arrays(columns["scores"], columns["labels"])
        if self._kept:
            self._count()
        return self._sink.summary()


def _joined(parts: list[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
