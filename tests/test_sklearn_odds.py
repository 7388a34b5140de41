"""scikit-learn serves noise on the odds that NumPy would: two classes and more, fresh and keyed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from calcert.perturbation.noise import Noise
from calcert.sklearn import PerturbedClassifier
from tests.perturbation.test_noise import SCORES, follows

USUAL = Noise("odds", 1 / 16)
ROWS = 20_000


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose features are the probabilities of all classes but the first."""

    def __init__(self, classes: int = 2) -> None:
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Given:
        self.classes_ = np.arange(self.classes)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - np.sum(X, axis=1), X])


@pytest.mark.parametrize("random_state", [np.random.default_rng(7), 7], ids=["drawn", "keyed"])
@pytest.mark.parametrize("x", SCORES)
def test_two_classes_are_served_the_law_at_every_score(x: float, random_state: Any) -> None:
    model = PerturbedClassifier(Given().fit(None, None), random_state=random_state)
    keys = {"keys": np.arange(ROWS)} if random_state == 7 else {}
    served = model.predict_proba(np.full((ROWS, 1), x), **keys)[:, 1]
    assert follows(USUAL, x, served)
    if 0 < x < 0.5:
        assert not follows(Noise("odds", 1.1 / 16), x, served)


@pytest.mark.parametrize(
    "random_state", [np.random.default_rng(7), 7, b"a secret of sixteen"], ids=["drawn", "keyed", "secret"]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_no_probability_inside_is_served_as_0_or_1(classes: int, random_state: Any) -> None:
    near = np.repeat([5e-324, 1e-310, 1e-20, 1 - 2.0**-53] if classes == 2 else [1 - 2.0**-53], ROWS)
    rest = np.zeros((near.size, classes - 2))
    model = PerturbedClassifier(Given(classes).fit(None, None), odds=1 / 2, random_state=random_state)
    keys = {} if isinstance(random_state, np.random.Generator) else {"keys": np.arange(near.size)}
    served = model.predict_proba(np.column_stack([near, rest]), **keys)
    assert 0 < served[:, 1].min() <= served[:, 1].max() < 1
    assert served[:, 0].max() < 1
    ends = model.predict_proba(np.column_stack([[0.0, 1.0], rest[:2]]), **{name: [0, 1] for name in keys})
    assert ends[1, 1] == 1
    assert classes > 2 or ends[0].tolist() == [1, 0]


def test_of_more_classes_the_logit_on_top_is_moved_and_the_others_keep_their_ratios() -> None:
    p = np.array([[0.2, 0.7, 0.1]])
    model = PerturbedClassifier(Given(3).fit(None, None), random_state=np.random.default_rng(3))
    served = model.predict_proba(np.repeat(p[:, 1:], ROWS, axis=0))
    assert follows(USUAL, 0.7, served[:, 1])
    np.testing.assert_allclose(served[:, 0] / served[:, 2], 2.0)
    # Adding to the logit on top, and nothing else, gives these probabilities.
    odds = np.log(served[:, 1] / (1 - served[:, 1]))
    logits = np.repeat(np.log(p), ROWS, axis=0)
    logits[:, 1] += odds - np.log(0.7 / 0.3)
    np.testing.assert_allclose(served, np.exp(log_softmax(logits, axis=1)), rtol=1e-9)
