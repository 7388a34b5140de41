"""The page of a report (jinja2), and what notebooks show of one."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

from scipy.stats import beta

from calcert.foundation.requirements import needed_for_reports
from calcert.reports.estimates import log_loss, net_benefit, score_quantiles
from calcert.show import certificate_words as words
from calcert.show.pages.layout import Card, Picture, card, code, fragment, picture, render
from calcert.show.side_words import which_way
from calcert.show.text.report import bends_lead, power

with needed_for_reports():
    from calcert.show.pictures.canvas import figure_of
    from calcert.show.pictures.curve_as_it_is import curve_as_it_is
    from calcert.show.pictures.served_curve import reliability, reliability_description
    from calcert.show.pictures.terms import terms, terms_description

if TYPE_CHECKING:
    from calcert.reports.report import Report

TITLE = "Calibration certificate"

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)

TERM_MEANING = {
    "plug-in": "the error that the rows themselves show, sampling noise included",
    "sampling": "what rows drawn by chance may hide",
    "group bias": "what the assumption lets the curve hide inside groups of neighbouring scores",
    "discretisation": "what grid, cells and rounding may hide",
    "groups without rows": "nothing is known of a listed group that has no rows",
    "cap at 1": "no error exceeds 1, and a bound next to 1 says nothing",
}

READING = {
    "reliability": "The thick curve is the estimated chance of label 1 at each served score; a calibrated classifier "
    "lies on the dashed diagonal. The band holds the true curve everywhere at once, with the stated probability: where "
    "it leaves the diagonal outside, the served classifier is off there; where it is wide, there are few rows. "
    "A mark at 0 or 1 is the mean chance of served scores within a millionth of it, between its limits. "
    "Below are the densities of the served scores of either label, each drawn to its own peak.",
    "as it is": "Of the scores as they are, without noise. Few distinct scores are points, each with limits that hold "
    "together and assume nothing; nothing is said between them. More of them have a band that holds the curve "
    "everywhere at once if the chance of label 1 never falls as the score rises, and dots that are estimates. Where "
    "the dashed diagonal is outside, the classifier is off. Below: where the scores of either label are.",
    "terms": "The whole bar is what is certified. The plug-in is the error that the rows show, sampling noise "
    "included; everything after it is the price of certainty, of which sampling and group bias shrink with more rows. "
    "The upright mark is the lower bound: the true value lies between it and the end of the bar, with the stated "
    "probability and if what the line assumes is true.",
}


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
            "code": f'report = {code(report.settings, more=told(report))}\nreport.to_html("report.html")',
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
        "power": power(report),
        "statements": _cards(report),
        "confidence": f"{words.confidence(report.settings.delta)} {words.evidence(report.certificates)}".rstrip(),
        "bends": [str(bend) for bend in report.bends or ()],
        "bends_lead": bends_lead(report),
        "warnings": report.warnings,
        "advice": report.advice,
        "estimates": _estimates(report),
        "pictures": _pictures(report),
    }


def _cards(report: Report) -> list[Card]:
    return [
        card(name, c, words.interval(c), [words.statement(name, c), words.assumption(c)])
        for name, c in report.certificates.items()
    ]


def _terms(report: Report) -> list[dict[str, Any]]:
    """A row for each term that any bound has, None where a bound has it not."""
    certificates = report.certificates.values()
    present = {name for c in certificates for name in c.terms}
    return [
        {"name": name, "meaning": meaning, "values_": [c.terms.get(name) for c in certificates]}
        for name, meaning in TERM_MEANING.items()
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
        title, reading = "The calibration curve as it is", READING["as it is"]
        drawn.append(picture(figure_of(curve_as_it_is(report)), "as-it-is", title, str(report.curve), reading))
    if report.has_band:
        title, description = "Reliability of the perturbed classifier", reliability_description(report)
        figure = figure_of(reliability(report))
        drawn.append(picture(figure, "reliability", title, description, READING["reliability"]))
    title, description = "What the upper bounds are made of", terms_description(report)
    drawn.append(picture(figure_of(terms(report)), "made-of", title, description, READING["terms"]))
    return drawn


def reviewed(report: Report) -> dict[str, Any]:
    """What the template of a report shows of it; nothing without the Summary of the rows."""
    return {"which_way": which_way(report), "by_score": _by_score(report), "benefits": _benefits(report)}


def _by_score(report: Report) -> list[dict[str, Any]]:
    """Each of a few distinct scores: said, seen, between, and what follows."""
    if not report.has_few_scores:
        return []
    lines = []
    for line in report.curve._rows():
        x, lower, upper = line["score"], line["lower"], line["upper"]
        verdict = "too low" if lower > x else "too high" if upper < x else "cannot tell"
        rows, positives = line["rows"], line["positives"]
        below = float(beta.cdf(x, positives + 0.5, rows - positives + 0.5))
        lines.append(line | {"verdict": verdict, "jeffreys": min(below, 1 - below)})
    return lines


def _benefits(report: Report) -> list[dict[str, float]]:
    if report.summary is None:
        return []
    rate = report.summary.base_rate
    return [
        {
            "threshold": t,
            "model": net_benefit(report.summary, t),
            "all": rate - (1 - rate) * t / (1 - t),
        }
        for t in THRESHOLDS
    ]
