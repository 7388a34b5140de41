"""Signs with few changes: dynamic programming finds what trying all of them finds."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.certificates.sign_changes import best_signs, most_gained
from tests.lab.sums import most_under_signs

Floats = NDArray[np.float64]
Kernel = Callable[[Any], Callable[..., Any]]
KERNELS: list[Kernel] = [lambda kernel: kernel, lambda kernel: kernel.py_func]
"""As compiled, and as written."""


def all_signs(values: Floats, changes: int) -> float:
    """The most that signs with at most so many changes gain, by trying them all."""
    return max(
        float(np.dot(signs, values))
        for signs in itertools.product((1, -1), repeat=values.size)
        if np.count_nonzero(np.diff(signs)) <= changes
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("changes", range(6))
def test_dynamic_programming_is_as_good_as_trying_all_signs(changes: int, kernel: Kernel) -> None:
    rng = np.random.default_rng(changes)
    for _ in range(40):
        net = rng.normal(size=rng.integers(1, 9)) * (rng.random() < 0.9)
        net[rng.random(net.size) < 0.2] = 0.0
        best = all_signs(net, changes)
        assert most_under_signs(net.tolist(), changes) == pytest.approx(best, abs=1e-12)
        assert kernel(most_gained)(net, np.abs(net), changes) == pytest.approx(best, abs=1e-12)
        signs = kernel(best_signs)(net, changes)
        assert set(np.abs(signs)) == {1}
        assert np.count_nonzero(np.diff(signs)) <= changes
        assert signs @ net == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("changes", range(5))
def test_rows_of_a_cell_in_their_worst_order_gain_what_is_charged(changes: int, kernel: Kernel) -> None:
    rng = np.random.default_rng(changes)
    for _ in range(20):
        cells = [rng.normal(size=rng.integers(1, 4)) for _ in range(rng.integers(1, 4))]
        worst = max(
            all_signs(np.concatenate(order), changes)
            for order in itertools.product(*map(itertools.permutations, cells))
        )
        net, inside = (np.array([f(cell) for cell in cells]) for f in (np.sum, lambda cell: np.abs(cell).sum()))
        assert kernel(most_gained)(net, inside, changes) == pytest.approx(worst, abs=1e-12)


def test_points_without_rows_have_no_say_in_where_signs_change() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        net = rng.normal(size=6)
        filled = np.zeros(18)
        filled[places := np.sort(rng.choice(18, 6, replace=False))] = net
        alone, among = best_signs(net, 2), best_signs(filled, 2)
        assert (among[places] == alone).all()
        # They change right after a point with rows, wherever the next one is.
        assert set(np.flatnonzero(np.diff(among))) <= set(places)
