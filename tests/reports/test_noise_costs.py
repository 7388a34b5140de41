"""What a bandwidth costs: against sampling, against quadrature row by row, and in the limit of no perturbation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import rankdata

import calcert
from calcert.certificates.perturbed import perturbed
from calcert.perturbation import sech_kernel
from calcert.perturbation.noise import Noise
from calcert.reports.estimates import log_loss
from calcert.reports.noise_costs import MOST, ODDS, default_bandwidths, noise_costs, ranking_and_log_loss

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]


def plain_auroc(scores: Floats, labels: Labels) -> float:
    """By ranks, ties half."""
    positives = labels.sum()
    rank = rankdata(scores)[labels].sum()
    return float((rank - positives * (positives + 1) / 2) / (positives * (labels.size - positives)))


def sample(n: int, a: float, b: float, seed: int) -> tuple[Floats, Labels]:
    rng = np.random.default_rng(seed)
    x = rng.beta(a, b, n)
    return x, rng.random(n) < x


@pytest.mark.parametrize("bandwidth", [1 / 8, 1 / 64])
def test_ranking_equals_the_mean_over_many_perturbations(bandwidth: float) -> None:
    x, y = sample(4000, 2, 3, seed=0)
    rng = np.random.default_rng(1)
    drawn = np.array([plain_auroc(calcert.perturb(x, bandwidth=bandwidth, rng=rng), y) for _ in range(200)])
    # Pairs of rows are perturbed independently, so the mean over perturbations is the exact value.
    exact, _ = ranking_and_log_loss(calcert.summarize(x, y), Noise("additive", bandwidth))
    assert abs(exact - drawn.mean()) < 5 * drawn.std() / math.sqrt(drawn.size) + 1e-4


def test_log_loss_equals_quadrature_row_by_row() -> None:
    h = 1 / 16
    rows = [(0.0, 0), (0.0, 1), (0.02, 1), (0.5, 1), (0.93, 0), (1.0, 0), (1.0, 1)]

    def surprise(x: float, y: int) -> float:
        def integrand(t: float) -> float:
            return -math.log(t if y else 1 - t) * float(sech_kernel.density(t, x, h))

        return float(quad(integrand, 0, 1, points=[x] if 0 < x < 1 else None, limit=200)[0])

    expected = np.mean([surprise(x, y) for x, y in rows])
    _, loss = ranking_and_log_loss(calcert.summarize(*zip(*rows, strict=True)), Noise("additive", h))
    assert loss == pytest.approx(expected, rel=1e-4)


def test_small_bandwidths_change_nothing() -> None:
    x, y = sample(20_000, 2, 3, seed=2)
    summary = calcert.summarize(x, y)
    ranking, loss = ranking_and_log_loss(summary, Noise("additive", 2.0**-12))
    assert ranking == pytest.approx(plain_auroc(x, y), abs=1e-4)
    assert loss == pytest.approx(log_loss(summary), abs=1e-4)
    assert log_loss(summary) == pytest.approx(-np.mean(np.log(np.where(y, x, 1 - x))), abs=1e-6)


def test_columns_of_a_row() -> None:
    x, y = sample(20_000, 2, 3, seed=3)
    summary = calcert.summarize(x, y)
    costs = noise_costs(summary, bandwidths=[1 / 4, 1 / 32])
    assert [row.noise.size for row in costs.rows] == [1 / 32, 1 / 4]
    for row in costs.rows:
        h = row.noise.size
        assert row.auroc == costs.auroc - row.auroc_loss
        assert row.log_loss == pytest.approx(costs.log_loss + row.log_loss_added, abs=1e-12)
        assert row.mean_shift == pytest.approx(sech_kernel.mean_absolute_shift(x, h).mean(), abs=1e-6)
        assert row.mean_score == pytest.approx(sech_kernel.mean(x, h).mean(), abs=1e-6)
        assert row.upper == calcert.bounds.perturbed(summary, bandwidth=h, confidence=0.975).upper


def test_recommends_the_largest_bandwidth_within_the_allowed_loss() -> None:
    costs = noise_costs(calcert.summarize(*sample(5000, 2, 3, seed=4)), bandwidths=[1 / 256, 1 / 64, 1 / 16, 1 / 8])
    within = [row.noise.size for row in costs.rows if row.auroc_loss <= 0.005]
    chosen = costs.recommended(0.005)
    assert chosen is not None
    assert chosen.noise.size == max(within)
    assert costs.recommended(-1.0) is None


def test_rare_events_forbid_bandwidths_that_cost_no_ranking() -> None:
    x = np.full(2000, 0.004)
    summary = calcert.summarize(x, np.arange(2000) < 8)
    costs = noise_costs(summary, bandwidths=default_bandwidths(summary))
    assert costs.rows[0].noise.size == 2.0**-14
    chosen = costs.recommended(1.0)
    assert chosen is not None
    assert chosen.noise.size * 8 <= 0.004 < 2 * chosen.noise.size * 8
    assert not costs.rows[-1].fits_rare_events


def test_one_label_has_no_ranking_but_a_log_loss() -> None:
    summary = calcert.summarize([0.2, 0.4, 0.4], [1, 1, 1])
    (row,) = noise_costs(summary, bandwidths=[1 / 64]).rows
    assert math.isnan(row.auroc)
    assert row.log_loss > 0


def test_default_bandwidths_are_few_and_reach_what_rare_events_need() -> None:
    assert default_bandwidths(calcert.summarize([0.3, 0.8], [0, 1])) == [2.0**-k for k in range(3, 9)]
    assert default_bandwidths(calcert.summarize([1e-4, 1e-4], [0, 1]))[-1] == 2.0**-16
    assert default_bandwidths(calcert.summarize([0.0] * 500, [0] * 500))[-1] == 2.0**-16
    assert default_bandwidths(calcert.summarize([0.01, 0.01], [0, 1]))[-1] == 2.0**-13


def test_rare_events_get_a_recommendation() -> None:
    rng = np.random.default_rng(3)
    x = 1 / (1 + np.exp(6 - 1.5 * rng.standard_normal(50_000)))
    summary = calcert.summarize(x, rng.random(50_000) < x)
    for costs in (noise_costs(summary), noise_costs(summary, bandwidths=default_bandwidths(summary))):
        best = costs.recommended()
        assert best is not None
        assert best.fits_rare_events
        assert best.auroc_loss <= 0.001


def test_bandwidths_that_the_rows_choose_share_delta_with_all_that_they_might_have_chosen() -> None:
    few, many = calcert.summarize(*sample(5000, 2, 3, seed=5)), calcert.summarize([1e-5, 1e-5], [0, 1])
    assert len(default_bandwidths(many)) == MOST > len(default_bandwidths(few))
    # The level of a bandwidth must not depend on the rows: else the bounds could fail together more often than delta.
    for summary in (few, many):
        for row in noise_costs(summary).rows:
            assert row.each == 0.05 / (len(ODDS) if row.noise.kind == "odds" else MOST)
    assert {row.each for row in noise_costs(few, bandwidths=[1 / 64, 1 / 16]).rows} == {0.025}
    for row in noise_costs(few).rows[2:12:5]:
        assert row.upper < 1
        assert row.upper == perturbed(few, delta=row.each, **row.noise.parameters).upper  # type: ignore[arg-type]


def test_no_bandwidths_are_refused() -> None:
    for name in ("bandwidths", "odds"):
        with pytest.raises(ValueError, match=rf"{name} must name at least one, such as \[1/64\], or be left out"):
            noise_costs(calcert.summarize([0.5], [1]), **{name: []})  # type: ignore[arg-type]


def test_the_list_begins_with_seven_sizes_on_the_odds_and_bandwidths_follow() -> None:
    summary = calcert.summarize(*sample(2000, 2, 3, seed=6))
    shown = [row.noise.shown for row in noise_costs(summary).rows]
    assert shown[:7] == [f"odds 1/{k}" for k in (128, 64, 32, 16, 8, 4, 2)]
    assert shown[7:] == [f"bandwidth 1/{k}" for k in (256, 128, 64, 32, 16, 8)]
    both = noise_costs(summary, bandwidths=[1 / 64], odds=[1 / 4, 1 / 8]).rows
    assert [(row.noise.shown, row.each) for row in both] == [
        ("odds 1/8", 0.025),
        ("odds 1/4", 0.025),
        ("bandwidth 1/64", 0.05),
    ]


@pytest.mark.parametrize("b", [1 / 2, 1 / 16])
def test_ranking_on_the_odds_equals_the_mean_over_many_perturbations(b: float) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.beta(0.5, 0.5, 2000), [0.0] * 60, [1.0] * 60, 10.0 ** -rng.uniform(5, 12, 200)])
    y = rng.random(x.size) < 0.1 + 0.8 * x
    drawn = np.array([plain_auroc(calcert.perturb(x, odds=b, rng=rng), y) for _ in range(200)])
    exact, loss = ranking_and_log_loss(calcert.summarize(x, y), Noise("odds", b))
    assert abs(exact - drawn.mean()) < 5 * drawn.std() / math.sqrt(drawn.size) + 1e-4
    assert loss == math.inf  # A score of 0 or 1 is served as it is, and some of them are wrong.


def test_log_loss_on_the_odds_equals_quadrature_row_by_row() -> None:
    b = 1 / 4
    rows = [(0.0, 0), (1e-9, 1), (1e-9, 0), (0.02, 1), (0.5, 1), (0.93, 0), (1 - 1e-8, 0), (1.0, 1)]

    def surprise(x: float, y: int) -> float:
        if x in (0, 1):
            return 0.0
        z = math.log(x / (1 - x))
        integrand = lambda u: np.logaddexp(0, -(z + b * u) if y else z + b * u) / math.cosh(u) / math.pi  # noqa: E731
        return float(quad(integrand, -300, 300, points=[0], limit=500)[0])

    expected = np.mean([surprise(x, y) for x, y in rows])
    _, loss = ranking_and_log_loss(calcert.summarize(*zip(*rows, strict=True)), Noise("odds", b))
    assert loss == pytest.approx(expected, rel=1e-4)


def test_columns_of_a_row_on_the_odds() -> None:
    x, y = sample(20_000, 0.5, 50, seed=7)
    summary = calcert.summarize(x, y)
    (row,) = noise_costs(summary, odds=[1 / 8]).rows
    noise = Noise("odds", 1 / 8)
    assert row.mean_shift == pytest.approx(noise.mean_shift(x).mean(), rel=1e-4)
    assert row.mean_score == pytest.approx(noise.mean(x).mean(), rel=1e-4)
    assert row.fits_rare_events
    assert row.upper == calcert.bounds.perturbed(summary, odds=1 / 8).upper
