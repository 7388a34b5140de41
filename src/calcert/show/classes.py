"""A report on many classes as text for people."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.classes import ClassReport
from calcert.show.groups import add_intervals, interval_table
from calcert.show.text import WIDTH, number, plain, report_view

SHOWN = 20
"""Classes in the table, the worst ones; all are in the JSON."""

SUBJECTS = {"unmodified": "as it is", "perturbed": "perturbed"}


def classes_text(report: ClassReport, width: int = WIDTH) -> str:
    """The report as plain text."""
    return plain(classes_view(report), width)


def classes_view(report: ClassReport) -> RenderableType:
    """The report for a rich console: the prediction first, then each class against the rest."""
    table = interval_table("class", SUBJECTS)
    for entry in report.worst_first()[:SHOWN]:
        add_intervals(table, str(entry.number), f"{entry.positives:,}", [entry.certificates[key] for key in SUBJECTS])
    more = len(report.classes) - SHOWN
    bounds = {SUBJECTS[name]: report.mean[name] for name in SUBJECTS}
    means = "; ".join(f"{subject} {number(c.lower)} to {number(c.upper)}" for subject, c in bounds.items())
    lines: list[RenderableType] = [
        Text("The prediction: its probability against how often it is right", style="italic"),
        report_view(report),
        Text(""),
        Text(
            f"Each of {len(report.classes)} classes against the rest: L1 calibration error, worst first", style="italic"
        ),
        table,
    ]
    if more > 0:
        lines.append(Text(f"{more} more classes are not shown.", style="dim"))
    lines.append(Text(f"Mean over classes: {means}. All bounds of a column hold together, at the same probability."))
    return Group(*lines)
