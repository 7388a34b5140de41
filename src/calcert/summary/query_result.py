"""What a GROUP BY returned, checked and turned into the arrays of a Summary: of rows, or of clusters and their sums.

One line per cell and label: `cell`, `label`, `row_count`, `offset_sum`. An offset is floor(score * 2^40) modulo 2^26,
which an engine computes without knowing the width of the cell; the left edge of the cell is taken off here. A line with
a `score` is one distinct score with its rows. Cells and labels below zero count rows that a Summary cannot hold, and
`table_rows` on every line says how many rows there were, so that a result cut short is noticed.

With clusters or weights there are sums of weights per cell, and one line of sums over clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.clusters import SUMS, refuse_heavy
from calcert.summary.consistency import ROW_LIMIT, listing_fits
from calcert.summary.design import Design

COLUMNS = ("cell", "label", "row_count", "offset_sum", "table_rows", "score")

LISTED = 2 * DISTINCT_LIMIT + 3
"""Lines of distinct scores asked for at most: more than 4,096 scores for sure, with two labels each and -0.0 apart."""

MISSING = -2
"""The cell of a score that is null, and the label of a label that is."""

INVALID = -1
"""The cell of a score that is NaN or outside [0, 1], and the label of a label that is not 0 or 1."""


CLUSTER_COLUMNS = (*COLUMNS, "weight_sum", "pair_sum", "design", "quantum_bits", *SUMS)

CLUSTER_LINE = -100
"""The cell of the line that has the sums over clusters."""

MISSING_WEIGHT, INVALID_WEIGHT, MISSING_CLUSTER = -3, -4, -5
"""Cells of rows whose weight is null, is no whole multiple of its unit, or whose cluster is null."""

WRONG = {
    MISSING_WEIGHT: "weights must not be missing",
    INVALID_WEIGHT: "weights must be whole multiples of weight_unit, finite and not negative",
    MISSING_CLUSTER: "clusters must not be missing",
}


class Lines(NamedTuple):
    """The lines of a result, column by column."""

    cell: Integers
    label: Integers
    rows: Integers
    offset: Integers

    def where(self, some: NDArray[np.bool_] | Integers) -> Lines:
        """Some of the lines."""
        return Lines(*(column[some] for column in self))


class Listing(NamedTuple):
    """Distinct scores with a label and their number of rows."""

    score: Floats
    label: Integers
    rows: Integers

    def where(self, some: Integers) -> Listing:
        """Some of the lines."""
        return Listing(self.score[some], self.label[some], self.rows[some])


class Sums(NamedTuple):
    """What a result says of clusters: the sum of pairs of every line, sums over clusters, rows, and the design."""

    pairs: Integers
    of_clusters: dict[str, int]
    rows: int
    design: Design


def read(
    columns: Mapping[str, Sequence[Any]], largest_weight: float | None = None, largest_gain: float | None = None
) -> tuple[Lines, Listing, Sums | None]:
    """The lines of cells, those of distinct scores, and what is known of clusters where the query had any."""
    clustered = set(CLUSTER_COLUMNS) <= columns.keys()
    if not clustered and (largest_weight is not None or largest_gain is not None):
        raise TypeError("largest_weight must come with weights or clusters; got the result of plain rows.")
    asked = CLUSTER_COLUMNS if clustered else COLUMNS
    found = {name: integers(name, columns[name]) for name in asked if name != "score"}
    score = scores_of(columns["score"])
    last = (found["cell"] == CLUSTER_LINE) & clustered
    if last.sum() != clustered:
        raise ValueError(
            f"rows must be the whole result of the query, with one line of sums over clusters; got {int(last.sum())}. "
            "A tool may have cut the result short: fetch all of it."
        )
    listed, inside = ~np.isnan(score), np.isnan(score) & ~last
    rows = int(found["row_count"][inside].sum())
    if (found["table_rows"] != rows).any():
        more = "" if clustered else " Summaries of several tables add up with +."
        raise ValueError(
            f"rows must be the whole result of the query; got lines for {rows:,} of {found['table_rows'].max():,} "
            f"rows. A tool may have cut the result short: fetch all of it.{more}"
        )
    for code, words in WRONG.items() if clustered else ():
        wrong = int(found["row_count"][found["cell"] == code].sum())
        if wrong:
            raise ValueError(f"{words}; got {wrong:,} of {rows:,} rows. Exclude such rows yourself, on purpose.")
    sizes = "weight_sum" if clustered else "row_count"
    lines = Lines(*(found[name] for name in ("cell", "label", "row_count", "offset_sum")))
    listing = Listing(score[listed], found["label"][listed], found[sizes][listed])
    if not clustered:
        return lines.where(inside), listing, None
    refuse_invalid(lines.where(inside))
    inside &= found[sizes] > 0
    kind, quantum = int(found["design"][0]), float(found["quantum_bits"][:1].view(np.float64)[0])
    design = Design(bool(kind & 1), bool(kind & 2), False, quantum, largest_weight, largest_gain)
    sums = {name: int(found[name][last][0]) for name in SUMS}
    refuse_heavy(sums, design)
    weighed = lines._replace(rows=found[sizes]).where(inside)
    return weighed, listing, Sums(found["pair_sum"][inside], sums, rows, design)


def tabulate(lines: Lines) -> tuple[Integers, Integers, Integers]:
    """Cells that hold rows, increasing, and rows and sums of offsets inside the cell for label 0 and label 1."""
    if lines.rows.size == 0:
        raise ValueError("the result must hold at least one row; got none. Is the table empty?")
    refuse_invalid(lines)
    _refuse_outside("cell", lines.cell, 0, cells.CELL_OF_ONE)
    _refuse_outside("label", lines.label, 0, 1)
    _refuse_outside("row_count", lines.rows, 1, ROW_LIMIT)
    if lines.rows.sum() > ROW_LIMIT:
        raise OverflowError(f"a Summary holds at most 2^36 rows; got {lines.rows.sum():,}. Certify the parts.")
    left, width = cells.bounds(lines.cell)
    offset = lines.offset - lines.rows * (left % cells.WIDEST)
    bad = (offset < 0) | (offset > lines.rows * np.maximum(width - 1, 0))
    if bad.any():
        line = int(np.argmax(bad))
        raise ValueError(
            f"offset_sum must fit the cell and its rows; got {lines.offset[line]} for {lines.rows[line]} rows of "
            f"cell {lines.cell[line]}. Pass the result of the query of calcert.sql.summary_query unchanged, with all "
            "its digits."
        )
    cell, place = np.unique(lines.cell, return_inverse=True)
    table = np.zeros((2, cell.size, 2), np.int64)
    np.add.at(table[0], (place, lines.label), lines.rows)
    np.add.at(table[1], (place, lines.label), offset)
    return cell, table[0], table[1]


def tabulate_scores(listing: Listing, cell: Integers, count: Integers, offset: Integers) -> tuple[Integers, Integers]:
    """Distinct scores, increasing, as the bits of their float64, and their rows, which must be those of the cells."""
    _refuse_outside("label", listing.label, 0, 1)
    _refuse_outside("row_count", listing.rows, 1, ROW_LIMIT)
    # Adding 0.0 turns -0.0 into 0.0, which is the same score: here they meet where the engine kept them apart.
    value, place = np.unique(listing.score + 0.0, return_inverse=True)
    value_count = np.zeros((value.size, 2), np.int64)
    np.add.at(value_count, (place, listing.label), listing.rows)
    inside = ((value >= 0) & (value <= 1)).all()
    if not inside or not listing_fits(value.view(np.int64), value_count, cell, count, offset):
        raise ValueError(
            f"distinct scores and cells must come from the same rows; got {int(listing.rows.sum()):,} rows by score "
            f"and {int(count.sum()):,} by cell. The table changed between two reads, or the result is not complete "
            "or has lost digits: summarise a fixed snapshot, and pass the whole result as it is."
        )
    return value.view(np.int64), value_count


def refuse_invalid(lines: Lines) -> None:
    """The engine counted rows that a Summary cannot hold: say how many of each kind, and how to see them."""
    total = int(lines.rows.sum())
    for name, column, wanted, found in (
        ("scores", lines.cell, "lie in [0, 1]", "NaN or outside"),
        ("labels", lines.label, "be 0 or 1 (or bool)", "neither"),
    ):
        missing = int(lines.rows[column == MISSING].sum())
        invalid = int(lines.rows[column == INVALID].sum())
        if missing or invalid:
            raise ValueError(
                f"{name} must {wanted} and not be missing; got {invalid:,} {found} and {missing:,} missing among "
                f"{total:,} rows. Exclude such rows yourself, on purpose, in a subquery: a certificate applies to the "
                "rows that remain."
            )


def _refuse_outside(name: str, column: Integers, least: int, greatest: int) -> None:
    bad = (column < least) | (column > greatest)
    if bad.any():
        line = int(np.argmax(bad))
        raise ValueError(f"{name} must lie in {least} to {greatest}; got {column[line]} in line {line}.")


def columns_of(rows: Any) -> dict[str, Sequence[Any]]:
    """The columns of what a database driver returned, by name."""
    import narwhals as nw

    frame = nw.from_native(rows, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return _named({name: frame[name].to_list() for name in frame.columns})
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise TypeError(f"rows must be the rows that the query returned; got {rows!r}. Pass cursor.fetchall().")
    lines = list(rows)
    if lines and all(isinstance(line, Mapping) for line in lines):
        return _named({name: [line[name] for line in lines] for name in lines[0]})
    long = lines and isinstance(lines[0], Sequence) and len(lines[0]) == len(CLUSTER_COLUMNS)
    known = CLUSTER_COLUMNS if long else COLUMNS
    for number, line in enumerate(lines):
        if not isinstance(line, Sequence) or isinstance(line, str) or len(line) != len(known):
            raise ValueError(f"rows must be tuples ({', '.join(COLUMNS)}); got {line!r} in line {number}.")
    return dict(zip(known, zip(*lines, strict=True), strict=True)) if lines else dict.fromkeys(COLUMNS, ())


def scores_of(values: Sequence[Any]) -> Floats:
    """Scores of lines that list one; NaN for the others."""
    return np.array([np.nan if _is_null(value) else float(value) for value in values], np.float64)


def _named(columns: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Columns by their names in small letters: some warehouses return capitals."""
    found = {name.lower(): values for name, values in columns.items()}
    if not set(COLUMNS) <= found.keys():
        raise ValueError(f"rows must have the columns {', '.join(COLUMNS)}; got {', '.join(columns)}.")
    return found


def integers(name: str, values: Sequence[Any]) -> Integers:
    """A column of integers, whatever type a driver gave them."""
    return np.array([_integer(name, line, value) for line, value in enumerate(values)], np.int64)


def _integer(name: str, line: int, value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(int(value)) < 2**63:
        return int(value)
    exact = isinstance(value, Decimal) or (isinstance(value, float) and abs(value) < 2**53)
    if exact and value == int(value) and abs(value) < 2**63:
        return int(value)
    raise TypeError(
        f"{name} must be an integer; got {value!r} of type {type(value).__name__} in line {line}. "
        "Pass the rows as the database driver returned them."
    )


def _is_null(value: Any) -> bool:
    return value is None or str(value) in ("nan", "NaN", "<NA>")
