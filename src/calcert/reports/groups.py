"""Groups: every group's calibration certified, all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calcert.foundation.result import Result
from calcert.foundation.validation import check_delta
from calcert.reports.report import Report, certificate_rows, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import LEADING, check_statement
from calcert.sources.grouped import summarize_groups


@dataclass(frozen=True)
class GroupReport(Result):
    """What :func:`calcert.certify` returns where groups are given: a Report for every group.

    Attributes
    ----------
    delta
        For each statement, the upper bounds of all groups hold together with probability at least 1 - delta, and so do
        the lower bounds: each of m groups is certified at delta / m.
    groups
        The Reports by name of the group. Groups with too few rows to say anything are there too; their bounds are 0
        and 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, site = rng.random(10_000), np.repeat(["north", "south"], 5_000)
    >>> report = calcert.certify(x, rng.random(10_000) < x, groups=site)
    >>> sorted(report.groups), report.groups["north"].perturbed.delta
    (['north', 'south'], 0.025)
    """

    kind: ClassVar = "groups"
    noun: ClassVar = "the report"

    delta: float
    groups: Mapping[str, Report]

    def __post_init__(self) -> None:
        check_delta(self.delta)
        if not self.groups:
            raise ValueError("there must be at least one group; got none.")

    def worst_first(self, statement: str = LEADING) -> list[str]:
        """The groups by what is certain to be wrong, then by what may be: lower bound, then upper bound, falling."""
        check_statement(statement)
        certificates = {name: report.statement(statement) for name, report in self.groups.items()}
        return sorted(certificates, key=lambda name: (-certificates[name].lower, -certificates[name].upper, name))

    def plot(self, ax: Any = None, *, statement: str = LEADING, **options: Any) -> Any:
        """The intervals of all groups, worst first (matplotlib)."""
        return super().plot(ax, statement=check_statement(statement), **options)

    def _rows(self) -> list[dict[str, Any]]:
        return [
            row for name in self.groups for row in certificate_rows({"group": name}, self.groups[name].certificates)
        ]


def certify_groups(
    scores: Any, labels: Any, groups: Any, score: str | None, label: str | None, settings: Settings
) -> GroupReport:
    """Certify every group at delta / m, m the number of groups.

    Guarantee
        For each statement, all upper bounds hold together with probability at least 1 - delta, and all lower bounds
        likewise (union bound). Where each group is an attribute of its own row, the rows of a group are, given the
        groups of all rows, independent draws from the law of that group.
    Assumes
        Groups that depend neither on labels nor on the scores of other rows: a fixed range of a row's own score may be
        a group, a part of the rows that ends where the scores look well may not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, site = rng.random(40_000), np.repeat(["north", "south"], 20_000)
    >>> report = calcert.certify(x, rng.random(40_000) < np.where(site == "north", x, x**2), groups=site)
    >>> report.worst_first()
    ['south', 'north']
    >>> round(report.groups["south"].unmodified.lower, 2)
    0.16
    """
    summaries = summarize_groups(scores, labels, groups, score=score, label=label)
    each = settings.shared(len(summaries))
    reports = {name: certify_summary(rows, each) for name, rows in summaries.items()}
    return GroupReport(delta=settings.delta, groups=reports)
