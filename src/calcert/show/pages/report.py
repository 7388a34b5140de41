"""The page of a report (jinja2), and what notebooks show of one."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

from calcert.reports.estimates import log_loss, score_quantiles
from calcert.show import words
from calcert.show.pages.for_reviewers import reviewed
from calcert.show.pages.layout import Picture, Statement, fragment, picture, render, statement
from calcert.show.requirements import needed_for_reports

with needed_for_reports():
    from calcert.show.pictures.canvas import figure_of
    from calcert.show.pictures.report import reliability
    from calcert.show.pictures.terms import terms
    from calcert.show.pictures.unmodified import curve_as_it_is

if TYPE_CHECKING:
    from calcert.reports.report import Report

TITLE = "Calibration certificate"


def page(
    report: Report, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text.

    Parameters
    ----------
    report
        What :func:`calcert.certify` returned; one read from JSON lacks the rows' Summary and thus the reliability
        picture, quantiles and fingerprint.
    command
        The exact command that made the report, shown beside the code that does the same.
    title
        Heading of the page.
    date
        Shown as the day of writing; today when None.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> text = page(calcert.certify(x, rng.random(5000) < x), title="Model 7")
    >>> "<h1>Model 7</h1>" in text, "https://" in text
    (True, False)
    """
    return render("report.html.jinja", title=title or TITLE, date=date, **content(report, command))


def content(report: Report, command: str | None) -> dict[str, Any]:
    """What the template of a report is filled with."""
    return (
        shown(report)
        | reviewed(report)
        | {
            "never_promised": words.never_promised(report),
            "has_rows": report.summary is not None,
            "terms": _terms(report),
            "quantiles": score_quantiles(report.summary) if report.summary is not None else {},
            "fingerprint": report.fingerprint,
            "command": command,
            "code": f'report = {words.code(report.settings, more=told(report))}\nreport.to_html("report.html")',
            "report": report.to_dict(),
        }
    )


def told(report: Report) -> str:
    """How rows in clusters or with weights were named."""
    units = None if report.summary is None else report.summary.units
    return "" if units is None else units.design.arguments


def notebook_view(report: Report) -> str:
    """The statements and the pictures as a fragment that takes on the colours of the notebook around it."""
    return fragment("notebook.html.jinja", **shown(report))


def shown(report: Report) -> dict[str, Any]:
    """What page and notebook both show."""
    return {
        "n": report.n,
        "sample": report.sample,
        "power": words.power(report),
        "statements": _statements(report),
        "confidence": f"{words.confidence(report.settings.delta)} {words.evidence(report.certificates)}".rstrip(),
        "bends": [str(bend) for bend in report.bends or ()],
        "bends_lead": words.bends_lead(report),
        "warnings": report.warnings,
        "advice": report.advice,
        "estimates": _estimates(report),
        "pictures": _pictures(report),
    }


def _statements(report: Report) -> list[Statement]:
    return [
        statement(name, c, words.interval(c), [words.statement(name, c), words.assumption(c)])
        for name, c in report.certificates.items()
    ]


def _terms(report: Report) -> list[dict[str, Any]]:
    """A row for each term that any bound has, None where a bound has it not."""
    certificates = report.certificates.values()
    present = {name for c in certificates for name in c.terms}
    return [
        {"name": name, "meaning": meaning, "values_": [c.terms.get(name) for c in certificates]}
        for name, meaning in words.TERM_MEANING.items()
        if name in present
    ]


def _estimates(report: Report) -> dict[str, float]:
    known = dict(report.estimates)
    if report.summary is not None:
        known["log loss"] = log_loss(report.summary)
    if report.detectable is not None:
        known["error that every other sample of this size would show"] = report.detectable
    return {name: value for name, value in known.items() if not math.isnan(value)}


def _pictures(report: Report) -> list[Picture]:
    drawn = []
    if report.shows_curve:
        title, reading = "The calibration curve as it is", words.READING["as it is"]
        drawn.append(picture(figure_of(curve_as_it_is(report)), "as-it-is", title, str(report.curve), reading))
    if report.has_band:
        title, description = "Reliability of the perturbed classifier", words.reliability_description(report)
        figure = figure_of(reliability(report))
        drawn.append(picture(figure, "reliability", title, description, words.READING["reliability"]))
    title, description = "What the upper bounds are made of", words.terms_description(report)
    drawn.append(picture(figure_of(terms(report)), "made-of", title, description, words.READING["terms"]))
    return drawn
