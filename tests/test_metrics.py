"""Metrics of (y_true, y_prob) are the bounds of the statements, and fit where other libraries call metrics."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_validate

import calcert
from calcert import metrics

rng = np.random.default_rng(0)
X = rng.random(3000)
Y = (rng.random(3000) < X**2).astype(int)


@pytest.mark.parametrize("name", ["distance", "cutoff", "l1"])
def test_each_metric_is_one_side_of_the_statement(name: str) -> None:
    certificate = calcert.certify(X, Y, settings=calcert.Settings(confidence=0.9, seed=3)).statement(name)
    assert getattr(metrics, f"{name}_upper")(Y, X, confidence=0.9, seed=3) == certificate.upper
    assert getattr(metrics, f"{name}_lower")(Y, X, confidence=0.9, seed=3) == certificate.lower


def test_the_number_of_crossings_reaches_the_bound() -> None:
    few, many = (metrics.l1_upper(Y, X, crossings=k) for k in (0, 9))
    assert few < many


def test_labels_may_be_words_if_the_positive_one_is_named() -> None:
    words = np.where(Y == 1, "bad", "good")
    assert metrics.distance_upper(words, X, pos_label="bad") == metrics.distance_upper(Y, X)
    with pytest.raises(TypeError, match=r"labels must be a one-dimensional array of 0/1; got .* 'bad' at row 0"):
        metrics.distance_upper(words, X)


def test_a_third_label_and_a_missing_one_are_refused() -> None:
    with pytest.raises(ValueError, match="two labels, pos_label='a' and one other; got 'b' and 'c'"):
        metrics.cutoff_upper(["a", "b", "c"], [0.1, 0.2, 0.3], pos_label="a")
    with pytest.raises(ValueError, match="no missing values; got one at row 1"):
        metrics.cutoff_upper(["a", None, "b"], [0.1, 0.2, 0.3], pos_label="a")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="y_true must have no missing values; got one at row 1"):
        metrics.cutoff_upper(np.array(["a", pandas.NA, "b"], object), [0.1, 0.2, 0.3], pos_label="a")


def test_a_positive_label_that_cannot_occur_is_refused_and_one_that_did_not_is_not() -> None:
    with pytest.raises(ValueError, match="pos_label must be one of the labels of y_true, 0, 1; got 2"):
        metrics.distance_upper(Y, X, pos_label=2)
    with pytest.raises(ValueError, match="pos_label must be one of the labels of y_true, 0; got '1'"):
        metrics.distance_upper(0 * Y, X, pos_label="1")
    assert metrics.distance_upper(["no"] * 3000, X, pos_label="yes") == metrics.distance_upper(0 * Y, X)


def test_scores_and_labels_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match="labels must be 0 or 1"):
        metrics.distance_upper(X, Y)


def test_advice_is_about_arguments_of_metrics() -> None:
    with pytest.raises(ValueError, match=r"Metrics are called with \(y_true, y_prob\)"):
        metrics.distance_upper(X, Y)
    with pytest.raises(TypeError, match="For labels in words pass pos_label='yes'"):
        metrics.distance_upper(np.where(Y == 1, "yes", "no").astype(object), X)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="y_true and y_prob must have the same index"):
        metrics.distance_upper(pandas.Series(Y)[::-1], pandas.Series(X))


def test_predicted_classes_are_remarked_on() -> None:
    with pytest.warns(UserWarning, match=r"take what predict_proba returns.*response_method='predict_proba'"):
        metrics.distance_upper(Y, X > 0.5)


def test_scikit_learn_scores_folds_with_it() -> None:
    features, labels = make_classification(3000, flip_y=0.2, random_state=0)
    scorer = make_scorer(metrics.distance_upper, greater_is_better=False, response_method="predict_proba")
    found = cross_validate(LogisticRegression(), features, labels, scoring=scorer, cv=3, return_indices=True)
    for score, train, test in zip(found["test_score"], *found["indices"].values(), strict=True):
        model = LogisticRegression().fit(features[train], labels[train])
        assert -score == metrics.distance_upper(labels[test], model.predict_proba(features[test])[:, 1])


def test_weights_come_by_the_road_of_certify_and_by_routing() -> None:
    weights = np.arange(3000) % 3 + 1
    expected = calcert.bounds.cutoff(calcert.summarize(X, Y, weights=weights / 2, weight_unit=0.5))
    assert metrics.cutoff_upper(Y, X, sample_weight=weights / 2, weight_unit=0.5) == expected.upper
    clusters = np.arange(3000) // 2
    assert (
        metrics.cutoff_upper(Y, X, clusters=clusters)
        == calcert.bounds.cutoff(calcert.summarize(X, Y, clusters=clusters)).upper
    )
    with pytest.raises(ValueError, match="whole multiples of weight_unit"):
        metrics.cutoff_upper(Y, X, sample_weight=weights / 2)
    features, labels = make_classification(3000, flip_y=0.2, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        plain = make_scorer(metrics.l1_lower, response_method="predict_proba")
        scorer = plain.set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        asked = {"cv": 2, "params": {"sample_weight": weights}, "return_indices": True}
        found = cross_validate(model, features, labels, scoring=scorer, **asked)
    for score, train, test in zip(found["test_score"], *found["indices"].values(), strict=True):
        p = LogisticRegression().fit(features[train], labels[train]).predict_proba(features[test])[:, 1]
        assert score == calcert.certify(calcert.Rows(p, labels[test], weights=weights[test])).l1.lower


def test_fairlearn_takes_it_by_group() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    groups = np.where(np.arange(3000) % 3 == 0, "a", "b")
    frame = fairlearn.MetricFrame(metrics=metrics.cutoff_upper, y_true=Y, y_pred=X, sensitive_features=groups)
    for group in "ab":
        assert frame.by_group[group] == metrics.cutoff_upper(Y[groups == group], X[groups == group])
