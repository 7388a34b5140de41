"""Groups as text for people: one line each, worst first, and what is certified of the worst."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import rows_text
from calcert.show.certificate_words import each_side, worst
from calcert.show.interval_lines import group_columns, group_lines, meanings, order
from calcert.show.text.tables import interval_table

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport


def groups_view(report: GroupReport) -> RenderableType:
    """The report for a rich console."""
    shown = group_columns(report)
    together = each_side("groups", report.delta)
    lines = group_lines(report, shown)
    return Group(
        *(Text(f"Warning: {said}", style="yellow") for said in report.warnings),
        Text(f"{rows_text(report.n)} in {len(report.groups)} groups, {order(lines)}"),
        Text(""),
        interval_table("group", shown, lines),
        Text(f"{together} {meanings(shown, lines)}"),
        *([Text(visible(said))] if (said := worst_group(report, shown)) else []),
    )


def worst_group(report: GroupReport, names: Collection[str]) -> str:
    """What is certified of the worst group, which ones that is about, which have no rows, and for which population."""
    first = next(iter(report.groups.values()))
    subject = next(iter(first.certificates.values())).subject
    for classifier in ("with its current scores", f"with perturbed scores, {first.settings.noise.words}"):
        subject = subject.removeprefix(classifier)
    distribution = subject.removeprefix(", ")
    of_rows = f" All bounds are {distribution}." if distribution else ""
    large = f" of at least {rows_text(report.smallest)}" if report.smallest > 1 else ""
    if report.empty:
        return f"Of the worst group nothing is certified: no row is of {', '.join(report.empty)}.{of_rows}"
    counted = [group for group in report.groups.values() if group.n >= report.smallest]
    few = any(not any(group.statement(name).telling for name in names) for group in counted)
    why = (
        "That counts groups with too few rows to say anything; a smallest group, fixed before the rows are seen, "
        "leaves them out (smallest_group=, --smallest-group)."
    )
    return worst(f"group{large}", "groups", report.worst, names, why if few else "") + of_rows
