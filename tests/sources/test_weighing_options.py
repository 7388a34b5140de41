"""Columns in memory with clusters, weights, counts or shares for labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import calcert
from calcert.sources.clusters.weighed_arrays import Weigher
from calcert.sources.clusters.weighing_options import Weighing
from tests.lab.clusters import units_of

RNG = np.random.default_rng(0)
X, Y = [0.2, 0.25, 0.7, 0.7, 1.0], [0, 1, 1, 0, 1]


def test_one_row_a_cluster_of_weight_one_has_the_counts_of_plain_rows() -> None:
    plain, clustered = calcert.summarize(X, Y), calcert.summarize(X, Y, clusters=range(5))
    for name in ("cell", "count", "offset", "distinct", "distinct_count"):
        assert np.array_equal(getattr(plain, name), getattr(clustered, name))
    assert np.array_equal(units_of(clustered).pairs, plain.count)
    assert plain.clusters is None


def test_clusters_may_be_called_anything_and_come_from_any_library() -> None:
    wanted = calcert.summarize(X, Y, clusters=[7, 3, 7, 1, 3])
    for clusters in (
        ["b", "a", "b", "c", "a"],
        [1.5, 2.5, 1.5, 0.5, 2.5],
        np.array([b"b", b"a", b"b", b"c", b"a"]),
        [(1, 2), (1, 3), (1, 2), (2, 2), (1, 3)],
        pandas.Series(["b", "a", "b", "c", "a"]),
        pandas.Series(["b", "a", "b", "c", "a"], dtype="category"),
        polars.Series(["b", "a", "b", "c", "a"]),
    ):
        assert calcert.summarize(X, Y, clusters=clusters) == wanted


def test_weights_are_whole_multiples_of_their_unit() -> None:
    summary = calcert.summarize(X, Y, weights=[0.1, 0.2, 0.30000000000000004, 0.4, 0.5], weight_unit=0.1)
    assert summary.count.sum() == 15
    assert summary == calcert.summarize(X, Y, weights=[0.1, 0.2, 0.3, 0.4, 0.5], weight_unit=0.1)


def test_a_row_of_weight_zero_is_a_row_and_no_unit() -> None:
    summary = calcert.summarize(X, Y, weights=[1, 0, 1, 2, 1])
    assert (summary.rows, units_of(summary).number) == (5, 4)
    assert 0.25 not in summary.values


def test_counts_are_plain_rows() -> None:
    assert calcert.summarize([0.25, 0.5], [1, 0], counts=[3, 2]) == calcert.summarize(
        [0.25] * 3 + [0.5] * 2, [1] * 3 + [0] * 2
    )


def test_shares_for_labels_are_a_row_of_either_label() -> None:
    summary = calcert.summarize([0.25, 0.5, 0.5], [1 / 3, 0.5, 1.0], soft_labels=True)
    assert summary.count.tolist() == [[8400, 4200], [6300, 6300 + 12_600]]
    assert (summary.rows, units_of(summary).number, units_of(summary).largest) == (3, 3, 12_600)
    assert calcert.summarize([0.25, 0.5], [0.0, 0.0], soft_labels=True).base_rate == 0
    whole = calcert.summarize(X, Y, soft_labels=True)
    assert np.array_equal(whole.count, 12_600 * calcert.summarize(X, Y).count)


def test_shares_with_two_to_six_decimals_are_exact_and_others_name_the_rounding() -> None:
    shares = [k / 100 for k in range(101)]
    found = calcert.summarize([0.5] * 101, shares, soft_labels=True)
    assert found.count.tolist() == [[126 * sum(range(101))] * 2]
    for share, whole in ((0.123, 126_000), (0.1234, 1_260_000), (0.12347, 12_600_000), (0.123457, 126_000_000)):
        found = calcert.summarize([0.5] * 2, [1 / 3, share], soft_labels=True)
        ones = round(whole / 3 + whole * share)
        assert found.count.tolist() == [[2 * whole - ones, ones]]
        assert units_of(found).design.quantum == 1 / whole
    with pytest.raises(ValueError, match=r"1/12600; got 0\.12345678 at row 1\. .* purpose: numpy\.round\(labels, 4\)"):
        calcert.summarize([0.5] * 2, [0.5, 0.12345678], soft_labels=True)
    assert calcert.summarize([0.5] * 2, [0.5, 0.123], soft_labels=True, weight_unit=0.001).count.tolist() == [
        [1377, 623]
    ]


def test_shares_are_counted_alike_wherever_the_first_long_one_stands(tmp_path: Path) -> None:
    x, y = RNG.random(300), np.round(RNG.random(300), 2)
    y[-1] = 0.1234
    exact = calcert.summarize(x, y, soft_labels=True, weight_unit=1 / 1_260_000)
    assert calcert.summarize(x, y, soft_labels=True) == exact
    assert calcert.summarize(x[::-1], y[::-1], soft_labels=True) == exact
    bounds = [calcert.bounds.distance(summary).upper for summary in (exact, calcert.summarize(x, y, soft_labels=True))]
    assert bounds[0] == bounds[1]
    weigher = Weigher(Weighing(soft_labels=True))
    for start in range(0, 300, 7):
        weigher.add(x[start : start + 7], y[start : start + 7], {})
    assert weigher.summary() == exact
    file = tmp_path / "judged.csv"
    lines = (f"{score!r},{share!r},{row % 3}\n" for row, (score, share) in enumerate(np.stack([x, y], axis=1).tolist()))
    file.write_text("p,y,g\n" + "".join(lines))
    rows = calcert.Rows(str(file), score="p", label="y", soft_labels=True)
    assert calcert.summarize(rows) == exact
    parts = calcert.certify(replace(rows, groups="g"))
    assert len({group.summary.clusters.design for group in parts.groups.values()}) == 1


def test_many_shares_with_many_decimals_do_not_fit_and_are_refused() -> None:
    shares = np.full(400, 0.123456)
    with pytest.raises(ValueError, match=r"labels must be whole multiples of weight_unit = 1/12600"):
        calcert.summarize(np.full(400, 0.5), shares, soft_labels=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, 2, 3, 4]}, "weights must be as long as scores; got 4 weights and 5 scores"),
        ({"weights": [1, 2, -3, 4, 5]}, "weights must be finite and not negative; got -3 at row 2"),
        ({"weights": [1, 2, np.inf, 4, 5]}, "weights must be finite and not negative; got inf at row 2"),
        ({"weights": [0, 0, 0, 0, 0]}, "weights must not all be zero"),
        ({"weights": [1, 2, 0.25, 4, 5]}, r"whole multiples of weight_unit = 1; got 0.25 at row 2"),
        ({"weights": [1, 2, 3, 4, 2**40]}, r"weights must add up to at most 2\^36"),
        ({"clusters": ["a", "b", None, "a", "b"]}, "clusters must have no missing values; got one at row 2"),
        ({"clusters": [1.0, 2.0, np.nan, 1.0, 2.0]}, "clusters must have no missing values; got one at row 2"),
        ({"counts": [1, 2, 3, 4, 0.5]}, "counts must be whole numbers; got 0.5 at row 4"),
        ({"weights": [1, 2, 3, 4, 5], "largest_weight": 4}, "largest_weight must bound the weight of all rows"),
        ({"clusters": [1, 1, 1, 2, 2], "largest_weight": 2}, "largest_weight must bound the weight of all clusters"),
        ({"weights": [1, 2, 3, 4, 5], "largest_weight": 9, "largest_gain": 1}, "largest_gain must bound"),
        ({"weights": [1, 2, 3, 4, 5], "largest_weight": 0}, "largest_weight must be a positive number"),
        ({"soft_labels": True, "weight_unit": 0.3}, "whole multiples of weight_unit = 0.3; got 1.0 at row 0"),
    ],
)
def test_what_cannot_be_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, OverflowError), match=message):
        calcert.summarize(X, Y, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"counts": [1] * 5, "clusters": [1] * 5}, "counts must stand alone"),
        ({"largest_weight": 5}, "largest_weight must come with weights or clusters"),
        ({"weights": [1] * 5, "largest_gain": 5}, "largest_gain must come with largest_weight"),
        ({"weight_unit": 0.5}, "weight_unit must come with weights or soft_labels"),
        ({"soft_labels": "yes"}, "soft_labels must be True or False"),
        ({"clusters": "user"}, "clusters must be an array as long as scores, as there is no table; got 'user'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        calcert.summarize(X, Y, **options)


def test_shares_without_the_option_are_refused_and_the_error_names_it() -> None:
    with pytest.raises(ValueError, match="pass soft_labels=True"):
        calcert.summarize([0.3, 0.6, 0.1], [0.5, 1, 0])
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 1\]; got 1.5 at row 0"):
        calcert.summarize([0.3], [1.5], soft_labels=True)


def test_weights_that_are_one_number_for_each_label_need_a_cap() -> None:
    labels = np.arange(100) % 2
    with pytest.raises(ValueError, match="pass largest_weight=10"):
        calcert.summarize(np.full(100, 0.5), labels, weights=np.where(labels, 1, 10))
    assert calcert.summarize(np.full(100, 0.5), labels, weights=np.where(labels, 1, 10), largest_weight=10).n == 550


def test_a_summary_takes_no_clusters() -> None:
    with pytest.raises(TypeError, match="clusters must come with rows; got a Summary"):
        calcert.summarize(calcert.summarize(X, Y), clusters=[1] * 5)
