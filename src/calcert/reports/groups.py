"""Groups: every group's calibration certified, all together."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.certificates.limits.worst_of_many import OneOfMany, worst_of
from calcert.foundation.refusal import Argument, WrongValue
from calcert.foundation.result import Result
from calcert.foundation.validation import check_confidence
from calcert.foundation.workers import check_workers, spread
from calcert.reports.advice_and_warnings import too_good
from calcert.reports.report import Report, certificate_rows, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import certificates_of, check_statement, entries_of, leading, statements_of
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary

WITH_RANGES = 20
"""So many groups, worst first, have their miscalibrated ranges in JSON; a thousand bands would take half a minute."""


@dataclass(frozen=True)
class GroupReport(Result):
    """What :func:`calcert.certify` returns where groups are given: a Report for every group.

    Attributes
    ----------
    confidence
        For each statement, the upper bounds of all groups hold together with this probability, and so do the lower
        bounds: each of m groups is certified at (1 - confidence) / m.
    groups
        The Reports by name of the group. Groups with too few rows to say anything are there too; their bounds are 0
        and 1.
    worst
        By statement, the certificate of the worst group: no group is worse than its `upper`, with probability at least
        1 - delta. Every group is looked at with the full delta for it, so that their number costs nothing; which group
        is the worst it does not say.
    smallest
        `worst` is about groups with at least so many rows.
    empty
        Groups of a list that have no rows. Nothing is known of them, so that `worst` has the upper bound 1.
    n
        The number of rows in any group; a row in several of them counts once.
    warnings
        What looks wrong of all rows together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, site = rng.random(10_000), np.repeat(["north", "south"], 5_000)
    >>> report = calcert.certify(x, rng.random(10_000) < x, groups=site)
    >>> sorted(report.groups), report.groups["north"].l1.confidence
    (['north', 'south'], 0.975)
    >>> own, worst = report.groups["north"].distance, report.worst["distance"]
    >>> print(f"north: at most {own.upper:.4f}; no group is worse than {worst.upper:.4f}")
    north: at most 0.0222; no group is worse than 0.0193
    """

    kind: ClassVar = "groups"
    noun: ClassVar = "the report"

    confidence: float
    groups: Mapping[str, Report]
    worst: Mapping[str, Certificate]
    smallest: int = 1
    empty: tuple[str, ...] = ()
    n: int = 0
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not self.groups:
            raise ValueError("there must be at least one group; got none.")
        if self.n < 1:
            raise ValueError(f"there must be at least one row; got {self.n!r}.")

    def worst_first(self, statement: str | None = None) -> list[str]:
        """The groups by what is proven of them, the largest lower bound first; then by their rows, most first."""
        statement = self._leading(statement)
        certificates = {name: report.statement(statement) for name, report in self.groups.items()}
        return sorted(certificates, key=lambda name: (-certificates[name].lower, -certificates[name].n, name))

    def to_dict(self) -> dict[str, Any]:
        """Plain types only; `miscalibrated_ranges`, which take a band each, are given for the first groups."""
        first, told = {*self.worst_first()[:WITH_RANGES]}, copy.copy(self)
        groups = {name: _as_told(group, name in first) for name, group in self.groups.items()}
        object.__setattr__(told, "groups", groups)
        return super(GroupReport, told).to_dict()

    def plot(self, ax: Any = None, *, statement: str | None = None, **options: Any) -> Any:
        """The intervals of all groups, worst first (matplotlib)."""
        return super().plot(ax, statement=self._leading(statement), **options)

    def _leading(self, statement: str | None) -> str:
        """The statement, or the first that there is."""
        return check_statement(statement or leading(self.worst), self.worst)

    def _rows(self) -> list[dict[str, Any]]:
        every = [(name, report.certificates) for name, report in self.groups.items()]
        return [row for name, found in [*every, (None, self.worst)] for row in certificate_rows({"group": name}, found)]


def _as_told(report: Report, with_ranges: bool) -> Report:
    """A report without its Summary that says the same in JSON, but for most miscalibrated ranges."""
    asked = set(vars(report))
    known = {
        name: getattr(report, name)
        for name in report.derived
        if name != "miscalibrated_ranges" or with_ranges or name in asked
    }
    if "band" not in asked:
        vars(report).pop("band", None)
    found = replace(report, summary=None)
    vars(found).update(known)
    return found


@dataclass(frozen=True)
class GroupRows:
    """The rows of every group, and of how many groups and rows in all.

    Attributes
    ----------
    summaries
        By name, of groups that have rows.
    empty
        The names of listed groups that have none.
    n
        The number of rows in any group.
    smallest
        Groups with fewer rows do not count for the worst.
    """

    summaries: Mapping[str, Summary]
    n: int
    empty: tuple[str, ...] = ()
    smallest: int = 1

    def __post_init__(self) -> None:
        if all(rows.rows < self.smallest for rows in self.summaries.values()):
            largest = max(rows.rows for rows in self.summaries.values())
            got = f"{self.smallest:,}, and no group has more than {largest:,} rows"
            raise WrongValue(Argument("smallest_group"), "must leave at least one group", got)

    @classmethod
    def read(cls, rows: Rows) -> GroupRows:
        """From one column that names the group of every row, or from a mapping of groups that may overlap."""
        found = rows.by_group()
        return cls(found.summaries, found.rows, found.empty, rows.smallest_group)

    @property
    def number(self) -> int:
        """How many groups share delta."""
        return len(self.summaries) + len(self.empty)

    @property
    def counted(self) -> list[str]:
        """The groups that are large enough to count for the worst."""
        return [name for name, rows in self.summaries.items() if rows.rows >= self.smallest]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks wrong of all rows together: a map may have been fitted on them, whatever their group."""
        parts = list(self.summaries.values())
        disjoint = sum(rows.rows for rows in parts) == self.n and all(rows.clusters is None for rows in parts)
        return tuple(too_good(*([parts[0].plus(*parts[1:], disjoint=True)] if disjoint else []), *parts))

    def worst(self, entries: Mapping[str, OneOfMany], delta: float) -> Certificate:
        """The certificate of the worst group from what each group says of it (Theorem W, worst)."""
        counted = [entries[name] for name in self.counted]
        rows = self.n if self.smallest == 1 else sum(entry.found.n for entry in counted)
        many = "groups" if self.smallest == 1 else f"groups ({self.smallest:,} rows or more)"
        return worst_of(counted, many, delta, rows, without_rows=len(self.empty))

    def certify_worst(self, statement: str, settings: Settings, workers: int | None = None) -> tuple[Certificate, str]:
        """The certificate of the worst group for one statement, and which group has the largest bound."""
        each = settings.shared(self.number)
        asked = [(self.summaries[name], statement, each, settings) for name in self.counted]
        found = spread(certify_for_the_worst, asked, check_workers(workers), "certifying", "groups")
        entries = dict(zip(self.counted, found, strict=True))
        return self.worst(entries, settings.delta), max(entries, key=lambda name: entries[name].upper)

    def certify(self, settings: Settings, workers: int | None = None) -> GroupReport:
        """Every group at its Bonferroni level, and the worst of them: what :func:`certify_groups` says of it."""
        each = settings.shared(self.number)
        asked = [(summary, each, settings) for summary in self.summaries.values()]
        found = spread(certify_among_others, asked, check_workers(workers), "certifying", "groups")
        by_name = dict(zip(self.summaries, found, strict=True))
        return GroupReport(
            confidence=settings.confidence,
            groups={name: replace(report, summary=self.summaries[name]) for name, (report, _) in by_name.items()},
            worst={
                statement: self.worst({name: found[statement] for name, (_, found) in by_name.items()}, settings.delta)
                for statement in statements_of(settings)
            },
            smallest=self.smallest,
            empty=self.empty,
            n=self.n,
            warnings=self.warnings,
        )


