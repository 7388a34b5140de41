"""Adding Summaries: cells meet, integers add up, and what must not be mixed is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.array_types import Integers
from calcert.foundation.number_text import fraction
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.pair_sums import HEAVIEST_SQUARES
from calcert.summary.units import SQUARES, Units

if TYPE_CHECKING:
    from calcert.summary.summary import Summary

Parts = tuple[Integers, Integers, Integers, Integers | None, Integers | None, Units | None]


def added(one: Summary, two: Summary) -> Parts:
    """What the Summary of the rows of both is made of; a cluster is taken to be in one of them alone."""
    if one.n + two.n > ROW_LIMIT:
        raise OverflowError(f"a Summary holds at most 2^36 rows; got {one.n + two.n:,}. Certify the parts.")
    cell, (count, offset) = _merge((one.cell, two.cell), ((one.count, two.count), (one.offset, two.offset)))
    units = _units(one, two)
    if one.distinct is None or one.distinct_count is None or two.distinct is None or two.distinct_count is None:
        return cell, count, offset, None, None, units
    distinct, (distinct_count,) = _merge((one.distinct, two.distinct), ((one.distinct_count, two.distinct_count),))
    if distinct.size > DISTINCT_LIMIT:
        return cell, count, offset, None, None, units
    return cell, count, offset, distinct, distinct_count, units


def refuse_clusters(one: Summary, two: Summary) -> None:
    """Whether clusters span two Summaries only their owner knows."""
    _refuse_mixed(one, two)
    if one.units is not None and one.units.design.clustered:
        raise ValueError(
            "clusters must be whole in each Summary that is added, and + cannot tell. Where no cluster has rows in "
            "both, say so: one.plus(other, disjoint=True). Otherwise summarise all rows together."
        )


def _units(one: Summary, two: Summary) -> Units | None:
    _refuse_mixed(one, two)
    if one.units is None or two.units is None:
        return None
    most = HEAVIEST_SQUARES if one.units.design.paired else SQUARES
    if one.units.squares + two.units.squares >= most:
        raise OverflowError(
            f"squares of the weights of units must add up to less than 2^{most.bit_length() - 1}. Certify the parts."
        )
    _, (pairs,) = _merge((one.cell, two.cell), ((one.units.pairs, two.units.pairs),))
    return one.units.plus(two.units, pairs)


def _refuse_mixed(one: Summary, two: Summary) -> None:
    designs = [None if part.units is None else part.units.design for part in (one, two)]
    if designs[0] != designs[1]:
        kinds = ["plain rows" if kind is None else f"rows with {kind.arguments}" for kind in designs]
        units = {kind.quantum for kind in designs if kind is not None}
        apart = f" (in units of {' and '.join(fraction(unit) for unit in sorted(units))})" if len(units) > 1 else ""
        raise ValueError(
            "Summaries that are added must be of one kind, with the same weight_unit, largest_weight, largest_gain and "
            f"pair_sums; got {kinds[0]} and {kinds[1]}{apart}. Summarise their rows alike."
        )


def _merge(
    keys: tuple[Integers, Integers], columns: Iterable[tuple[Integers, Integers]]
) -> tuple[Integers, list[Integers]]:
    """The union of two increasing key arrays, and the columns added up over it."""
    union = np.union1d(*keys)
    places = [np.searchsorted(union, key) for key in keys]
    merged = []
    for pair in columns:
        total = np.zeros((union.size, 2), np.int64)
        for place, column in zip(places, pair, strict=True):
            total[place] += column
        merged.append(total)
    return union, merged
