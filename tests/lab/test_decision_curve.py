"""Lemma T and the decision curve: limits for gains of three values, at all thresholds together."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom, multinomial, norm

import calcert
import calcert.show
from calcert.certificates.decision_curve import THRESHOLDS, DecisionCurve, decision_curve
from calcert.certificates.limits import share_limits
from calcert.certificates.limits.share_limits import Gain
from calcert.kernels.few_values import at_most
from tests.lab.distributions import too_many


def outcomes(n: int, gains: float, loses: float) -> tuple[np.ndarray, np.ndarray]:
    counts = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])
    return counts, multinomial.pmf(counts, n, [gains, loses, 1 - gains - loses])


@pytest.mark.parametrize("pay", [0.1, 0.5, 0.7])
@pytest.mark.parametrize(("gains", "loses"), [(0.2, 0.3), (0.6, 0.05), (0.02, 0.1), (0.0, 0.4), (0.5, 0.5)])
def test_tails_are_exact(pay: float, gains: float, loses: float) -> None:
    counts, chance = outcomes(25, gains, loses)
    total = counts[:, 0] * pay - counts[:, 1] * (1 - pay)
    for limit in np.quantile(total, (0.02, 0.3, 0.6)):
        exact = float(chance[total <= limit + 1e-9].sum())
        assert exact <= at_most(float(limit), gains, loses, 25, pay) <= exact + 1e-6


def test_tails_of_many_rows_are_those_of_the_whole_sum() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, share, pay = int(10 ** rng.uniform(1, 4)), rng.random() ** 3, rng.random()
        gains = share * rng.random()
        spread = np.sqrt(n * (gains * pay**2 + (share - gains) * (1 - pay) ** 2))
        total = n * (gains * pay - (share - gains) * (1 - pay)) + 2 * rng.normal() * spread
        taking = np.arange(n + 1)
        won = np.floor(total + (1 - pay) * taking + 1e-9 * n)
        exact = float(binom.pmf(taking, n, share) @ binom.cdf(won, taking, gains / share))
        assert exact <= at_most(total, gains, share - gains, n, pay) <= exact + 1e-6


def missed(n: int, gains: float, loses: float, pay: float, delta: float, cut: float = 0.0) -> float:
    """The probability of all outcomes whose limit, cut towards the mean of the rows, is below the mean."""
    mean, total = gains * pay - loses * (1 - pay), 0.0
    for (won, lost, _), chance in zip(*outcomes(n, gains, loses), strict=True):
        if chance > 1e-8:
            seen = (won * pay - lost * (1 - pay)) / n
            limit = Gain(won * pay - lost * (1 - pay), won + lost, won + lost, n, pay).upper(delta)
            total += chance * (limit - cut * (limit - seen) < mean)
    return total


@pytest.mark.parametrize(
    ("n", "gains", "loses", "pay"), [(20, 0.3, 0.3, 0.5), (40, 0.1, 0.5, 0.8), (40, 0.6, 0.1, 0.3)]
)
def test_limits_cover_over_all_outcomes(n: int, gains: float, loses: float, pay: float) -> None:
    assert missed(n, gains, loses, pay, 0.1) <= 0.1


def test_negative_control_limits_cut_by_a_fifth_are_caught() -> None:
    assert missed(40, 0.4, 0.2, 0.5, 0.1, cut=0.2) > 0.1


def test_a_limit_without_the_tilt_is_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    gain = Gain(0.0, 52, 52, 1_000, 0.5)
    tilted = gain.upper(0.05)
    monkeypatch.setattr(share_limits, "normal_quantile", lambda level: 0.0)
    assert tilted < 0.88 * gain.upper(0.05)


def test_stretches_of_blocks_are_ruled_out_only_where_no_limit_is_above() -> None:
    rng = np.random.default_rng(9)
    for _ in range(40):
        n, pay = int(rng.integers(50, 2_000)), rng.uniform(0.1, 0.9)
        most = int(rng.integers(1, n))
        gain = Gain(rng.normal() * np.sqrt(pay * (1 - pay) * most), max(most - 3, 0), most, n, pay)
        limit = gain.upper(0.05)
        assert not gain.may_exceed(limit + 1e-4 * abs(limit) + 1e-9, 0.05)
        assert gain.may_exceed(limit - 1e-4, 0.05)


def true_benefit(t: float) -> float:
    """Of uniform calibrated scores: the mean of (x - t) above t, over 1 - t."""
    return (1 - t) / 2


def test_the_band_covers_at_all_thresholds_in_a_thousand_data_sets() -> None:
    rng, n, runs, out, gained, control = np.random.default_rng(4), 400, 1_000, 0, 0, 0
    listed = (0.2, 0.5)
    true = np.array([true_benefit(t) for t in listed])
    gain = true - np.array([(0.5 - t) / (1 - t) for t in listed])
    for _ in range(runs):
        x = rng.random(n)
        y = rng.random(n) < x
        curve = decision_curve(calcert.summarize(x, y), thresholds=listed)
        out += bool((true < curve.lower).any() or (true > curve.upper).any())
        gained += bool((gain < curve.gain_lower).any() or (gain > curve.gain_upper).any())
        half = np.array([norm.isf(0.05) * np.where(x >= t, y - t, 0).std() / (1 - t) / np.sqrt(n) for t in listed])
        control += bool((abs(true - curve.net_benefit) > half).any())
    assert out <= 0.05 * runs
    assert gained <= 0.05 * runs
    assert too_many(control, runs, 0.05), "limits that hold one by one do not hold together"


def test_the_band_is_hardly_wider_than_normal_limits_for_one_threshold_each() -> None:
    rng, n, ratios = np.random.default_rng(5), 10_000, []
    x = rng.random(n)
    y = rng.random(n) < x
    curve = decision_curve(calcert.summarize(x, y))
    for t, lower, upper in zip(curve.threshold, curve.lower, curve.upper, strict=True):
        error = np.where(x >= t, y - t, 0).std() / (1 - t) / np.sqrt(n)
        ratios.append((upper - lower) / (2 * norm.isf(0.025) * error))
    assert max(ratios) <= 1.335


def test_the_curve_is_told_in_every_way() -> None:
    rng = np.random.default_rng(6)
    x = rng.random(2_000)
    curve = decision_curve(calcert.summarize(x, rng.random(2_000) < x))
    assert curve.threshold == THRESHOLDS
    assert DecisionCurve.from_dict(json.loads(json.dumps(curve.to_dict()))) == curve
    assert curve.to_frame().columns.tolist()[:4] == ["threshold", "net_benefit", "lower", "upper"]
    assert curve.proven[-1] == "better than all and none"
    assert "better than all and" in str(curve)
    assert curve.plot().axes[0].get_ylabel() == "net benefit per row"
    assert "Decision curve" in calcert.show.as_page(curve)


def test_the_cell_that_a_threshold_cuts_is_charged_on_both_sides() -> None:
    rng = np.random.default_rng(7)
    x = 0.3 + rng.normal(0, 2e-5, 6_000)
    y = rng.random(6_000) < 0.5
    rows = calcert.summarize(x, y)
    assert not rows.is_finite
    curve = decision_curve(rows, thresholds=[0.3])
    exact = decision_curve(calcert.summarize(np.where(x >= 0.3, 0.4, 0.2), y), thresholds=[0.3])
    assert curve.lower[0] < exact.lower[0] < exact.upper[0] < curve.upper[0]


def test_thresholds_that_make_no_list_are_refused() -> None:
    rows = calcert.summarize([0.2, 0.8], [0, 1])
    with pytest.raises(ValueError, match="thresholds must be up to 1,000 increasing numbers"):
        decision_curve(rows, thresholds=[0.5, 0.2])
    with pytest.raises(ValueError, match="threshold must lie strictly between 0 and 1; got 0"):
        decision_curve(rows, thresholds=[0, 0.2])
    with pytest.raises(ValueError, match="independent rows of equal weight"):
        decision_curve(calcert.summarize([0.2, 0.8], [0, 1], clusters=[0, 0]))


def test_a_curve_with_infinite_limits_is_refused_in_words() -> None:
    from calcert.certificates.decision_curve import DecisionCurve

    written = calcert.curves.decision_curve([0.2, 0.8] * 50, [0, 1] * 50, thresholds=[0.5]).to_dict()
    written["upper"] = [float("inf")]
    with pytest.raises(ValueError, match="finite"):
        DecisionCurve.from_dict(written)