def certify_for_the_worst(asked: tuple[Summary, str, Settings, Settings]) -> OneOfMany:
    """What one of several groups says of the worst, for one statement."""
    summary, statement, each, settings = asked
    return entries_of(summary, certificates_of(summary, each, [statement]), settings)[statement]


def certify_among_others(asked: tuple[Summary, Settings, Settings]) -> tuple[Report, dict[str, OneOfMany]]:
    """The Report of one of several groups at its Bonferroni level, and what it says of the worst with all of it."""
    summary, each, settings = asked
    report = certify_summary(summary, each)
    return replace(report, summary=None), entries_of(summary, report.certificates, settings)


def certify_groups(rows: Rows, settings: Settings, workers: int | None = None) -> GroupReport:
    """Certify every group at delta / m, m the number of groups, and the worst of them at delta.

    Guarantee
        For each statement, all upper bounds hold together with probability at least 1 - delta, and all lower bounds
        likewise (union bound); with the same probability no group is worse than the bound of the worst (Theorem W).
        Where each group is an attribute of its own row, the rows of a group are, given the groups of all rows,
        independent draws from the distribution of that group; where groups overlap, given who belongs to that group
        alone. Clusters are cut to the rows that they have in a group, and stay independent of each other; a cluster may
        have rows in several groups (Groups of clusters).
    Assumes
        Groups that depend neither on labels nor on the scores of other rows: a fixed range of a row's own score may be
        a group, a part of the rows that ends where the scores look well may not; where rows come in clusters, groups
        that depend on no scores. A list of groups that overlap, and
        `smallest`, were fixed before the rows were seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, site = rng.random(40_000), np.repeat(["north", "south"], 20_000)
    >>> report = calcert.certify(x, rng.random(40_000) < np.where(site == "north", x, x**2), groups=site)
    >>> report.worst_first()
    ['south', 'north']
    >>> round(report.groups["south"].l1.lower, 2)
    0.16
    """
    workers = check_workers(workers)
    return GroupRows.read(rows).certify(settings, workers)
