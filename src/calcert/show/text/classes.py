"""A report on many classes as text for people."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.number_text import at_least, at_most
from calcert.show.blocks.report import report_blocks
from calcert.show.certificate_words import STATEMENTS, each_side, worst
from calcert.show.interval_lines import class_columns, class_lines, meanings, order
from calcert.show.text.tables import interval_table, view_of

if TYPE_CHECKING:
    from calcert.reports.classes import ClassReport

SHOWN = 20
"""Classes in the table, the worst ones; all are in the JSON."""


def classes_view(report: ClassReport) -> RenderableType:
    """The report for a rich console: the prediction first, then each class against the rest."""
    shown = class_columns(report)
    of_classes = class_lines(report, shown)
    lines: list[RenderableType] = [
        Text("The prediction: its probability against how often it is right", style="italic"),
        view_of(report_blocks(report)),
        Text(""),
        Text(f"Each of {len(report.classes)} classes against the rest, {order(of_classes)}", style="italic"),
        interval_table("class", shown, of_classes[:SHOWN]),
    ]
    more = len(report.classes) - SHOWN
    if more > 0:
        lines.append(Text(f"{more} more classes are not shown.", style="dim"))
    lines.append(
        Text(
            f"{each_side('classes', report.settings.delta)} {meanings(shown, of_classes)}\nMean over classes: "
            f"{means(report, shown)}; each bound with the same probability by itself."
        )
    )
    lines.append(Text(worst("class", "classes", report.worst, shown)))
    return Group(*lines)


def means(report: ClassReport, statements: Collection[str]) -> str:
    """The bounds on the mean over classes, for each statement."""
    bounds = {STATEMENTS[name].short: report.mean[name] for name in statements}
    return "; ".join(f"{subject} {at_least(c.lower)} to {at_most(c.upper)}" for subject, c in bounds.items())
