"""The band for noise on the odds: each slack of L10 by itself, scores 0 and 1, end rows, and all by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import binom, hypsecant

import calcert
from calcert.certificates.band import END, CalibrationBand, calibration_band, end_means, odds_slack
from calcert.perturbation.grids.odds_coordinate import ENDS, OddsCoordinate
from calcert.perturbation.grids.odds_discretisation import widest_cell
from calcert.summary import cells
from calcert.summary.summary import Summary

Floats = NDArray[np.float64]


def sech(v: Floats) -> Floats:
    e = np.exp(-np.abs(v))
    return np.asarray(2 * e / (1 + e * e))


@pytest.mark.parametrize("b", [1 / 64, 1 / 16, 1 / 2])
def test_placing_rows_changes_every_weight_by_no_more_than_is_charged_and_half_would_not_do(b: float) -> None:
    where = OddsCoordinate(b)
    grid, worst = where.grid(64), 0.0
    for x in (
        ENDS[0] + 2.0**-27,
        1e-5,
        2.0**-12 * 1.00002,
        2.0**-8 * 1.0003,
        0.0313,
        0.0625 + 2.0**-15,
        0.4,
        0.77,
        0.999,
    ):
        points = Summary(*_one_row(x)).cell_points
        low, high = points.low[0], points.high[0]
        f = (x - low) / (high - low)
        z = np.linspace(-39, 39, 3001) * b + logit(x)
        z = z[np.abs(z) < 13.8]
        ends = []
        for end in (low, high):
            place = float(where.place(np.array([end]))[0]) * grid.size
            part = place - np.floor(place)
            steps = [2 * where.half * (np.floor(place) + k) / grid.size - where.half for k in (0, 1)]
            ends.append((1 - part) * sech((z - steps[0]) / b) + part * sech((z - steps[1]) / b))
        placed, exact = (1 - f) * ends[0] + f * ends[1], sech((z - logit(x)) / b)
        slack = odds_slack(where.weight_change(grid, (z + where.half) / (2 * where.half)))
        charged = np.tanh(slack / 2)
        worst = max(worst, float((np.abs(placed / exact - 1) / charged).max()))
    assert 0.5 < worst <= 1


def _one_row(x: float) -> tuple:
    summary = calcert.summarize([x], [1])
    return summary.cell, summary.count, summary.offset, None, None


def test_the_widest_cell_is_the_widest_from_there_on() -> None:
    left, width = cells.bounds(np.arange(cells.LOWER_HALF))
    low = left * cells.RESOLUTION
    wide = width * cells.RESOLUTION
    placed = low >= ENDS[0]
    stretch = wide[placed] / np.minimum(low * (1 - low), (low + wide) * (1 - low - wide))[placed]
    ahead = np.maximum.accumulate(stretch[::-1])[::-1]
    # From a little inside of each cell on, that cell counts too.
    charged = widest_cell(low[placed] + wide[placed] / 2)
    assert (charged >= ahead).all()
    assert (charged <= 1.02 * ahead).all()


@pytest.mark.parametrize("b", [1 / 16, 1 / 2])
def test_end_rows_weigh_no_more_than_is_charged(b: float) -> None:
    where = OddsCoordinate(b)
    x = np.array([0.0, 1e-9, ENDS[0] * 0.999, 1 - 1e-7, 1.0, 0.3])
    view = where.by_cell(calcert.summarize(x, [0, 1, 0, 1, 0, 1]))
    z = np.linspace(-13.8, 13.8, 2001)
    charged = where.end_weight(view, (z + where.half) / (2 * where.half))
    true = sum(sech((z - logit(s)) / b) for s in (1e-9, ENDS[0] * 0.999, 1 - 1e-7))
    assert (true <= charged).all()
    # Rows all at the edge would weigh just that much.
    edge = 3 * sech((z - logit(ENDS[0])) / b) + 2 * sech((z + logit(ENDS[0])) / b)
    assert charged == pytest.approx(edge, rel=1e-4, abs=1e-12)


def test_log_odds_move_by_at_most_two_over_b() -> None:
    rng = np.random.default_rng(0)
    steepest = 0.0
    for b in (0.03, 0.1, 0.5):
        z = np.linspace(-3, 3, 6001)
        for _ in range(20):
            at, chance, mass = (
                rng.uniform(-3, 3, 3),
                rng.choice([1e-9, 0.2, 1 - 1e-9], 3),
                rng.dirichlet(np.ones(3) / 3),
            )
            weight = mass * sech((z[:, None] - at) / b)
            odds = logit((weight * chance).sum(axis=1) / weight.sum(axis=1))
            steepest = max(steepest, b * float(np.abs(np.diff(odds) / np.diff(z)).max()))
    assert 1.5 < steepest <= 2


SCORE = np.array([0.0, 1e-9, 1e-4, 0.02, 0.3, 0.7, 1.0])
CHANCE = np.array([0.1, 0.2, 1e-3, 0.05, 0.1, 0.8, 0.9])
MASS = np.array([0.1, 0.05, 0.1, 0.25, 0.2, 0.2, 0.1])


def truth_at(s: Floats, b: float) -> Floats:
    """The true probability of label 1 at served scores: the atoms at 0 and 1, else the weighted mean of chances."""
    inner = (SCORE > 0) & (SCORE < 1)
    with np.errstate(divide="ignore"):
        z = logit(s)
    inside = np.clip(z, -40, 40)
    log_weight = np.log(MASS[inner]) - np.abs(inside[:, None] - logit(SCORE[inner])) / b
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= 1 + np.exp(-2 * np.abs(inside[:, None] - logit(SCORE[inner])) / b)
    chance = (weight * CHANCE[inner]).sum(axis=1) / weight.sum(axis=1)
    return np.where(s == 0, CHANCE[0], np.where(s == 1, CHANCE[-1], chance))


def escapes(band: CalibrationBand, shrink: float) -> bool:
    """True where the true curve leaves the band, narrowed around the estimate by a factor."""
    inside = expit(np.linspace(-20, 20, 2001))
    s = np.concatenate([[0.0], inside, [1.0]])
    stretch = np.clip(np.searchsorted(band.edges, s) - 1, 0, band.t.size - 1)
    stretch[0], stretch[-1] = 0, band.t.size - 1
    truth = truth_at(s, band.noise.size)
    estimate = np.nan_to_num(band.estimate[stretch], nan=0.5)
    low = estimate - shrink * (estimate - band.lower[stretch])
    high = estimate + shrink * (band.upper[stretch] - estimate)
    return bool(((truth < low) | (truth > high))[band.upper[stretch] < 1].any())


def draw(n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    atom = rng.choice(SCORE.size, n, p=MASS)
    return SCORE[atom], rng.random(n) < CHANCE[atom]


def test_band_encloses_the_whole_curve_and_a_narrow_one_is_caught() -> None:
    runs, delta = 40, 0.2
    rng = np.random.default_rng(1)
    bands = [calibration_band(calcert.summarize(*draw(5000, rng)), odds=1 / 4, delta=delta) for _ in range(runs)]
    allowed = binom.isf(1e-6, runs, delta)
    assert sum(escapes(band, 1.0) for band in bands) <= allowed
    assert sum(escapes(band, 0.2) for band in bands) > allowed


def test_scores_zero_and_one_have_limits_of_their_own_where_they_are_known() -> None:
    x, y = draw(20_000, np.random.default_rng(2))
    listed = calcert.summarize(x, y)
    for summary in (listed, Summary(listed.cell, listed.count, listed.offset, None, None)):
        band = calibration_band(summary, odds=1 / 16)
        assert band.edges[0] == band.edges[1] == 0
        assert band.edges[-1] == band.edges[-2] == 1
        assert band.lower[-1] < 0.9 < band.upper[-1] < 0.95
        assert band.lower[1] == band.lower[-2] == 0
        assert band.upper[1] == band.upper[-2] == 1
        if summary.is_finite:
            assert 0.05 < band.lower[0] < 0.1 < band.upper[0] < 0.16
        else:
            # Score 0 cannot be told from 2^-41 there, and the two may be served with other chances.
            assert (band.lower[0], band.upper[0]) == (0, 1)


def test_the_band_is_as_fine_among_rare_events_as_in_the_middle() -> None:
    rng = np.random.default_rng(3)
    x = rng.beta(0.5, 500, 1_000_000)
    band = calibration_band(calcert.summarize(x, rng.random(x.size) < x), odds=1 / 16)
    near = np.argmin(np.abs(band.t - 0.002))
    assert band.lower[near] < 0.002 < band.upper[near]
    assert band.upper[near] - band.lower[near] < 0.003
    assert (np.diff(band.t) > 0).all()
    assert ((band.edges[:-1] <= band.t) & (band.t <= band.edges[1:])).all()
    part = band.thinned(50, (0.0, 0.005))
    assert part.edges[0] <= 0
    assert part.edges[-1] >= 0.005


def test_shares_of_both_labels_add_up_to_one_with_crowded_ends() -> None:
    x = np.random.default_rng(3).random(2000)
    x[:500] = np.repeat([0.0, 1e-9, 0.999, 1 - 1e-9, 1.0], 100)
    band = calibration_band(calcert.summarize(x, x > 0.7), odds=1 / 32)
    for shares in (band, band.thinned(64)):
        assert abs(float((shares.negative + shares.positive).sum()) - 1) < 1e-3
        assert abs(shares.positive.sum() - (x > 0.7).mean()) < 1e-3


def truth_of_ends(b: float) -> list[float]:
    """The true probability of label 1 given that the served score is within 1e-6 of 0, and of 1."""
    inner, found = (SCORE > 0) & (SCORE < 1), []
    for end in (0.0, 1.0):
        weight = np.equal(SCORE, end).astype(float)
        away = np.abs(logit(END)) - np.where(end, logit(SCORE[inner]), -logit(SCORE[inner]))
        weight[inner] = hypsecant.sf(away / b)
        found.append(float((MASS * weight * CHANCE).sum() / (MASS * weight).sum()))
    return found


@pytest.mark.parametrize("b", [1 / 16, 1 / 2])
@pytest.mark.parametrize("listed", [True, False])
def test_the_mean_chance_of_each_end_is_enclosed_and_narrow_limits_are_caught(b: float, listed: bool) -> None:
    runs, delta, rng, truth = 100, 0.2, np.random.default_rng(4), truth_of_ends(b)
    missed, allowed = {1.0: 0, 0.3: 0}, binom.isf(1e-6, runs, 2 * delta)
    for _ in range(runs):
        rows = calcert.summarize(*draw(2000, rng))
        if not listed:
            rows = Summary(rows.cell, rows.count, rows.offset, None, None)
        view = OddsCoordinate(b).by_cell(rows)
        ends = end_means(view, rows.cell_points, b, rows.n, np.log(1 / delta))
        for narrowed in missed:
            low = [end.estimate - narrowed * (end.estimate - end.lower) for end in ends]
            high = [end.estimate + narrowed * (end.upper - end.estimate) for end in ends]
            missed[narrowed] += not all(a <= c <= z for a, c, z in zip(low, truth, high, strict=True))
    assert missed[1.0] <= allowed < missed[0.3]


@pytest.mark.parametrize("score", [0.0, 1e-9, 1 - 1e-9, 1.0])
def test_a_crowded_end_is_among_the_ranges_that_are_off(score: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(20_000)
    y = np.append(rng.random(20_000) < x, rng.random(1_000) < 0.28)
    band = calibration_band(calcert.summarize(np.append(x, np.full(1_000, score)), y), odds=1 / 16)
    (bend,) = band.miscalibrated_ranges
    assert bend.side == ("above" if score < 0.5 else "below")
    assert bend.by < (0.28 if score < 0.5 else 0.72) < bend.by + 0.12
    # Score 1 is known apart from others; what is next to 0 or 1 is known on average.
    if score == 1:
        assert str(bend) == "at 1 the probability is below the score by at least 0.62"
    else:
        where = "between 0 and 1e-06" if score < 0.5 else "between 0.999999 and 1"
        assert str(bend).startswith(f"{where} the probability is on average {bend.side} the score by at least 0.")


def test_calibrated_ends_are_not_said_to_be_off() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.random(20_000), np.repeat([0.0, 1e-9, 1 - 1e-9, 1.0], 1_000)])
    assert calibration_band(calcert.summarize(x, rng.random(x.size) < x), odds=1 / 16).miscalibrated_ranges == ()
