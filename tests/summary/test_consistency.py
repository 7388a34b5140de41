"""Arrays that contradict each other in any way are the Summary of no rows, and are refused in words."""

from __future__ import annotations

import numpy as np
import pytest

from calcert import Summary
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.consistency import ROW_LIMIT, checked
from tests.summary.crafted import HONEST, altered, put, unlisted

NAMES = ("cell", "count", "offset", "distinct", "distinct_count")

CONTRADICTIONS = {
    "an offset below its cell": (unlisted(offset=put(HONEST.offset, (0, 0), -1)), "offset must lie in 0 to 67108863"),
    "an offset beyond its cell": (unlisted(offset=put(HONEST.offset, (0, 0), 1 << 26)), "got 67108864 for label 0"),
    "an offset without a row": (unlisted(offset=put(HONEST.offset, (2, 0), 1)), "0 to 0 for 0 rows"),
    "an offset in the cell of score 1": (unlisted(offset=put(HONEST.offset, (3, 1), 1)), "0 to 0 for 1 rows"),
    "a huge offset": (unlisted(offset=put(HONEST.offset, (0, 0), -(2**63))), "offset must lie"),
    "a negative count": (unlisted(count=put(HONEST.count, (0, 0), -1)), "count must lie in 0 to 2\\^36; got -1"),
    "a huge count": (unlisted(count=put(HONEST.count, (0, 0), 2**63 - 1)), "count must lie in 0 to 2\\^36"),
    "too many rows": (unlisted(count=put(HONEST.count, (0, 0), ROW_LIMIT)), "at most 2\\^36 rows; got 68,719,476,742"),
    "a cell without rows": (unlisted(count=put(HONEST.count, 1, 0)), "count must have a row in every line; .* line 1"),
    "a cell that is none": (unlisted(cell=put(HONEST.cell, 3, cells.CELLS)), "cell must lie in 0 to 108544"),
    "a negative cell": (unlisted(cell=put(HONEST.cell, 0, -1)), "cell must lie in 0 to 108544; got -1 in line 0"),
    "cells in another order": (unlisted(cell=HONEST.cell[::-1].copy()), "cell must increase"),
    "a cell twice": (unlisted(cell=put(HONEST.cell, 1, HONEST.cell[0])), "cell must increase"),
    "too few counts": (unlisted(count=HONEST.count[:-1]), "count must be int64 of shape \\(4, 2\\)"),
    "one column of counts": (unlisted(count=HONEST.count[:, 0].copy()), "count must be int64 of shape \\(4, 2\\)"),
    "two columns of cells": (unlisted(cell=HONEST.count), "cell must be int64 of shape"),
    "too few offsets": (unlisted(offset=HONEST.offset[1:]), "offset must be int64 of shape \\(4, 2\\)"),
    "counts as floats": (unlisted(count=HONEST.count.astype(float)), "count must be int64 of shape"),
    "counts as bytes": (unlisted(count=HONEST.count.astype(np.int8)), "count must be int64 of shape"),
    "counts without sign": (unlisted(count=HONEST.count.astype(np.uint64)), "count must be int64 of shape"),
    "counts as objects": (unlisted(count=HONEST.count.astype(object)), "count must be int64 of shape"),
    "three columns": (unlisted(count=np.ones((4, 3), np.int64)), "count must be int64 of shape"),
    "scores without counts": (altered(distinct_count=None), "must come together"),
    "counts without scores": (altered(distinct=None), "must come together"),
    "minus zero": (altered(distinct=put(HONEST.distinct, 0, -(2**63))), "distinct must lie in 0 to"),
    "a score above 1": (altered(distinct=put(HONEST.distinct, 4, 0x3FF0000000000001)), "distinct must lie in 0 to"),
    "not a number": (altered(distinct=put(HONEST.distinct, 4, 0x7FF8000000000000)), "distinct must lie in 0 to"),
    "scores in another order": (altered(distinct=HONEST.values[::-1].copy().view(np.int64)), "distinct must increase"),
    "a score of another cell": (altered(distinct=put(HONEST.distinct, 0, 1)), "must be of the same rows"),
    "a score elsewhere in its cell": (
        altered(distinct=put(HONEST.distinct, 0, int(np.float64(0.2 + 2**-30).view(np.int64)))),
        "must be of the same rows.* or an offset",
    ),
    "labels exchanged": (altered(distinct_count=HONEST.distinct_count[:, ::-1].copy()), "must be of the same rows"),  # type: ignore[index]
    "fewer rows by score": (altered(distinct_count=put(HONEST.distinct_count, (0, 1), 1)), "6 rows by score and 7 by"),
    "a negative count of a score": (altered(distinct_count=put(HONEST.distinct_count, 0, -1)), "distinct_count must"),
    "a score without rows": (altered(distinct_count=put(HONEST.distinct_count, 4, 0)), "a row in every line"),
    "too many scores": (
        altered(
            distinct=np.arange(DISTINCT_LIMIT + 1),
            distinct_count=np.ones((DISTINCT_LIMIT + 1, 2), np.int64),
        ),
        "at most 4,096",
    ),
    "rows that cancel": (
        # Two scores of one cell with counts -1 and 2 would add up.
        altered(distinct_count=put(put(HONEST.distinct_count, (1, 1), 2), (2, 1), -1)),
        "distinct_count must lie in 0 to 2\\^36; got -1",
    ),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_arrays_that_are_those_of_no_rows_are_refused(what: str) -> None:
    arrays, words = CONTRADICTIONS[what]
    with pytest.raises(ValueError, match=words):
        checked(tuple(map(arrays.get, NAMES)))  # type: ignore[arg-type]


def test_what_is_altered_is_honest_otherwise() -> None:
    assert Summary(*checked(tuple(map(altered().get, NAMES)))) == HONEST  # type: ignore[arg-type]
    assert not Summary(*checked(tuple(map(unlisted().get, NAMES)))).is_finite  # type: ignore[arg-type]
