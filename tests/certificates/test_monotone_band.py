"""The monotone band: encloses every rising curve everywhere at once, is narrow, and says where rows refute it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates import monotone_band as module
from calcert.certificates.monotone_band import MonotoneBand, monotone_band, runs
from tests.certificates.test_l1_lower import by_cells
from tests.lab.distributions import Law, summary_of, too_many

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]

RISING = {
    "two scores": Law((0.2, 0.8), (0.5, 0.5), (0.3, 0.6)),
    "three": Law((0.25, 0.5, 0.75), (0.3, 0.3, 0.4), (0.1, 0.1, 0.9)),
    "certain": Law((0.0, 0.5, 1.0), (0.4, 0.3, 0.3), (0.0, 0.5, 1.0)),
}


def misses(band: MonotoneBand, score: Floats, chance: Floats) -> bool:
    """Whether the band misses the curve at one of the scores."""
    lower, upper = band.at(score)
    return bool((lower > chance + 1e-12).any() or (upper < chance - 1e-12).any())


@pytest.mark.parametrize("name", RISING)
def test_the_band_misses_with_probability_at_most_delta_over_all_outcomes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SHORTEST", 1)
    law = RISING[name]
    score, chance = np.array(law.score), np.array(law.chance)
    for n, delta in ((1, 0.45), (3, 0.45), (7, 0.45), (7, 0.2)):
        missed = [
            probability
            for count, probability in law.outcomes(n)
            if misses(monotone_band(summary_of(law.score, count), delta=delta), score, chance)
        ]
        assert math.fsum(missed) <= delta


def test_a_band_without_the_union_over_runs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORTEST", 1)
    law, delta = RISING["two scores"], 0.45
    monkeypatch.setattr(module, "runs", lambda rows: (*runs(rows)[:2], np.full(runs(rows)[0].size, 2.0)))
    missed = [
        chance
        for count, chance in law.outcomes(12)
        if misses(monotone_band(summary_of(law.score, count), delta=delta), np.array(law.score), np.array(law.chance))
    ]
    assert math.fsum(missed) > delta


CURVES: dict[str, Curve] = {
    "calibrated": lambda x: x,
    "flat": lambda x: np.full_like(x, 0.3),
    "jump": lambda x: np.where(x < 0.37, 0.05, 0.9),
    "steps": lambda x: np.floor(10 * x) / 10,
}


def drawn(curve: Curve, n: int, rng: np.random.Generator, cells: bool) -> tuple[Floats, Summary]:
    x = rng.random(n)
    summary = calcert.summarize(x, rng.random(n) < curve(x))
    return x, by_cells(summary) if cells else summary


@pytest.mark.parametrize("curve", CURVES)
def test_the_band_encloses_rising_curves_in_thousands_of_data_sets(curve: str) -> None:
    delta, missed, total = 0.4, 0, 0
    grid = np.linspace(0, 1, 401)
    score = (np.arange(60) + 0.5) / 60
    law = Law(tuple(score), (1 / 60,) * 60, tuple(CURVES[curve](score)))
    rng = np.random.default_rng(len(curve))
    for n, count in ((20, 500), (150, 400), (2000, 110)):
        for i in range(count):
            summary = law.draw(n, rng)
            band = monotone_band(by_cells(summary) if i % 2 else summary, delta=delta)
            missed += misses(band, grid, CURVES[curve](grid))
        total += count
    assert total >= 1000
    assert not too_many(missed, total, delta)


def test_a_band_of_half_the_width_is_caught() -> None:
    rng, delta, missed = np.random.default_rng(0), 0.05, 0
    for _ in range(60):
        x, summary = drawn(CURVES["calibrated"], 2000, rng, cells=False)
        lower, upper = monotone_band(summary, delta=delta).at(x)
        middle = (lower + upper) / 2
        missed += bool((np.abs(middle - x) > (upper - lower) / 4).any())
    assert too_many(missed, 60, delta)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 100, 5000, 10**6])
def test_runs_share_all_of_delta_and_hold_consecutive_rows(n: int) -> None:
    rows = np.random.default_rng(n).multinomial(n, np.full(min(n, 3000), 1 / min(n, 3000)))
    rows = rows[rows > 0]
    begin, stop, share = runs(rows)
    assert share.min() > 0
    assert math.fsum(share) <= 1 + 1e-12
    assert math.fsum(share) == pytest.approx(1.0)
    assert (begin < stop).all()
    assert begin.min() == 0
    assert stop.max() == rows.size
    assert np.unique(np.stack([begin, stop]), axis=1).shape[1] == begin.size
    held = np.concatenate([[0], np.cumsum(rows)])
    assert (held[stop] - held[begin] >= min(n, module.SHORTEST)).all()


def test_runs_do_not_depend_on_labels() -> None:
    x = np.random.default_rng(0).random(3000)
    found = [runs(calcert.summarize(x, y).points.count.sum(axis=1)) for y in (x < 2, x > 2, x > 0.5)]
    for other in found[1:]:
        assert all((a == b).all() for a, b in zip(found[0], other, strict=True))


def test_limits_are_those_of_runs_that_end_before_or_begin_after_a_score() -> None:
    """By definition, over all runs, with plain loops."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 40, 800) / 40
    summary = calcert.summarize(x, rng.random(800) < x**2)
    band = monotone_band(summary, delta=0.1)
    points = summary.points
    begin, stop, share = runs(points.count.sum(axis=1))
    for score in np.concatenate([[0.0, 1.0], x[:20], rng.random(20)]):
        lower, upper = 0.0, 1.0
        for a, b, part in zip(begin, stop, share, strict=True):
            hits, coins = points.count[a:b, 1].sum(), points.count[a:b].sum()
            if points.high[b - 1] <= score:
                lower = max(lower, float(module.share_lower(hits, coins, 0.1 * part / 2)))  # type: ignore[attr-defined]
            if points.low[a] >= score:
                upper = min(upper, float(module.share_upper(hits, coins, 0.1 * part / 2)))  # type: ignore[attr-defined]
        found = band.at([score])
        assert (float(found[0][0]), float(found[1][0])) == pytest.approx((lower, upper), abs=1e-12)


