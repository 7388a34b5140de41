"""Compiled kernels for clusters and weights against the Python they were written in, on the same input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calcert.sources import count_numba, weighed_numba
from calcert.sources.cluster_names_numba import move_names, number_names
from calcert.summary import cells

RNG = np.random.default_rng(0)
N = 400
SCORES = np.concatenate([[0.0, 1.0, 0.5, 2**-20, 5e-324, 1 - 2**-53], RNG.beta(0.2, 0.4, N - 6)])
LABELS = RNG.integers(0, 2, N)
IDS = RNG.choice([-(2**63), 2**63 - 1, -1, 0, *RNG.integers(-(2**63), 2**63 - 1, 60)], N)
WEIGHTS = {"plain": np.zeros(0, np.int64), "weighted": RNG.integers(1, 9, N)}


def both(kernel: Any, *arguments: Any) -> tuple[list[Any], list[Any]]:
    """What a kernel returns and what it made of its arguments, compiled and interpreted."""
    found: list[list[Any]] = []
    for run in (kernel, kernel.py_func):
        copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        with np.errstate(over="ignore"):
            found.append([run(*copies), *copies])
    return found[0], found[1]


def same(one: list[Any], two: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True) if a is not None)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rows_are_placed_sorted_added_and_paired_alike(weights: str) -> None:
    weight = WEIGHTS[weights]
    table, slot = np.zeros((2 * cells.CELLS, 2), np.int64), np.empty(N, np.int64)
    placed, interpreted = both(weighed_numba.place_rows, SCORES, LABELS, weight, table, slot)
    assert same(placed, interpreted)
    slot = placed[5]
    empty = [np.empty(size, np.int64) for size in (N, N, weight.size)]
    sorted_out, interpreted = both(weighed_numba.sort_out, IDS, SCORES, slot, weight, *empty)
    assert same(sorted_out, interpreted)
    ends, key, what, heavy = sorted_out[0], *sorted_out[5:]
    assert ends[-1] == N
    for part in range(weighed_numba.PARTS):
        here = slice(ends[part], ends[part + 1])
        assert {int(weighed_numba.mixed(value)) >> 58 for value in key[here]} <= {part}
    for room in (128, 32):  # There are 64 clusters, and then too many of them.
        arguments = key, what, heavy, np.zeros((room, 3), np.int64), np.empty(N, np.int64)
        added, interpreted = both(weighed_numba.add_up, *arguments)
        assert added[0] == interpreted[0] == (np.unique(IDS).size if room == 128 else -1)
        if room == 128:
            assert same(added, interpreted)
            assert same(
                *both(weighed_numba.pair_up, added[5], what, heavy, added[4], np.zeros(2 * cells.CELLS, np.int64))
            )


def test_every_bit_of_a_key_is_mixed_in_and_nothing_is_lost() -> None:
    keys = np.array([-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1])
    with np.errstate(over="ignore"):
        assert [weighed_numba.mixed(key) for key in keys] == [weighed_numba.mixed.py_func(key) for key in keys]
    flipped = [
        int(weighed_numba.mixed(np.int64(0))) ^ int(weighed_numba.mixed(np.int64(1) << bit)) for bit in range(64)
    ]
    assert len(set(flipped)) == 64


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("limit", [10_000, 100])
def test_distinct_scores_are_tallied_alike(weights: str, limit: int) -> None:
    keys, counts = np.full(count_numba.SLOTS, -1, np.int64), np.zeros(2 * count_numba.SLOTS, np.int64)
    one, two = both(
        weighed_numba.tally_weights, SCORES.view(np.int64), LABELS, WEIGHTS[weights], keys, counts, 0, limit
    )
    assert same(one, two)
    assert (one[0] == -1) == (limit == 100)


def test_names_are_numbered_alike_and_in_the_order_in_which_they_come() -> None:
    names = [f"user {number}" for number in RNG.integers(0, 50, 300)] + ["", "a", "a\x00", "é"]
    text = np.frombuffer("".join(names).encode(), np.uint8)
    ends = np.cumsum([0, *(len(name.encode()) for name in names)])
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    for room in (128, 32):  # There are 54 names, and then too many of them.
        table, known, known_ends = np.zeros((room, 2), np.int64), np.zeros(10_000, np.uint8), np.zeros(200, np.int64)
        one, two = both(number_names, text, ends, table, known, known_ends, 0, np.zeros(len(names), np.int64))
        assert same(one[1:], two[1:])
        assert one[0] == two[0]
        if room == 128:
            assert one[0] == (len(names), len(order))
            assert one[7].tolist() == [order[name] for name in names]
            assert bytes(one[4]).startswith("".join(order).encode())
            larger, interpreted = both(move_names, one[3], np.zeros((256, 2), np.int64))
            assert same(larger[1:], interpreted[1:])
            assert set(larger[2][:, 1]) == set(range(len(order) + 1))
        else:
            assert one[0][1] == 24
