"""Signs with few changes, and runs: one pass finds what trying all of them finds, and bets are on these."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates import crossings, cutoff
from calcert.certificates.witnesses.random_splits import middles, net_of, worst_gain
from calcert.kernels.signs import best_run, best_signs, furthest, most_gained
from tests.as_python import as_python
from tests.lab.sums import most_under_signs

Floats = NDArray[np.float64]
Kernel = Callable[[Any], Callable[..., Any]]
KERNELS: list[Kernel] = [lambda kernel: kernel, lambda kernel: as_python(kernel)]
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


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_best_run_is_the_best_of_all_runs_and_the_running_sum_goes_no_further(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        net = rng.normal(size=rng.integers(1, 9)) * (rng.random() < 0.9)
        runs = [net[i:j].sum() for i in range(net.size) for j in range(i, net.size + 1)]
        above, below = np.maximum(net, 0.0), np.maximum(-net, 0.0)
        assert kernel(furthest)(above, below, True) == pytest.approx((max(runs), -min(runs)), abs=1e-12)
        for side, best in ((1, max(runs)), (-1, -min(runs)), (0, max(np.abs(runs)))):
            first, stop, sign = kernel(best_run)(net, side)
            assert sign * net[first:stop].sum() == pytest.approx(best, abs=1e-12)
            assert side in (0, sign)


def test_a_witness_for_the_unmodified_classifier_promises_the_least_gain_in_the_cell() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(3000)
    points = calcert.summarize(x, x > 0.5).cell_points
    f = rng.uniform(-1, 1, points.low.size)
    promised = worst_gain(points, f)
    for share in (0.0, 0.4, 1.0):
        place = points.low + share * (points.high - points.low)
        given = f[:, None] * (place[:, None] - np.array([0, 1]))
        assert (promised <= given + 1e-15).all()
        assert (given - promised <= (points.high - points.low)[:, None] + 1e-15).all()


def test_bets_of_every_throw_are_on_what_the_rows_of_its_earlier_batches_suggest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    x = rng.random(400)
    summary = calcert.summarize(x, rng.random(400) < x**2)
    points, asked = middles(summary), dict[str, Any]()
    for module in (crossings, cutoff):
        monkeypatch.setattr(module, "lower_limit", lambda *given, splits, **_: asked.update(bet=given[3], rows=splits))

    def best_range(net: Floats) -> Floats:
        first, stop, sign = best_run(net, 0)
        return np.where((np.arange(net.size) >= first) & (np.arange(net.size) < stop), sign, 0.0)

    for lower, signs in (
        (lambda: crossings.crossings_lower(summary, 2, 0.05, 0), lambda net: best_signs(net, 2)),
        (lambda: cutoff.cutoff_lower(summary, 0.05, 0), best_range),
    ):
        lower()
        splits = asked["rows"].copy()
        splits[0, 0] = 0
        found = asked["bet"](splits)
        assert not found[0, 0].any(), "nothing is bet where nothing is known"
        for t, b in itertools.product(range(len(splits)), range(splits.shape[1] - 1)):
            known = splits[t, : b + 1].sum(axis=0)
            middle = (points.low + points.high) / 2
            net = middle * known.sum(axis=1) - known[:, 1]
            assert net_of(points, known) == pytest.approx(net, abs=1e-12)
            if known.any():
                assert (found[t, b] == worst_gain(points, signs(net_of(points, known)))).all()


def test_points_that_only_later_rows_fill_move_no_sign() -> None:
    """Sums that are rounded, as edges of no power of two give: where nothing is known nothing may change."""
    rng = np.random.default_rng(3)
    for _ in range(3_000):
        net = rng.choice([0.1, 0.2, -0.3, 0.3, -0.1, -0.2, 0.7, -0.7], 12)
        place = np.sort(rng.choice(40, 12, replace=False))
        among = np.zeros(40)
        among[place] = net
        for changes in (1, 2, 3):
            assert (best_signs(among, changes)[place] == best_signs(net, changes)).all()
