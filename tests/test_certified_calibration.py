"""Recalibration as an estimator: scikit-learn accepts it, and it is the map of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import calcert
from calcert.sklearn import CertifiedCalibration

X, Y = make_classification(6_000, n_informative=6, flip_y=0.2, random_state=0)
MODEL = GaussianNB().fit(X[:2_000], Y[:2_000])


@parametrize_with_checks([CertifiedCalibration(LogisticRegression()), CertifiedCalibration(GaussianNB(), levels=0)])
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_fitted_classifier_is_left_alone_and_mapped() -> None:
    expected = calcert.recalibrate(MODEL.predict_proba(X[2_000:])[:, 1], Y[2_000:])
    for model in (MODEL, FrozenEstimator(MODEL)):
        found = CertifiedCalibration(model).fit(X[2_000:], Y[2_000:])
        assert found.fixed_.map == expected.map
        np.testing.assert_array_equal(found.predict_proba(X)[:, 1], expected(MODEL.predict_proba(X)[:, 1]))
        assert found.fixed_.l1 is not None
        assert found.fixed_.l1.upper < found.fixed_.before.l1.upper


def test_classes_may_be_words_and_rows_come_in_clusters() -> None:
    words = np.where(Y == 1, "yes", "no")
    model = GaussianNB().fit(X[:2_000], words[:2_000])
    user = np.arange(4_000) // 4
    found = CertifiedCalibration(model).fit(X[2_000:], words[2_000:], clusters=user)
    assert set(found.predict(X)) == {"no", "yes"}
    summary = found.fixed_.report.summary
    assert summary is not None
    assert summary.clusters is not None
    assert summary.clusters.number == 500


def test_an_unfitted_classifier_is_fitted_on_half_of_the_rows() -> None:
    found = CertifiedCalibration(clone(MODEL)).fit(X, Y)
    assert found.estimator_.class_count_.sum() == 3_000
    assert found.fixed_.fitted_rows == 1_500
    assert found.fixed_.report.n == 1_500


@pytest.mark.parametrize(
    ("model", "words"), [(LinearSVC(), "must have predict_proba"), (CalibratedClassifierCV(), None)]
)
def test_the_estimator_must_tell_probabilities(model: Any, words: str | None) -> None:
    if words is None:
        assert CertifiedCalibration(model).fit(X, Y).predict_proba(X).shape == (6_000, 2)
        return
    with pytest.raises(TypeError, match=words):
        CertifiedCalibration(model).fit(X, Y)


def test_more_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        CertifiedCalibration(LogisticRegression()).fit(X, np.arange(6_000) % 3)
