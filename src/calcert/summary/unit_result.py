"""What the query of a table with clusters or weights returned: cells with sums of weights, and one line of sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.summary.design import Design
from calcert.summary.query_result import COLUMNS, Lines, Listing, integers, refuse_invalid, scores_of
from calcert.summary.unit_sums import SUMS, refuse_heavy

Integers = NDArray[np.int64]

UNIT_COLUMNS = (*COLUMNS, "weight_sum", "pair_sum", "design", "quantum_bits", *SUMS)

UNIT_LINE = -100
"""The cell of the line that has the sums over units."""

MISSING_WEIGHT, INVALID_WEIGHT, MISSING_CLUSTER = -3, -4, -5
"""Cells of rows whose weight is null, is no whole multiple of its unit, or whose cluster is null."""

WRONG = {
    MISSING_WEIGHT: "weights must not be missing",
    INVALID_WEIGHT: "weights must be whole multiples of weight_unit, finite and not negative",
    MISSING_CLUSTER: "clusters must not be missing",
}


def read_units(
    columns: dict[str, Sequence[Any]], largest_weight: float | None, largest_gain: float | None
) -> tuple[Lines, Listing, Integers, dict[str, int], int, Design]:
    """Lines of cells by weight, listed scores, sums of pairs by line, sums over units, rows, and the design."""
    found = {name: integers(name, columns[name]) for name in UNIT_COLUMNS if name != "score"}
    score = scores_of(columns["score"])
    last = found["cell"] == UNIT_LINE
    if last.sum() != 1:
        raise ValueError(
            f"rows must be the whole result of the query, with one line of sums over units; got {int(last.sum())}. A "
            "tool may have cut the result short: fetch all of it."
        )
    listed, inside = ~np.isnan(score), np.isnan(score) & ~last
    rows = int(found["row_count"][inside].sum())
    if (found["table_rows"] != rows).any():
        raise ValueError(
            f"rows must be the whole result of the query; got lines for {rows:,} of {found['table_rows'].max():,}. "
            "A tool may have cut the result short: fetch all of it."
        )
    for code, words in WRONG.items():
        wrong = int(found["row_count"][found["cell"] == code].sum())
        if wrong:
            raise ValueError(f"{words}; got {wrong:,} of {rows:,} rows. Exclude such rows yourself, on purpose.")
    by_row = Lines(found["cell"], found["label"], found["row_count"], found["offset_sum"])
    refuse_invalid(by_row.where(inside))
    inside &= found["weight_sum"] > 0
    kind, quantum = int(found["design"][0]), float(found["quantum_bits"][:1].view(np.float64)[0])
    design = Design(bool(kind & 1), bool(kind & 2), False, quantum, largest_weight, largest_gain)
    sums = {name: int(found[name][last][0]) for name in SUMS}
    refuse_heavy(sums, design)
    weighed = Lines(found["cell"], found["label"], found["weight_sum"], found["offset_sum"])
    listing = Listing(score[listed], found["label"][listed], found["weight_sum"][listed])
    return weighed.where(inside), listing, found["pair_sum"][inside], sums, rows, design
