"""Certified bounds as metrics of ``(y_true, y_prob)``, the order in which scikit-learn, fairlearn and others call them.

Each is one side of one statement about the classifier as it is. Both sides together, and everything that is not one
number, come from :func:`calcert.certify`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.reports.advice_and_warnings import decisions
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.sources import summarize
from calcert.sources.arrays import check_indexes
from calcert.sources.positive_labels import positives

__all__ = [
    "crossings_lower",
    "crossings_upper",
    "distance_lower",
    "distance_upper",
    "ranges_lower",
    "ranges_upper",
]


def distance_upper(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    delta: float = 0.05,
    seed: int = 0,
    **rows: Any,
) -> float:
    """A certified upper bound on the distance from calibration; smaller is better.

    Guarantee
        At least the distance from calibration of the classifier as it is (:func:`calcert.distance`) with probability at
        least 1 - delta over the rows. Of each group, fold or candidate by itself: of m values, all hold together with
        probability at least 1 - m delta, and the best of m candidates was chosen by these rows.
    Assumes
        Independent rows that were not used to train the classifier; `delta` and `seed` fixed before the rows are seen.

    Parameters
    ----------
    y_true
        Labels: 0 and 1, or any values where `pos_label` says which of them is the positive one.
    y_prob
        The scores of the positive class, from 0 to 1.
    sample_weight
        How much each row counts, `weights` of :func:`calcert.certify`: whole multiples of `weight_unit`, independent of
        labels and scores unless `largest_weight` is given.
    pos_label
        The label of the positive class; 1 where left out.
    delta, seed
        As in :func:`calcert.certify`.
    rows
        What else :func:`calcert.summarize` takes of rows, such as `weight_unit`, `largest_weight` and `clusters`.

    Examples
    --------
    >>> import calcert.metrics
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> y = rng.random(10_000) < x**2
    >>> round(calcert.metrics.distance_lower(y, x), 3), round(calcert.metrics.distance_upper(y, x), 3)
    (0.165, 0.183)

    As a scorer, where greater is better: ``make_scorer(metrics.distance_upper, greater_is_better=False,
    response_method="predict_proba")``. By group: ``MetricFrame(metrics=metrics.distance_upper, y_true=y, y_pred=x,
    sensitive_features=groups)``.
    """
    return _certified("distance", y_true, y_prob, pos_label, sample_weight, rows, delta=delta, seed=seed).upper


def distance_lower(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    delta: float = 0.05,
    seed: int = 0,
    **rows: Any,
) -> float:
    """A certified lower bound on the distance from calibration; see :func:`distance_upper`.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, delta, seed, rows
        As in :func:`distance_upper`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> round(calcert.metrics.distance_lower(rng.random(10_000) < x**2, x), 2)
    0.17
    """
    return _certified("distance", y_true, y_prob, pos_label, sample_weight, rows, delta=delta, seed=seed).lower


def ranges_upper(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    delta: float = 0.05,
    seed: int = 0,
    **rows: Any,
) -> float:
    """A certified upper bound on the largest miscount in any range of scores (:func:`calcert.ranges`).

    Guarantee and assumptions are those of :func:`distance_upper`.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, delta, seed, rows
        As in :func:`distance_upper`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> round(calcert.metrics.ranges_upper(rng.random(10_000) < x**2, x), 2)
    0.18
    """
    return _certified("ranges", y_true, y_prob, pos_label, sample_weight, rows, delta=delta, seed=seed).upper


def ranges_lower(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    delta: float = 0.05,
    seed: int = 0,
    **rows: Any,
) -> float:
    """A certified lower bound on the largest miscount in any range of scores; see :func:`ranges_upper`.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, delta, seed, rows
        As in :func:`distance_upper`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> round(calcert.metrics.ranges_lower(rng.random(10_000) < x**2, x), 2)
    0.16
    """
    return _certified("ranges", y_true, y_prob, pos_label, sample_weight, rows, delta=delta, seed=seed).lower


def crossings_upper(
    y_true: Any,
    y_prob: Any,
    *,
    crossings: int = 3,
    sample_weight: Any = None,
    pos_label: Any = None,
    delta: float = 0.05,
    seed: int = 0,
    **rows: Any,
) -> float:
    """A certified upper bound on the L1 calibration error, for a curve that seldom crosses the diagonal.

    Guarantee
        As for :func:`distance_upper`, of the L1 calibration error, provided that the true calibration curve changes
        sides of the diagonal at most `crossings` times (:func:`calcert.crossings`), fixed before the rows are seen.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, delta, seed, rows
        As in :func:`distance_upper`.
    crossings
        How often the true curve may change sides of the diagonal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> round(calcert.metrics.crossings_upper(rng.random(10_000) < x**2, x), 2)
    0.18
    """
    settings = {"delta": delta, "seed": seed, "crossings": crossings}
    return _certified("crossings", y_true, y_prob, pos_label, sample_weight, rows, **settings).upper


def crossings_lower(
    y_true: Any,
    y_prob: Any,
    *,
    crossings: int = 3,
    sample_weight: Any = None,
    pos_label: Any = None,
    delta: float = 0.05,
    seed: int = 0,
    **rows: Any,
) -> float:
    """A certified lower bound on the L1 calibration error, whatever the curve; see :func:`crossings_upper`.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, delta, seed, rows
        As in :func:`distance_upper`.
    crossings
        How often the true curve may change sides of the diagonal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> round(calcert.metrics.crossings_lower(rng.random(10_000) < x**2, x), 2)
    0.16
    """
    settings = {"delta": delta, "seed": seed, "crossings": crossings}
    return _certified("crossings", y_true, y_prob, pos_label, sample_weight, rows, **settings).lower


def _certified(
    name: str, y_true: Any, y_prob: Any, pos_label: Any, weights: Any, rows: Mapping[str, Any], **settings: Any
) -> Certificate:
    check_indexes(y_true=y_true, y_prob=y_prob)
    labels = y_true if pos_label is None else positives("y_true", y_true, pos_label)
    try:
        summary = summarize(y_prob, labels, weights=weights, **rows)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(_in_words_of_metrics(str(error))) from error
    for said in decisions(summary):
        warnings.warn(f"{said} As a scorer: make_scorer(..., response_method='predict_proba').", stacklevel=3)
    return STATEMENTS[name].certify(summary, Settings.of(**settings))


def _in_words_of_metrics(message: str) -> str:
    """A message of ``summarize`` with advice for those who call metrics."""
    swapped = message.replace("Call certify(scores, labels).", "Metrics are called with (y_true, y_prob).")
    return swapped.replace(" pass labels == ", " pass pos_label=")
