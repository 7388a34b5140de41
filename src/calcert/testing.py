"""For pytest and whatever else runs assertions: a test that a calibration error is certified to be small."""

from __future__ import annotations

from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.certificates.observed_over_expected import Ratio
from calcert.reports.gate import check
from calcert.show.outcome import outcome_words

__all__ = ["assert_calibrated"]


def assert_calibrated(scores: Any, labels: Any = None, **demand: Any) -> Certificate | Ratio:
    """Assert that a calibration error is certified to be at most `max`, and return its certificate.

    A failure says whether the classifier is off for certain or rows are too few to tell. Fix `max` and every other
    argument before the rows are seen: a test that is re-run with other settings until it passes asserts nothing.

    Parameters
    ----------
    scores, labels, demand
        What :func:`calcert.check` takes: `max` or `max_ratio`, `statement`, `confidence` and the rest.

    Examples
    --------
    >>> from calcert.testing import assert_calibrated
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> certificate = assert_calibrated(x, rng.random(5_000) < x, max=0.05)
    >>> assert_calibrated(x, rng.random(5_000) < x**2, max=0.05)
    Traceback (most recent call last):
        ...
    AssertionError: Beyond 0.05 (95% confidence): the error is at least 0.1605.
    L1 calibration error of the classifier with its current scores.
    5,000 rows, confidence 0.95, assuming the true curve changes sides of the diagonal at most 3 times.
    Next: recalibrate on held-out rows (calcert recalibrate); more rows cannot bring the error within 0.05.
    """
    __tracebackhide__ = True
    found = check(scores, labels, **demand)
    if not found.passed:
        raise AssertionError(outcome_words(found))
    return found.certificate
