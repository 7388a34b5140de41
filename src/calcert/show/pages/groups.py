"""The page of groups: which are worst, what is promised of all of them together, and each in words."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from calcert.foundation.number_text import at_least, at_most, rows_text
from calcert.show import certificate_words as words
from calcert.show.interval_lines import Line, group_columns, group_lines, meanings, order
from calcert.show.pages.layout import IN_TABLE, Card, Picture, card, code, fragment, interval_pictures, left_out, render
from calcert.show.pictures.intervals import all_lines
from calcert.show.text.groups import worst_group

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport

TITLE = "Calibration certificates by group"

NEVER_PROMISED = (
    "Each bound is an average over the rows of one group. For a part of a group or a single row the error can be "
    "larger; of score ranges only the cutoff calibration error speaks.",
    *words.NEVER_PROMISED[1:],
)


def page(
    report: GroupReport, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text; arguments as in :func:`calcert.show.pages.report.page`."""
    names = group_columns(report)
    lines, first = group_lines(report, names), next(iter(report.groups.values()))
    large = f", smallest_group={report.smallest}" if report.smallest > 1 else ""
    clusters = first.summary.clusters if first.summary is not None else None
    how = f", {clusters.design.arguments}" if clusters is not None else ""
    call = code(first.settings.at(report.delta), more=f"groups=groups{large}{how}")
    return render(
        "groups.html.jinja",
        title=title or TITLE,
        date=date,
        n=report.n,
        warnings=report.warnings,
        statements=[_card(report, name) for name in names],
        together=words.together("groups", len(lines) + len(report.empty), report.delta),
        worst=worst_group(report, names),
        too_small=words.too_small("groups", lines),
        never_promised=NEVER_PROMISED,
        subjects=[words.STATEMENTS[name].short for name in names],
        lines=lines,
        order=order(lines),
        most=IN_TABLE,
        pictures=_pictures(report),
        left_out=left_out("groups", len(lines)),
        groups=[_in_words(report, line) for line in lines],
        command=command,
        code=f'report = {call}\nreport.to_html("groups.html")\nreport.groups[NAME].to_html("group.html")  # one alone',
        report=report.to_dict(),
    )


def notebook_view(report: GroupReport) -> str:
    """The table and the pictures, for a notebook."""
    names = group_columns(report)
    lines = group_lines(report, names)
    return fragment(
        "notebook_lines.html.jinja",
        heading=f"{TITLE}, {rows_text(report.n)}",
        first="group",
        subjects=[words.STATEMENTS[name].short for name in names],
        lines=lines,
        notes=[
            *(f"Warning: {said}" for said in report.warnings),
            worst_group(report, names),
            words.together("groups", len(lines) + len(report.empty), report.delta),
            meanings(names, lines),
            words.too_small("groups", lines),
        ],
        pictures=_pictures(report),
    )


def _card(report: GroupReport, name: str) -> Card:
    """A card: the worst group, and what holds for every group that says anything."""
    lines, worst = group_lines(report, [name]), report.worst.get(name)
    telling = [line for line in lines if not line.nothing]
    assuming = next((line for line in lines if line.certificates[0].assumption != "none"), lines[0])
    certificate = assuming.certificates[0]
    if not telling:
        return card(name, certificate, "nothing yet: too few rows", [words.assumption(certificate)])
    proven, lower = telling[0], telling[0].certificates[0].lower
    counted = [line for line in lines if line.rows >= report.smallest]
    if worst is not None and not report.empty and not any(line.nothing for line in counted):
        upper, whose = worst.upper, f" of at least {report.smallest:,} rows" if report.smallest > 1 else ""
    else:
        upper, whose = max(line.certificates[0].upper for line in telling), " with enough rows"
    sentences = [
        f"The worst proven is the group {proven.name}: at least {at_least(lower)}."
        if lower > 0
        else "No error is proven of any group.",
        *([f"For every group{whose} it is at most {at_most(upper)}."] if upper < 1 else []),
        words.assumption(certificate),
    ]
    return card(name, certificate, f"worst{whose}: {words.between(lower, upper)}", sentences)


def _pictures(report: GroupReport) -> list[Picture]:
    return interval_pictures(
        "groups", {name: group_lines(report, [name]) for name in group_columns(report)}, all_lines(report.delta)
    )


def _in_words(report: GroupReport, line: Line) -> dict[str, Any]:
    group = report.groups[line.name]
    return {
        "name": line.name,
        "rows": line.rows,
        "fingerprint": group.fingerprint,
        "nothing": line.nothing,
        "sentences": [
            (words.STATEMENTS[name].title, words.statement(name, group.certificates[name]))
            for name in group_columns(report)
        ],
        "warnings": group.warnings,
    }
