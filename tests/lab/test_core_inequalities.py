"""The inequality at the heart of each theorem, row by row and without chance.

End to end, slack hides errors. Here every step of a proof that can be checked on one data set is: what the program
computes is at least the average that the proof compares it with, for every labelling, and for the worst calibration
function or witness that could be found.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates import perturbed, squared
from calcert.certificates.bounded_variation import Groups, Rows, capped_groups, mean_apart, plug_in, variation_bias
from calcert.certificates.limits.sampling_term import brier
from calcert.certificates.lipschitz import lipschitz_bias
from calcert.perturbation import sech_kernel
from calcert.perturbation.noise import Noise

Floats = NDArray[np.float64]

SLACK = 4e-12
"""What the certificates add for rounding to 2^-40 and for sums: see the term `discretisation`."""

some_scores = st.lists(
    st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.1, 0.5, 0.5 + 2.0**-20, 1.0])), min_size=1, max_size=9
).map(sorted)


def forms(x: Floats, y: NDArray[np.int64]) -> list[Summary]:
    """The rows with their scores listed, and known only to their cells."""
    summary = calcert.summarize(x, y)
    return [summary, Summary(summary.cell, summary.count, summary.offset, None, None)]


def groups_of_rows(summary: Summary, groups: Groups, x: Floats) -> NDArray[np.int64]:
    """The group of each row."""
    point = np.searchsorted(summary.points.low, x, side="right") - 1
    return np.searchsorted(groups.start, point, side="right") - 1


@settings(max_examples=60)
@given(some_scores, st.data())
def test_plug_in_and_bias_exceed_the_linear_comparison_for_every_labelling(
    scores: list[float], data: st.DataObject
) -> None:
    """Theorem 2 (ii): R + bias >= mean of |x - eta| + s (y - eta), s fixed by the scores."""
    x = np.array(scores)
    values = data.draw(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), min_size=x.size, max_size=x.size))
    _, first = np.unique(x, return_index=True)
    eta = np.array(values)[first][np.searchsorted(x[first], x)]
    variation = max(float(np.abs(np.diff(eta[first])).sum()), 1e-9)
    cap = data.draw(st.sampled_from([1.0, 0.5, 0.3, 0.12]))
    plain_rate = data.draw(st.sampled_from([0.0, 0.5]))
    labellings = itertools.product((0, 1), repeat=x.size) if x.size <= 6 else np.eye(x.size, dtype=int)
    for labels in labellings:
        y = np.array(labels)
        for summary in forms(x, y):
            rows = Rows.of(summary.points)
            groups = capped_groups(rows, rows.mass, cap)
            if plain_rate:
                groups = Groups(groups.start, np.arange(groups.start.size) % 2 == 0)
            group = groups_of_rows(summary, groups, x)
            size = np.bincount(group)
            middle = (np.bincount(group, eta) / size)[group]
            slope = (np.bincount(group, np.sign(middle - x)) / size)[group]
            slope = np.where(groups.plain[group], 1 - 2 * x, slope)
            compared = (np.abs(x - eta) + slope * (y - eta)).mean()
            bias = variation_bias(rows, groups, variation)
            assert plug_in(summary.points, groups, x.size) + bias >= compared - SLACK
            assert brier(summary.points, x.size) >= ((y - x) ** 2).mean() - SLACK


@given(some_scores, st.floats(0.05, 6.0), st.data())
def test_variation_bias_exceeds_what_any_function_hides_inside_groups(
    scores: list[float], variation: float, data: st.DataObject
) -> None:
    """Theorem 2 (i), against jumps put inside the heaviest groups."""
    x = np.array(scores)
    y = np.zeros(x.size, np.int64)
    for summary in forms(x, y):
        rows = Rows.of(summary.points)
        groups = capped_groups(rows, rows.mass, data.draw(st.sampled_from([1.0, 0.5, 0.25])))
        group = groups_of_rows(summary, groups, x)
        hidden, left = 0.0, variation
        for b in sorted(set(group.tolist()), key=lambda b: -(group == b).sum()):
            inside = x[group == b]
            if groups.plain[b] or inside[0] == inside[-1]:
                continue
            jump = min(left, 1.0)
            left -= jump
            best = max(
                np.abs(eta - eta.mean()).sum() for cut in np.unique(inside)[1:] for eta in [jump * (inside >= cut)]
            )
            hidden += best / x.size
        assert variation_bias(rows, groups, variation) >= hidden - SLACK


def test_variation_bias_is_attained_by_a_jump_in_the_middle_of_the_heaviest_group() -> None:
    x = np.array([0.1, 0.2, 0.3, 0.4, 0.8, 0.9])
    summary = calcert.summarize(x, np.zeros(6, int))
    groups = Groups(np.array([0, 4]), np.array([False, False]))
    assert variation_bias(Rows.of(summary.points), groups, 1.0) == pytest.approx(0.5 * 4 / 6)
    assert variation_bias(Rows.of(summary.points), groups, 1.5) == pytest.approx(0.5 * (4 / 6 + 0.5 * 2 / 6))
    assert variation_bias(Rows.of(summary.points), groups, 7.0) == pytest.approx(0.5)
    eta = np.array([0, 0, 1, 1])
    assert np.abs(eta - eta.mean()).sum() / 6 == pytest.approx(0.5 * 4 / 6)


def test_groups_of_one_score_and_plain_groups_hide_nothing() -> None:
    summary = calcert.summarize([0.1, 0.1, 0.5, 0.6], [0, 1, 0, 1])
    rows = Rows.of(summary.points)
    assert variation_bias(rows, Groups(np.array([0, 1, 2]), np.zeros(3, bool)), 1.0) == 0
    assert variation_bias(rows, Groups(np.array([0, 1]), np.array([False, True])), 1.0) == 0
    assert variation_bias(rows, Groups(np.array([0, 1]), np.zeros(2, bool)), 1.0) == 0.5 * 0.5
    # Known only to its cell, a score is not known to be one score.
    by_cells = Rows.of(forms(np.array([0.1, 0.1]), np.array([0, 1]))[1].points)
    assert variation_bias(by_cells, Groups(np.array([0]), np.zeros(1, bool)), 1.0) == 0.5


@given(some_scores, st.sampled_from([1.0, 0.5, 0.25]))
def test_mean_distance_in_groups_is_that_of_all_ordered_pairs(scores: list[float], cap: float) -> None:
    """Theorem 3: exact for listed scores, never below for cells."""
    x = np.array(scores)
    for summary in forms(x, np.zeros(x.size, np.int64)):
        rows = Rows.of(summary.points)
        groups = capped_groups(rows, rows.mass, cap)
        group = groups_of_rows(summary, groups, x)
        pairs = [np.abs(x[group == b][:, None] - x[group == b]).mean() for b in range(groups.start.size)]
        found = mean_apart(summary.points, rows, groups)
        assert (found >= np.array(pairs) - 1e-12 - summary.resolution).all()
        if summary.is_finite:
            assert found == pytest.approx(pairs, abs=1e-12)
        else:
            assert found == pytest.approx(pairs, abs=2.0**-14)


@given(some_scores, st.floats(0.1, 50.0), st.integers(0, 2**32 - 1))
def test_lipschitz_bias_exceeds_what_a_steep_function_hides_inside_groups(
    scores: list[float], constant: float, seed: int
) -> None:
    x = np.array(scores)
    rng = np.random.default_rng(seed)
    # A zigzag of the steepest allowed slope, cut to [0, 1], which keeps its slope.
    knots = np.sort(rng.random(5))
    rise = np.cumsum(np.append(rng.random(), np.diff(np.append(0, knots)) * constant * rng.choice([-1, 1], 5)))
    eta = np.clip(np.interp(x, np.append(0, knots), rise), 0, 1)
    for summary in forms(x, np.zeros(x.size, np.int64)):
        rows = Rows.of(summary.points)
        for cap in (1.0, 0.4):
            groups = capped_groups(rows, rows.mass, cap)
            group = groups_of_rows(summary, groups, x)
            middle = (np.bincount(group, eta) / np.bincount(group))[group]
            hidden = (np.abs(eta - middle) * ~groups.plain[group]).mean()
            assert lipschitz_bias(summary, rows, groups, constant) >= hidden - SLACK


def gauss(x: Floats, breaks: Floats, h: float) -> tuple[Floats, Floats, Floats]:
    """Nodes and weights on [0, 1] between all breaks and near all scores, and the kernel of each score there."""
    near = (x[:, None] + h * np.arange(-42, 42.5, 0.5)).ravel()
    edges = np.unique(np.clip(np.concatenate([near, breaks, [0, 1]]), 0, 1))
    nodes, weights = np.polynomial.legendre.leggauss(10)
    width = np.diff(edges)[:, None]
    t = (edges[:-1, None] + width * (nodes + 1) / 2).ravel()
    return t, (width * weights / 2).ravel(), sech_kernel.density(t, x[:, None], h)


rows_and_step = st.tuples(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 1)), min_size=1, max_size=6),
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5).map(sorted),
    st.integers(0, 2**32 - 1),
    st.sampled_from([2.0**-9, 1 / 64, 0.25, 1.0]),
)


@settings(max_examples=30)
@given(rows_and_step)
def test_perturbed_plug_in_exceeds_the_mean_gain_of_any_witness(case: tuple) -> None:
    """Theorem 1: T + discretisation >= mean of G, |G| <= |y - E[S|x]|, for any f into [-1, 1]."""
    rows, breaks, seed, h = case
    x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    t, weight, k = gauss(x, np.array(breaks), h)
    rng = np.random.default_rng(seed)
    gap = ((t - y[:, None]) * k).mean(axis=0)
    steps = rng.choice([-1.0, 1.0], len(breaks) + 1)[np.searchsorted(breaks, t)]
    # Gauss panels end at the breaks, but not where the sign of the gap changes: a thousandth is theirs there.
    for f, quadrature in ((steps, 1e-9), (np.sign(gap), 1e-3), (-np.sign(gap), 1e-3)):
        gain = ((t - y[:, None]) * k * f * weight).sum(axis=1)
        assert (np.abs(gain) <= np.abs(y - sech_kernel.mean(x, h)) + 1e-9).all()
        for summary in forms(x, y):
            terms = perturbed.upper_terms(summary, Noise("additive", h), 0.1)
            assert terms["plug-in"] + terms["discretisation"] >= gain.mean() - quadrature
            moment = ((y - sech_kernel.mean(x, h)) ** 2).mean()
            assert perturbed.additive_squares(summary, h).mean >= moment - 1e-12


@settings(max_examples=30)
@given(rows_and_step)
def test_squared_plug_in_exceeds_the_tangent_at_any_truth(case: tuple) -> None:
    """Theorem 7: T2 + discretisation >= mean of 2 r (t - y) - r^2 for any r = t - eta(t)."""
    rows, breaks, seed, h = case
    x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    t, weight, k = gauss(x, np.array(breaks), h)
    values = np.random.default_rng(seed).choice([0.0, 0.3, 1.0], len(breaks) + 1)
    observed = (k * y[:, None]).sum(axis=0) / np.maximum(k.sum(axis=0), 1e-300)
    for eta in (values[np.searchsorted(breaks, t)], np.where(k.sum(axis=0) > 1e-200, observed, t)):
        r = t - eta
        gain = ((2 * r * (t - y[:, None]) - r**2) * k * weight).sum(axis=1)
        assert (np.abs(gain) <= 1 + 1e-9).all()
        for summary in forms(x, y):
            terms = squared.upper_terms(summary, Noise("additive", h), 0.1)
            if terms["discretisation"] < 1:
                assert terms["plug-in"] + terms["discretisation"] >= gain.mean() - 1e-9


def test_the_variance_of_the_squared_error_is_bounded_with_equality_at_one_third() -> None:
    t, eta = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 601))
    second = (t**2 - eta**2) ** 2 * (1 - eta) + ((1 - t) ** 2 - (1 - eta) ** 2) ** 2 * eta
    assert (second <= 4 / 3 * (t - eta) ** 2 + 1e-12).all()
    assert second[200, -1] == pytest.approx(4 / 3 * (1 - 1 / 3) ** 2, rel=1e-6)


@given(some_scores, st.data())
def test_plain_groups_count_at_least_the_error(scores: list[float], data: st.DataObject) -> None:
    """|x - y| for each row, which is no less than the distance to a mean label that is closer."""
    x = np.array(scores)
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=x.size, max_size=x.size)))
    for summary in forms(x, y):
        size = summary.points.low.size
        plain = Groups(np.arange(size), np.ones(size, bool))
        assert plug_in(summary.points, plain, x.size) == pytest.approx(np.abs(x - y).mean(), abs=2.0**-39)
        grouped = Groups(np.arange(size), np.zeros(size, bool))
        assert plug_in(summary.points, grouped, x.size) <= np.abs(x - y).mean() + SLACK + (
            0.0 if summary.is_finite else 2.0**-13
        )
