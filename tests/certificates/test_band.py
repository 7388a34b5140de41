"""The band: its inequality at its own level by exact enumeration, each slack by itself, and the whole by simulation."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln, logit
from scipy.stats import binom

import calcert
from calcert.certificates.band import CalibrationBand, calibration_band
from calcert.certificates.limits.share_limits import _averaging, _largest_share, share_limits
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.grid import Grid
from calcert.perturbation.sech_kernel import weight_ceiling
from calcert.summary.cells import RESOLUTION

Floats = NDArray[np.float64]

LEVELS = (0.5, 0.3, 0.05, 1e-3)


def all_counts(n: int, kinds: int) -> NDArray[np.int64]:
    """Every way in which n rows can fall into `kinds` kinds."""
    bars = np.array(list(itertools.combinations(range(n + kinds - 1), kinds - 1)), np.int64).reshape(-1, kinds - 1)
    ends = np.ones((len(bars), 1), np.int64)
    return np.diff(np.hstack([-ends, bars, ends * (n + kinds - 1)]), axis=1) - 1  # type: ignore[return-value]


def miss_rate(
    weight: tuple[float, ...], chance: tuple[float, ...], mass: tuple[float, ...], n: int, evidence: float
) -> float:
    """The exact probability that the limits miss the true share, rows of each weight having their own chance."""
    w, y = np.repeat(weight, 2), np.tile([0, 1], len(weight))
    law = np.repeat(mass, 2) * np.where(y == 1, np.repeat(chance, 2), 1 - np.repeat(chance, 2))
    w, y, law = w[law > 0], y[law > 0], law[law > 0]
    count = all_counts(n, law.size)
    probability = np.exp(gammaln(n + 1) - gammaln(count + 1).sum(axis=1) + (count * np.log(law)).sum(axis=1))
    truth = (law * w * y).sum() / (law * w).sum()
    lower, upper = share_limits(count @ (w * y), count @ (w * (1 - y)), evidence)
    return float(probability[(truth < lower) | (truth > upper)].sum())


def worst_excess(cut: float) -> float:
    """The largest miss rate over its level, for many small laws, with the evidence asked for cut by a factor."""
    equal = [((1.0,), (chance,), (1.0,), n) for chance in (0.5, 0.1, 0.01) for n in (1, 2, 12, 200)]
    mixed = [
        ((1.0, 0.3), chances, mass, n)
        for chances in itertools.product((0.0, 0.1, 0.5, 1.0), repeat=2)
        if 0 < sum(chances) < 2
        for mass in ((0.5, 0.5), (0.9, 0.1))
        for n in (1, 4, 12)
    ]
    return max(miss_rate(*law, cut * math.log(1 / delta)) / delta for law in equal + mixed for delta in LEVELS)  # type: ignore[call-arg]


def test_share_limits_keep_their_level_for_every_small_law() -> None:
    assert worst_excess(1.0) <= 1


def test_share_limits_with_half_the_evidence_are_caught() -> None:
    assert worst_excess(0.5) > 1


def test_share_limits_enclose_the_estimate_and_are_symmetric_in_the_labels() -> None:
    hits, misses = np.array([0.0, 0.3, 5.0, 1e6]), np.array([0.0, 7.0, 5.0, 3.0])
    lower, upper = share_limits(hits, misses, 3.0)
    assert lower[0] == 0
    assert upper[0] == 1
    share = hits[1:] / (hits + misses)[1:]
    assert (lower[1:] < share).all()
    assert (share < upper[1:]).all()
    mirrored = share_limits(misses, hits, 3.0)
    np.testing.assert_allclose(1 - mirrored[1], lower, atol=1e-12)


@pytest.mark.parametrize("h", [2.0**-12, 1 / 64, 0.2, 1.0, 5.0])
def test_weight_ceiling_is_above_every_weight_and_close(h: float) -> None:
    t = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 101), np.linspace(0, 25, 201) * h]), 0, 1))
    around = t[:, None] + h * np.linspace(-3, 3, 1201)
    largest = sech_kernel.density(t[:, None], np.clip(around, 0, 1), h).max(axis=1)
    assert (weight_ceiling(t, h) >= largest).all()
    assert (weight_ceiling(t, h) <= 1.01 * largest).all()


def chance_at(t: Floats, score: Floats, chance: Floats, mass: Floats, h: float) -> Floats:
    """The true calibration function of the perturbed classifier for scores on atoms."""
    weight = mass * sech_kernel.density(t[:, None], score, h)
    return np.asarray((weight * chance).sum(axis=1) / weight.sum(axis=1))


def test_log_odds_move_by_at_most_two_over_h() -> None:
    rng = np.random.default_rng(0)
    steepest = 0.0
    for h in (0.03, 0.1, 0.5):
        t = np.linspace(0, 1, 2001)
        for _ in range(20):
            score, chance, mass = rng.random(3), rng.choice([1e-9, 0.2, 1 - 1e-9], 3), rng.dirichlet(np.ones(3) / 3)
            odds = logit(chance_at(t, score, chance, mass, h))
            steepest = max(steepest, h * float(np.abs(np.diff(odds) / np.diff(t)).max()))
    assert 1.5 < steepest <= 2


@pytest.mark.parametrize("h", [2.0**-9, 1 / 64, 1 / 4])
def test_placing_rows_changes_every_weight_by_no_more_than_is_charged(h: float) -> None:
    grid = Grid(h, 512)
    for x in (0.0, 1e-4, 0.0313, 0.3 + 2.0**-15, 0.77, 1.0):
        points = calcert.summarize([x], [1]).cell_points
        t, served, _, rounding = next(grid.densities(grid.place(points).masses(points.count)))
        near = np.abs(t - x) < 12 * h
        exact = sech_kernel.density(t[near], x, h)
        width = np.maximum(points.high - points.low, grid.step) / h
        charged = (width**2 * np.exp(2 * width)).item() + 2 * RESOLUTION / h + 1e-12
        assert (np.abs(served[near] - exact) <= charged * exact + 2 * rounding).all()


def draw(n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    atom = rng.choice(3, n, p=MASS)
    return SCORE[atom], rng.random(n) < CHANCE[atom]


SCORE, CHANCE, MASS = np.array([0.1, 0.25, 0.7]), np.array([0.3, 0.05, 0.8]), np.array([0.3, 0.3, 0.4])


def escapes(band: CalibrationBand, shrink: float) -> bool:
    """True where the true curve leaves the band, narrowed around the estimate by a factor."""
    s = np.linspace(0, 1, 1001)
    truth = chance_at(s, SCORE, CHANCE, MASS, band.noise.size)
    stretch = np.clip(np.searchsorted(band.edges, s) - 1, 0, band.t.size - 1)
    estimate = band.estimate[stretch]
    low = estimate - shrink * (estimate - band.lower[stretch])
    high = estimate + shrink * (band.upper[stretch] - estimate)
    return bool(((truth < low) | (truth > high)).any())


def test_band_encloses_the_whole_curve_and_a_narrow_one_is_caught() -> None:
    runs, delta = 60, 0.2
    rng = np.random.default_rng(1)
    bands = [calibration_band(calcert.summarize(*draw(3000, rng)), bandwidth=1 / 16, delta=delta) for _ in range(runs)]
    allowed = binom.isf(1e-6, runs, delta)
    assert sum(escapes(band, 1.0) for band in bands) <= allowed
    assert sum(escapes(band, 0.2) for band in bands) > allowed


def test_thinned_band_is_nowhere_narrower() -> None:
    x = np.random.default_rng(2).random(5000)
    band = calibration_band(calcert.summarize(x, x > 0.4), bandwidth=1 / 16)
    thin = band.thinned(100)
    assert 50 < thin.t.size <= 100
    assert thin.edges[0] == 0
    assert thin.edges[-1] == 1
    assert ((thin.edges[:-1] <= thin.t) & (thin.t <= thin.edges[1:])).all()
    holder = np.clip(np.searchsorted(thin.edges, band.t, side="right") - 1, 0, thin.t.size - 1)
    assert (thin.lower[holder] <= band.lower).all()
    assert (thin.upper[holder] >= band.upper).all()
    np.testing.assert_array_equal(band.thinned(10**6).upper, band.upper)


def test_part_of_a_band_covers_what_was_asked_for() -> None:
    x = np.random.default_rng(2).random(5000)
    band = calibration_band(calcert.summarize(x, x > 0.4), bandwidth=1 / 16)
    part = band.thinned(20, between=(0.2, 0.31))
    assert part.edges[0] <= 0.2 < part.edges[1]
    assert part.edges[-2] < 0.31 <= part.edges[-1]
    assert part.t.size <= 21
    inside = (band.t > 0.2) & (band.t < 0.31)
    assert part.lower.min() == pytest.approx(band.lower[inside].min(), abs=0.02)


def test_band_says_nothing_where_there_are_no_rows() -> None:
    band = calibration_band(calcert.summarize([0.2] * 50, [1] * 50), bandwidth=2.0**-10)
    far = band.t > 0.5
    assert (band.lower[far] == 0).all()
    assert (band.upper[far] == 1).all()
    assert np.isnan(band.estimate[far]).all()
    there = np.argmin(np.abs(band.t - 0.2))
    assert band.upper[there] == 1
    assert 0.4 < band.lower[there] < 1


def test_shares_of_both_labels_add_up_to_one() -> None:
    x = np.random.default_rng(3).random(2000)
    band = calibration_band(calcert.summarize(x, x > 0.7), bandwidth=1 / 32)
    assert abs(float((band.negative + band.positive).sum()) - 1) < 1e-3
    assert abs(band.positive.sum() - (x > 0.7).mean()) < 1e-3


def exact_averaging(hits: float, misses: float) -> mpmath.mpf:
    """ln of the largest likelihood over its mean by Jeffreys' law, to 40 digits."""
    a, b = mpmath.mpf(hits), mpmath.mpf(misses)
    likeliest = sum((z * mpmath.log(z / (a + b)) for z in (a, b) if z > 0), mpmath.mpf(0))
    return likeliest - mpmath.log(mpmath.beta(a + 0.5, b + 0.5)) + mpmath.log(mpmath.pi)


