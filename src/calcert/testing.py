"""For pytest and whatever else runs assertions: a test that a calibration error is certified to be small."""

from __future__ import annotations

from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.reports.gate import check
from calcert.reports.settings import Settings
from calcert.show.certificate_words import judged

__all__ = ["assert_calibrated"]


def assert_calibrated(
    scores: Any,
    labels: Any = None,
    *,
    max: float,
    statement: str | None = None,
    confidence: float | None = None,
    settings: Settings | None = None,
    of: str | None = None,
    fitted_on_other_rows: bool = False,
    **rows: Any,
) -> Certificate:
    """Assert that a calibration error is certified to be at most `max`, and return its certificate.

    A failure says whether the classifier is off for certain or rows are too few to tell. Fix `max` and every other
    argument before the rows are seen: a test that is re-run with other settings until it passes asserts nothing.

    Parameters
    ----------
    scores, labels
        As in :func:`calcert.certify`: two arrays, or a table, or a Summary; or probabilities of K > 2 classes, shape
        (rows, K), and labels from 0 to K - 1.
    max
        The largest error that passes, such as 0.05.
    statement
        Which error: "in_the_large", "l1", "cutoff", "distance" or "perturbed"; as in :func:`calcert.check`.
    confidence, settings
        As in :func:`calcert.certify`.
    of
        Of many classes, whose error: that of the "prediction", as where it is left out, of the "worst" class against
        the rest, or the "mean" over classes.
    fitted_on_other_rows
        True lets rows pass that agree with the scores better than fresh rows can. It says that no score was fitted on
        these rows, and that rows are independent.
    rows
        What else :class:`calcert.Rows` takes, such as `score`, `label`, `clusters` and `class_columns`. Where there are
        `groups`, the worst of them must pass.

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
    fixed = Settings.of(settings, confidence)
    found = check(
        scores,
        labels,
        max=max,
        statement=statement,
        settings=fixed,
        of=of,
        fitted_on_other_rows=fitted_on_other_rows,
        **rows,
    )
    if found.refused_as:
        raise AssertionError(f"Not certified: {found.refused_as} Otherwise pass fitted_on_other_rows=True.")
    if not found.passed:
        said = (found.verdict.sentence, judged(found.certificate), f"Next: {found.verdict.next}")
        raise AssertionError("\n".join(said))
    assert isinstance(found.certificate, Certificate)
    return found.certificate
