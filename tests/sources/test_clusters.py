"""Compiled kernels for clusters and their names against the Python they were written in, on the same input."""

from __future__ import annotations

import numpy as np
import pytest

from calcert.kernels.clusters import PARTS, add_up, mixed, move_names, number_names, pair_up, place_rows, sort_out
from calcert.summary import cells
from tests.as_python import as_python
from tests.sources.compiled_and_interpreted import both, same

RNG = np.random.default_rng(0)
N = 400
SCORES = np.concatenate([[0.0, 1.0, 0.5, 2**-20, 5e-324, 1 - 2**-53], RNG.beta(0.2, 0.4, N - 6)])
LABELS = RNG.integers(0, 2, N)
IDS = RNG.choice([-(2**63), 2**63 - 1, -1, 0, *RNG.integers(-(2**63), 2**63 - 1, 60)], N)
WEIGHTS = {"plain": np.zeros(0, np.int64), "weighted": RNG.integers(1, 9, N)}


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rows_are_sorted_added_and_paired_alike(weights: str) -> None:
    weight = WEIGHTS[weights]
    table, slot = np.zeros((2 * cells.CELLS, 2), np.int64), np.empty(N, np.int64)
    place_rows(SCORES, LABELS, weight, table, slot)
    empty = [np.empty(size, np.int64) for size in (N, N, weight.size)]
    sorted_out, interpreted = both(sort_out, IDS, SCORES, slot, weight, *empty)
    assert same(sorted_out, interpreted)
    ends, key, what, heavy = sorted_out[0], *sorted_out[5:]
    assert ends[-1] == N
    for part in range(PARTS):
        here = slice(ends[part], ends[part + 1])
        assert {int(mixed(value)) >> 58 for value in key[here]} <= {part}
    for room in (128, 32):  # There are 64 clusters, and then too many of them.
        arguments = key, what, heavy, np.zeros((room, 3), np.int64), np.empty(N, np.int64)
        added, interpreted = both(add_up, *arguments)
        assert added[0] == interpreted[0] == (np.unique(IDS).size if room == 128 else -1)
        if room == 128:
            assert same(added, interpreted)
            assert same(*both(pair_up, added[5], what, heavy, added[4], np.zeros(2 * cells.CELLS, np.int64)))


def test_every_bit_of_a_key_is_mixed_in_and_nothing_is_lost() -> None:
    keys = np.array([-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1])
    with np.errstate(over="ignore"):
        assert [mixed(key) for key in keys] == [as_python(mixed)(key) for key in keys]
    flipped = [mixed(0) ^ mixed(int(np.int64(1) << bit)) for bit in range(64)]
    assert len(set(flipped)) == 64


def test_names_are_numbered_alike_and_in_the_order_in_which_they_come() -> None:
    rng = np.random.default_rng(0)
    names = [f"user {number}" for number in rng.integers(0, 50, 300)] + ["", "a", "a\x00", "é"]
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
