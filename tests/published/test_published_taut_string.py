"""Claims about the total-variation denoiser."""

from __future__ import annotations

import math
import time
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from calcert.kernels import strings
from calcert.published.total_variation import denoise, pieces
from tests.as_python import as_python
from tests.published import literal_reading

penalties = st.floats(1e-3, 1e3)
binary = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60)
real = st.lists(st.floats(-5, 5), min_size=1, max_size=60)


def paper_penalty(n: int) -> float:
    return math.sqrt(n * math.log(4 * (n - 1) / 0.0125) / 8)


def assert_optimal(y, v, penalty, tolerance):
    """The dual conditions: sums of residuals within the penalty, equal to it at jumps, zero at the end."""
    residual = np.cumsum(y - v)
    jump = np.diff(v)
    assert abs(residual[-1]) <= tolerance
    assert np.abs(residual[:-1]).max(initial=0) <= penalty + tolerance
    assert np.abs(residual[:-1][jump > 1e-9] + penalty).max(initial=0) <= tolerance
    assert np.abs(residual[:-1][jump < -1e-9] - penalty).max(initial=0) <= tolerance


def dual_solution(y, penalty):
    """By a bounded least-squares solver: v = y - D'u, |u| <= penalty."""
    difference = np.diff(np.eye(y.size), axis=0)
    fit = lsq_linear(difference.T, y, bounds=(-penalty, penalty), method="bvls", tol=1e-15)
    return y - difference.T @ fit.x


@given(st.one_of(binary, real), penalties)
def test_optimality_conditions_hold(y, penalty):
    assert_optimal(np.array(y), denoise(y, penalty), penalty, 1e-9)


@given(st.one_of(binary, real), penalties)
def test_solution_never_leaves_the_range_of_the_values(y, penalty):
    v = denoise(y, penalty)
    assert v.min() >= min(y) - 1e-12
    assert v.max() <= max(y) + 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_equals_quadratic_programming(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40) if seed % 2 else rng.integers(0, 2, 40).astype(float)
    for penalty in (0.01, 0.4, 2.0, 30.0):
        np.testing.assert_allclose(denoise(y, penalty), dual_solution(y, penalty), atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_box_of_the_published_problem_does_not_bind(seed):
    # Minimise with the box [0, 1] enforced, in v and in the positive and negative parts of its steps.
    y = np.random.default_rng(seed).integers(0, 2, 8).astype(float)
    n, penalty = y.size, 0.3
    equal = np.hstack([np.diff(np.eye(n), axis=0), -np.eye(n - 1), np.eye(n - 1)])
    boxed = minimize(
        lambda z: 0.5 * ((z[:n] - y) ** 2).sum() + penalty * z[n:].sum(),
        np.concatenate([np.full(n, 0.5), np.zeros(2 * (n - 1))]),
        jac=lambda z: np.concatenate([z[:n] - y, np.full(2 * (n - 1), penalty)]),
        bounds=[(0, 1)] * n + [(0, None)] * (2 * (n - 1)),
        constraints={"type": "eq", "fun": lambda z: equal @ z, "jac": lambda z: equal},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(denoise(y, penalty), boxed.x[:n], atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 1600])
def test_equals_dynamic_programming(n):
    rng = np.random.default_rng(n)
    y = (rng.random(n) < np.linspace(0, 1, n)).astype(float)
    for penalty in (0.1, 3.0, 17.0, 200.0):
        np.testing.assert_allclose(denoise(y, penalty), literal_reading.denoise(y, penalty), atol=1e-11)


@pytest.mark.parametrize("truth", ["line", "constant", "parabola", "waves", "rare"])
@pytest.mark.parametrize("penalty", [1e-3, 0.7, 20.0, 300.0, "paper", 1e9])
def test_optimality_conditions_hold_for_a_million_labels(truth, penalty):
    n = 1_000_000
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, n)
    eta = {
        "line": x,
        "constant": np.full(n, 0.5),
        "parabola": 4 * (x - 0.5) ** 2,
        "waves": 0.5 + 0.4 * np.sin(60 * x),
        "rare": np.full(n, 1e-3),
    }[truth]
    y = (rng.random(n) < eta).astype(np.int8)
    level = paper_penalty(n) if penalty == "paper" else penalty
    v = denoise(y, level)
    assert v.min() >= 0
    assert v.max() <= 1
    assert_optimal(y, v, level, 1e-4)


def test_rows_not_looked_at_make_no_difference(monkeypatch):
    rng = np.random.default_rng(5)
    y = (rng.random(20_000) < np.linspace(0, 1, 20_000)).astype(float)
    few = [denoise(y, penalty) for penalty in (9.0, 70.0, 500.0)]
    monkeypatch.setattr(import_module("calcert.published.total_variation"), "_ROUNDS", 0)
    for v, penalty in zip(few, (9.0, 70.0, 500.0), strict=True):
        np.testing.assert_array_equal(v, denoise(y, penalty))


