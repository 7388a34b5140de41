"""Many reports at once, of groups or of classes: bounds that hold together, and the worst of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from calcert.certificates.certificate import Certificate
from calcert.certificates.several import OneOfMany
from calcert.foundation.workers import check_workers, spread
from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import certificate_rows, certificates_of, check_statement, entries_of, judged_by
from calcert.summary.summary import Summary

WITH_RANGES = 20
"""So many members, worst first, have their miscalibrated ranges in JSON; a thousand bands would take half a minute."""


class Many:
    """Reports by name, each at its Bonferroni level, so that for each statement all bounds of a side hold together.

    What differs is data: what one of them is called, where the reports are, and what else the result holds.
    """

    one: ClassVar[str]
    many: ClassVar[str]
    """What a member and all of them are called; the field that holds them has the second name."""

    worst: Mapping[str, Certificate]

    @property
    def members(self) -> Mapping[str, Report]:
        """The reports by name."""
        found: Mapping[str, Report] = getattr(self, self.many)
        return found

    def worst_first(self, statement: str | None = None) -> list[str]:
        """The names: those with a proven error or direction first, by their lower bound, then those with most rows."""
        statement = self.leading(statement)

        def order(name: str) -> tuple[Any, ...]:
            report = self.members[name]
            lower = report.statement(statement).lower
            return lower <= 0 and report.direction is None, -lower, -self.size(name), name

        return sorted(self.members, key=order)

    def size(self, name: str) -> int:
        """How many rows a member has."""
        return self.members[name].n

    def leading(self, statement: str | None = None) -> str:
        """The statement or, where none is named, the one whose bounds are in every line."""
        return check_statement(statement or judged_by(self.worst), self.worst)

    def _lines(self) -> list[dict[str, Any]]:
        """Lines of a frame, worst first: every statement of every member, with observed over expected and direction."""
        return [
            row | balance(self.members[name])
            for name in self.worst_first()
            for row in certificate_rows({self.one: name}, self.members[name].certificates)
        ]

    def _members_told(self) -> dict[str, Report]:
        """The members as JSON tells them; of the first, and of those asked for, with miscalibrated ranges."""
        first = {*self.worst_first()[:WITH_RANGES]}
        return {name: told(report, name in first) for name, report in self.members.items()}


def balance(report: Report | None = None) -> dict[str, Any]:
    """Columns of a frame: observed over expected positives and the direction; empty where there is no one report."""
    ratio = None if report is None else report.observed_over_expected
    direction = None if report is None else report.direction
    if ratio is None:
        return dict.fromkeys(("observed", "expected", "ratio_lower", "ratio_upper")) | {"direction": direction}
    counts = {"observed": ratio.observed, "expected": ratio.expected}
    return counts | {"ratio_lower": ratio.lower, "ratio_upper": ratio.upper, "direction": direction}


def lines_of_all(about: Mapping[str, Any], certificates: Mapping[str, Certificate]) -> list[dict[str, Any]]:
    """Lines of the same frame that are about all members, such as the worst of them."""
    return [row | balance() for row in certificate_rows(about, certificates)]


def told(report: Report, with_ranges: bool = False) -> Report:
    """A report without its Summary that says the same in JSON, but for most miscalibrated ranges."""
    asked = set(vars(report))
    kept = [name for name in report.remembered if name != "miscalibrated_ranges" or with_ranges or name in asked]
    known = {name: getattr(report, name) for name in kept}
    if "band" not in asked:
        vars(report).pop("band", None)
    found = replace(report, summary=None)
    vars(found).update(known)
    return found


def with_rows(report: Report, summary: Summary) -> Report:
    """The report with its rows again; what was derived from them is kept."""
    found = copy.copy(report)
    object.__setattr__(found, "summary", summary)
    return found


class Part(NamedTuple):
    """The rows of one of many; `each` has the level of one of many, `settings` that of all."""

    rows: Summary
    each: Settings
    settings: Settings


def certify_parts(parts: Sequence[Part], many: str, workers: int | None) -> list[tuple[Report, dict[str, OneOfMany]]]:
    """The report of every part, without its rows, and what each says of the worst with the full delta."""
    return spread(certify_part, parts, check_workers(workers), "certifying", many)


def certify_part(part: Part) -> tuple[Report, dict[str, OneOfMany]]:
    """The report of one part, and what it says of the worst."""
    report = certify_summary(part.rows, part.each)
    return told(report), entries_of(part.rows, report.certificates, part.settings)


def certify_entries(parts: Sequence[Part], many: str, workers: int | None) -> list[dict[str, OneOfMany]]:
    """What every part says of the worst, and nothing else."""
    return spread(certify_entry, parts, check_workers(workers), "certifying", many)


def certify_entry(part: Part) -> dict[str, OneOfMany]:
    """What one part says of the worst."""
    return entries_of(part.rows, certificates_of(part.rows, part.each), part.settings)
