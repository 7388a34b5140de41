"""O5: what is served is exactly 0 or 1 for scores 0 and 1 alone, and apart from that it is what the noise says."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import calcert
from calcert.perturbation import odds_kernel
from calcert.perturbation.noise import Noise

NEAR_ENDS = np.array([5e-324, 1e-310, 2.3e-308, 1e-300, 1e-17, 1 - 2.0**-50, 1 - 2.0**-52, 1 - 2.0**-53])
CHANCES = np.concatenate([[0.0, 2.0**-53, 1 - 2.0**-53], (np.arange(1000) + 0.5) / 1000])
NOISES = [Noise("odds", b) for b in (1 / 256, 1 / 16, 1 / 2)] + [Noise("additive", h) for h in (1e-9, 1 / 64, 3.0)]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.shown)
def test_no_score_inside_is_served_as_an_end_at_any_chance(noise: Noise) -> None:
    x, u = np.meshgrid(NEAR_ENDS, CHANCES)
    served = noise.sample(x, u)
    assert served.min() > 0
    assert served.max() < 1


@pytest.mark.parametrize("b", [1 / 256, 1 / 16, 1 / 2])
def test_keeping_off_the_ends_moves_nothing_by_more_than_storing_it_does(b: float) -> None:
    x, u = np.meshgrid(np.append(NEAR_ENDS, [0.0, 0.3, 0.999, 1.0]), CHANCES)
    assert np.abs(Noise("odds", b).sample(x, u) - odds_kernel.sample(x, b, u)).max() <= 2.0**-53
    assert (np.diff(Noise("odds", b).sample(np.sort(x, axis=1), u), axis=1) >= 0).all()


def test_the_band_at_one_is_not_above_the_chance_of_what_is_served_there() -> None:
    """Half of the rows have score 1 and label 1, the others the score just below it and label 0."""
    n = 20_000
    x = np.repeat([1.0, 1 - 2.0**-53], n // 2)
    band = calcert.curves.calibration_band(calcert.summarize(x, x == 1), odds=1 / 16)
    u = (np.arange(n) + 0.5) / n
    at_one = [float((Noise("odds", 1 / 16).sample(np.full(n, score), u) == 1).mean()) for score in (1.0, x[-1])]
    truth = at_one[0] / sum(at_one)
    assert band.t[-1] == 1
    assert 0.99 < band.lower[-1] <= truth <= band.upper[-1]


def share_served_up_to(a: float, x: float, b: float) -> float:
    """The probability of a served score up to `a`, with 53 random bits: served scores do not fall as these grow."""
    low, high = -1, 2**53
    while high - low > 1:
        middle = (low + high) // 2
        served = Noise("odds", b).sample(np.array([x]), np.array([middle * 2.0**-53]))[0]
        low, high = (middle, high) if served <= a else (low, middle)
    return (low + 1) * 2.0**-53


def stored_up_to(a: float) -> mp.mpf:
    """The score above which no odds are stored as `a` or less: one number for all rows, within 2^-52 of `a`."""
    low, high = np.array([0.0, np.inf]).view(np.int64).tolist()  # Bits of positive numbers are in their order.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if 1 / (1 + np.int64(middle).view(np.float64)) <= a else (middle, high)
    return 1 / (1 + mpf(float(np.int64(high).view(np.float64))))


def exact_share_up_to(a: mp.mpf, x: float, b: float) -> mp.mpf:
    return 2 / mp.pi * mp.atan((a * (1 - mpf(x)) / ((1 - a) * mpf(x))) ** (1 / mpf(b)))


@pytest.mark.parametrize("b", [1 / 256, 1 / 16, 1 / 2])
def test_every_threshold_is_passed_as_often_as_exact_noise_would_up_to_what_is_stated(b: float) -> None:
    errors, errors_of_another_size = [], []
    with mp.workprec(200):
        for x in (1e-300, 1e-9, 0.3, 0.5, 0.9, 0.999, 1 - 2.0**-20):
            for quantile in (1e-12, 0.01, 0.4, 0.5, 0.8, 0.999):
                a = float(Noise("odds", b).sample(np.array([x]), np.array([quantile]))[0])
                share, exactly = share_served_up_to(a, x, b), stored_up_to(a)
                assert abs(exactly - a) <= 2.0**-52
                errors.append(abs(share - exact_share_up_to(exactly, x, b)))
                errors_of_another_size.append(abs(share - exact_share_up_to(exactly, x, b * (1 + 1e-11))))
    assert max(errors) <= 2.0**-42
    assert max(errors_of_another_size) > 2.0**-42


def test_the_last_bits_of_a_double_can_tell_the_score() -> None:
    """Of doubles served for 0.3, many cannot be served for 0.35, all for 0.3."""
    noise, rng = Noise("odds", 1 / 16), np.random.default_rng(0)
    served = noise.sample(np.full(500, 0.3), rng.random(500))

    def share_that_can_be(score: float) -> float:
        nearest = np.round(noise.distribution(served, score) * 2.0**53)[:, None] + np.arange(-500, 501)
        chances = np.clip(nearest * 2.0**-53, 0.0, 1 - 2.0**-53)
        return float((noise.sample(np.full(chances.shape, score), chances) == served[:, None]).any(axis=1).mean())

    assert share_that_can_be(0.3) == 1
    assert share_that_can_be(0.35) < 0.7
