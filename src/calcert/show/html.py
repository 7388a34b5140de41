"""The report as one self-contained page (jinja2): for a reader who was not there, with nothing to load."""

from __future__ import annotations

import datetime
import math
import os
from pathlib import Path
from typing import Any

import calcert
from calcert.certificate import Certificate, Report
from calcert.facts import fingerprint, log_loss, score_quantiles
from calcert.show import words
from calcert.show.requirements import needed_for_reports
from calcert.whole_file import replacing

with needed_for_reports():
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from calcert.show import plot
    from calcert.show.canvas import figure_of
    from calcert.show.inline_svg import inline_svg

TITLE = "Calibration certificate"


def write_page(
    report: Report,
    path: str | os.PathLike[str],
    *,
    command: str | None = None,
    title: str = TITLE,
    date: datetime.date | None = None,
) -> Path:
    """Write the page to a file, whole or not at all, and return its path."""
    target = Path(path)
    text = page(report, command=command, title=title, date=date)
    with replacing(target) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


def page(report: Report, *, command: str | None = None, title: str = TITLE, date: datetime.date | None = None) -> str:
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
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=title,
            version=calcert.__version__,
            date=(date or datetime.date.today()).isoformat(),
            n=report.perturbed.n,
            statements=_statements(report),
            confidence=words.confidence(report.perturbed),
            warnings=report.warnings,
            advice=report.advice,
            never_promised=words.NEVER_PROMISED,
            pictures=_pictures(report),
            has_rows=report.summary is not None,
            terms=_terms(report),
            estimates=_estimates(report),
            quantiles=score_quantiles(report.summary) if report.summary is not None else {},
            fingerprint=fingerprint(report.summary) if report.summary is not None else None,
            command=command,
            code=words.code(report),
            report=report.to_dict(),
        )
    )


def notebook_view(report: Report) -> str:
    """The statements and the pictures as a fragment that takes on the colours of the notebook around it."""
    return (
        _environment()
        .get_template("notebook.html.jinja")
        .render(
            statements=_statements(report),
            confidence=words.confidence(report.perturbed),
            warnings=report.warnings,
            advice=report.advice,
            estimates=_estimates(report),
            pictures=_pictures(report),
            n=report.perturbed.n,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("calcert", "show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=words.number, percent=words.percent, exact=repr, setting=_setting)
    return environment


def _setting(value: float, name: str) -> str:
    return words.fraction(value) if name == "bandwidth" else f"{value:.4g}"


def _statements(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "title": words.TITLES[name],
            "short": words.SHORT[name],
            "quantity": _quantity(name, c),
            "interval": words.interval(c),
            "sentence": words.statement(name, c),
            "assumption": words.assumption(c),
            "not_promised": words.not_promised(name, c),
            "certificate": c,
        }
        for name, c in report.certificates.items()
    ]


def _quantity(name: str, c: Certificate) -> str:
    """What stands under the title of a statement."""
    if name == "perturbed":
        return f"{c.quantity}, bandwidth {words.fraction(c.parameters['bandwidth'])}"
    return "of the classifier as it is" if name == "distance" else c.quantity


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
    return {name: value for name, value in known.items() if not math.isnan(value)}


def _pictures(report: Report) -> list[dict[str, str]]:
    drawn = []
    if report.summary is not None:
        figure = figure_of(plot.reliability(report))
        title, description = "Reliability of the perturbed classifier", words.reliability_description(report)
        svg = inline_svg(figure, "reliability", title, description)
        drawn.append({"svg": svg, "reading": words.READING["reliability"]})
    figure = figure_of(plot.terms(report))
    svg = inline_svg(figure, "made-of", "What the upper bounds are made of", words.terms_description(report))
    drawn.append({"svg": svg, "reading": words.READING["terms"]})
    return drawn
