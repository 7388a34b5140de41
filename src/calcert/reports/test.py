"""test: rows in, the p-value of perfect calibration out."""

# ruff: noqa: PT028

from __future__ import annotations

from typing import Any

from calcert.certificates.calibration_test import CalibrationTest, perfect_calibration
from calcert.sources import summarize
from calcert.summary.summary import Summary


def test(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    draws: int = 999,
    seed: int = 0,
) -> CalibrationTest:
    """Test whether a classifier is perfectly calibrated: whether every score is the chance of label 1.

    No classifier is, so that with rows enough the answer is always no; :func:`calcert.certify` says by how much. A
    large p-value is no certificate of anything.

    Guarantee
        If E[Y|X] = X, the p-value is at most alpha with probability at most alpha over labels and draws, for every
        alpha, every number of rows and whatever the scores (Theorem 15).
    Assumes
        Independent rows from the law of interest, not used to train, select or recalibrate the classifier; their
        number, `draws` and `seed` were fixed before the rows were seen, labels or scores.

    Parameters
    ----------
    scores
        Scores in [0, 1], a whole table, or a :class:`calcert.Summary`: all that :func:`calcert.certify` takes.
    labels
        Labels, 0/1 or bool; left out for a table.
    score, label
        Names of the columns of a table.
    draws
        How often labels are drawn from the scores.
    seed
        Of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(1_000)
    >>> calcert.test(x, rng.random(1_000) < x).p_value, calcert.test(x, rng.random(1_000) < x**1.5).p_value
    (0.766, 0.001)
    """
    summary = scores if isinstance(scores, Summary) else summarize(scores, labels, score=score, label=label)
    return perfect_calibration(summary, draws=draws, seed=seed)


# Where a test module imports it, it is not one of its tests.
test.__test__ = False  # type: ignore[attr-defined]