def test_averaging_over_jeffreys_law_costs_what_exact_arithmetic_says() -> None:
    edges = [0.0, 1e-9, 0.5, 15.999, 16.0, 16.001, 1e6, 5e10]
    hits, misses = (part.ravel() for part in np.meshgrid(edges, edges))
    with mpmath.workdps(40):
        exact = [float(exact_averaging(*pair)) for pair in zip(hits.tolist(), misses.tolist(), strict=True)]
    assert np.abs(_averaging(hits, misses) - exact).max() < 1e-12


def test_the_largest_share_is_where_the_divergence_is_spent_and_not_below() -> None:
    share, allowed = (part.ravel() for part in np.meshgrid([0.0, 1e-12, 0.3, 1 - 1e-9, 1.0], [1e-9, 1e-3, 1.0, 20.0]))
    found = _largest_share(share, allowed)
    with mpmath.workdps(40):
        for q, c, spent in zip(share.tolist(), found.tolist(), allowed.tolist(), strict=True):
            # Rounded by less than share_limits adds to what is allowed.
            assert divergence(q, c) >= spent - 1e-14
            assert divergence(q, c - 1e-15) <= spent * (1 + 1e-4) + 1e-14


def divergence(q: float, c: float) -> float:
    """kl(q, c) as it is."""
    parts = ((mpmath.mpf(q), mpmath.mpf(c)), (1 - mpmath.mpf(q), 1 - mpmath.mpf(c)))
    if q == c == 1:
        return math.inf  # There is no larger share.
    return float(sum((a * mpmath.log(a / b) if b > 0 else mpmath.inf for a, b in parts if a > 0), mpmath.mpf(0)))
