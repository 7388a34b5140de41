"""Reports as text for people."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.numbers import at_least, at_most, confidence
from calcert.show.text.table_style import table
from calcert.show.words import bends_lead, evidence, power

if TYPE_CHECKING:
    from calcert.reports.report import Report


ON_PAGES = ("observed over expected", "calibration intercept", "calibration slope")
"""Estimates that pages and JSON have, and the text has not."""


def report_view(report: Report, statements: Collection[str] = ()) -> RenderableType:
    """The report for a rich console; only some of its `statements` where any are named."""
    shown = table()
    shown.add_column("certified")
    shown.add_column("of the classifier")
    shown.add_column("assuming")
    shown.add_column("at least", justify="right", no_wrap=True)
    shown.add_column("at most", justify="right", no_wrap=True, style="bold")
    asked = {name: c for name, c in report.certificates.items() if not statements or name in statements}
    for c in asked.values():
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
        *([Text(said)] if (said := evidence(asked)) else []),
        *(Text(line) for line in bend_lines(report, statements)),
        Text(f"Estimates, without guarantee: {known}.", style="dim"),
    ]
    if not statements:  # The advice speaks of all of them.
        lines.append(Text(f"To tighten. {report.advice}"))
    lines += [Text(f"Warning: {warning}", style="yellow") for warning in report.warnings]
    return Group(*lines)


def bend_lines(report: Report, statements: Collection[str] = ()) -> list[str]:
    """Where the served curve leaves the diagonal; nothing where it is not known to, or not asked for."""
    if not report.bends or (statements and "perturbed" not in statements):
        return []
    return [bends_lead(report), *(f"  {bend}" for bend in report.bends)]
