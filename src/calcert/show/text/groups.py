"""Groups and classes as text for people: one line each, worst first."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.certificates.certificate import Certificate
from calcert.foundation.escaped_text import visible
from calcert.foundation.numbers import confidence
from calcert.reports.statements import columns
from calcert.show.lines import Line, group_lines
from calcert.show.text.table_style import table
from calcert.show.words import STATEMENTS, meanings
from calcert.show.worst import worst_group

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport


def groups_view(report: GroupReport, statements: Collection[str] = ()) -> RenderableType:
    """The report for a rich console; only some of its `statements` where any are named."""
    shown = columns(statements) or group_columns(report)
    together = each_side("groups", report.delta)
    lines = group_lines(report, shown)
    return Group(
        Text(f"{report.n:,} rows in {len(report.groups)} groups, worst first"),
        Text(""),
        interval_table("group", shown, lines),
        Text(f"{together} {meanings(shown, lines)}"),
        *([Text(visible(said))] if (said := worst_group(report, shown)) else []),
    )


def group_columns(report: GroupReport) -> list[str]:
    """The statements of the table; JSON of before there were more has fewer."""
    return [name for name in columns() if all(name in group.certificates for group in report.groups.values())]


def each_side(many: str, delta: float) -> str:
    """What holds together in a column: one side of it, so that both do with twice delta."""
    return (
        f"The upper bounds of all {many} in a column hold together with probability {confidence(delta)}, and so do "
        "the lower ones."
    )


def interval_table(first: str, statements: Iterable[str], lines: Iterable[Line]) -> Table:
    """A table with a column for each statement; of a line that says nothing, that is said."""
    shown = table()
    lines = list(lines)
    # Where there is no room for all of it, intervals are broken between their ends; names of up to 16 letters are not.
    longest = max((len(visible(line.name)) for line in lines), default=0)
    shown.add_column(first, overflow="fold", no_wrap=longest <= 16)
    shown.add_column("rows", justify="right", no_wrap=True)
    for statement in statements:
        shown.add_column(STATEMENTS[statement].short, justify="right")
    for line in lines:
        # As Text: rich would read a name such as "[/]" as markup.
        name, rows = Text(visible(line.name)), f"{line.rows:,}"
        if line.nothing:
            shown.add_row(name, rows, "too few rows", style="dim")
        else:
            shown.add_row(name, rows, *map(_interval, line.certificates))
    return shown


def _interval(c: Certificate) -> str:
    return f"at least {c.at_least}" if c.upper >= 1 else f"{c.at_least} to {c.at_most}"
