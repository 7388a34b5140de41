"""Groups: every group's calibration certified, all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calcert.reports.certify import certify_summary
from calcert.reports.report import Report
from calcert.reports.result import Paged
from calcert.sources.grouped import summarize_groups

SCHEMA = 1
STATEMENTS = ("perturbed", "unmodified", "distance")


@dataclass(frozen=True)
class GroupReport(Paged):
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

    _pages: ClassVar[str] = "pages.groups"

    delta: float
    groups: Mapping[str, Report]

    def worst_first(self, statement: str = "unmodified") -> list[str]:
        """The groups by what is certain to be wrong, then by what may be: lower bound, then upper bound, falling."""
        _check_statement(statement)
        certificates = {name: report.certificates[statement] for name, report in self.groups.items()}
        return sorted(certificates, key=lambda name: (-certificates[name].lower, -certificates[name].upper, name))

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, with a schema number; ``json.dumps`` takes it as it is."""
        return {
            "schema": SCHEMA,
            "delta": self.delta,
            "groups": {name: report.to_dict() for name, report in self.groups.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> GroupReport:
        """The inverse of :meth:`to_dict`; a foreign schema is refused by number."""
        if values.get("schema") != SCHEMA:
            raise ValueError(f"the report has schema {values.get('schema')!r}; this calcert reads schema {SCHEMA}.")
        groups = {name: Report.from_dict(report) for name, report in values["groups"].items()}
        return cls(delta=values["delta"], groups=groups)

    def __str__(self) -> str:
        from calcert.show.text.groups import groups_text

        return groups_text(self)

    def plot(self, statement: str = "unmodified", ax: Any = None) -> Any:
        """The intervals of all groups, worst first (matplotlib)."""
        _check_statement(statement)
        from calcert.show.pictures.intervals import plot_groups

        return plot_groups(self, statement, ax=ax)


def certify_groups(
    scores: Any,
    labels: Any,
    groups: Any,
    score: str | None,
    label: str | None,
    delta: float,
    bandwidth: float,
    variation: float,
    seed: int,
) -> GroupReport:
    """Certify every group at delta / m, m the number of groups.

    Guarantee
        For each statement, all upper bounds hold together with probability at least 1 - delta, and all lower bounds
        likewise (union bound): each group's rows are independent draws from the law of that group, and their number
        is fixed before the rows are seen.

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
    each = delta / len(summaries)
    reports = {name: certify_summary(rows, each, bandwidth, variation, seed) for name, rows in summaries.items()}
    return GroupReport(delta=delta, groups=reports)


def _check_statement(statement: str) -> None:
    if statement not in STATEMENTS:
        raise ValueError(f"statement must be one of {', '.join(map(repr, STATEMENTS))}; got {statement!r}.")
