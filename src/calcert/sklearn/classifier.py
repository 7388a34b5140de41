"""Perturbed scores in scikit-learn: one wrapper around any probabilistic classifier.

A certificate for the perturbed classifier is worth something only if deployed scores are perturbed, so the wrapper
holds both ends: `predict_proba` perturbs, `certify` states what is then true.
"""

from __future__ import annotations

import math
import numbers
import warnings
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_scores, check_secret, no_secret
from calcert.perturbation import top_label
from calcert.perturbation.keyed_noise import uniform_of_keys, uniform_of_rows
from calcert.perturbation.noise import LARGEST_PERTURBED, Noise, choose_noise
from calcert.reports.advice_and_warnings import RARE
from calcert.reports.certify import certify
from calcert.reports.report import Report
from calcert.reports.settings import Settings


class _Secret(bytes):
    """Bytes that do not print."""

    def __repr__(self) -> str:
        return f"<secret of {len(self)} bytes>"

    __str__ = __repr__


class Wrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around another one, whose classes and features it has."""

    @property
    def _model(self) -> Any:
        """The fitted estimator: the clone that `fit` made, or the one passed in if that was fitted already."""
        return vars(self).get("estimator_", self.estimator)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the columns of `predict_proba`."""
        return np.asarray(self._model.classes_)

    @property
    def n_features_in_(self) -> int:
        """The number of features that the estimator was fitted with."""
        return int(self._model.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, where the estimator was fitted with a data frame."""
        return np.asarray(self._model.feature_names_in_)


class PerturbedClassifier(Wrapper):
    """A classifier that returns the probabilities of another one through :func:`calcert.perturb`.

    With two classes the probability of ``classes_[1]`` is perturbed. With more, the confidence of the most probable
    class is; the other classes share the remaining mass in proportion to their own probabilities, evened out just as
    much as the most probable class needs to stay on top (which it always does when it gets at least 1/classes).

    Guarantee
        ``certify(X, y).perturbed`` bounds the L1 calibration error of what `predict_proba` returns: of the probability
        of ``classes_[1]`` with two classes; with more, of the perturbed confidence of the estimator's most probable
        class as a forecast of that class being right (top-label calibration). Nothing is assumed of the estimator.
    Assumes
        Rows of X and y that are independent and were not used by `fit`, and fresh noise for each prediction, the
        default. With noise fixed by row (an integer or bytes as `random_state`, which stand for a random secret) a
        stream in which no row comes twice has the same distribution. A row that comes again gets the same score again,
        and whoever has seen it before can tell it from others: given the noise of rows that recur, a share r of the
        traffic, the calibration error is at most 2 r above the bound, and for some distributions it is 2 r (1 - r)
        above what fresh noise would give (theory of perturbation, S3). `keys` that differ from request to request give
        such rows noise that is as good as fresh and yet reproducible.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba`. If it is fitted already, use it without calling `fit`; note that
        scikit-learn's `clone` forgets a fit unless the estimator is a FrozenEstimator.
    odds, bandwidth
        The noise, as in :func:`calcert.perturb`; at most one of them, `odds` 1/16 if neither. Fixed before the rows to
        certify are seen.
    random_state
        None: fresh noise at every call, safe in forked and copied servers. An integer: noise is a function of that
        number and the row (its values, or its key), the same in every call, order and process. Bytes, 16 or more, such
        as ``secrets.token_bytes(32)``: the same, for a secret that cannot be guessed and does not print. Keep it secret
        if someone might search for rows with convenient noise: an integer of b bits is found in 2^b tries, a date or a
        small number at once. A NumPy Generator or RandomState: draws from it in turn, which forked processes share.

    Notes
    -----
    `predict` is the most probable class of one draw of `predict_proba`. With fresh noise two calls are two draws, so to
    have both take ``classes_[predict_proba(X).argmax(axis=1)]``; with an integer `random_state` they always agree.
    Calibrate inside, ``PerturbedClassifier(CalibratedClassifierCV(model))``: what changes probabilities after the
    perturbation returns something else than what was certified. Noise does not hide a probability: a client who may ask
    again for the same row averages fresh noise away (theory of perturbation).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from calcert.sklearn import PerturbedClassifier
    >>> X, y = make_classification(30_000, flip_y=0.2, random_state=0)
    >>> model = PerturbedClassifier(LogisticRegression(), random_state=7).fit(X[:10_000], y[:10_000])
    >>> model.predict_proba(X[10_000:10_002]).round(3)
    array([[0.649, 0.351],
           [0.067, 0.933]])
    >>> report = model.certify(X[10_000:], y[10_000:])
    >>> round(report.perturbed.upper, 3)
    0.061
    """

    # fit only passes sample_weight on: whether it is wanted is the estimator's request to make.
    __metadata_request__fit = {"sample_weight": UNUSED}  # noqa: RUF012

    def __init__(
        self, estimator: Any, *, odds: float | None = None, bandwidth: float | None = None, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.odds = odds
        self.bandwidth = bandwidth
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit a clone of the estimator; `sample_weight` and metadata go to it."""
        noise = self._noise
        _check_random_state(self.random_state)
        check_estimator(self.estimator)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            fit_params = process_routing(self, "fit", **fit_params)["estimator"]["fit"]
        model = clone(self.estimator).fit(X, y, **fit_params)
        if isinstance(model.classes_, list):
            raise ValueError(
                f"y must have one label a row; got {len(model.classes_)} outputs. Fit one PerturbedClassifier for each."
            )
        self.estimator_ = model
        if model.classes_.size == 2 and noise.kind == "additive":
            _warn_of_rare_events(float(np.mean(np.asarray(y).ravel() == model.classes_[1])), noise.size)
        return self

    def predict_proba(self, X: Any, keys: Any = None) -> Floats:
        """Perturbed probabilities, one column a class.

        `keys` (one value a row: text, bytes or integers) replace the row's values as what its noise is a function of,
        for an integer or bytes as `random_state`.
        """
        original = self._original(X)
        if original.shape[1] == 1:  # Fitted on one class: there is no probability to perturb.
            return original
        score = check_scores(top_label.score(original))
        perturbed = self._noise.sample(score, self._uniform(X, keys, len(score)))
        if original.shape[1] == 2:
            return np.column_stack(
                [np.where(perturbed > 0, np.minimum(1 - perturbed, LARGEST_PERTURBED), 1.0), perturbed]
            )
        return top_label.share_out(original, perturbed)

    def predict(self, X: Any, keys: Any = None) -> NDArray[Any]:
        """The most probable class of one draw of `predict_proba`."""
        top = self.predict_proba(X, keys).argmax(axis=1)
        return np.asarray(self.classes_[top])

    def certify(
        self, X: Any, y: Any, *, confidence: float = 0.95, variation: float | None = None, seed: int = 0
    ) -> Report:
        """Certify the classifier on rows that `fit` has not seen, from the original probabilities.

        ``report.perturbed`` applies to what this classifier returns, ``report.l1`` and ``report.distance`` to the
        estimator inside. See :func:`calcert.certify` for the arguments.
        """
        original = self._original(X)
        scores, labels = rows_to_certify(self.classes_, original, y)
        noise: dict[str, Any] = self._noise.parameters
        return certify(scores, labels, settings=Settings(confidence, **noise, variation=variation, seed=seed))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; bytes as `random_state` print as how many there are, on pages and in logs too."""
        params: dict[str, Any] = super().get_params(deep)
        if type(params["random_state"]) is bytes:
            params["random_state"] = _Secret(params["random_state"])
        return params

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata of `fit` goes to the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = deepcopy(inner.input_tags)
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.non_deterministic = inner.non_deterministic or not _is_keyed(self.random_state)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self._model)

    @property
    def _noise(self) -> Noise:
        return choose_noise(self.odds, self.bandwidth)

    def _original(self, X: Any) -> Floats:
        check_estimator(self.estimator)
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"estimator must be fitted before it can predict; got an unfitted {type(self.estimator).__name__}. "
                "Call fit(X, y) first, or pass a fitted estimator."
            )
        return np.asarray(self._model.predict_proba(X), np.float64)

    def _uniform(self, X: Any, keys: Any, n: int) -> Floats:
        """One number in (0, 1) a row: where in the kernel its perturbed score lies."""
        state = _check_random_state(self.random_state)
        if isinstance(state, (int, bytes)):
            return uniform_of_rows(state, X) if keys is None else uniform_of_keys(state, keys, n)
        if keys is not None:
            raise ValueError(
                "keys need an integer or bytes as random_state, which noise is then a function of; "
                f"got {no_secret(self.random_state)}."
            )
        return np.asarray(state.random(n) if isinstance(state, np.random.Generator) else state.random_sample(n))


def rows_to_certify(classes: NDArray[Any], proba: Floats, y: Any) -> tuple[Floats, NDArray[np.bool_]]:
    """The score of every row, and whether what it forecasts came true: what a certificate is made from."""
    if classes.size < 2:
        raise ValueError(f"the classifier must know at least two classes to be certified; got {classes.tolist()}.")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (len(proba),):
        raise ValueError(f"y must hold one label for each of the {len(proba)} rows; got shape {labels.shape}.")
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise ValueError(
            f"y must hold only labels that the classifier was fitted on, {classes.tolist()}; "
            f"got {labels[row].item()!r} at row {row}."
        )
    return check_scores(top_label.score(proba)), labels == classes[top_label.forecast(proba)]


def is_fitted(estimator: Any) -> bool:
    """Whether scikit-learn takes it for fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def check_estimator(estimator: Any) -> None:
    """Raise unless it is a classifier that tells probabilities."""
    name = type(estimator).__name__
    if is_regressor(estimator):
        raise TypeError(f"estimator must be a classifier; got {name}, a regressor: its outputs are no probabilities.")
    if not is_classifier(estimator):
        raise TypeError(f"estimator must be a scikit-learn classifier; got {name}.")
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator must have predict_proba; {name} has none. Pass CalibratedClassifierCV(estimator) instead."
        )


def _warn_of_rare_events(share: float, bandwidth: float) -> None:
    rarer = min(share, 1 - share)
    if 0 < rarer < RARE * bandwidth:
        power = math.floor(math.log2(rarer / RARE))
        warnings.warn(
            f"bandwidth {bandwidth:g} is large next to the share of the rarer class in y, {rarer:.2g}: perturbing "
            f"moves a probability near 0 up by about {min(1.17 * bandwidth, 0.5):.2g}. Use bandwidth 2**{power} = "
            f"{2.0**power:.2g} or less.",
            UserWarning,
            stacklevel=3,
        )


def _is_keyed(random_state: Any) -> bool:
    return isinstance(random_state, (numbers.Integral, bytes)) and not isinstance(random_state, bool)


def _check_random_state(random_state: Any) -> int | bytes | np.random.Generator | np.random.RandomState:
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, bytes):
        return check_secret("random_state", random_state)
    if _is_keyed(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return random_state
    raise ValueError(
        "random_state must be None, a non-negative integer, bytes, a numpy.random.Generator or a RandomState; "
        f"got {no_secret(random_state)}."
    )
