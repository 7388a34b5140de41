"""What a Summary knows of clusters and weights: sums that are exact, add up, travel, and cannot be mixed or forged."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calcert
from calcert import Summary
from calcert.summary import saved
from calcert.summary.clusters import SUMS, clusters_from_sums, powers_in_parts, refuse_heavy
from calcert.summary.consistency import check_clusters
from calcert.summary.design import GAIN, Design
from tests.lab.clusters import units_of

rows = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 1), st.integers(0, 5), st.integers(1, 10**6)), min_size=1, max_size=30
)
ROWS = ([0.2, 0.25, 0.7, 0.7, 1.0], [0, 1, 1, 0, 1])
CLUSTERS, WEIGHTS = ["a", "b", "a", "c", "b"], [3, 1, 4, 1, 5]


def by_hand(
    x: list[float], y: list[int], cluster: list[object], weight: list[int]
) -> dict[object, tuple[int, Fraction]]:
    """W and R of every cluster, by loops over fractions."""
    found: dict[object, tuple[int, Fraction]] = {}
    for score, label, name, w in zip(x, y, cluster, weight, strict=True):
        size, gain = found.get(name, (0, Fraction(0)))
        found[name] = size + w, gain + w * abs(label - Fraction(score))
    return found


@given(rows)
def test_sums_over_units_are_exact_and_gains_are_rounded_up_by_little(lines: list[tuple[float, int, int, int]]) -> None:
    x, y, cluster, weight = map(list, zip(*lines, strict=True))
    clusters = units_of(calcert.summarize(x, y, clusters=cluster, weights=weight, largest_weight=10**9))
    wanted = list(by_hand(x, y, cluster, weight).values())
    assert clusters.number == len(wanted)
    assert clusters.largest == max(size for size, _ in wanted)
    assert clusters.squares == sum(size**2 for size, _ in wanted)
    assert clusters.fourth == sum(size**4 for size, _ in wanted)
    for found, power in ((clusters.gain_squares / Fraction(GAIN) ** 2, 2), (clusters.gain_weights / Fraction(GAIN), 1)):
        least = sum(gain**power * size ** (2 - power) for size, gain in wanted)
        most = sum((gain + Fraction(size, GAIN)) ** power * size ** (2 - power) for size, gain in wanted)
        assert least <= found <= most


def test_pairs_are_the_weight_of_each_row_times_that_of_its_cluster() -> None:
    summary = calcert.summarize(*ROWS, clusters=CLUSTERS, weights=WEIGHTS)
    assert units_of(summary).pairs.tolist() == [[3 * 7, 0], [0, 1 * 6], [1 * 1, 4 * 7], [0, 5 * 6]]
    assert summary.count.tolist() == [[3, 0], [0, 1], [1, 4], [0, 5]]
    assert (summary.rows, summary.n) == (5, 14)


@given(st.lists(st.tuples(st.integers(1, 2**31 - 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_parts_of_powers_meet_again_even_if_an_engine_divides_doubles(clusters: list[tuple[int, float]]) -> None:
    sizes = [size for size, _ in clusters]
    gains = [int(size * GAIN * share) for size, share in clusters]
    for shift in (lambda value, bits: value >> bits, lambda value, bits: int(float(value) / 2**bits + 0.5)):
        split = [powers_in_parts(size, gain, shift) for size, gain in zip(sizes, gains, strict=True)]
        assert all(abs(part) < 2**62 for unit in split for part in unit.values())
        sums = {name: sum(unit[name] for unit in split) for name in SUMS[3:]}
        sums |= {"number": len(clusters), "largest": 1, "largest_gain": 0}
        pairs = np.array([[sum(size**2 for size in sizes) % 2**61, 0]])
        sums |= {"square_high": int(pairs.sum()) >> 31, "square_low": int(pairs.sum()) % 2**31}
        found = clusters_from_sums(sums, pairs, len(clusters), Design(clustered=True))
        assert found.fourth == sum(size**4 for size in sizes)
        assert found.gain_squares == sum(gain**2 for gain in gains)
        assert found.gain_weights == sum(gain * size for size, gain in zip(sizes, gains, strict=True))


def test_clusters_and_their_design_are_saved() -> None:
    clustered = calcert.summarize(*ROWS, clusters=CLUSTERS, weights=WEIGHTS, weight_unit=0.5)
    declared = calcert.summarize(*ROWS, weights=WEIGHTS, largest_weight=10, largest_gain=9)
    paired = calcert.summarize(*ROWS, clusters=CLUSTERS, pair_sums=True)
    for summary in (clustered, declared, paired, calcert.summarize(*ROWS, soft_labels=True)):
        back = Summary.from_bytes(summary.to_bytes())
        assert back == summary
        assert units_of(back).design == units_of(summary).design
    assert clustered != calcert.summarize(*ROWS, clusters=CLUSTERS, weights=WEIGHTS, weight_unit=0.25)


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 1), (1, 0), (1, 6), (2, 6), (2, 2**31), (3, 1), (6, 10**15), (9, 1), (12, 8), (13, 0)],
)
def test_sums_that_no_units_have_are_refused(place: int, value: int) -> None:
    summary = calcert.summarize(*ROWS, clusters=CLUSTERS, weights=WEIGHTS)
    values = units_of(summary).to_array()
    values[place] = value
    arrays = summary._arrays() | {"clusters": values}
    with pytest.raises(ValueError, match=r"is damaged: .*clusters"):
        Summary.from_bytes(saved.to_bytes(arrays))


def test_pairs_that_do_not_fit_their_cells_are_refused() -> None:
    summary = calcert.summarize(*ROWS, clusters=CLUSTERS, weights=WEIGHTS)
    for pairs in (units_of(summary).pairs * 0, units_of(summary).pairs * 100, units_of(summary).pairs[:2]):
        with pytest.raises(ValueError, match="pairs must"):
            check_clusters(replace(units_of(summary), pairs=np.ascontiguousarray(pairs)), summary.count)


def test_only_what_is_alike_is_added() -> None:
    plain, weighted = calcert.summarize(*ROWS), calcert.summarize(*ROWS, weights=WEIGHTS)
    others = [
        calcert.summarize(*ROWS, weights=WEIGHTS, weight_unit=0.5),
        calcert.summarize(*ROWS, weights=WEIGHTS, largest_weight=10),
        calcert.summarize(*ROWS, soft_labels=True),
        plain,
    ]
    for other in others:
        with pytest.raises(ValueError, match="of one kind"):
            weighted + other
    clustered, soft = calcert.summarize(*ROWS, clusters=CLUSTERS), calcert.summarize(*ROWS, soft_labels=True)
    with pytest.raises(ValueError, match="got rows with clusters=clusters and plain rows"):
        clustered + plain
    with pytest.raises(ValueError, match=r"\(in units of 1/12600 and 1/2\)"):
        soft + calcert.summarize(*ROWS, soft_labels=True, weight_unit=0.5)
    whole = calcert.summarize([*ROWS[0], 0.5], [*ROWS[1], 1], weights=[*WEIGHTS, 2])
    assert weighted + calcert.summarize([0.5], [1], weights=[2]) == whole
    assert sum([weighted, Summary.empty()]) == Summary.empty() + weighted == weighted


def test_clusters_are_added_only_by_those_who_say_that_none_is_in_both() -> None:
    one = calcert.summarize(*ROWS, clusters=CLUSTERS)
    two = calcert.summarize([0.5, 0.7], [1, 1], clusters=["x", "x"])
    with pytest.raises(ValueError, match=r"one.plus\(other, disjoint=True\)"):
        one + two
    with pytest.raises(ValueError, match="disjoint must be True"):
        one.plus(two, disjoint=False)
    whole = calcert.summarize([*ROWS[0], 0.5, 0.7], [*ROWS[1], 1, 1], clusters=[*CLUSTERS, "x", "x"])
    assert one.plus(two, disjoint=True) == whole
    assert one.plus(Summary.empty(), disjoint=True) == Summary.empty().plus(one, disjoint=True) == one


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "weights"},
        {"clusters": "clusters"},
        {"clusters": "clusters", "weights": "weights", "pair_sums": True},
    ],
)
@pytest.mark.parametrize("scores", [20, 5_000])
def test_many_summaries_add_up_at_once(options: dict[str, Any], scores: int) -> None:
    rng = np.random.default_rng(scores)
    x, y = rng.integers(0, scores, 6_000) / scores, rng.integers(0, 2, 6_000)
    columns = {"weights": rng.integers(1, 4, x.size), "clusters": np.arange(x.size) // 10}

    def of(rows: slice) -> Summary:
        given: Any = {name: columns[name][rows] if name in columns else value for name, value in options.items()}
        return calcert.summarize(x[rows], y[rows], **given)

    first, *others = [of(slice(start, start + 30)) for start in range(0, x.size, 30)]
    assert first.plus(*others, Summary.empty(), disjoint=True) == of(slice(None))


def test_a_small_part_costs_little_beside_a_large_one() -> None:
    rng = np.random.default_rng(0)
    large = calcert.summarize(rng.random(500_000) ** 5, rng.random(500_000) < 0.5)
    small = [calcert.summarize(rng.random(50), rng.random(50) < 0.5) for _ in range(100)]
    start = time.process_time()
    one_by_one = sum(small, large)
    middle = time.process_time()
    assert large.plus(*small, disjoint=True) == one_by_one
    assert time.process_time() - middle < (middle - start) / 4


def test_what_is_proved_for_plain_rows_alone_refuses_units() -> None:
    summary = calcert.summarize(*ROWS, clusters=CLUSTERS)
    for function in (
        calcert.bounds.squared,
        calcert.curves.monotone_band,
        calcert.bounds.worst_range,
        calcert.bounds.sides,
    ):
        with pytest.raises(ValueError, match="independent rows of equal weight; got 5 rows in 3 clusters"):
            function(summary)


def test_weights_too_heavy_for_64_bits_are_refused() -> None:
    sums = dict.fromkeys(SUMS, 0) | {"largest": 2**31}
    with pytest.raises(OverflowError, match="larger weight_unit"):
        refuse_heavy(sums, Design(weighted=True))
