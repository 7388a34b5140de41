"""The Summary: everything that certificates need to know of the rows, in integers.

It is a GROUP BY: per cell of :mod:`calcert.summary.cells` and label, the number of rows and the sum of their offsets
inside the cell. Integers add up exactly, so `a + b` is associative and commutative to the last bit, and any engine, any
chunking and any row order give the same Summary. Beside the cells stand the exact distinct scores with their counts, as
long as there are at most 4,096 of them: that is how a finite score set is recognised.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.number_text import rows_text
from calcert.foundation.whole_regular_file import check_regular, replacing
from calcert.summary import cells, query_result, saved
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.clusters import Clusters, clusters_from_sums
from calcert.summary.consistency import added, refuse_clusters
from calcert.summary.design import Design
from calcert.summary.points import Points, at_scores, in_cells


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts and offset sums per cell and label; made by :func:`calcert.summarize`, added with ``+``.

    Attributes
    ----------
    cell
        Numbers of the cells that hold rows, increasing.
    count
        Rows per cell, shape (cells, 2): label 0, label 1.
    offset
        Sums of offsets inside the cell in units of 2^-40, same shape.
    distinct
        The distinct scores, increasing, as the integers whose bits are their float64; None where there are more than
        4,096.
    distinct_count
        Rows per distinct score and label; None likewise.
    clusters
        What is known of clusters and weights; None for plain rows. With clusters, counts are sums of weights.

    Examples
    --------
    >>> morning, evening = calcert.summarize([0.2, 0.7], [0, 1]), calcert.summarize([0.2], [1])
    >>> print(morning + evening)
    Summary of 3 rows: base rate 0.6667, mean score 0.3667, 2 cells, 2 distinct scores
    """

    cell: Integers
    count: Integers
    offset: Integers
    distinct: Integers | None
    distinct_count: Integers | None
    clusters: Clusters | None = None

    def __post_init__(self) -> None:
        for array in (self.cell, self.count, self.offset, self.distinct, self.distinct_count):
            if array is not None:
                array.setflags(write=False)

    @classmethod
    def empty(cls) -> Summary:
        """The Summary of no rows: the neutral element of ``+``."""
        pairs = np.zeros((0, 2), np.int64)
        return cls(np.zeros(0, np.int64), pairs, pairs.copy(), np.zeros(0, np.int64), pairs.copy())

    @classmethod
    def from_dense(
        cls, count: Integers, offset: Integers, distinct: Integers | None, distinct_count: Integers | None
    ) -> Summary:
        """From arrays over all cells, shape (CELLS, 2); cells without rows are left out."""
        # NumPy takes ten times as long to look along an axis of two.
        cell = np.flatnonzero(count[:, 0] | count[:, 1])
        return cls(cell, count[cell], offset[cell], distinct, distinct_count)

    @classmethod
    def from_cells(
        cls, rows: Any, *, largest_weight: float | None = None, largest_gain: float | None = None
    ) -> Summary:
        """From what the query of :func:`calcert.sql.summary_query` returned: tuples, dicts or a data frame.

        `largest_weight` and `largest_gain` are as in :func:`calcert.summarize`, for a query with weights or clusters.
        Invalid rows that the query counted, a result cut short and lines that do not fit each other are refused.

        Examples
        --------
        >>> import duckdb
        >>> query = calcert.sql.summary_query("predictions", score="p", label="y", dialect="duckdb")
        >>> database = duckdb.connect()
        >>> _ = database.execute("CREATE TABLE predictions AS SELECT 0.25 AS p, 1 AS y FROM range(3)")
        >>> calcert.Summary.from_cells(database.execute(query).fetchall())
        Summary of 3 rows: base rate 1.0000, mean score 0.2500, 1 cells, 1 distinct scores
        """
        columns = query_result.columns_of(rows)
        lines, listing, sums = query_result.read(columns, largest_weight, largest_gain)
        summary = cls.from_lines(lines, listing)
        return summary if sums is None else summary.with_pairs(lines, *sums)

    @classmethod
    def from_lines(cls, lines: query_result.Lines, listing: query_result.Listing | None) -> Summary:
        """From lines of cells and lines of distinct scores; None where these are known to be more than 4,096."""
        cell, count, offset = query_result.tabulate(lines)
        if listing is None or cell.size > DISTINCT_LIMIT or np.unique(listing.score).size > DISTINCT_LIMIT:
            return cls(cell, count, offset, None, None)
        return cls(cell, count, offset, *query_result.tabulate_scores(listing, cell, count, offset))

    def with_pairs(
        self, lines: query_result.Lines, pair: Integers, sums: dict[str, int], rows: int, design: Design
    ) -> Summary:
        """The same with what is known of clusters: sums of pairs by line of a result, and sums over clusters."""
        pairs = np.zeros(self.count.shape, np.int64)
        np.add.at(pairs, (np.searchsorted(self.cell, lines.cell), lines.label), pair)
        return replace(self, clusters=clusters_from_sums(sums, pairs, rows, design))

    @cached_property
    def n(self) -> int:
        """The number of rows; the sum of their weights, in multiples of the weight's unit, where they have weights."""
        return int(self.count.sum())

    @property
    def rows(self) -> int:
        """The number of rows, whatever their weights."""
        return self.n if self.clusters is None else self.clusters.rows

    @property
    def equal_rows(self) -> int:
        """So many rows of equal weight have, next to their number, the squares of weights that the clusters have."""
        return self.n if self.clusters is None else max(self.n**2 // self.clusters.squares, 1)

    @cached_property
    def positives(self) -> int:
        """The number of rows with label 1."""
        return int(self.count[:, 1].sum())

    @property
    def is_finite(self) -> bool:
        """True where the distinct scores are listed."""
        return self.distinct is not None

    @cached_property
    def left(self) -> Floats:
        """Left edges of the cells as scores."""
        return self.cell_points.low

    @cached_property
    def width(self) -> Floats:
        """Widths of the cells as scores; 0 for the cell of score 1."""
        return self.cell_points.high - self.cell_points.low

    @cached_property
    def score_sum(self) -> Floats:
        """Sum of scores per cell and label, low by less than 2^-40 a row."""
        return self.left[:, None] * self.count + self.offset * cells.RESOLUTION

    @cached_property
    def values(self) -> Floats:
        """The distinct scores themselves; an error where they are too many."""
        if self.distinct is None:
            raise ValueError(
                f"the scores are not a finite set: there are more than {DISTINCT_LIMIT:,} distinct ones. "
                "Use bounded_variation or perturbed, or round the scores that you deploy."
            )
        return self.distinct.view(np.float64)

    @cached_property
    def points(self) -> Points:
        """The distinct scores where they are listed, else the cells; `fraction` per label, mean offset over width."""
        return self.cell_points if self.distinct_count is None else at_scores(self.values, self.distinct_count)

    @cached_property
    def cell_points(self) -> Points:
        """The cells, even where the distinct scores are listed: what stays the same when more rows come."""
        return in_cells(self.cell, self.count, self.offset)

    @property
    def resolution(self) -> float:
        """How far a score may lie from where `points` has it: 0 for listed scores, else 2^-40."""
        return 0.0 if self.is_finite else cells.RESOLUTION

    @cached_property
    def mean_score(self) -> float:
        """The mean score, low by less than 2^-40."""
        return float(self.score_sum.sum() / max(self.n, 1))

    @property
    def base_rate(self) -> float:
        """The share of rows with label 1."""
        return self.positives / max(self.n, 1)

    def __add__(self, other: object) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        refuse_clusters(self, other)
        return Summary(*added((self, other)))

    def plus(self, *others: Summary, disjoint: bool) -> Summary:
        """The Summary of the rows of all, no cluster of which has rows in two: `disjoint=True` says so.

        Of thousands of Summaries it is faster than ``sum``, which makes as many on the way.

        Examples
        --------
        >>> monday = calcert.summarize([0.2, 0.7], [0, 1], clusters=["ann", "ann"])
        >>> tuesday = calcert.summarize([0.2], [1], clusters=["bob"])
        >>> monday.plus(tuesday, disjoint=True).clusters.number
        2
        """
        if disjoint is not True:
            raise ValueError(
                f"disjoint must be True: no cluster has rows in two; got {disjoint!r}. Where clusters span the parts, "
                "summarise all rows together."
            )
        parts = [part for part in (self, *others) if part.n]
        return Summary(*added(parts)) if len(parts) > 1 else parts[0] if parts else self

    def __radd__(self, other: object) -> Summary:
        """Lets ``sum(summaries)`` start from 0."""
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summary):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k]) for k in mine)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Caches ask for it often, and go on to compare whole Summaries where it agrees.
        return hash((self.cell.size, self.n, self.positives, int(self.offset.sum())))

    def __repr__(self) -> str:
        known = "over 4,096" if self.distinct is None else f"{self.distinct.size:,}"
        among = "" if self.clusters is None else self.clusters.words
        return (
            f"Summary of {rows_text(self.rows)}{among}: base rate {self.base_rate:.4f}, "
            f"mean score {self.mean_score:.4f}, {self.cell.size:,} cells, {known} distinct scores"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the Summary to a file: whole or not at all, with format version and checksum.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "day.calcert"
        >>> calcert.summarize([0.2, 0.7], [0, 1]).save(path)
        >>> calcert.Summary.load(path).n
        2
        """
        with replacing(Path(path)) as unfinished:
            unfinished.write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Summary:
        """Read a Summary that :meth:`save` wrote.

        A damaged, foreign or newer file is refused by name, and so is one whose content is not that of any rows.
        """
        check_regular(path)
        with open(path, "rb") as file:
            return cls.from_bytes(file.read(saved.MOST), name=str(path))

    def to_bytes(self) -> bytes:
        """The content of a saved Summary: a line with the format, the arrays and a checksum."""
        return saved.to_bytes(self._arrays())

    @classmethod
    def from_bytes(cls, content: bytes, name: str = "the content") -> Summary:
        """The inverse of :meth:`to_bytes`."""
        return cls(*saved.from_bytes(content, name))

    def _arrays(self) -> dict[str, Integers]:
        named = {
            "cell": self.cell,
            "count": self.count,
            "offset": self.offset,
            "distinct": self.distinct,
            "distinct_count": self.distinct_count,
            "pairs": None if self.clusters is None else self.clusters.pairs,
            "clusters": None if self.clusters is None else self.clusters.to_array(),
            "pair_sums": self.clusters.pair_sums.values if self.clusters and self.clusters.pair_sums else None,
        }
        return {key: array for key, array in named.items() if array is not None}
