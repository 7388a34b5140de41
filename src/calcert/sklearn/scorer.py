"""Certified bounds as a scorer of estimators, for ``cross_validate`` and searches."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS, check_statement
from calcert.sklearn.classifier import PerturbedClassifier, check_estimator, rows_to_certify
from calcert.sources.rows import Rows


def certified_upper_scorer(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    statement: str | None = None,
    confidence: float = 0.95,
    crossings: int = 3,
    variation: float | None = None,
    seed: int = 0,
    sample_weight: Any = None,
) -> float:
    """Minus the certified upper bound of a statement, so that greater is better.

    With ``statement="distance"`` or ``"cutoff"`` of the current scores, and nothing is assumed. Left out, it is
    the L1 calibration error of the deployed scores: for a :class:`PerturbedClassifier`, also at the end of a pipeline,
    the perturbed classifier at its own noise, without assumption; for any other classifier "l1", which may assume
    something.

    Guarantee
        Minus each fold's value bounds the error of the classifier that was trained for that fold, with the
        probability `confidence`, if what the statement assumes is true: `crossings`, or `variation`, for "l1"
        where scores do not repeat, nothing for the others. Of a PerturbedClassifier every statement but "perturbed" is
        about the probabilities before they are perturbed.
        All arguments are to be fixed before the rows are seen.
        Over m candidates the bounds of one fold hold together at delta / m each. The winner, refitted on all rows, is
        another classifier: certify it on fresh rows.

    Pass it as it is, ``cross_validate(model, X, y, scoring=certified_upper_scorer)``, or with options through
    ``functools.partial``.

    Parameters
    ----------
    estimator
        A fitted classifier with `predict_proba`.
    X, y
        Rows that it was not fitted on, and their labels.
    statement
        The name of a statement of :class:`calcert.Report`; "perturbed" is for a PerturbedClassifier alone.
    confidence, crossings, variation, seed
        As in :class:`calcert.Settings`.
    sample_weight
        How much each row counts: `weights` of :class:`calcert.Rows`.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from calcert.sklearn import PerturbedClassifier, certified_upper_scorer
    >>> X, y = make_classification(30_000, flip_y=0.2, random_state=0)
    >>> model = PerturbedClassifier(LogisticRegression())
    >>> -cross_validate(model, X, y, scoring=certified_upper_scorer, cv=3)["test_score"].round(3)
    array([0.065, 0.065, 0.062])
    >>> nothing_assumed = partial(certified_upper_scorer, statement="distance")
    >>> -cross_validate(LogisticRegression(), X, y, scoring=nothing_assumed, cv=3)["test_score"].round(3)
    array([0.017, 0.016, 0.018])
    """
    if isinstance(estimator, Pipeline) and isinstance(estimator[-1], PerturbedClassifier):
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        estimator = estimator[-1]
    serves = isinstance(estimator, PerturbedClassifier)
    if statement is None:
        statement = "perturbed" if serves else "l1"
    if check_statement(statement) == "perturbed" and not serves:
        raise ValueError(
            "statement must be about the current scores where nothing is perturbed; got 'perturbed' for "
            f"{type(estimator).__name__}. Wrap it in PerturbedClassifier, or ask for 'distance'."
        )
    if not serves:
        check_estimator(estimator)
    proba = estimator._original(X) if serves else np.asarray(estimator.predict_proba(X), np.float64)
    rows = Rows(*rows_to_certify(estimator.classes_, proba, y), weights=sample_weight).summary()
    noise = estimator._noise.parameters if serves else {}
    settings = Settings(confidence=confidence, crossings=crossings, variation=variation, seed=seed, **noise)
    return -STATEMENTS[statement].certify(rows, settings).upper
