"""The sech kernel against fifty-digit arithmetic, from bandwidths far below a cell to far above the unit interval."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

import calcert
from calcert.perturbation import sech_kernel

BANDWIDTHS = (2.0**-20, 2.0**-13, 1 / 64, 0.3, 1.0, 10.0)
SCORES = (0.0, 1e-300, 2.0**-30, 1e-5, 0.25, 0.5, 0.9, 1 - 2.0**-30, 1.0)
DIGITS = 50


def _gd(v: mpmath.mpf) -> mpmath.mpf:
    return 2 * mpmath.atan(mpmath.tanh(v / 2))


def _normalizer(x: float, h: float) -> mpmath.mpf:
    return mpmath.mpf(h) * (_gd((1 - mpmath.mpf(x)) / h) + _gd(mpmath.mpf(x) / h))


def _first_moment(v: mpmath.mpf) -> mpmath.mpf:
    """The integral of u sech(u) from 0 to v, by quadrature; beyond 120 nothing is left to add at fifty digits."""
    reach = min(v, mpmath.mpf(120))
    nodes = [mpmath.mpf(0), *(mpmath.mpf(k) for k in (1, 4, 16, 40) if k < reach), reach]
    return mpmath.quad(lambda u: u * mpmath.sech(u), nodes)


def exact(quantity: str, x: float, h: float) -> float:
    with mpmath.workdps(DIGITS):
        z = _normalizer(x, h)
        if quantity == "normalizer":
            return float(z)
        below, above = _first_moment(mpmath.mpf(x) / h), _first_moment((1 - mpmath.mpf(x)) / h)
        if quantity == "mean":
            return float(x + mpmath.mpf(h) ** 2 * (above - below) / z)
        return float(mpmath.mpf(h) ** 2 * (above + below) / z)


@pytest.mark.parametrize("h", BANDWIDTHS)
def test_normalizer_mean_and_shift_agree_with_fifty_digits(h: float) -> None:
    x = np.array(SCORES)
    assert sech_kernel.normalizer(x, h) == pytest.approx([exact("normalizer", s, h) for s in SCORES], rel=1e-14)
    assert sech_kernel.mean(x, h) == pytest.approx([exact("mean", s, h) for s in SCORES], rel=1e-13, abs=1e-16)
    shift = sech_kernel.mean_absolute_shift(x, h)
    assert shift == pytest.approx([exact("shift", s, h) for s in SCORES], rel=1e-13)
    assert (shift <= sech_kernel.LARGEST_MEAN_SHIFT * h).all()


def test_largest_mean_shift_is_four_catalan_over_pi_rounded_up() -> None:
    exactly = 4 * mpmath.catalan / mpmath.pi
    assert exactly < sech_kernel.LARGEST_MEAN_SHIFT < exactly * (1 + 1e-5)


@given(st.floats(0.0, 1.0), st.floats(-20.0, 3.3))
def test_mean_absolute_shift_never_exceeds_its_supremum(x: float, log_h: float) -> None:
    h = 2.0**log_h
    assert sech_kernel.mean_absolute_shift(x, h) <= sech_kernel.LARGEST_MEAN_SHIFT * h


@pytest.mark.parametrize("h", BANDWIDTHS)
@pytest.mark.parametrize("x", [0.0, 1e-300, 0.25, 0.5, 1.0])
def test_distribution_is_the_integral_of_the_density(x: float, h: float) -> None:
    t = np.clip(x + h * np.array([-30.0, -3, -1, -0.1, 0, 0.1, 1, 3, 30]), 0, 1)
    with mpmath.workdps(DIGITS):
        base, z = _gd(mpmath.mpf(x) / h), _normalizer(x, h) / h
        wanted = [float((_gd((mpmath.mpf(float(s)) - mpmath.mpf(x)) / h) + base) / z) for s in t]
        dense = [float(mpmath.sech((mpmath.mpf(float(s)) - mpmath.mpf(x)) / h) / (h * z)) for s in t]
    assert sech_kernel.distribution(t, x, h) == pytest.approx(wanted, rel=1e-12, abs=1e-16)
    assert sech_kernel.density(t, x, h) == pytest.approx(dense, rel=1e-12)


@pytest.mark.parametrize("h", BANDWIDTHS)
@pytest.mark.parametrize("x", [0.0, 0.3, 1.0])
def test_density_integrates_to_one_and_vanishes_outside_the_unit_interval(x: float, h: float) -> None:
    edges = np.unique(np.clip(np.concatenate([[0.0, 1.0], x + h * np.linspace(-45, 45, 181)]), 0, 1))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    t = edges[:-1, None] + np.diff(edges)[:, None] * (nodes + 1) / 2
    total = (sech_kernel.density(t, x, h) * weights / 2 * np.diff(edges)[:, None]).sum()
    assert total == pytest.approx(1.0, abs=1e-12)
    assert (sech_kernel.density([-1e-9, 1 + 1e-9, -5.0, 7.0], x, h) == 0).all()


def test_largest_density_is_reached_at_the_ends_and_nowhere_exceeded() -> None:
    grid = np.linspace(0, 1, 201)
    for h in (2.0**-10, 1 / 64, 0.5, 10.0):
        largest = sech_kernel.largest_density(h)
        assert sech_kernel.density(0.0, 0.0, h) == pytest.approx(largest, rel=1e-14)
        assert sech_kernel.density(grid[:, None], grid[None], h).max() <= largest * (1 + 1e-14)


@given(
    st.one_of(st.sampled_from(SCORES), st.floats(0.0, 1.0)),
    st.floats(-20.0, 3.3),
    st.one_of(st.sampled_from([0.0, 5e-324, 1e-300, 1e-17, 1 - 2.0**-53]), st.floats(0.0, 1.0, exclude_max=True)),
)
def test_sample_is_the_quantile_function(x: float, log_h: float, uniform: float) -> None:
    h = 2.0**log_h
    drawn = sech_kernel.sample(np.array([x]), h, np.array([uniform]))
    assert np.isfinite(drawn).all()
    assert (drawn >= 0).all()
    assert (drawn <= 1).all()
    # A draw is rounded to a double near x, which moves its probability by the density times that.
    rounding = 4e-16 * max(float(drawn[0]), x) * sech_kernel.largest_density(h) + 1e-14
    assert sech_kernel.distribution(drawn, x, h) == pytest.approx(uniform, abs=rounding)


@pytest.mark.parametrize("h", BANDWIDTHS)
def test_sample_reaches_both_ends_of_the_unit_interval_and_never_leaves_it(h: float) -> None:
    x = np.repeat(SCORES, 3)
    drawn = sech_kernel.sample(x, h, np.tile([0.0, 0.5, 1.0], len(SCORES))).reshape(-1, 3)
    assert np.isfinite(drawn).all()
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert (np.diff(drawn, axis=1) >= 0).all()
    assert drawn[0, 0] <= 4e-16 * h
    assert drawn[-1, 2] >= 1 - 4e-16 * max(h, 1)


@pytest.mark.parametrize("h", BANDWIDTHS)
@pytest.mark.parametrize("x", [0.0, 0.4, 1.0])
def test_perturbed_scores_follow_the_kernel(x: float, h: float) -> None:
    drawn = calcert.perturb(np.full(20_000, x), bandwidth=h, rng=7)
    assert kstest(sech_kernel.distribution(drawn, x, h), "uniform").pvalue > 1e-4


def test_the_kernel_of_another_bandwidth_is_told_apart() -> None:
    drawn = calcert.perturb(np.full(20_000, 0.4), bandwidth=1 / 64, rng=7)
    assert kstest(sech_kernel.distribution(drawn, 0.4, 1.2 / 64), "uniform").pvalue < 1e-4


def test_standard_noise_is_the_quantile_of_sech_over_pi_and_finite_at_both_ends() -> None:
    chances = np.array([2.0**-54, 1e-9, 0.2, 0.5 - 2.0**-54, 0.5, 0.75, 1 - 2.0**-53])
    with mpmath.workdps(DIGITS):
        wanted = [float(mpmath.log(mpmath.tan(mpmath.pi * mpmath.mpf(u) / 2))) for u in chances]
    assert sech_kernel.standard_noise(chances) == pytest.approx(wanted, rel=1e-14, abs=1e-15)
    low, high = sech_kernel.standard_noise(np.array([0.0, 1.0]))
    assert low == -high == sech_kernel.standard_noise(np.array([sech_kernel.SMALLEST_PROBABILITY]))[0]


@pytest.mark.parametrize("u", [0.0, 1e-6, 0.3, 2.0, 30.0])
def test_the_alternating_series_of_sech_is_summed_to_full_precision(u: float) -> None:
    found = 2 * sech_kernel.alternating_sum(lambda k: float(np.exp(-(2 * k + 1) * u)))
    assert found == pytest.approx(float(mpmath.sech(u)), rel=1e-14)


def test_perturbing_moves_a_row_by_the_mean_shift() -> None:
    x = np.full(200_000, 0.3)
    moved = np.abs(calcert.perturb(x, bandwidth=1 / 64, rng=3) - x).mean()
    assert moved == pytest.approx(4 * 0.915965594177219 / np.pi / 64, rel=0.01)


def test_perturb_keeps_shape_and_input_and_repeats_with_the_same_seed() -> None:
    x = np.linspace(0, 1, 6).reshape(2, 3)
    before = x.copy()
    first = calcert.perturb(x, bandwidth=0.1, rng=5)
    assert first.shape == (2, 3)
    assert (x == before).all()
    assert (first == calcert.perturb(x, bandwidth=0.1, rng=np.random.default_rng(5))).all()
    assert (first != calcert.perturb(x, bandwidth=0.1, rng=6)).all()
    assert calcert.perturb(x, bandwidth=0.1).shape == (2, 3)


def test_perturb_treats_whole_number_and_single_precision_scores_alike() -> None:
    for scores in ([0, 1, 1], np.array([0, 1, 1], np.float32), np.array([False, True, True])):
        assert (
            calcert.perturb(scores, bandwidth=0.1, rng=1) == calcert.perturb([0.0, 1.0, 1.0], bandwidth=0.1, rng=1)
        ).all()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"scores": [0.2, 1.73]}, ValueError, r"scores must lie in \[0, 1\]; got 1.73 at row 1.*expit"),
        ({"scores": [0.2, float("nan")]}, ValueError, r"got a missing value \(NaN\) at row 1"),
        ({"scores": ["a"]}, TypeError, "scores must be numbers"),
        ({"scores": [0.2], "bandwidth": 0.0}, ValueError, "bandwidth must be positive and finite, such as 1/64; got 0"),
        ({"scores": [0.2], "bandwidth": float("inf")}, ValueError, "bandwidth must be positive and finite"),
        ({"scores": [0.2], "bandwidth": "wide"}, TypeError, "bandwidth must be a positive finite number.*'wide'"),
        ({"scores": [0.2], "rng": -1}, TypeError, "rng must be a non-negative integer.*got -1"),
        ({"scores": [0.2], "rng": "seed"}, TypeError, "rng must be.*got str"),
    ],
)
def test_perturb_refuses_bad_arguments_in_words(arguments: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        calcert.perturb(**arguments)
