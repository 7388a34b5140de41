"""Claims about the Nadaraya-Watson smoother."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calcert.kernels import windows
from calcert.published.perturb_and_smooth import smooth
from tests.as_python import as_python, python_module
from tests.published import literal_reading

PYTHON = python_module("windows")


def literal(scores, labels, points, window):
    rows = []
    for point in points:
        w = literal_reading.weights(scores, point, window)
        distance = np.abs(point - scores)
        rows.append((w @ labels, w @ distance, w @ distance**2, w @ w))
    return np.array(rows).reshape(-1, 4)


def assert_literal(scores, labels, points, window):
    fit = np.stack(smooth(scores, labels, points, window), axis=1)
    np.testing.assert_allclose(fit, literal(scores, labels, points, window), rtol=1e-10, atol=1e-15)


def data(n, seed, shape="even"):
    rng = np.random.default_rng(seed)
    scores = {
        "even": lambda: rng.random(n),
        "crowded": lambda: rng.random(n) ** 12,
        "tied": lambda: rng.integers(0, 200, n) / 200,
        "one": lambda: np.full(n, 0.3),
    }[shape]()
    return np.sort(scores), rng.integers(0, 2, n).astype(np.int8)


@pytest.mark.parametrize("shape", ["even", "crowded", "tied", "one"])
@pytest.mark.parametrize("window", [1e-4, 0.003, 0.02, 0.25])
def test_equals_the_formula(shape, window):
    scores, labels = data(3000, 1, shape)
    points = np.sort(np.concatenate([[0.0, 1.0], np.random.default_rng(2).random(60), scores[::100]]))
    assert_literal(scores, labels, points, window)


@pytest.mark.parametrize("shape", ["even", "crowded", "tied"])
def test_equals_the_formula_where_windows_hold_many_nodes(shape):
    scores, labels = data(60_000, 3, shape)
    points = np.sort(np.random.default_rng(4).random(12))
    assert_literal(scores, labels, points, 0.2)


@given(
    st.lists(st.tuples(st.integers(0, 64), st.integers(0, 1)), min_size=1, max_size=40),
    st.lists(st.integers(0, 128), max_size=10),
    st.sampled_from([1 / 64, 1 / 16, 1 / 5]),
)
def test_equals_the_formula_for_scores_on_a_grid(rows, points, window):
    rows = sorted(rows)
    scores = np.array([s for s, _ in rows]) / 64
    labels = np.array([y for _, y in rows], np.int8)
    assert_literal(scores, labels, np.sort(np.array(points, float)) / 128, window)


def test_equally_near_neighbours_share_the_weight():
    scores, labels = np.array([0.25, 0.25, 0.75]), np.array([0, 1, 1], np.int8)
    fit = smooth(scores, labels, np.array([0.5]), 0.125)
    assert fit.curve[0] == pytest.approx(2 / 3)
    assert fit.distance[0] == 0.25
    assert fit.concentration[0] == pytest.approx(1 / 3)


def test_weights_at_the_very_edge_of_the_window_do_not_vanish_together():
    # 1 - v^2 rounds to zero for the only row in the window: the nearest neighbour stands in.
    window = 0.25
    scores, labels = np.array([0.25 * (1 - 2**-54)]), np.ones(1, np.int8)
    fit = smooth(scores, labels, np.zeros(1), window)
    assert fit.curve[0] == 1
    assert fit.concentration[0] == 1


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_series_of_a_node_errs_by_less_than_it_says_at_its_worst_row(end):
    # One row at the end of the largest node that may be used at v: all its moments are 1 or -1.
    record = np.empty(windows.RECORD)
    record[PYTHON._ALL :] = np.tile(end ** np.arange(PYTHON._TERMS + 2), 2)
    for v in np.linspace(0, 0.99, 200):
        radius = min(v, (1 - v) / PYTHON._REACH)
        out = np.zeros(5)
        windows._add_node(record, v, -radius, out)
        at = v - radius * end
        w = (1 - at**2) ** 1.2
        np.testing.assert_allclose(out, [w, w, w * at, w * at**2, w * w], rtol=4.1e-11, atol=1e-16)


def test_no_points_give_no_answers():
    scores, labels = data(10, 5)
    assert smooth(scores, labels, np.empty(0), 0.1).curve.size == 0


def test_kernels_equal_their_python_source():
    scores, labels = data(1500, 6, "tied")
    points = np.sort(np.random.default_rng(7).random(5))
    leaves = -(-scores.size // windows.LEAF)
    tree = np.zeros((2 * leaves, windows.RECORD))
    plain = tree.copy()
    windows.plant_leaves(scores, labels, tree)
    as_python(windows.plant_leaves)(scores, labels, plain)
    np.testing.assert_allclose(tree, plain, rtol=1e-12, atol=1e-12)
    half = (leaves + 1) // 2
    windows.plant_parents(tree, 0, leaves, half)
    as_python(windows.plant_parents)(plain, 0, leaves, half)
    np.testing.assert_allclose(tree, plain, rtol=1e-12, atol=1e-12)
    offsets = np.array([0, leaves, leaves + half])
    sums, other = np.empty((5, 5)), np.empty((5, 5))
    windows.sum_windows(scores, labels, points, 0.4, tree, offsets, sums)
    as_python(windows.sum_windows)(scores, labels, points, 0.4, tree, offsets, other)
    np.testing.assert_allclose(sums, other, rtol=1e-12)

    out, same = np.zeros(5), np.zeros(5)
    windows._add_node(tree[1], 0.3, -0.1, out)
    as_python(windows._add_node)(tree[1], 0.3, -0.1, same)
    np.testing.assert_allclose(out, same, rtol=1e-12)
    buffer = np.empty((4, windows.LEAF))
    rest = scores[60], 0.3, buffer, buffer.view(np.uint64)
    windows._add_rows_of_window(scores, labels, 40, 90, *rest, out)
    as_python(windows._add_rows_of_window)(scores, labels, 40, 90, *rest, same)
    np.testing.assert_allclose(out, same, rtol=1e-12)

    empty = np.arange(5)
    windows.nearest(scores, labels, points, 0.01, empty, sums)
    as_python(windows.nearest)(scores, labels, points, 0.01, empty, other)
    np.testing.assert_array_equal(sums, other)
    for end in (-1.0, 1.0):
        for x in points:
            assert windows._advance(scores, 3, x, 0.1, end) == as_python(windows._advance)(scores, 3, x, 0.1, end)
            assert windows._before(0.5, x, 0.1, end) == as_python(windows._before)(0.5, x, 0.1, end)
