"""What a gate judges: the certificate of one statement, of all rows, of the worst group, or of a class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from calcert.certificates.certificate import Certificate
from calcert.foundation.result import Result
from calcert.reports.advice_and_warnings import too_good
from calcert.reports.report import certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS, check_statement
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary

USUAL = "prediction"
"""Whose error it is where there are many classes and nobody says."""


class Judged(NamedTuple):
    """What is judged: the certificate, how many rows, a report on all of them, and whose bound decides.

    That is a Summary of rows, None for a mean over classes, and the name of the group or class that they are, if any.
    `doubt` says why rows should not pass whatever the bound, if they should not.
    """

    certificate: Certificate
    rows: int
    report: Callable[[], Result]
    summary: Summary | None
    group: str | None = None
    class_: str | None = None
    doubt: str = ""


def judged(rows: Rows, statement: str, settings: Settings, of: str | None = None, workers: int | None = None) -> Judged:
    """The certificate that must pass; with groups that of the worst, with classes that of the one that `of` names."""
    check_statement(statement)
    if rows.has_classes:
        return _of_classes(rows, USUAL if of is None else of, statement, settings, workers)
    if of is not None:
        raise TypeError(f"of must come with probabilities of many classes; got {of!r}, and none.")
    if rows.groups is not None:
        from calcert.reports.groups import GroupRows

        among = GroupRows.read(rows)
        worst, highest = among.certify_worst(statement, settings, workers)
        report = partial(among.certify, settings, workers)
        return Judged(worst, among.n, report, among.summaries[highest], highest, doubt=" ".join(among.warnings))
    summary = rows.summary()
    found, doubt = STATEMENTS[statement].certify(summary, settings), " ".join(too_good(summary))
    return Judged(found, summary.rows, lambda: certify_summary(summary, settings), summary, doubt=doubt)


def _of_classes(rows: Rows, of: str, statement: str, settings: Settings, workers: int | None) -> Judged:
    from calcert.reports.classes import certify_classes, certify_of, summary_of

    read = rows.by_class()
    certificate, highest = certify_of(read, of, statement, settings, workers)
    called = None if highest is None else str(highest) if read.names is None else read.names[highest]
    summary = None if of == "mean" else summary_of(read, highest)
    report = partial(certify_classes, read, settings, workers)
    doubt = " ".join(too_good(summary_of(read) if summary is None else summary))
    return Judged(certificate, read.labels.size, report, summary, class_=called, doubt=doubt)