def test_held_out_rows_make_no_difference():
    rng = np.random.default_rng(6)
    scores = np.sort(rng.integers(0, 900, 2000) / 900)
    labels = rng.integers(0, 2, 2000).astype(np.int8)
    fold = rng.integers(0, 3, 2000).astype(np.uint8)
    inside = fold != 2
    for penalty in (0.5, 8.0, 60.0):
        start, level = pieces(scores, labels, fold, 2, penalty)
        alone, same = pieces(scores[inside], labels[inside], fold[inside], 2, penalty)
        np.testing.assert_array_equal(scores[start], scores[inside][alone])
        np.testing.assert_array_equal(level, same)
        assert inside[start].all()


def test_rows_with_equal_scores_share_a_value_in_any_order():
    rng = np.random.default_rng(7)
    scores = np.sort(rng.integers(0, 12, 60) / 12)
    labels = rng.integers(0, 2, 60).astype(np.int8)
    nobody = np.zeros(60, np.uint8)
    shuffled = labels.copy()
    for score in np.unique(scores):
        tied = np.flatnonzero(scores == score)
        shuffled[tied] = labels[rng.permutation(tied)]
    for penalty in (0.2, 1.0, 5.0):
        start, level = pieces(scores, labels, nobody, 1, penalty)
        again, same = pieces(scores, shuffled, nobody, 1, penalty)
        np.testing.assert_array_equal(start, again)
        np.testing.assert_array_equal(level, same)
        assert all(start[j] == 0 or scores[start[j] - 1] < scores[start[j]] for j in range(start.size))
        # The published problem with the constraint that v is a function of the score: weights are numbers of rows.
        value, group, count = np.unique(scores, return_inverse=True, return_counts=True)
        root = np.sqrt(count)
        means = np.bincount(group, labels) / count
        difference = np.diff(np.eye(value.size), axis=0)
        dual = lsq_linear((difference / root).T, means * root, bounds=(-penalty, penalty), method="bvls", tol=1e-15)
        curve = means - difference.T @ dual.x / count
        np.testing.assert_allclose(np.repeat(level, np.diff(start, append=60)), curve[group], atol=1e-8)


def test_extreme_penalties():
    y = np.random.default_rng(8).normal(size=1000)
    np.testing.assert_array_equal(denoise(y, 0), y)
    np.testing.assert_allclose(denoise(y, 1e12), np.full(1000, y.mean()), atol=1e-12)
    np.testing.assert_allclose(denoise(y, 1e-9), y, atol=1e-8)
    np.testing.assert_array_equal(denoise([3.0] * 7, 2.0), [3.0] * 7)
    assert denoise([], 1.0).size == 0


@pytest.mark.parametrize(("values", "penalty"), [([[1.0]], 1.0), ([np.nan], 1.0), ([1.0], -1.0), ([1.0], np.inf)])
def test_bad_input_is_refused(values, penalty):
    with pytest.raises(ValueError, match=r"values must be|penalty must be"):
        denoise(values, penalty)


def test_kernels_equal_their_python_source():
    rng = np.random.default_rng(9)
    scores = np.sort(rng.integers(0, 300, 500) / 300)
    labels = rng.integers(0, 2, 500).astype(np.int8)
    fold = rng.integers(0, 4, 500).astype(np.uint8)
    marks = strings.marks_on_string(scores, 7)
    np.testing.assert_array_equal(marks, as_python(strings.marks_on_string)(scores, 7))
    width, total = both(strings.sums_below, labels, fold, 1, marks)
    opened = (rng.random(marks.size) < 0.4).astype(np.uint8)
    place, w, s = both(strings.obstacles, scores, labels, fold, 1, marks, width, total, opened)
    bend, height = both(strings.taut_string, w, s, 6.0)
    other = opened.copy()
    arguments = width, total, w[bend], s[bend] + height, 6.0
    assert strings.open_suspects(*arguments, opened) == as_python(strings.open_suspects)(*arguments, other)
    np.testing.assert_array_equal(opened, other)
    np.testing.assert_array_equal(
        strings.first_row(fold, 1, place[bend[:-1]]), as_python(strings.first_row)(fold, 1, place[bend[:-1]])
    )
    assert strings._turn(w, s, w, 1, 2, 3) == as_python(strings._turn)(w, s, w, 1, 2, 3)


def both(kernel, *arguments):
    compiled, plain = kernel(*arguments), as_python(kernel)(*arguments)
    for a, b in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(a, b)
    return compiled


def test_denoising_takes_less_than_three_sorts():
    n = 2_000_000
    rng = np.random.default_rng(10)
    scores = rng.random(n)
    ordered = np.sort(scores)
    labels = (rng.random(n) < ordered).astype(np.int8)
    nobody = np.zeros(n, np.uint8)

    def quickest(work):
        times = []
        for _ in range(3):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        return min(times)

    denoising = quickest(lambda: pieces(ordered, labels, nobody, 1, paper_penalty(n)))
    assert denoising < 3 * quickest(lambda: np.sort(scores))
