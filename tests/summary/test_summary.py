"""A Summary is a sum: the same rows give the same integers, however they were cut, ordered or added."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calcert
from calcert import Summary
from calcert.sources.collector import Collector
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.consistency import ROW_LIMIT

score = st.one_of(
    st.floats(0.0, 1.0), st.sampled_from([0.0, -0.0, 1.0, 0.5, 0.1, 2**-4, 1 - 2**-8, 5e-324, np.nextafter(1.0, 0)])
)
row = st.tuples(score, st.integers(0, 1))
some_rows = st.lists(row, min_size=1, max_size=30)


def of(rows: list[tuple[float, int]]) -> Summary:
    return calcert.summarize([x for x, _ in rows], [y for _, y in rows]) if rows else Summary.empty()


def spread(n: int, seed: int = 0) -> Summary:
    """A Summary of n different scores."""
    x = (np.arange(n) + 0.5) / n
    return calcert.summarize(x, np.random.default_rng(seed).random(n) < x)


@given(some_rows, some_rows, some_rows)
def test_addition_is_associative_and_commutative(
    a: list[tuple[float, int]], b: list[tuple[float, int]], c: list[tuple[float, int]]
) -> None:
    x, y, z = of(a), of(b), of(c)
    assert (x + y) + z == x + (y + z)
    assert x + y == y + x


@given(some_rows)
def test_the_empty_summary_changes_nothing(rows: list[tuple[float, int]]) -> None:
    summary = of(rows)
    assert summary + Summary.empty() == summary
    assert Summary.empty() + summary == summary
    assert sum([summary]) == summary


@given(st.lists(row, min_size=1, max_size=60), st.data())
def test_any_cutting_and_any_order_give_the_same_summary(rows: list[tuple[float, int]], data: st.DataObject) -> None:
    whole = of(rows)
    shuffled = data.draw(st.permutations(rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    parts = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    assert functools.reduce(operator.add, [of(part) for part in parts]) == whole
    collector = Collector()
    for part in parts:
        if part:
            collector.add(np.array([x for x, _ in part]), np.array([y for _, y in part]))
    assert collector.summary() == whole


def test_chunks_of_the_kernel_leave_no_trace() -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(0.3, 0.3, 1_200_000)
    y = rng.random(x.size) < x
    whole = calcert.summarize(x, y)
    assert whole.n == x.size
    assert whole == calcert.summarize(x[:700_001], y[:700_001]) + calcert.summarize(x[700_001:], y[700_001:])
    assert whole == calcert.summarize(x[::-1], y[::-1])
    assert whole.positives == y.sum()
    clusters = np.floor(x * cells.UNIT).astype(np.int64)
    cell, offset = cells.locate(clusters)
    for label in (False, True):
        count = np.bincount(cell[y == label], minlength=cells.CELLS)
        total = np.zeros(cells.CELLS, np.int64)
        np.add.at(total, cell[y == label], offset[y == label])
        assert (whole.count[:, int(label)] == count[whole.cell]).all()
        assert (whole.offset[:, int(label)] == total[whole.cell]).all()


@given(st.lists(row, min_size=1, max_size=40))
def test_counts_are_those_of_the_rows(rows: list[tuple[float, int]]) -> None:
    summary = of(rows)
    assert summary.n == len(rows)
    assert summary.positives == sum(y for _, y in rows)
    assert summary.base_rate == sum(y for _, y in rows) / len(rows)
    assert summary.mean_score == pytest.approx(np.mean([x for x, _ in rows]), abs=2**-39)
    listed = {}
    for x, y in rows:
        listed.setdefault(x + 0.0, [0, 0])[y] += 1
    assert summary.values.tolist() == sorted(listed)
    assert summary.distinct_count is not None
    assert summary.distinct_count.tolist() == [listed[x] for x in sorted(listed)]
    assert (summary.cell[:-1] < summary.cell[1:]).all()


def test_minus_zero_is_the_score_zero() -> None:
    assert calcert.summarize([-0.0, 0.0], [0, 1]) == calcert.summarize([0.0, 0.0], [0, 1])
    assert calcert.summarize([-0.0, 0.0], [0, 1]).values.tolist() == [0.0]


def test_distinct_scores_are_listed_up_to_4096_and_not_beyond() -> None:
    full, beyond = spread(DISTINCT_LIMIT), spread(DISTINCT_LIMIT + 1)
    assert full.is_finite
    assert full.values.size == 4096
    assert not beyond.is_finite
    with pytest.raises(ValueError, match=r"not a finite set: there are more than 4,096.*bounded_variation"):
        beyond.values  # noqa: B018
    assert (full + full).is_finite
    assert not (full + calcert.summarize([1e-9], [1])).is_finite
    assert not (full + beyond).is_finite


def test_adding_forgets_the_listing_exactly_when_reading_everything_at_once_does() -> None:
    x = (np.arange(5000) + 0.5) / 5000
    parts = calcert.summarize(x[:3000], x[:3000] > 0.3) + calcert.summarize(x[3000:], x[3000:] > 0.3)
    assert parts == calcert.summarize(x, x > 0.3)
    same = calcert.summarize(x[:3000], x[:3000] > 0.3) + calcert.summarize(x[:3000], x[:3000] > 0.3)
    assert same == calcert.summarize(np.tile(x[:3000], 2), np.tile(x[:3000], 2) > 0.3)
    assert same.is_finite


@given(some_rows)
def test_points_hold_the_rows(rows: list[tuple[float, int]]) -> None:
    exact = of(rows)
    by_cells = Summary(exact.cell, exact.count, exact.offset, None, None)
    for summary in (exact, by_cells):
        points = summary.points
        place = points.low[:, None] + points.fraction * (points.high - points.low)[:, None]
        total = (points.count * place).sum()
        assert total == pytest.approx(sum(x for x, _ in rows), abs=len(rows) * 2**-39)
        for x, _ in rows:
            assert ((points.low <= x) & (x <= points.high)).any()
    assert exact.resolution == 0
    assert by_cells.resolution == 2**-40


@given(some_rows, some_rows)
def test_summaries_are_equal_exactly_when_their_rows_are_the_same(
    a: list[tuple[float, int]], b: list[tuple[float, int]]
) -> None:
    def key(rows: list[tuple[float, int]]) -> list[tuple[float, int]]:
        return sorted((x + 0.0, y) for x, y in rows)

    assert (of(a) == of(b)) == (key(a) == key(b))
    assert hash(of(a)) == hash(of(list(reversed(a))))


def test_a_summary_equals_nothing_else_and_adds_to_nothing_else() -> None:
    summary = calcert.summarize([0.5], [1])
    assert summary != 3
    assert summary != "summary"
    with pytest.raises(TypeError):
        summary + 3
    with pytest.raises(TypeError):
        3 + summary


def test_a_summary_cannot_be_changed() -> None:
    summary = calcert.summarize([0.5, 0.7], [1, 0])
    for array in (summary.cell, summary.count, summary.offset, summary.distinct, summary.distinct_count):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        summary.cell = summary.cell  # type: ignore[misc]


def test_more_rows_than_offsets_can_be_summed_for_are_refused() -> None:
    cell, _ = cells.locate(np.array([cells.HALF]))
    half = np.array([[ROW_LIMIT // 2, 0]])
    big = Summary(cell, half, half * (cells.WIDEST - 1), None, None)
    assert (big + big).n == ROW_LIMIT
    assert (big + big).offset[0, 0] == ROW_LIMIT * (cells.WIDEST - 1)
    assert ROW_LIMIT * (cells.WIDEST - 1) < 2**63
    with pytest.raises(OverflowError, match="at most 2\\^36 rows; got 68,719,476,737"):
        big + big + calcert.summarize([0.5], [1])


def test_the_text_form_says_how_many_rows_and_what_they_are_like() -> None:
    text = str(calcert.summarize([0.25, 0.25, 0.75, 1.0], [0, 1, 1, 1]))
    assert text == "Summary of 4 rows: base rate 0.7500, mean score 0.5625, 3 cells, 3 distinct scores"
    assert "over 4,096 distinct scores" in repr(spread(5000))
    assert "5,000 rows" in repr(spread(5000))
