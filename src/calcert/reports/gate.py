"""The gate behind ``calcert check``, ``calcert.check`` and ``assert_calibrated``: one error, certified to be small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.foundation.number_text import at_most, given
from calcert.foundation.result import Result
from calcert.reports.advice_and_warnings import too_good, what_now
from calcert.reports.report import certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import LEADING, STATEMENTS, check_statement
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary

USUAL = "prediction"
"""Whose error it is where there are many classes and nobody says."""

MORE_ROWS = (
    "It may yet be small enough: more rows would tighten the bound. Take fresh ones; calcert.plan says how many."
)


@dataclass(frozen=True)
class Outcome:
    """What :func:`calcert.check` returns.

    Attributes
    ----------
    certificate
        What was judged: of all rows, of the worst group, or of a class.
    max
        The largest error that passes.
    rows
        How many rows there are.
    summary
        Of the rows whose bound decides; None for a mean over classes.
    group, class_
        The name of the group or class that they are, if any.
    doubt
        Why rows should not pass whatever the bound: they agree with the scores better than fresh rows can.
    fitted_on_other_rows
        True where the caller has overruled that.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> calcert.check(x, rng.random(5_000) < x, max=0.05).passed
    True
    """

    certificate: Certificate
    max: float
    rows: int
    summary: Summary | None
    certify: Callable[[], Result]
    group: str | None = None
    class_: str | None = None
    doubt: str = ""
    fitted_on_other_rows: bool = False

    @property
    def is_small(self) -> bool:
        """True where the bound is at most `max`."""
        return self.certificate.upper <= self.max

    @property
    def refused_as(self) -> str:
        """The doubt that counts; empty where there is none, or it was overruled."""
        return "" if self.fitted_on_other_rows else self.doubt

    @property
    def passed(self) -> bool:
        """True where the error is certified to be at most `max`, and nothing speaks against the rows."""
        return self.is_small and not self.refused_as

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it did not pass, and what to do about it; empty where it passed."""
        doubt = (self.refused_as,) if self.refused_as else ()
        if self.is_small:
            return doubt
        above = f"the error is certified to be at most {at_most(self.certificate.upper)}, above {given(self.max)}."
        return *doubt, above, what_now(self.certificate, self.max, self.summary) or MORE_ROWS

    @cached_property
    def report(self) -> Result:
        """All statements of the same rows, groups or classes; computed when first asked for."""
        return self.certify()


def check(
    scores: Any,
    labels: Any = None,
    *,
    max: float,
    statement: str = LEADING,
    confidence: float | None = None,
    settings: Settings | None = None,
    of: str | None = None,
    fitted_on_other_rows: bool = False,
    workers: int | None = None,
    **rows: Any,
) -> Outcome:
    """Check whether a calibration error is certified to be at most `max`: a gate for tests and pipelines.

    Fix `max` and every other argument before the rows are seen: a check that is repeated with other settings until it
    passes proves nothing. With groups the worst of them must pass.

    Parameters
    ----------
    scores, labels
        As in :func:`calcert.certify`: two arrays, a table, a Summary, :class:`calcert.Rows`, or probabilities of K > 2
        classes, shape (rows, K), and labels from 0 to K - 1.
    max
        The largest error that passes, such as 0.05.
    statement
        Which error: "distance", "in_the_large", "l1", "cutoff" or "perturbed".
    confidence, settings
        As in :func:`calcert.certify`.
    of
        Of many classes, whose error: that of the "prediction", as where it is left out, of the "worst" class against
        the rest, or the "mean" over classes.
    fitted_on_other_rows
        True lets rows pass that agree with the scores better than fresh rows can: no score was fitted on these rows.
    workers
        How many processes certify groups or classes; as many as there are processors where left out.
    rows
        What else :class:`calcert.Rows` takes, such as `score`, `label`, `clusters`, `groups` and `class_columns`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> outcome = calcert.check(x, rng.random(5_000) < x**2, max=0.05)
    >>> outcome.passed, outcome.reasons[0]
    (False, 'the error is certified to be at most 0.1872, above 0.05.')
    """
    if isinstance(max, bool) or not isinstance(max, (int, float)) or not 0 < max < 1:
        raise ValueError(f"max must lie strictly between 0 and 1, such as 0.05; got {max!r}.")
    fixed = Settings.of(settings, confidence)
    found = judged(Rows.of(scores, labels, **rows), max, statement, fixed, of, workers)
    return replace(found, fitted_on_other_rows=fitted_on_other_rows)


def judged(
    rows: Rows,
    largest: float,
    statement: str,
    settings: Settings,
    of: str | None = None,
    workers: int | None = None,
) -> Outcome:
    """The certificate that must pass; with groups that of the worst, with classes that of the one that `of` names."""
    if check_statement(statement) == "perturbed" and not settings.asks_for_noise:
        settings = replace(settings, **settings.noise.parameters).at(settings.delta)
    if rows.has_classes:
        return _of_classes(rows, largest, USUAL if of is None else of, statement, settings, workers)
    if of is not None:
        raise TypeError(f"of must come with probabilities of many classes; got {of!r}, and none.")
    if rows.groups is not None:
        from calcert.reports.groups import GroupRows

        among = GroupRows.read(rows)
        worst, highest = among.certify_worst(statement, settings, workers)
        chosen, report, doubt = among.summaries[highest], partial(among.certify, settings, workers), among.warnings
        return Outcome(worst, largest, among.n, chosen, report, group=highest, doubt=" ".join(doubt))
    summary = rows.summary()
    found, doubt = STATEMENTS[statement].certify(summary, settings), too_good(summary)
    report = partial(certify_summary, summary, settings)
    return Outcome(found, largest, summary.rows, summary, report, doubt=" ".join(doubt))


def _of_classes(
    rows: Rows, largest: float, of: str, statement: str, settings: Settings, workers: int | None
) -> Outcome:
    from calcert.reports.classes import certify_classes, certify_of, summary_of

    read = rows.by_class()
    found, highest = certify_of(read, of, statement, settings, workers)
    called = None if highest is None else str(highest) if read.names is None else read.names[highest]
    summary = None if of == "mean" else summary_of(read, highest)
    report = partial(certify_classes, read, settings, workers)
    doubt = " ".join(too_good(summary_of(read) if summary is None else summary))
    return Outcome(found, largest, read.labels.size, summary, report, class_=called, doubt=doubt)