def test_a_falling_curve_is_refuted_and_a_rising_one_is_not() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(2000)
    falling = monotone_band(calcert.summarize(x, rng.random(2000) < 1 - x))
    assert falling.refuted_at is not None
    lower, upper = falling.at([falling.refuted_at])
    assert lower[0] > upper[0]
    assert monotone_band(calcert.summarize(x, rng.random(2000) < x)).refuted_at is None
    bump = monotone_band(calcert.summarize(x, rng.random(2000) < np.where(x < 0.5, 0.9, 0.1)))
    assert bump.refuted_at is not None
    assert 0.2 < bump.refuted_at < 0.8


def test_a_rising_curve_is_seldom_refuted() -> None:
    rng = np.random.default_rng(1)
    refuted = sum(
        monotone_band(drawn(CURVES["flat"], 100, rng, cells=False)[1], delta=0.4).refuted_at is not None
        for _ in range(300)
    )
    assert not too_many(refuted, 300, 0.4)


def test_the_band_is_narrower_than_that_of_calibrationband() -> None:
    widths = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.random(10_000)
        widths.append(calcert.curves.monotone_band(calcert.summarize(x, rng.random(10_000) < x)).mean_width)
    assert np.mean(widths) < 0.19


def test_limits_rise_and_stay_between_0_and_1() -> None:
    rng = np.random.default_rng(2)
    for n in (1, 30, 3000):
        band = monotone_band(drawn(CURVES["steps"], n, rng, cells=True)[1])
        assert band.edges[0] == 0
        assert band.edges[-1] == 1
        for side in (band.lower, band.upper):
            assert (np.diff(side) >= 0).all()
            assert side.min() >= 0
            assert side.max() <= 1


def test_scores_outside_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scores must lie in \[0, 1\]; got 1\.5 at row 1"):
        monotone_band(calcert.summarize([0.5], [1])).at([0.5, 1.5])
