"""For pytest and whatever else runs assertions: a test that a calibration error is certified to be small."""

from __future__ import annotations

from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.foundation.number_text import at_least
from calcert.foundation.validation import check_one_of
from calcert.reports.advice_and_warnings import decisions
from calcert.reports.classes import certify_of, summary_of
from calcert.reports.groups import GroupRows
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.show.certificate_words import verdict
from calcert.sources import rows_of_classes, summarize
from calcert.sources.units.weighing_options import Weighing
from calcert.summary.summary import Summary

__all__ = ["assert_calibrated"]


def assert_calibrated(
    scores: Any,
    labels: Any = None,
    *,
    max: float,
    statement: str = "distance",
    delta: float = 0.05,
    odds: float | None = None,
    bandwidth: float | None = None,
    crossings: int = 3,
    variation: float = 1.0,
    seed: int = 0,
    groups: Any = None,
    of: str | None = None,
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
        Which error: "distance", "ranges", "crossings", "unmodified" or "perturbed".
    delta, odds, bandwidth, crossings, variation, seed
        As in :func:`calcert.certify`.
    groups
        The group of every row, or a column of the table, as in :func:`calcert.certify`: the worst group must pass.
    of
        Of many classes, whose error: that of the "prediction", as where it is left out, of the "worst" class against
        the rest, or the "mean" over classes.
    rows
        What else :func:`calcert.certify` takes of rows, such as `score`, `label`, `clusters`, `class_columns` and, with
        groups, `smallest_group`.

    Examples
    --------
    >>> from calcert.testing import assert_calibrated
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> certificate = assert_calibrated(x, rng.random(5_000) < x, max=0.05)
    >>> assert_calibrated(x, rng.random(5_000) < x**2, max=0.05)
    Traceback (most recent call last):
        ...
    AssertionError: Not certified: at most 0.1872, which is 0.1371 above 0.05.
    Distance from calibration of the classifier as it is.
    5,000 rows, probability 0.95, assuming nothing.
    It is at least 0.1584, with the same probability: more rows cannot help. Recalibrate the classifier.
    """
    __tracebackhide__ = True
    check_one_of("statement", statement, tuple(STATEMENTS))
    if isinstance(max, bool) or not isinstance(max, (int, float)) or not 0 < max < 1:
        raise ValueError(f"max must lie strictly between 0 and 1, such as 0.05; got {max!r}.")
    settings = Settings.of(
        delta=delta, odds=odds, bandwidth=bandwidth, crossings=crossings, variation=variation, seed=seed
    )
    named = {name: rows.pop(name, None) for name in ("score", "label", "class_columns", "class_names")}
    smallest = rows.pop("smallest_group", 1)
    summary: Summary | None
    classes = rows_of_classes(scores, labels, groups=groups, smallest_group=smallest, weighing=rows, **named)
    if classes is not None:
        of = "prediction" if of is None else of
        certificate, highest = certify_of(classes, of, statement, settings)
        summary = None if of == "mean" else summary_of(classes, highest)
    elif of is not None:
        raise TypeError(f"of must come with probabilities of many classes; got {of!r}, and none.")
    elif groups is not None:
        among = GroupRows.read(scores, labels, groups, named["score"], named["label"], smallest, Weighing(**rows))
        certificate, largest = among.certify_worst(statement, settings)
        summary = among.summaries[largest]
    elif smallest != 1:
        raise TypeError(f"smallest_group must come with groups; got {smallest!r}, and no groups.")
    else:
        summary = summarize(scores, labels, score=named["score"], label=named["label"], **rows)
        certificate = STATEMENTS[statement].certify(summary, settings)
    if certificate.upper > max:
        raise AssertionError(f"{verdict(certificate, max)}\n{_what_now(certificate, summary, max)}")
    return certificate


def _what_now(c: Certificate, summary: Summary | None, largest: float) -> str:
    if summary is not None and (said := decisions(summary)):
        return f"{said[0][:1].upper()}{said[0][1:]}"
    if c.lower > largest:
        return (
            f"It is at least {at_least(c.lower)}, with the same probability: more rows cannot help. "
            "Recalibrate the classifier."
        )
    return "It may yet be small enough: more rows would tighten the bound. Take fresh ones; calcert.plan says how many."
