"""The partition of [0, 1]: every score has one cell, cells tile the interval, and the fast kernel agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calcert.kernels import counting
from calcert.summary import cells

EDGES = [0, *(1 << b for b in (14, 28, 32, 36, 39)), *(cells.UNIT - (1 << b) for b in (36, 32, 28, 14)), cells.UNIT]

units = st.one_of(
    st.integers(0, cells.UNIT),
    st.sampled_from(EDGES).flatmap(lambda e: st.integers(max(e - 3, 0), min(e + 3, cells.UNIT))),
    st.integers(0, 40).flatmap(lambda b: st.integers(0, 1 << b)),
)


def test_cells_tile_the_unit_interval_without_gap_or_overlap() -> None:
    left, width = cells.bounds(np.arange(cells.CELLS))
    assert left[0] == 0
    assert (left[:-1] + width[:-1] == left[1:]).all()
    assert left[-1] == cells.UNIT
    assert width[-1] == 0


@pytest.mark.parametrize(
    ("distance", "width"),
    [(0, -26), (2**-12 - 2**-27, -26), (2**-12, -22), (2**-8, -18), (2**-4, -14), (0.25, -14), (0.5 - 2**-20, -14)],
)
def test_cells_are_four_bits_finer_at_each_tier_towards_either_end(distance: float, width: int) -> None:
    # A cell holds its left edge, so the mirror image of a score is a hair to the left of one minus it.
    scores = np.array([distance, 1 - distance - 2.0**-40])
    cell, _ = cells.locate(np.floor(scores * cells.UNIT).astype(np.int64))
    assert (cells.bounds(cell)[1] * cells.RESOLUTION == 2.0**width).all()


def test_the_partition_is_symmetric_about_one_half() -> None:
    left, width = cells.bounds(np.arange(cells.CELLS - 1))
    assert (left[::-1] == cells.UNIT - left - width).all()


def test_every_cell_lies_between_two_neighbouring_multiples_of_the_widest() -> None:
    left, width = cells.bounds(np.arange(cells.CELLS - 1))
    assert width.max() == cells.WIDEST
    assert (left // cells.WIDEST == (left + width - 1) // cells.WIDEST).all()


def test_the_first_and_last_unit_of_every_cell_are_located_in_it() -> None:
    number = np.arange(cells.CELLS - 1)
    left, width = cells.bounds(number)
    for inside in (0, width - 1, width // 2):
        cell, offset = cells.locate(left + inside)
        assert (cell == number).all()
        assert (offset == inside).all()


@given(units)
def test_bounds_and_offset_give_back_the_located_score(unit: int) -> None:
    cell, offset = cells.locate(np.array([unit]))
    left, width = cells.bounds(cell)
    assert left + offset == unit
    assert 0 <= offset < max(width[0], 1)


@given(units, units)
def test_cell_numbers_grow_with_the_score(first: int, second: int) -> None:
    low, high = sorted((first, second))
    cell, _ = cells.locate(np.array([low, high]))
    assert cell[0] <= cell[1]


def test_score_one_has_a_cell_of_its_own() -> None:
    cell, offset = cells.locate(np.array([cells.UNIT, cells.UNIT - 1]))
    assert cell.tolist() == [cells.CELL_OF_ONE, cells.CELL_OF_ONE - 1]
    assert offset[0] == 0


@given(st.lists(st.one_of(st.floats(0.0, 1.0), units.map(lambda u: u * 2.0**-40)), min_size=1, max_size=50))
def test_the_kernel_puts_every_score_where_locate_does(scores: list[float]) -> None:
    x = np.array(scores)
    cell, offset = cells.locate(np.floor(x * cells.UNIT).astype(np.int64))
    packed = np.zeros(2 * cells.CELLS, np.uint64)
    assert counting.fill(x, np.ones(x.size, np.uint8), packed) == -1
    count, total = np.zeros((2, 2 * cells.CELLS), np.int64)
    counting.flush(packed, count, total)
    wanted = np.zeros((2, 2 * cells.CELLS), np.int64)
    np.add.at(wanted[0], 2 * cell + 1, 1)
    np.add.at(wanted[1], 2 * cell + 1, offset)
    assert (count == wanted[0]).all()
    assert (total == wanted[1]).all()


def test_the_kernel_and_locate_agree_on_both_sides_of_every_edge() -> None:
    left, _ = cells.bounds(np.arange(cells.CELLS))
    scores = left * cells.RESOLUTION
    around = np.concatenate([scores, np.nextafter(scores, 0.0), np.nextafter(scores, 1.0)])
    cell, offset = cells.locate(np.floor(around * cells.UNIT).astype(np.int64))
    packed = np.zeros(2 * cells.CELLS, np.uint64)
    assert counting.fill(around, np.zeros(around.size, np.int64), packed) == -1
    count = np.bincount(2 * cell, minlength=packed.size)
    assert (packed >> np.uint64(counting.OFFSET_BITS) == count).all()
    total = np.bincount(2 * cell, offset, packed.size)
    assert (packed & np.uint64((1 << counting.OFFSET_BITS) - 1) == total).all()


@given(st.one_of(st.floats(0.0, 1.0), units.map(lambda u: u * 2.0**-40)))
def test_the_pieces_for_query_engines_are_the_same_partition(score: float) -> None:
    piece = [p for p in cells.PIECES if p.start <= score][-1]
    cell, offset = cells.locate(np.array([int(score * cells.UNIT)]))
    assert int(score * piece.scale) + piece.base == cell[0]
    assert int(score * cells.UNIT) % cells.WIDEST - cells.bounds(cell)[0][0] % cells.WIDEST == offset[0]
