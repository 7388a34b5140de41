"""Facts O1 to O4 of the noise on the odds, each against a reference that shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from calcert.perturbation import odds_kernel
from calcert.perturbation.sech_kernel import SMALLEST_PROBABILITY, standard_noise

SIZES = (1 / 64, 1 / 16, 1 / 4, 1 / 2)
SCORES = (5e-324, 1e-300, 1e-17, 1e-7, 0.01, 0.3, 0.5, 0.77, 1 - 1e-9, 1 - 2.0**-53)
CHANCES = (0.0, 1e-17, 1e-9, 0.2, 0.5, 0.9, 1 - 2.0**-53)


def exactly_served(x: float, b: float, u: float) -> mp.mpf:
    """odds(x) tan(pi u/2)^b, as a probability, in 400 bits."""
    with mp.workprec(400):
        odds = mpf(x) / (1 - mpf(x)) * mp.tan(mp.pi * mpf(u) / 2) ** mpf(b)
        return odds / (1 + odds)


@pytest.mark.parametrize("b", SIZES)
@pytest.mark.parametrize("x", [score for score in SCORES if score > 1e-307])
@pytest.mark.parametrize("u", [chance for chance in CHANCES if chance > 0])
def test_a_draw_is_the_quantile_to_full_precision(x: float, b: float, u: float) -> None:
    u = max(u, SMALLEST_PROBABILITY)
    drawn, exact = float(odds_kernel.sample(np.array([x]), b, np.array([u]))[0]), exactly_served(x, b, u)
    allowed = 2.0**-50 * (1 + b * 40)  # N is up to 40 and known to a few clusters of its last place.
    assert abs(drawn - exact) <= allowed * exact  # O1: relative, however small the score
    assert abs((1 - mpf(drawn)) - (1 - exact)) <= allowed * (1 - exact) + 2.0**-53  # and 1 - S to storage


def test_the_scores_zero_and_one_are_served_as_they_are_whatever_the_chance() -> None:
    for u in CHANCES:
        assert odds_kernel.sample(np.array([0.0, 1.0]), 1 / 16, np.array([u, u])).tolist() == [0.0, 1.0]


@given(st.floats(0.0, 1.0), st.integers(-3, 3), st.sampled_from(SIZES), st.floats(0.0, 1.0))
def test_a_draw_never_falls_where_the_score_grows(x: float, steps: int, b: float, u: float) -> None:
    other = float(np.clip(x + steps * np.spacing(x), 0.0, 1.0))
    low, high = odds_kernel.sample(np.array([min(x, other), max(x, other)]), b, np.array([u, u]))
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize("b", SIZES)
def test_the_means_of_the_factor_are_integrals(b: float) -> None:
    with mp.workdps(20):
        law = lambda u: mp.sech(u) / mp.pi  # noqa: E731
        line = [0, 1, 4, 16, 64, 200]
        factor = 2 * mp.quad(lambda u: mp.cosh(b * u) * law(u), line)
        shift = 2 * mp.quad(lambda u: mp.sinh(b * u) * law(u), line)
    assert odds_kernel.mean_factor(b) == pytest.approx(float(factor), rel=1e-13)
    assert odds_kernel.relative_shift(b) == pytest.approx(float(shift), rel=1e-13)
    assert odds_kernel.largest_factor(b) == pytest.approx(float(factor + shift), rel=1e-13)


@pytest.mark.parametrize("b", SIZES)
@pytest.mark.parametrize("x", [1e-300, 1e-7, 0.3, 0.5, 0.77])
def test_mean_and_mean_shift_are_integrals_of_what_is_served(x: float, b: float) -> None:
    with mp.workdps(30):
        odds, line = mpf(x) / (1 - mpf(x)), [0, 1, 4, 16, 64, 200]

        def served(u: mpf) -> mpf:
            return 1 / (1 + mp.exp(-b * u) / odds)

        mean = mp.quad(lambda u: (served(u) + served(-u)) * mp.sech(u) / mp.pi, line)
        shift = mp.quad(lambda u: (served(u) - served(-u)) * mp.sech(u) / mp.pi, line)
    assert odds_kernel.mean(np.array([x]), b)[0] == pytest.approx(float(mean), rel=1e-12)
    assert odds_kernel.mean_absolute_shift(np.array([x]), b)[0] == pytest.approx(float(shift), rel=1e-12)


@pytest.mark.parametrize("b", SIZES)
def test_means_stay_inside_their_bounds_and_touch_them_for_rare_events(b: float) -> None:
    x = np.concatenate([10.0 ** -np.arange(1, 17), np.linspace(0.0, 1.0, 201)])
    mean, shift = odds_kernel.mean(x, b), odds_kernel.mean_absolute_shift(x, b)
    low = x <= 0.5
    assert (mean[low] >= x[low] * (1 - 1e-15)).all()
    assert (mean[low] <= x[low] * odds_kernel.mean_factor(b) * (1 + 1e-14)).all()
    assert (np.abs(mean - x) <= x * (1 - x) * (odds_kernel.mean_factor(b) - 1) * np.abs(1 - 2 * x) + 1e-16).all()
    assert (shift <= odds_kernel.relative_shift(b) * x * (1 - x) * (1 + 1e-14)).all()
    assert shift[15] / x[15] == pytest.approx(odds_kernel.relative_shift(b), rel=1e-10)
    assert mean[15] / x[15] == pytest.approx(odds_kernel.mean_factor(b), rel=1e-10)
    assert mean[-1] == 1
    assert shift[-1] == 0


@pytest.mark.parametrize("b", SIZES)
def test_distance_from_a_label_grows_by_no_more_than_the_factor_on_the_odds(b: float) -> None:
    """O4, at every pair of a score and a draw."""
    x, u = np.meshgrid([1e-9, 0.001, 0.2, 0.5, 0.8, 0.999], np.linspace(0.001, 0.999, 101))
    s, factor = odds_kernel.sample(x, b, u), np.exp(b * np.abs(standard_noise(u)))
    assert (s <= x * factor * (1 + 1e-12)).all()
    assert (1 - s <= (1 - x) * factor * (1 + 1e-12)).all()


@pytest.mark.parametrize("b", SIZES)
@pytest.mark.parametrize("x", [1e-7, 0.3, 0.999])
def test_the_density_is_the_slope_of_the_distribution(x: float, b: float) -> None:
    u = np.array([0.01, 0.3, 0.5, 0.8])
    t = odds_kernel.sample(np.full(4, x), b, u)
    assert odds_kernel.distribution(t, x, b) == pytest.approx(u, abs=1e-9)
    step = 1e-5 * t * (1 - t) * b
    slope = (odds_kernel.distribution(t + step, x, b) - odds_kernel.distribution(t - step, x, b)) / (2 * step)
    assert odds_kernel.density(t, x, b) == pytest.approx(slope, rel=1e-5)


def test_scores_zero_and_one_have_all_their_mass_in_one_place() -> None:
    assert odds_kernel.distribution([0.0, 0.5, 1.0], 0.0, 1 / 16).tolist() == [1, 1, 1]
    assert odds_kernel.distribution([0.0, 0.5, 1.0], 1.0, 1 / 16).tolist() == [0, 0, 1]
