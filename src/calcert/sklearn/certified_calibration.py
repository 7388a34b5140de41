"""Recalibrating from scikit-learn: an estimator around a classifier that holds the map and its certificate."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from calcert.foundation.array_types import Floats
from calcert.reports.recalibrate import recalibrate
from calcert.reports.settings import Settings
from calcert.sklearn.classifier import Wrapper, check_estimator, is_fitted, rows_to_certify
from calcert.sources.rows import Rows


class CertifiedCalibration(Wrapper):
    """A classifier of two classes whose probabilities :func:`calcert.recalibrate` has mapped and certified.

    Guarantee
        Every bound of ``fixed_.report``, and ``fixed_.l1``, applies to what `predict_proba` returns for
        ``classes_[1]``, as in :func:`calcert.recalibrate`.
    Assumes
        Independent rows in `fit` (or clusters) that a fitted estimator has not seen. Where the estimator is not fitted,
        a random half of the rows fits it, and the others recalibrate and certify.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba`, fitted on other rows; note that scikit-learn's `clone` forgets a fit unless
        the estimator is a FrozenEstimator.
    curve, levels, confidence
        As in :func:`calcert.recalibrate`.
    seed
        Sets the halves.

    Attributes
    ----------
    fixed_
        What :func:`calcert.recalibrate` returned: the map, and the certificates before and after it.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calcert.sklearn import CertifiedCalibration
    >>> X, y = make_classification(30_000, flip_y=0.2, random_state=0)
    >>> model = GaussianNB().fit(X[:10_000], y[:10_000])
    >>> fixed = CertifiedCalibration(model).fit(X[10_000:], y[10_000:])
    >>> fixed.predict_proba(X[:2]).round(3)
    array([[0.09 , 0.91 ],
           [0.886, 0.114]])
    >>> print(f"L1 error at most {fixed.fixed_.l1.upper:.3f}")
    L1 error at most 0.022
    """

    def __init__(
        self,
        estimator: Any,
        *,
        curve: str | None = None,
        levels: int | None = None,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.estimator = estimator
        self.curve = curve
        self.levels = levels
        self.confidence = confidence
        self.seed = seed

    def fit(self, X: Any, y: Any, clusters: Any = None) -> Self:
        """Recalibrate on half of the rows and certify on the others; rows of one of the `clusters` stay together."""
        check_estimator(self.estimator)
        if y is None:
            raise ValueError("CertifiedCalibration requires y to be passed, but the target y is None.")
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        X, _, _ = indexable(X, y, clusters)
        check_classification_targets(y)
        if len(np.unique(y)) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        settings = Settings(confidence=self.confidence, seed=self.seed)
        own = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
        self.estimator_, left = self.estimator, np.arange(len(y))
        if not is_fitted(self.estimator):
            numbers = left if own is None else own
            rank = np.random.default_rng([self.seed, 1]).permutation(int(numbers.max()) + 1)[numbers]
            fitting = rank < (rank.max() + 1) // 2
            taken, left = np.flatnonzero(fitting), np.flatnonzero(~fitting)
            # Fewer than two rows are refused by the estimator in its own words.
            taken = taken if taken.size else left
            self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, taken), y[taken])
        scores, labels = self._scores(_safe_indexing(X, left)), y[left]
        if self.classes_.size < 2:  # Fitted on one class: there is no probability to map.
            return self
        _, hits = rows_to_certify(self.classes_, np.column_stack([1 - scores, scores]), labels)
        rows = Rows(scores, hits, clusters=None if own is None else own[left])
        self.fixed_ = recalibrate(rows, curve=self.curve, levels=self.levels, settings=settings)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated probabilities, one column a class."""
        check_is_fitted(self)
        scores = self._scores(X)
        if self.classes_.size < 2:
            return np.ones((scores.size, 1))
        mapped = self.fixed_(scores)
        return np.column_stack([1 - mapped, mapped])

    def predict(self, X: Any) -> NDArray[Any]:
        """The more probable class after the map."""
        top = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[top])

    def _scores(self, X: Any) -> Floats:
        return np.asarray(self.estimator_.predict_proba(X), np.float64)[:, -1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = deepcopy(get_tags(self.estimator).input_tags)
        tags.classifier_tags.multi_class = False
        return tags
