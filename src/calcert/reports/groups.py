"""Groups: every group's calibration certified, all together."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.certificates.several import OneOfMany, worst_of
from calcert.foundation.number_text import at_most, given, percent_sure, short_at_most
from calcert.foundation.refusal import Argument, WrongValue
from calcert.foundation.result import Result
from calcert.foundation.validation import check_confidence
from calcert.foundation.workers import check_workers
from calcert.reports.advice_and_warnings import too_good
from calcert.reports.many import Many, Part, certify_entries, certify_parts, lines_of_all, with_rows
from calcert.reports.report import Report
from calcert.reports.settings import Settings
from calcert.reports.statements import check_all_there, statements_of
from calcert.reports.verdict import FITTED, LARGE, RECALIBRATE, SCORES_ARE, UNCHANGED, Verdict
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class GroupReport(Many, Result):
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
    one: ClassVar = "group"
    many: ClassVar = "groups"
    derived: ClassVar = ("verdict",)

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
        for report in self.groups.values():
            check_all_there(report.certificates, self.worst)

    @property
    def verdict(self) -> Verdict:
        """What the groups come to, by the rule of a report: an error that is proven of any of them, or of none."""
        return verdict_of_groups(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain types only; `miscalibrated_ranges`, which take a band each, are given for the first groups."""
        shown = copy.copy(self)
        object.__setattr__(shown, "groups", self._members_told())
        return super(GroupReport, shown).to_dict()

    def plot(self, ax: Any = None, *, statement: str | None = None, **options: Any) -> Any:
        """The intervals of all groups, worst first (matplotlib)."""
        return super().plot(ax, statement=self.leading(statement), **options)

    def _rows(self) -> list[dict[str, Any]]:
        return [*self._lines(), *lines_of_all({"group": None}, self.worst)]


def verdict_of_groups(report: GroupReport) -> Verdict:
    """The verdict on all groups, from the lower bounds of each and the bound of the worst."""
    statement, tolerance = report.leading(), next(iter(report.groups.values())).settings.tolerance
    sure, worst, size = f"{percent_sure(report.delta)} confidence", report.worst[statement], len(report.groups)
    lowers = {name: report.groups[name].statement(statement).lower for name in report.worst_first()}
    off = [name for name, lower in lowers.items() if lower > (tolerance or 0.0)]
    limit = "" if tolerance is None else given(tolerance)
    if off:
        first = report.groups[off[0]].direction
        where = f"{off[0]}{f', where {SCORES_ARE[first]}' if first not in (None, 'mixed') else ''}"
        which = where if len(off) == 1 else f"{len(off):,} of {size:,} groups, the first is {where}"
        kind, advice = ("beyond", f"bring it within {limit}") if limit else ("miscalibrated", "make the error go away")
        said = f"Beyond {limit}" if limit else "Miscalibrated"
        words = f"{said} ({sure}): {which}."
        return Verdict(kind, words, first, f"{RECALIBRATE}; more rows will not {advice}.")  # type: ignore[arg-type]
    if report.warnings:
        return Verdict("cannot tell", FITTED[0], None, FITTED[1])
    if tolerance is not None and worst.upper <= tolerance:
        words = f"Within {limit} ({sure}): no group has an error above {at_most(worst.upper)}."
        return Verdict("within", words, None, UNCHANGED)
    if limit:
        words = f"Cannot tell yet whether the error of every group is within {limit}."
        return Verdict("cannot tell", words, None, "label fresh rows, most of all of groups with wide intervals.")
    if worst.upper > LARGE:
        wide = sum(group.statement(statement).upper > LARGE for group in report.groups.values())
        words = f"Cannot tell: {wide:,} of {size:,} groups can hide an error above {given(LARGE)} ({sure})."
        return Verdict("cannot tell", words, None, "label more rows of these groups before you rely on their scores.")
    words = f"No miscalibration detected; no group has an error above {short_at_most(worst.upper)} ({sure})."
    decide = "decide which error you can accept (tolerance=, --max); where a bound is too large, label more rows."
    return Verdict("not detected", words, None, decide)


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

    def parts(self, settings: Settings) -> list[Part]:
        """What is to be certified of every group, at its level."""
        each = settings.shared(self.number)
        return [Part(summary, each, settings) for summary in self.summaries.values()]

    def certify_worst(self, statement: str, settings: Settings, workers: int | None = None) -> tuple[Certificate, str]:
        """The certificate of the worst group for one statement, and which group has the largest bound."""
        parts = self.parts(settings.only(statement))
        counted = [part for name, part in zip(self.summaries, parts, strict=True) if name in self.counted]
        found = certify_entries(counted, "groups", workers)
        entries = {name: entry[statement] for name, entry in zip(self.counted, found, strict=True)}
        return self.worst(entries, settings.delta), max(entries, key=lambda name: entries[name].upper)

    def certify(self, settings: Settings, workers: int | None = None) -> GroupReport:
        """Every group at its Bonferroni level, and the worst of them: what :func:`certify_groups` says of it."""
        by_name = dict(zip(self.summaries, certify_parts(self.parts(settings), "groups", workers), strict=True))
        return GroupReport(
            confidence=settings.confidence,
            groups={name: with_rows(report, self.summaries[name]) for name, (report, _) in by_name.items()},
            worst={
                statement: self.worst({name: found[statement] for name, (_, found) in by_name.items()}, settings.delta)
                for statement in statements_of(settings)
            },
            smallest=self.smallest,
            empty=self.empty,
            n=self.n,
            warnings=self.warnings,
        )


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
