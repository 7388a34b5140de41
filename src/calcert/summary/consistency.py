"""What the arrays of a Summary must satisfy to be those of some rows, and what Summaries must that are added.

A checksum says that a file is as it was written, not that an honest program wrote it. So arrays that come from
elsewhere, whole files, packed batches and results of queries alike, pass here before anything is certified from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.array_types import Integers
from calcert.foundation.number_text import fraction
from calcert.summary import cells
from calcert.summary.cells import BITS_OF_ONE, CELLS, DISTINCT_LIMIT
from calcert.summary.clusters import HEAVIEST, SQUARES, Clusters
from calcert.summary.design import CLOSE, GAIN
from calcert.summary.pair_sums import BET_SIZES, HEAVIEST_SQUARES, PAIR_SUMS, PairSums

if TYPE_CHECKING:
    from calcert.summary.summary import Summary


Arrays = tuple[Integers, Integers, Integers, Integers | None, Integers | None]
"""cell, count, offset, distinct and distinct_count of a Summary."""

ROW_LIMIT = 1 << 36
"""More rows than this could overflow the 64-bit sum of offsets of one cell."""


def checked(arrays: Arrays) -> Arrays:
    """The arrays themselves; ValueError, in words that fit after "is damaged: ", where they are those of no rows."""
    cell, count, offset, distinct, distinct_count = arrays
    check_cells(cell, count)
    _check_shape("offset", offset, (cell.size, 2))
    largest = largest_offsets(cell, count)
    bad = (offset < 0) | (offset > largest)
    if bad.any():
        line, label = (int(place[0]) for place in np.nonzero(bad))
        raise ValueError(
            f"offset must lie in 0 to {largest[line, label]} for {count[line, label]:,} rows of cell {cell[line]}; "
            f"got {offset[line, label]} for label {label}"
        )
    if distinct is None and distinct_count is None:
        return arrays
    if distinct is None or distinct_count is None:
        raise ValueError("distinct and distinct_count must come together; got one of them")
    if distinct.size > DISTINCT_LIMIT:
        raise ValueError(f"at most {DISTINCT_LIMIT:,} distinct scores are listed; got {distinct.size:,}")
    _check_keys("distinct", distinct, BITS_OF_ONE)
    _check_counts("distinct_count", distinct, distinct_count)
    if not listing_fits(distinct, distinct_count, cell, count, offset):
        raise ValueError(
            f"distinct scores and cells must be of the same rows; got {int(distinct_count.sum()):,} rows by score and "
            f"{int(count.sum()):,} by cell, which differ in a cell, a label or an offset"
        )
    return arrays


def check_cells(cell: Integers, count: Integers) -> None:
    """Refuse cells and rows per cell that are those of no rows."""
    _check_keys("cell", cell, cells.CELL_OF_ONE)
    _check_counts("count", cell, count)


def largest_offsets(cell: Integers, count: Integers) -> Integers:
    """The largest sums of offsets that so many rows in these cells can have."""
    return np.asarray(count * np.maximum(cells.bounds(cell)[1] - 1, 0)[:, None])


def listing_fits(
    distinct: Integers, distinct_count: Integers, cell: Integers, count: Integers, offset: Integers
) -> bool:
    """True where the listed scores, put into cells, are exactly the rows and offsets that the cells have."""
    located, inside = cells.locate(np.floor(distinct.view(np.float64) * cells.UNIT).astype(np.int64))
    if not np.isin(located, cell).all():
        return False
    place = np.searchsorted(cell, located)
    found = np.zeros((2, cell.size, 2), np.int64)
    np.add.at(found[0], place, distinct_count)
    np.add.at(found[1], place, distinct_count * inside[:, None])
    return np.array_equal(found[0], count) and np.array_equal(found[1], offset)


def _check_keys(name: str, keys: Integers, greatest: int) -> None:
    _check_shape(name, keys, (keys.size,))
    bad = (keys < 0) | (keys > greatest)
    if bad.any():
        line = int(np.argmax(bad))
        raise ValueError(f"{name} must lie in 0 to {greatest}; got {keys[line]} in line {line}")
    if (np.diff(keys) <= 0).any():
        line = int(np.argmax(np.diff(keys) <= 0))
        raise ValueError(f"{name} must increase; got {keys[line]} and then {keys[line + 1]} in line {line + 1}")


def _check_counts(name: str, keys: Integers, count: Integers) -> None:
    _check_shape(name, count, (keys.size, 2))
    bad = (count < 0) | (count > ROW_LIMIT)
    if bad.any():
        line, label = (int(place[0]) for place in np.nonzero(bad))
        raise ValueError(f"{name} must lie in 0 to 2^36; got {count[line, label]} in line {line} for label {label}")
    if not count.any(axis=1).all():
        line = int(np.argmin(count.any(axis=1)))
        raise ValueError(f"{name} must have a row in every line; got none in line {line}")
    if count.sum() > ROW_LIMIT:
        raise ValueError(f"a Summary holds at most 2^36 rows; got {count.sum():,}")


def _check_shape(name: str, array: Integers, shape: tuple[int, ...]) -> None:
    if array.dtype != np.int64 or array.shape != shape:
        raise ValueError(f"{name} must be int64 of shape {shape}; got {array.dtype} of shape {array.shape}")


def check_clusters(clusters: Clusters, count: Integers) -> None:
    """Refuse sums that are those of no clusters; ValueError in words that fit after "is damaged: "."""
    pairs, total, number, largest = clusters.pairs, int(count.sum()), clusters.number, clusters.largest
    if pairs.dtype != np.int64 or pairs.shape != count.shape:
        raise ValueError(f"pairs must be int64 of shape {count.shape}; got {pairs.dtype} of shape {pairs.shape}")
    # A row of weight w is in a cluster of weight W, w <= W <= largest; floats are good enough for what cannot overflow.
    if (pairs < count).any() or (pairs > count * float(largest) * (1 + CLOSE)).any() or not 0 < largest < HEAVIEST:
        raise ValueError("pairs must fit the weights of their cells and of clusters; got some that do not")
    if sum(map(int, pairs.ravel())) >= SQUARES:
        raise ValueError("squares of the weights of clusters must add up to less than 2^62; got more")
    squares, fourth, gains, mixed = clusters.squares, clusters.fourth, clusters.gain_squares, clusters.gain_weights
    fits = (
        0 < number <= total <= number * largest
        and clusters.rows >= number
        and total**2 <= number * squares
        and squares <= largest * total
        and squares**2 <= number * fourth
        and fourth <= largest**2 * squares
        and mixed**2 <= gains * squares
        and gains <= GAIN * mixed <= GAIN**2 * squares
        and largest <= clusters.cap
        and (not clusters.design.only_soft or number * largest == total)
    )
    if clusters.design.paired != (clusters.pair_sums is not None):
        raise ValueError("pair_sums must be there where clusters say so, and only there; got the contrary")
    if clusters.pair_sums is not None:
        _check_pair_sums(clusters.pair_sums, squares, number)
    if not fits:
        raise ValueError(
            f"sums over clusters must fit each other; got {number:,} clusters of at most {largest:,} "
            f"in {clusters.rows:,} rows, with sums of powers that no such clusters have"
        )


def _check_pair_sums(sums: PairSums, squares: int, number: int) -> None:
    """Refuse pair sums that are those of no clusters; ValueError in words that fit after "is damaged: "."""
    if sums.values.shape != (PAIR_SUMS,):
        raise ValueError(f"pair_sums must be {PAIR_SUMS:,} integers; got shape {sums.values.shape}")
    within = squares < HEAVIEST_SQUARES
    for table in (sums.nodes, sums.bins):
        size = np.diagonal(table)
        within &= bool((size >= 0).all()) and bool((table**2 <= np.outer(size, size) * (1 + 1e-9)).all())
    within &= bool((np.diagonal(sums.bins) <= sums.gains).all() and (sums.gains <= 1.01 * squares).all())
    within &= bool((np.diff(sums.beyond) <= 0).all() and (sums.beyond >= 0).all())
    within &= bool((sums.logarithms <= math.log(1 + BET_SIZES[0]) * number).all())
    if not within:
        raise ValueError("pair_sums must be sums of products over clusters; got some that no clusters have")


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
