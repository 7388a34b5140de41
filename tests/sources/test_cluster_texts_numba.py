"""The compiled table of names against the Python it was written in, on the same input."""

from __future__ import annotations

import numpy as np

from calcert.sources.units.cluster_texts_numba import move_names, number_names
from tests.sources.compiled_and_interpreted import both, same


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
