"""Facts of the rows, against NumPy on the rows themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

import calcert
from calcert.reports.estimates import LEVELS, log_loss, score_quantiles


def test_quantiles_of_many_scores_to_the_width_of_a_cell() -> None:
    x = np.random.default_rng(0).beta(0.5, 3, 50_000)
    found = score_quantiles(calcert.summarize(x, x > 0.5))
    expected = np.quantile(x, LEVELS, method="inverted_cdf")
    assert list(found) == list(LEVELS)
    np.testing.assert_allclose(list(found.values()), expected, atol=2.0**-14)


def test_quantiles_of_listed_scores_are_scores() -> None:
    x = np.array([0.1] * 99 + [0.9])
    assert score_quantiles(calcert.summarize(x, x > 0.5), (0.5, 0.99, 0.999)) == {0.5: 0.1, 0.99: 0.1, 0.999: 0.9}


def test_log_loss_is_infinite_where_certainty_was_wrong_and_finite_where_it_was_right() -> None:
    assert log_loss(calcert.summarize([0.0, 0.5], [1, 1])) == math.inf
    assert log_loss(calcert.summarize([0.0, 1.0], [0, 1])) == 0
    assert log_loss(calcert.summarize([0.25], [1])) == pytest.approx(math.log(4))


def test_the_floor_of_ece_is_what_calibrated_scores_show_on_average() -> None:
    rng = np.random.default_rng(1)
    x = rng.beta(1, 2, 2_000)
    shown = [calcert.estimates(calcert.summarize(x, rng.random(x.size) < x))["ECE (15 bins)"] for _ in range(60)]
    floor = calcert.estimates(calcert.summarize(x, x > 0.5))["noise floor of ECE"]
    assert np.mean(shown) == pytest.approx(floor, abs=5 * float(np.std(shown)) / math.sqrt(len(shown)))


SAMPLED = {
    "equal weights": {"weights": np.full(5_000, 1_000.0), "weight_unit": 1.0},
    "a finer unit of weights": {"weights": np.ones(5_000), "weight_unit": 1 / 64},
    "hard labels read as shares": {"soft_labels": True, "weight_unit": 1 / 128},
    "clusters": {"clusters": np.arange(5_000) // 4},
    "clusters of equal weights": {"clusters": np.arange(5_000) // 4, "weights": np.full(5_000, 7.0)},
}


@pytest.mark.parametrize("sampled", SAMPLED.values(), ids=SAMPLED)
def test_rows_and_not_units_of_weight_make_the_floor_of_ece(sampled: dict[str, Any]) -> None:
    rng = np.random.default_rng(6)
    x = rng.random(5_000)
    y = (rng.random(5_000) < x).astype(float)
    plain = calcert.estimates(calcert.summarize(x, y))["noise floor of ECE"]
    assert calcert.estimates(calcert.summarize(x, y, **sampled))["noise floor of ECE"] == pytest.approx(plain, rel=1e-3)


def test_the_floor_of_ece_of_uneven_weights_is_what_calibrated_scores_show_on_average() -> None:
    rng = np.random.default_rng(7)
    x, weights = rng.beta(1, 2, 2_000), rng.integers(1, 9, 2_000) ** 2.0
    drawn = (calcert.summarize(x, rng.random(x.size) < x, weights=weights) for _ in range(60))
    shown = [calcert.estimates(rows)["ECE (15 bins)"] for rows in drawn]
    floor = calcert.estimates(calcert.summarize(x, x > 0.5, weights=weights))["noise floor of ECE"]
    assert np.mean(shown) == pytest.approx(floor, abs=5 * float(np.std(shown)) / math.sqrt(len(shown)))


def test_slope_and_intercept_are_those_of_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    x = rng.beta(2, 3, 5_000)
    y = rng.random(x.size) < 1 / (1 + np.exp(-0.5 - 0.7 * np.log(x / (1 - x))))
    found = calcert.estimates(calcert.summarize(x, y))
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(np.log(x / (1 - x))[:, None], y)
    assert found["calibration slope"] == pytest.approx(fitted.coef_[0, 0], abs=1e-3)
    shifted = 1 / (1 + np.exp(-np.log(x / (1 - x)) - found["calibration intercept"]))
    assert shifted.sum() == pytest.approx(y.sum(), abs=0.5)
    assert found["observed over expected"] == pytest.approx(y.mean() / x.mean(), rel=1e-6)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [([0.2, 0.8], [1, 1]), ([0.0, 0.5], [0, 1]), ([0.5, 1.0], [0, 1]), ([0.2, 0.8], [0, 1]), ([0.5, 0.5], [0, 1])],
)
def test_a_slope_that_does_not_exist_is_not_there(scores: list[float], labels: list[int]) -> None:
    assert math.isnan(calcert.estimates(calcert.summarize(scores, labels))["calibration slope"])


def test_scores_that_are_classes_get_a_remark() -> None:
    (warning,) = calcert.certify([0, 1, 1, 0] * 50, [0, 1, 0, 0] * 50).warnings
    assert "For probabilities take what predict_proba returns." in warning
    assert calcert.certify([0, 1, 0.5, 0] * 50, [0, 1, 0, 0] * 50).warnings == ()


def test_an_error_twice_what_is_detectable_shows_and_a_third_of_it_does_not() -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(0.1, 0.9, 500)
    size = calcert.certify(x, rng.random(500) < x).detectable
    assert size is not None

    def shown(error: float) -> int:
        samples = (calcert.summarize(x, rng.random(500) < x + error) for _ in range(20))
        return sum(calcert.bounds.cutoff(sample).lower > 0 for sample in samples)

    assert shown(2 * size) >= 17
    assert shown(size / 3) <= 6


def test_what_noise_alone_makes_of_the_ece_stands_beside_it_and_in_json() -> None:
    rng = np.random.default_rng(5)
    x = rng.random(2_000)
    report = calcert.certify(x, rng.random(2_000) < x)
    assert report.detectable is not None
    floor = report.estimates["noise floor of ECE"]
    assert f"noise alone gives about {floor:.2g}" in str(report)
    again = calcert.Report.from_dict(report.to_dict())
    assert again.detectable == report.detectable
    assert str(again) == str(report)


NONE_SHOWN = {
    "one row": (np.array([0.3]), {}),
    "few rows": (np.linspace(0.1, 0.9, 79), {}),
    "clusters": (np.linspace(0.1, 0.9, 300), {"clusters": np.arange(300) // 3}),
    "clusters of one": (np.linspace(0.1, 0.9, 300), {"clusters": np.arange(300)}),
    "weights of one": (np.linspace(0.1, 0.9, 300), {"weights": np.ones(300)}),
    "shares": (np.linspace(0.1, 0.9, 300), {"soft_labels": True, "weight_unit": 0.5}),
    "rare labels": (np.full(1_000, 0.001), {}),
    "common labels": (np.full(1_000, 0.999), {}),
    "decisions": (np.arange(1_000) % 2, {}),
    "mostly decisions": (np.where(np.arange(1_000) % 10, np.arange(1_000) % 2, 0.5), {}),
}


@pytest.mark.parametrize(("scores", "clusters"), NONE_SHOWN.values(), ids=NONE_SHOWN)
def test_which_error_shows_is_left_out_where_it_is_not_known(scores: np.ndarray, clusters: dict[str, Any]) -> None:
    labels = np.random.default_rng(0).random(scores.size) < scores
    report = calcert.certify(calcert.Rows(scores, labels, **clusters))
    assert report.detectable is None
    assert report.to_dict()["detectable"] is None
    assert "to one side" not in " ".join(str(report).split())


@pytest.mark.parametrize("score", [0.02, 0.5, 0.98])
def test_an_error_that_is_said_to_show_shows_in_about_every_other_sample(score: float) -> None:
    n = 2_000
    rng = np.random.default_rng(8)
    x = np.full(n, score)
    size = calcert.certify(x, rng.random(n) < x).detectable
    assert size is not None
    chance = score + size * (1 if score <= 0.5 else -1)
    samples = (calcert.summarize(x, rng.random(n) < chance) for _ in range(100))
    assert 40 <= sum(calcert.bounds.distance(sample).lower > 0 for sample in samples) <= 80


def test_scores_that_rank_labels_backwards_are_warned_of_where_mann_and_whitney_are_sure() -> None:
    seen = []
    for share in np.linspace(0, 0.5, 21):
        labels = np.arange(400) < 200
        backwards = np.arange(400) % 200 < share * 200
        x = np.where(labels != backwards, 0.75, np.where(np.arange(400) % 3 == 0, 0.5, 0.25))
        u = mannwhitneyu(x[labels], x[~labels], alternative="less", method="asymptotic", use_continuity=False)
        for scores, z in ((x, norm.ppf(u.pvalue)), (1 - x, -norm.ppf(u.pvalue))):
            said = any("scores rank labels backwards (AUROC 0" in w for w in calcert.certify(scores, labels).warnings)
            assert said == (z < -5) or abs(z + 5) < 0.05
            seen.append(said)
    assert 0 < sum(seen) < len(seen) / 2
    x, y = np.repeat([0.9, 0.1], 60), np.repeat([0, 1], 60)
    assert calcert.certify(x, y).warnings
    assert not calcert.certify(x, y, clusters=np.arange(120) // 30).warnings, "four independent clusters tell little"
    assert not any("backwards" in words for words in calcert.certify(x, np.ones(120)).warnings)
