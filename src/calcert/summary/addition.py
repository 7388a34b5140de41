"""Adding Summaries: cells meet, integers add up, and what must not be mixed is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.array_types import Integers
from calcert.foundation.number_text import fraction
from calcert.summary.cells import CELLS, DISTINCT_LIMIT
from calcert.summary.clusters import SQUARES, Clusters
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.pair_sums import HEAVIEST_SQUARES

if TYPE_CHECKING:
    from calcert.summary.summary import Summary

Parts = tuple[Integers, Integers, Integers, Integers | None, Integers | None, Clusters | None]


def added(parts: Sequence[Summary]) -> Parts:
    """What the Summary of the rows of all parts is made of; a cluster is taken to be in one of them alone."""
    rows = sum(part.n for part in parts)
    if rows > ROW_LIMIT:
        raise OverflowError(f"a Summary holds at most 2^36 rows; got {rows:,}. Certify the parts.")
    clusters = _checked_clusters(parts)
    # Tables of all cells, in which a part costs what its own cells do, however many the others have.
    tables = np.zeros((3 if clusters else 2, 2 * CELLS), np.int64)
    for number, part in enumerate(parts):
        # NumPy is many times faster with single numbers than with rows of two.
        here = np.add.outer(2 * part.cell, (0, 1)).ravel()
        columns = (part.count, part.offset, clusters[number].pairs) if clusters else (part.count, part.offset)
        for table, column in zip(tables, columns, strict=True):
            table[here] += column.ravel()
    cell = np.flatnonzero(tables[0, ::2] + tables[0, 1::2])
    count, offset, *pairs = (np.take(table.reshape(-1, 2), cell, axis=0) for table in tables)
    return cell, count, offset, *_distinct(parts), Clusters.together(clusters, *pairs) if clusters else None


def refuse_clusters(one: Summary, two: Summary) -> None:
    """Whether clusters span two Summaries only their owner knows."""
    _refuse_mixed(one, two)
    if one.clusters is not None and one.clusters.design.clustered:
        raise ValueError(
            "clusters must be whole in each Summary that is added, and + cannot tell. Where no cluster has rows in "
            "both, say so: one.plus(other, disjoint=True). Otherwise summarise all rows together."
        )


def _distinct(parts: Sequence[Summary]) -> tuple[Integers, Integers] | tuple[None, None]:
    """The distinct scores of all parts and their rows, where they are few enough to be listed."""
    distinct, count = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    for part in parts:
        if part.distinct is None or part.distinct_count is None:
            return None, None
        union = np.union1d(distinct, part.distinct)
        if union.size > DISTINCT_LIMIT:
            return None, None
        total = np.zeros((union.size, 2), np.int64)
        total[np.searchsorted(union, distinct)] = count
        total[np.searchsorted(union, part.distinct)] += part.distinct_count
        distinct, count = union, total
    return distinct, count


def _checked_clusters(parts: Sequence[Summary]) -> list[Clusters]:
    """What is known of the clusters of the parts, which must be of one kind; nothing for plain rows."""
    for part in parts[1:]:
        _refuse_mixed(parts[0], part)
    clusters = [part.clusters for part in parts if part.clusters is not None]
    if clusters:
        most = HEAVIEST_SQUARES if clusters[0].design.paired else SQUARES
        if sum(own.squares for own in clusters) >= most:
            raise OverflowError(
                "squares of the weights of clusters must add up to less than "
                f"2^{most.bit_length() - 1}. Certify the parts."
            )
    return clusters


def _refuse_mixed(one: Summary, two: Summary) -> None:
    designs = [None if part.clusters is None else part.clusters.design for part in (one, two)]
    if designs[0] != designs[1]:
        kinds = ["plain rows" if kind is None else f"rows with {kind.arguments}" for kind in designs]
        quanta = {kind.quantum for kind in designs if kind is not None}
        apart = f" (in units of {' and '.join(fraction(unit) for unit in sorted(quanta))})" if len(quanta) > 1 else ""
        raise ValueError(
            "Summaries that are added must be of one kind, with the same weight_unit, largest_weight, largest_gain and "
            f"pair_sums; got {kinds[0]} and {kinds[1]}{apart}. Summarise their rows alike."
        )
