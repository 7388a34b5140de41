"""The display draws what scikit-learn's draws, and around it what calcert certifies of the same rows."""

from __future__ import annotations

import inspect

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

mpl.use("agg")

import calcert
from calcert.foundation.number_text import at_least, at_most
from calcert.sklearn import CertifiedCalibrationDisplay

RNG = np.random.default_rng(0)
X = RNG.random(3_000)
Y = RNG.random(3_000) < X**1.5


def test_it_takes_the_arguments_of_scikit_learn() -> None:
    theirs = inspect.signature(CalibrationDisplay.from_predictions).parameters
    ours = inspect.signature(CertifiedCalibrationDisplay.from_predictions).parameters
    assert [name for name in ours if name in theirs] == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in theirs)


def test_the_line_is_that_of_scikit_learn_and_the_band_that_of_calcert() -> None:
    display = CertifiedCalibrationDisplay.from_predictions(
        Y, X, n_bins=10, strategy="quantile", name="m", confidence=0.9
    )
    plain = CalibrationDisplay.from_predictions(Y, X, n_bins=10, strategy="quantile")
    np.testing.assert_array_equal(display.line_.get_xydata(), plain.line_.get_xydata())
    report = calcert.certify(X, Y, confidence=0.9)
    assert display.report_ == report
    drawn = display.band_.get_data()
    np.testing.assert_array_equal(drawn.values, report.curve.upper[1:])
    np.testing.assert_array_equal(drawn.baseline, report.curve.lower[:-1])
    assert display.band_.get_label().startswith("m: at least 0.")
    again = display.plot()
    assert again.ax_ is not plain.ax_
    np.testing.assert_array_equal(again.band_.get_data().values, drawn.values)


def test_an_estimator_is_certified_with_its_labels_in_words() -> None:
    features, y = make_classification(2_000, random_state=0)
    words = np.where(y == 1, "yes", "no")
    model = LogisticRegression().fit(features[:1000], words[:1000])
    display = CertifiedCalibrationDisplay.from_estimator(
        model, features[1000:], words[1000:], pos_label="yes", confidence=0.8
    )
    scores = model.predict_proba(features[1000:])[:, list(model.classes_).index("yes")]
    assert display.report_ == calcert.certify(scores, words[1000:] == "yes", confidence=0.8)
    assert display.estimator_name == "LogisticRegression"


def test_few_scores_have_limits_of_their_own_and_a_falling_chance_has_no_band() -> None:
    few = RNG.integers(1, 5, 2_000) / 5
    display = CertifiedCalibrationDisplay.from_predictions(RNG.random(2_000) < few, few)
    assert len(display.band_.get_segments()) == 4
    falling = CertifiedCalibrationDisplay.from_predictions(RNG.random(3_000) < 1 - X, X)
    assert falling.band_ is None
    assert "no band: rows show a probability that falls" in falling.ax_.get_legend_handles_labels()[1][-1]


def test_two_models_share_axes() -> None:
    first = CertifiedCalibrationDisplay.from_predictions(Y, X, name="a")
    second = CertifiedCalibrationDisplay.from_predictions(Y, X**1.5, name="b", ax=first.ax_)
    assert second.ax_ is first.ax_
    assert len([text for text in first.ax_.get_legend().get_texts() if "from calibration" in text.get_text()]) == 2


def test_both_bounds_are_said_to_hold_by_themselves() -> None:
    label = CertifiedCalibrationDisplay.from_predictions(Y, X, confidence=0.9).band_.get_label()
    found = calcert.certify(X, Y, confidence=0.9).distance
    assert f"at least {at_least(found.lower)}, at most {at_most(found.upper)} from calibration, 90% each\n" in label


def test_series_with_different_indexes_are_not_paired_by_position() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="y_true and y_prob must have the same index; got 2999 and 0 at row 0"):
        CertifiedCalibrationDisplay.from_predictions(pandas.Series(Y)[::-1], pandas.Series(X))


def test_what_certify_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence must lie strictly between"):
        CertifiedCalibrationDisplay.from_predictions(Y, X, confidence=0.05)


@pytest.mark.parametrize("pos_label", [2, "1", "yes"])
def test_a_positive_label_that_cannot_occur_is_refused(pos_label: object) -> None:
    labels = Y.astype(int)
    for rows in (labels, 0 * labels) if isinstance(pos_label, str) else (labels,):
        with pytest.raises(ValueError, match=f"pos_label must be one of the labels of y_true, 0.*; got {pos_label!r}"):
            CertifiedCalibrationDisplay.from_predictions(rows, X, pos_label=pos_label)
    zeros = CertifiedCalibrationDisplay.from_predictions(0 * labels, X, pos_label=1)
    assert zeros.report_ == calcert.certify(X, 0 * labels)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_label_is_not_a_negative_one(missing: object) -> None:
    labels = np.ones(X.size, object)
    labels[7] = missing
    with pytest.raises(ValueError, match="y_true must have no missing values; got one at row 7"):
        CertifiedCalibrationDisplay.from_predictions(
            labels if missing is None else labels.astype(float), X, pos_label=1
        )
