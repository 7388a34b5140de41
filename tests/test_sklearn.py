"""PerturbedClassifier serves what certify applies to, and is at home in scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse, stats
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import calcert
from calcert.perturbation.keyed_noise import uniform_of_keys, uniform_of_rows
from calcert.perturbation.sech_kernel import distribution, sample
from calcert.sklearn import PerturbedClassifier, certified_upper_scorer


def rows(n: int = 2_000, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, n_informative=6, n_classes=classes, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def fitted() -> tuple[LogisticRegression, np.ndarray, np.ndarray]:
    X, y = rows()
    return LogisticRegression().fit(X[:1000], y[:1000]), X[1000:], y[1000:]


@parametrize_with_checks(
    [PerturbedClassifier(LogisticRegression()), PerturbedClassifier(LogisticRegression(), random_state=0)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_tagged_non_deterministic_unless_keyed():
    assert get_tags(PerturbedClassifier(GaussianNB())).non_deterministic
    assert get_tags(PerturbedClassifier(GaussianNB(), random_state=np.random.default_rng(0))).non_deterministic
    assert not get_tags(PerturbedClassifier(GaussianNB(), random_state=0)).non_deterministic


@pytest.mark.parametrize("random_state", [np.random.default_rng(0), np.random.RandomState(0), 0])
def test_served_probability_follows_the_kernel_around_the_original(fitted, random_state):
    model, X, _ = fitted
    served = PerturbedClassifier(model, bandwidth=0.1, random_state=random_state).predict_proba(X)[:, 1]
    uniform = distribution(served, model.predict_proba(X)[:, 1], 0.1)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3


def test_fresh_noise_differs_from_call_to_call_and_keyed_noise_does_not(fitted):
    model, X, _ = fitted
    fresh, keyed = PerturbedClassifier(model), PerturbedClassifier(model, random_state=5)
    assert (fresh.predict_proba(X) != fresh.predict_proba(X)).mean() > 0.99
    assert (pickle.loads(pickle.dumps(fresh)).predict_proba(X) != fresh.predict_proba(X)).mean() > 0.99
    assert (keyed.predict_proba(X) == pickle.loads(pickle.dumps(keyed)).predict_proba(X)).all()
    assert (keyed.predict_proba(X) != PerturbedClassifier(model, random_state=6).predict_proba(X)).mean() > 0.99


def test_keyed_noise_belongs_to_the_row_and_not_to_its_place(fitted):
    model, X, _ = fitted
    keyed = PerturbedClassifier(model, random_state=5)
    whole = keyed.predict_proba(X)
    np.testing.assert_allclose(keyed.predict_proba(X[::-1]), whole[::-1], rtol=1e-12)
    one_by_one = np.concatenate([keyed.predict_proba(row[None]) for row in X[:50]])
    np.testing.assert_allclose(one_by_one, whole[:50], rtol=1e-12)


def test_row_noise_sees_values_and_not_containers():
    table = np.array([[0.0, 2.0], [3.0, 4.0], [3.0, 0.0]])
    expected = uniform_of_rows(1, table)
    assert (uniform_of_rows(1, table.tolist()) == expected).all()
    assert (uniform_of_rows(1, pd.DataFrame(table).astype(int)) == expected).all()
    assert (uniform_of_rows(1, -0.0 + table.astype(np.float32)) == expected).all()
    unsorted = sparse.csr_matrix(([4.0, 3.0, 0.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    assert (uniform_of_rows(1, unsorted) == uniform_of_rows(1, sparse.csr_array([[3.0, 4.0], [0.0, 0.0]]))).all()
    assert np.unique(uniform_of_rows(1, sparse.csr_array(table))).size == 3
    mixed = pd.DataFrame({"carrier": ["UA", "AA"], "hour": [5, 6]})
    assert uniform_of_rows(1, mixed.iloc[[1]])[0] == uniform_of_rows(1, mixed)[1]
    assert uniform_of_rows(1, ["some text"])[0] == uniform_of_rows(1, np.array(["some text"]))[0]


def test_row_noise_looks_uniform_and_independent():
    u = uniform_of_rows(3, np.arange(20_000)[:, None])
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(u, uniform_of_rows(4, np.arange(20_000)[:, None]))[0, 1]) < 0.03
    assert 0 < u.min() < 1e-3 < 1 - 1e-3 < u.max() < 1


def test_keys_replace_the_row():
    model = PerturbedClassifier(DecisionTreeClassifier(max_depth=2), random_state=1).fit(*rows())
    X = np.repeat(rows()[0][:1], 500, axis=0)
    assert np.unique(model.predict_proba(X)[:, 1]).size == 1
    assert np.unique(model.predict_proba(X, keys=range(500))[:, 1]).size == 500
    assert (model.predict_proba(X, keys=range(500)) == model.predict_proba(X, keys=np.arange(500))).all()
    assert np.unique(uniform_of_keys(1, ["1", b"1", 1], 3)).size == 3
    with pytest.raises(ValueError, match="one key for each of the 500 rows; got 499"):
        model.predict_proba(X, keys=range(499))
    with pytest.raises(TypeError, match=r"got 0\.5 at row 0"):
        model.predict_proba(X[:1], keys=[0.5])
    with pytest.raises(ValueError, match="keys need an integer or bytes as random_state"):
        PerturbedClassifier(model.estimator_).predict_proba(X, keys=range(500))


def test_noise_frozen_to_rows_that_recur_exceeds_the_bound_and_keys_restore_it():
    """A thousand calibrated rows, served again and again: their noise averages out only if it is drawn again."""
    rng, bandwidth = np.random.default_rng(0), 1 / 64
    row = rng.integers(0, 1000, 50_000)
    x = (row + 0.5) / 1000
    upper = calcert.certify(x, rng.random(x.size) < x, settings=calcert.Settings(bandwidth=bandwidth)).perturbed.upper
    frozen = sample(x, bandwidth, uniform_of_rows(0, row[:, None]))
    assert np.unique(frozen).size == 1000
    assert np.abs(frozen - x).mean() > 1.5 * upper  # Given a frozen score its row is known, and so is E[Y|S] = x.
    fresh = sample(x, bandwidth, uniform_of_keys(0, range(x.size), x.size))
    bins = (fresh * 50).astype(int)
    assert np.abs(np.bincount(bins, fresh - x)).sum() / x.size < upper


@pytest.mark.parametrize("classes", [2, 4])
def test_predict_is_the_most_probable_class_of_predict_proba(classes):
    X, y = rows(classes=classes)
    model = PerturbedClassifier(GaussianNB(), bandwidth=1 / 20, random_state=1).fit(X, np.array(list("abcd"))[y])
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()


def test_more_than_two_classes_perturb_the_top_confidence_and_keep_the_rest_in_proportion():
    X, y = rows(classes=4)
    model = PerturbedClassifier(GaussianNB(), bandwidth=0.05, random_state=1).fit(X, y)
    original, served = model.estimator_.predict_proba(X), model.predict_proba(X)
    each, top = np.arange(len(X)), original.argmax(axis=1)
    confidence = served[each, top]
    np.testing.assert_allclose(served.sum(axis=1), 1, rtol=1e-12)
    assert served.min() >= 0
    assert stats.kstest(distribution(confidence, original[each, top], 0.05), "uniform").pvalue > 1e-3
    assert (served.argmax(axis=1) == top)[confidence >= 0.25].all()
    second, third = np.argsort(original, axis=1)[:, [-2, -3]].T
    proportional = served[each, second] < confidence * 0.999
    ratio = served[each, second] * original[each, third] - served[each, third] * original[each, second]
    assert np.abs(ratio[proportional]).max() < 1e-12
    assert (~proportional).sum() > 0


def test_certify_speaks_of_the_original_probabilities(fitted):
    model, X, y = fitted
    report = PerturbedClassifier(model, bandwidth=1 / 32).certify(X, y, confidence=0.9, variation=2.0, seed=3)
    p = model.predict_proba(X)[:, 1]
    assert report == calcert.certify(
        p, y, settings=calcert.Settings(confidence=0.9, bandwidth=1 / 32, variation=2.0, seed=3)
    )


def test_certify_with_more_classes_is_about_the_top_label():
    X, y = rows(classes=4)
    names = np.array(list("abcd"))[y]
    model = GaussianNB().fit(X[:1000], names[:1000])
    right = model.predict(X[1000:]) == names[1000:]
    settings = calcert.Settings(odds=1 / 16)
    expected = calcert.certify(model.predict_proba(X[1000:]).max(axis=1), right, settings=settings)
    assert PerturbedClassifier(model).certify(X[1000:], names[1000:]) == expected


@pytest.mark.filterwarnings("ignore:bandwidth 1 is large")
def test_at_home_in_pipelines_searches_and_calibration():
    X, y = rows(1_000)
    frame = pd.DataFrame(X).rename(columns=str)
    pipeline = make_pipeline(StandardScaler(), PerturbedClassifier(GaussianNB())).set_output(transform="pandas")
    assert list(pipeline.fit(frame, y)[-1].feature_names_in_) == list(frame)
    assert pipeline[-1].n_features_in_ == X.shape[1]
    assert cross_val_predict(pipeline, frame, y, method="predict_proba").shape == (1_000, 2)
    calibrated = CalibratedClassifierCV(PerturbedClassifier(GaussianNB()), cv=3).fit(X, y, sample_weight=np.ones(1000))
    assert calibrated.predict_proba(X).shape == (1_000, 2)
    search = GridSearchCV(PerturbedClassifier(GaussianNB()), {"bandwidth": [1 / 64, 1]}, scoring="roc_auc", cv=3)
    assert search.fit(X, y).best_params_ == {"bandwidth": 1 / 64}
    words = make_pipeline(CountVectorizer(), LogisticRegression())
    text = PerturbedClassifier(words, random_state=0).fit(["good", "bad", "good film", "bad film"], [1, 0, 1, 0])
    assert (text.predict(["good", "bad"]) == [1, 0]).all()


def test_a_fitted_classifier_is_served_without_fitting_again(fitted):
    model, X, y = fitted
    assert PerturbedClassifier(model).predict(X).shape == (len(X),)
    frozen = PerturbedClassifier(FrozenEstimator(model), random_state=0)
    assert (sklearn.clone(frozen).fit(X, y).predict_proba(X) == frozen.predict_proba(X)).all()


def test_sample_weight_and_keys_are_routed():
    X, y = rows(500)
    weight = np.where(y == 1, 10.0, 1.0)
    weighted = PerturbedClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.estimator_.coef_, LogisticRegression().fit(X, y, weight).coef_)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        outer = PerturbedClassifier(inner, random_state=0).set_predict_proba_request(keys=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, outer).fit(X, y, sample_weight=weight)
        one = pipeline.predict_proba(X, keys=range(500))
        assert (one == pipeline.predict_proba(X, keys=range(500))).all()
        assert (one != pipeline.predict_proba(X, keys=range(1, 501))).any()
        unweighted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
        assert pipeline[-1].estimator_.intercept_ > unweighted[-1].intercept_


def test_the_scorer_counts_rows_by_their_sample_weight():
    X, y = make_classification(3000, flip_y=0.2, random_state=0)
    model = LogisticRegression().fit(X[:1500], y[:1500])
    weight = np.arange(1500) % 3 + 1
    rows = calcert.Rows(model.predict_proba(X[1500:]), y[1500:], weights=weight)
    found = -certified_upper_scorer(model, X[1500:], y[1500:], statement="cutoff", sample_weight=weight)
    assert found == calcert.certify(rows).cutoff.upper
    assert found != -certified_upper_scorer(model, X[1500:], y[1500:], statement="cutoff")


def test_scorer_is_minus_the_certified_upper_bound():
    X, y = rows(3_000)
    served = PerturbedClassifier(LogisticRegression(), bandwidth=1 / 32)
    score = partial(certified_upper_scorer, confidence=0.9)
    folds = cross_validate(served, X, y, scoring=score, cv=3, return_estimator=True, return_indices=True)
    for value, model, test in zip(folds["test_score"], folds["estimator"], folds["indices"]["test"], strict=True):
        assert -value == model.certify(X[test], y[test], confidence=0.9).perturbed.upper
    plain = LogisticRegression().fit(X[:1500], y[:1500])
    report = PerturbedClassifier(plain).certify(X[1500:], y[1500:])
    assert -certified_upper_scorer(plain, X[1500:], y[1500:]) == report.l1.upper
    for name in ("distance", "cutoff", "in_the_large", "l1"):
        bound = report.statement(name).upper
        assert -certified_upper_scorer(plain, X[1500:], y[1500:], statement=name) == bound
    with pytest.raises(ValueError, match="got 'perturbed' for LogisticRegression"):
        certified_upper_scorer(plain, X[1500:], y[1500:], statement="perturbed")
    with pytest.raises(ValueError, match="statement must be one of"):
        certified_upper_scorer(plain, X[1500:], y[1500:], statement="sharpness")
    pipeline = make_pipeline(StandardScaler(), served).fit(X[:1500], y[:1500])
    inside = pipeline[-1].certify(pipeline[0].transform(X[1500:]), y[1500:])
    assert -certified_upper_scorer(pipeline, X[1500:], y[1500:]) == inside.perturbed.upper
    both = cross_validate(served, X, y, scoring={"bound": certified_upper_scorer, "auc": "roc_auc"}, cv=3)
    assert (both["test_bound"] < 0).all()


class Logits(LogisticRegression):
    """A classifier that returns logits for probabilities."""

    def predict_proba(self, X):
        z = self.decision_function(X)
        return np.column_stack([-z, z])


def test_wrong_use_says_what_is_wrong():
    X, y = rows(400)
    with pytest.raises(TypeError, match="LinearRegression, a regressor"):
        PerturbedClassifier(LinearRegression()).fit(X, y)
    with pytest.raises(TypeError, match=r"RidgeClassifier has none\. Pass CalibratedClassifierCV"):
        PerturbedClassifier(RidgeClassifier()).fit(X, y)
    with pytest.raises(TypeError, match="must be a scikit-learn classifier; got StandardScaler"):
        PerturbedClassifier(StandardScaler()).fit(X, y)
    for call in (PerturbedClassifier.predict_proba, PerturbedClassifier.predict):
        with pytest.raises(NotFittedError, match=r"unfitted GaussianNB\. Call fit"):
            call(PerturbedClassifier(GaussianNB()), X)
    for certifies in (PerturbedClassifier.certify, certified_upper_scorer):
        with pytest.raises(NotFittedError, match=r"unfitted GaussianNB\. Call fit"):
            certifies(PerturbedClassifier(GaussianNB()), X, y)
    with pytest.raises(ValueError, match=r"For logits pass scipy\.special\.expit"):
        PerturbedClassifier(Logits()).fit(X, y).predict_proba(X)
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        PerturbedClassifier(GaussianNB(), bandwidth=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="random_state must be None, a non-negative integer"):
        PerturbedClassifier(GaussianNB(), random_state="seed").fit(X, y)
    model = PerturbedClassifier(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match=r"fitted on, \[0, 1\]; got 7 at row 3"):
        model.certify(X, np.where(np.arange(400) == 3, 7, y))
    with pytest.raises(ValueError, match="one label for each of the 400 rows"):
        model.certify(X, y[1:])
    with pytest.raises(ValueError, match="2 outputs"):
        PerturbedClassifier(DecisionTreeClassifier()).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"two classes to be certified; got \[0\]"):
        PerturbedClassifier(DecisionTreeClassifier()).fit(X, 0 * y).certify(X, 0 * y)


def test_bandwidth_that_drowns_rare_events_is_warned_of_with_numbers():
    X, y = rows(1_000)
    rare = np.flatnonzero((y == 0) | (np.arange(1_000) < 40))
    with pytest.warns(
        UserWarning, match=r"0\.015625 is large .* in y, 0\.043: .* about 0\.018\. Use bandwidth 2\*\*-8"
    ):
        PerturbedClassifier(GaussianNB(), bandwidth=1 / 64).fit(X[rare], y[rare])
    PerturbedClassifier(GaussianNB()).fit(X[rare], y[rare])
    PerturbedClassifier(GaussianNB(), bandwidth=2**-9).fit(X[rare], y[rare])


SECRET = b"0123456789abcdef-not-for-eyes"


def test_a_secret_is_printed_nowhere_and_serves_the_same_after_cloning(fitted):
    model, X, _ = fitted
    keyed = PerturbedClassifier(FrozenEstimator(model), random_state=SECRET)
    pipeline = make_pipeline(StandardScaler(), keyed)
    search = GridSearchCV(pipeline, {"perturbedclassifier__random_state": [SECRET]})
    for printed in (keyed, sklearn.clone(keyed), pipeline, search.estimator):
        for shown in (repr(printed), str(printed), printed._repr_html_(), str(printed.get_params())):
            assert "not-for-eyes" not in shown
    with sklearn.config_context(print_changed_only=False):
        assert "random_state=<secret of 29 bytes>" in repr(keyed)
    assert keyed.get_params()["random_state"] == SECRET
    for same in (sklearn.clone(keyed), pickle.loads(pickle.dumps(sklearn.clone(keyed)))):
        assert (same.predict_proba(X) == keyed.predict_proba(X)).all()


@pytest.mark.parametrize("kind", [bytearray, memoryview, bytes.decode])
def test_a_secret_of_the_wrong_type_is_not_in_the_error(fitted, kind):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="random_state must be None") as of_classifier:
        PerturbedClassifier(model, random_state=kind(SECRET)).predict_proba(X)
    with pytest.raises(TypeError, match="rng must be") as of_perturb:
        calcert.perturb([0.5], rng=kind(SECRET))
    with pytest.raises(ValueError, match="seed must be") as of_certify:
        calcert.certify([0.5], [1], settings=calcert.Settings(seed=kind(SECRET)))
    assert all("not-for-eyes" not in str(found.value) for found in (of_classifier, of_perturb, of_certify))


def test_import_calcert_loads_neither_scikit_learn_nor_torch():
    code = "import sys, calcert; print([m for m in ('sklearn', 'torch', 'calcert.sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
