"""Certified bounds as metrics of ``(y_true, y_prob)``, the order in which scikit-learn, fairlearn and others call them.

Each is one side of one statement about the current scores. Both sides together, and everything that is not one number,
come from :func:`calcert.certify`.

Examples
--------
>>> import calcert.metrics
>>> rng = np.random.default_rng(0)
>>> x = rng.random(10_000)
>>> y = rng.random(10_000) < x**2
>>> round(calcert.metrics.distance_lower(y, x), 3), round(calcert.metrics.distance_upper(y, x), 3)
(0.165, 0.183)
>>> round(calcert.metrics.cutoff_lower(y, x), 2), round(calcert.metrics.cutoff_upper(y, x), 2)
(0.16, 0.18)
>>> round(calcert.metrics.l1_lower(y, x), 2), round(calcert.metrics.l1_upper(y, x), 2)
(0.16, 0.18)

As a scorer, where greater is better: ``make_scorer(metrics.distance_upper, greater_is_better=False,
response_method="predict_proba")``. By group: ``MetricFrame(metrics=metrics.distance_upper, y_true=y, y_pred=x,
sensitive_features=groups)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

from calcert.foundation.refusal import Refused
from calcert.reports.advice_and_warnings import decisions, too_good
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.sources.arrays import check_indexes, positives
from calcert.sources.rows import Rows

__all__ = [
    "cutoff_lower",
    "cutoff_upper",
    "distance_lower",
    "distance_upper",
    "l1_lower",
    "l1_upper",
]

WORDS = {
    "distance": "the distance from calibration",
    "cutoff": "the cutoff calibration error, that of the worst score range",
    "l1": "the L1 calibration error, the upper one for a curve that changes sides at most `crossings` times",
}

DOCUMENTATION = """A certified {side} bound on {words} (``{statement}`` of :class:`calcert.Report`).

    Guarantee
        {promise} the error of the current scores with the probability `confidence` over the rows. Of each group, fold
        or candidate by itself: of m values, all hold together with probability 1 - m (1 - confidence), and the best of
        m candidates was chosen by these rows.
    Assumes
        Independent rows that were not used to train the classifier; the settings fixed before the rows are seen.

    Parameters
    ----------
    y_true
        Labels: 0 and 1, or any values where `pos_label` says which of them is the positive one.
    y_prob
        The scores of the positive class, from 0 to 1.
    sample_weight
        How much each row counts: `weights` of :class:`calcert.Rows`.
    pos_label
        The label of the positive class; 1 where left out.
    confidence, crossings, seed
        As in :class:`calcert.Settings`; `crossings` matters for the L1 error only.
    rows
        What else :class:`calcert.Rows` takes, such as `weight_unit`, `largest_weight` and `clusters`.

    Returns
    -------
    float
        The bound; smaller is better.

    Examples
    --------
    >>> import calcert.metrics
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> 0.1 < calcert.metrics.{statement}_{side}(rng.random(10_000) < x**2, x) < 0.2
    True
    """


def _metric(statement: str, side: Literal["upper", "lower"]) -> Callable[..., float]:
    def metric(
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        confidence: float = 0.95,
        crossings: int = 3,
        seed: int = 0,
        **rows: Any,
    ) -> float:
        settings = Settings(confidence=confidence, crossings=crossings, seed=seed)
        check_indexes(y_true=y_true, y_prob=y_prob)
        labels = y_true if pos_label is None else positives("y_true", y_true, pos_label)
        try:
            summary = Rows(y_prob, labels, **{"weights": sample_weight, **rows}).summary()
        except Refused as error:
            error.audience = "metrics"
            raise
        for said in too_good(summary):
            warnings.warn(said, stacklevel=2)
        for said in decisions(summary):
            warnings.warn(f"{said} As a scorer: make_scorer(..., response_method='predict_proba').", stacklevel=2)
        return float(getattr(STATEMENTS[statement].certify(summary, settings), side))

    metric.__name__ = metric.__qualname__ = f"{statement}_{side}"
    promise = "At least" if side == "upper" else "At most"
    metric.__doc__ = DOCUMENTATION.format(side=side, words=WORDS[statement], statement=statement, promise=promise)
    return metric


distance_upper, distance_lower = _metric("distance", "upper"), _metric("distance", "lower")
cutoff_upper, cutoff_lower = _metric("cutoff", "upper"), _metric("cutoff", "lower")
l1_upper, l1_lower = _metric("l1", "upper"), _metric("l1", "lower")
