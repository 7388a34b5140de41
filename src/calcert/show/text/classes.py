"""A report on many classes as text for people."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.reports.classes import STATEMENTS, ClassReport
from calcert.show.lines import SUBJECTS, class_lines
from calcert.show.text.groups import interval_table
from calcert.show.text.report import WIDTH, number, plain, report_view

SHOWN = 20
"""Classes in the table, the worst ones; all are in the JSON."""


def classes_text(report: ClassReport, width: int = WIDTH) -> str:
    """The report as plain text."""
    return plain(classes_view(report), width)


def classes_view(report: ClassReport) -> RenderableType:
    """The report for a rich console: the prediction first, then each class against the rest."""
    lines: list[RenderableType] = [
        Text("The prediction: its probability against how often it is right", style="italic"),
        report_view(report),
        Text(""),
        Text(
            f"Each of {len(report.classes)} classes against the rest: L1 calibration error, worst first", style="italic"
        ),
        interval_table("class", STATEMENTS, class_lines(report, STATEMENTS)[:SHOWN]),
    ]
    more = len(report.classes) - SHOWN
    if more > 0:
        lines.append(Text(f"{more} more classes are not shown.", style="dim"))
    lines.append(
        Text(f"Mean over classes: {means(report)}. All bounds of a column hold together, at the same probability.")
    )
    return Group(*lines)


def means(report: ClassReport) -> str:
    """The bounds on the mean over classes, for each statement."""
    bounds = {SUBJECTS[name]: report.mean[name] for name in STATEMENTS}
    return "; ".join(f"{subject} {number(c.lower)} to {number(c.upper)}" for subject, c in bounds.items())
