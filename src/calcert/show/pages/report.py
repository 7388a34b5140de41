"""The page of a report (jinja2), and what notebooks show of one."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scipy.stats import beta

from calcert.foundation.requirements import needed_for_reports
from calcert.reports.estimates import FEW_SCORES, log_loss, score_quantiles
from calcert.show import certificate_words as words
from calcert.show.blocks.report import ece_words, power, ranges_lead, statement_lines
from calcert.show.pages.layout import Card, Picture, card, code, fragment, picture, render
from calcert.show.side_words import which_way

with needed_for_reports():
    from calcert.show.pictures.canvas import figure_of
    from calcert.show.pictures.perturbed_curve import perturbed_curve, perturbed_description
    from calcert.show.pictures.reliability import reliability, reliability_description

if TYPE_CHECKING:
    from calcert.reports.report import Report

TITLE = "Calibration certificate"

TERM_MEANING = {
    "plug-in": "the error that the rows themselves show, sampling noise included",
    "sampling": "what rows drawn at random may hide",
    "binning bias": "what the assumption lets the curve hide inside groups of neighbouring scores",
    "discretisation": "what grid, cells and rounding may hide",
    "groups without rows": "nothing is known of a listed group that has no rows",
    "cap at 1": "no error exceeds 1, and a bound next to 1 says nothing",
}

READING = {
    "current": "Dots are the shares of label 1 among rows with similar scores. Where the dashed diagonal leaves the "
    "band, the scores are off. The band assumes that the true curve never falls; limits at single scores assume "
    "nothing.",
    "perturbed": "The curve is the estimated probability of label 1 at each perturbed score. The band holds the whole "
    "true curve and assumes nothing. Below are the scores of either label, each to its own peak.",
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
    clusters = None if report.summary is None else report.summary.clusters
    return "" if clusters is None else clusters.design.arguments


def notebook_view(report: Report) -> str:
    """The statements and the pictures as a fragment that takes on the colours of the notebook around it."""
    return fragment("notebook.html.jinja", **shown(report))


def shown(report: Report) -> dict[str, Any]:
    """What page and notebook both show."""
    return {
        "n": report.n,
        "sample": report.sample,
        "power": power(report),
        "verdict": report.verdict,
        "answer": list(statement_lines(report)),
        "ece": ece_words(report),
        "statements": _cards(report),
        "confidence": f"{words.confidence(report.settings.delta)} {words.evidence(report.certificates)}".rstrip(),
        "miscalibrated_ranges": [str(part) for part in report.miscalibrated_ranges or ()],
        "ranges_lead": ranges_lead(report),
        "warnings": report.warnings,
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
    if report.has_band:
        figure, words = figure_of(perturbed_curve(report)), perturbed_description(report)
        drawn.append(picture(figure, "perturbed", "Reliability of perturbed scores", words, READING["perturbed"]))
    if report.summary is not None:
        figure, words = figure_of(reliability(report)), reliability_description(report)
        drawn.append(picture(figure, "reliability", "Reliability diagram", words, READING["current"]))
    return drawn


def reviewed(report: Report) -> dict[str, Any]:
    """What reviewers ask for; nothing without the Summary of the rows."""
    return {"which_way": which_way(report), "by_score": _by_score(report)}


def _by_score(report: Report) -> list[dict[str, Any]]:
    """Each of a few distinct scores: rows, positives, limits where rows are independent, and tests both ways."""
    rows = report.summary
    if rows is None or not rows.is_finite or rows.values.size > FEW_SCORES:
        return []
    if rows.clusters is not None and not (rows.clusters.design.clustered and rows.n == rows.clusters.rows):
        return []
    limits: Iterable[tuple[Any, Any]] = [(None, None)] * rows.values.size
    if report.has_few_scores:
        limits = [(line["lower"], line["upper"]) for line in report.curve._rows()]
    lines = []
    for x, count, (lower, upper) in zip(rows.values.tolist(), rows.points.count.tolist(), limits, strict=True):
        number, positives = int(sum(count)), int(count[1])
        below = float(beta.cdf(x, positives + 0.5, number - positives + 0.5))
        verdict = None if lower is None else "too low" if lower > x else "too high" if upper < x else "cannot tell"
        lines.append(
            {"score": x, "rows": number, "positives": positives, "estimate": positives / number, "lower": lower}
            | {"upper": upper, "verdict": verdict, "too_low": below, "too_high": 1 - below}
        )
    return lines
