"""Reports as text for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.number_text import at_least, at_most, confidence
from calcert.show.certificate_words import evidence, in_money
from calcert.show.text.tables import table

if TYPE_CHECKING:
    from calcert.reports.report import Report


ON_PAGES = ("observed over expected", "calibration intercept", "calibration slope")
"""Estimates that pages and JSON have, and the text has not."""


def report_view(report: Report) -> RenderableType:
    """The report for a rich console."""
    shown = table()
    shown.add_column("certified")
    shown.add_column("of the classifier")
    shown.add_column("assuming")
    shown.add_column("at least", justify="right", no_wrap=True)
    shown.add_column("at most", justify="right", no_wrap=True, style="bold")
    for c in report.certificates.values():
        assumption = "nothing" if c.assumption == "none" else c.assumption
        shown.add_row(c.quantity, c.subject, assumption, at_least(c.lower), at_most(c.upper))
    one, both = confidence(report.settings.delta), confidence(2 * report.settings.delta)
    shown_here = {name: value for name, value in report.estimates.items() if name not in ON_PAGES}
    known = ", ".join(f"{name} {value:.4g}" for name, value in shown_here.items() if not math.isnan(value))
    lines: list[RenderableType] = [
        Text(report.sample),
        *([Text(said, style="dim")] if (said := power(report)) else []),
        Text(""),
        shown,
        Text(f"Each bound holds with probability {one}, both sides of a line together with {both}."),
        *([Text(said)] if (said := in_money(report.certificates, report.settings.costs)) else []),
        *([Text(said)] if (said := evidence(report.certificates)) else []),
        *(Text(line) for line in bend_lines(report)),
        Text(f"Estimates, without guarantee: {known}.", style="dim"),
        Text(f"To tighten. {report.advice}"),
    ]
    return Group(*(Text(f"Warning: {warning}", style="yellow") for warning in report.warnings), *lines)


def bend_lines(report: Report) -> list[str]:
    """Where the served curve leaves the diagonal; nothing where it is not known to."""
    if not report.bends:
        return []
    return [bends_lead(report), *(f"  {bend}" for bend in report.bends)]


def bends_lead(report: Report) -> str:
    """What comes before the ranges in which the served curve leaves the diagonal."""
    served, sure = report.settings.noise.words, confidence(report.settings.delta)
    return f"Where it bends, served with perturbed scores, {served}; all of it with probability {sure}:"


def power(report: Report) -> str:
    """What so many rows can show, before what they did show; nothing where that is not known."""
    floor = report.estimates.get("noise floor of ECE")
    if report.detectable is None or floor is None:
        return ""
    return (
        f"So many rows show an error of about {report.detectable:.2g} to one side in every other sample; noise alone "
        f"makes an ECE of about {floor:.2g} (estimates)."
    )
