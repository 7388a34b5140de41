"""Groups and classes as text for people: one line each, worst first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.certificate import Certificate
from calcert.groups import GroupReport
from calcert.show.text import WIDTH, number, plain

NOTHING = 0.95
"""An interval that is wider than this is shown as one that says nothing."""

SUBJECTS = {"unmodified": "as it is", "perturbed": "perturbed", "distance": "distance"}


def groups_text(report: GroupReport, width: int = WIDTH) -> str:
    """The report as plain text."""
    return plain(groups_view(report), width)


def groups_view(report: GroupReport, statements: Collection[str] = ()) -> RenderableType:
    """The report for a rich console; only some of its `statements` where any are named."""
    shown = {name: subject for name, subject in SUBJECTS.items() if not statements or name in statements}
    table = interval_table("group", shown)
    for name in report.worst_first(next(iter(shown))):
        certificates = report.groups[name].certificates
        add_intervals(table, name, f"{certificates['unmodified'].n:,}", [certificates[key] for key in shown])
    rows = sum(group.perturbed.n for group in report.groups.values())
    assumptions = {group.unmodified.assumption for group in report.groups.values()} - {"none"}
    assumed = " and ".join(sorted(assumptions)) or "nothing"
    return Group(
        Text(f"{rows:,} rows in {len(report.groups)} groups; L1 calibration error, worst first"),
        Text(""),
        table,
        Text(
            f"All bounds of a column hold together with probability {1 - report.delta:.4g}. As it is: assumes "
            f"{assumed}. Perturbed: served through calcert.perturb, assumes nothing. Distance: from calibration, as it "
            "is, assumes nothing."
        ),
    )


def interval_table(first: str, subjects: dict[str, str]) -> Table:
    """A table with a pair of columns for each subject."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    for subject in subjects.values():
        table.add_column(f"{subject}:\nat least", justify="right", no_wrap=True)
        table.add_column("\nat most", justify="right", no_wrap=True, style="bold")
    return table


def add_intervals(table: Table, name: str, rows: str, certificates: Sequence[Certificate]) -> None:
    """A line of intervals; where none says anything, that is said."""
    if all(says_nothing(certificate) for certificate in certificates):
        table.add_row(name, rows, "too few rows", style="dim")
        return
    table.add_row(name, rows, *(bound for c in certificates for bound in (number(c.lower), _top(c.upper))))


def says_nothing(certificate: Certificate) -> bool:
    """True where the interval is nearly all of [0, 1]."""
    return certificate.upper - certificate.lower > NOTHING


def _top(upper: float) -> str:
    return "1" if upper >= 1 else number(upper)
