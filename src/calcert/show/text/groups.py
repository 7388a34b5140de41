"""Groups and classes as text for people: one line each, worst first."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.foundation.visible import visible
from calcert.reports.groups import GroupReport
from calcert.show.lines import SUBJECTS, Line, group_lines
from calcert.show.text.report import WIDTH, number, plain


def groups_text(report: GroupReport, width: int = WIDTH) -> str:
    """The report as plain text."""
    return plain(groups_view(report), width)


def groups_view(report: GroupReport, statements: Collection[str] = ()) -> RenderableType:
    """The report for a rich console; only some of its `statements` where any are named."""
    shown = [name for name in SUBJECTS if not statements or name in statements]
    rows = sum(group.perturbed.n for group in report.groups.values())
    meanings = {
        "unmodified": f"As it is: assumes {assumed(report)}.",
        "perturbed": "Perturbed: served through calcert.perturb, assumes nothing.",
        "distance": "Distance: from calibration, as it is, assumes nothing.",
    }
    together = f"All bounds of a column hold together with probability {1 - report.delta:.4g}."
    return Group(
        Text(f"{rows:,} rows in {len(report.groups)} groups; L1 calibration error, worst first"),
        Text(""),
        interval_table("group", shown, group_lines(report, shown)),
        Text(" ".join([together, *(meanings[name] for name in shown)])),
    )


def assumed(report: GroupReport) -> str:
    """What is assumed of the classifier as it is, in any group."""
    assumptions = {group.unmodified.assumption for group in report.groups.values()} - {"none"}
    return " and ".join(f"a {assumption}" for assumption in sorted(assumptions)) or "nothing"


def interval_table(first: str, statements: Iterable[str], lines: Iterable[Line], between: str = "\n") -> Table:
    """A table with a pair of columns for each statement; of a line that says nothing, that is said.

    `between` stands between a subject and its column in the heading: a new line, or a space where there is room.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    for statement in statements:
        table.add_column(f"{SUBJECTS[statement]}:{between}at least", justify="right", no_wrap=True)
        table.add_column(f"{between}at most".strip(" "), justify="right", no_wrap=True, style="bold")
    for line in lines:
        # As Text: rich would read a name such as "[/]" as markup.
        name, rows = Text(visible(line.name)), f"{line.rows:,}"
        if line.nothing:
            table.add_row(name, rows, "too few rows", style="dim")
        else:
            table.add_row(name, rows, *(b for c in line.certificates for b in (number(c.lower), _top(c.upper))))
    return table


def _top(upper: float) -> str:
    return "1" if upper >= 1 else number(upper)
