"""Certified intervals side by side, one line a group, class, window or model: what tables and pictures of them show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calcert.certificates.certificate import Certificate
from calcert.reports.statements import columns
from calcert.show.certificate_words import meaning

if TYPE_CHECKING:
    from calcert.monitoring.status import Status
    from calcert.reports.classes import ClassReport
    from calcert.reports.comparison import Comparison
    from calcert.reports.groups import GroupReport


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes
    ----------
    name, rows
        What it is about: a name, and how many rows.
    certificates
        One for each of some statements.
    """

    name: str
    rows: int
    certificates: tuple[Certificate, ...]

    @property
    def nothing(self) -> bool:
        """True where none of the intervals says anything."""
        return not any(certificate.telling for certificate in self.certificates)


def order(lines: Sequence[Line]) -> str:
    """How groups or classes come, in words: where nothing is proven of any, none is known to be worse."""
    return "worst first" if lines and lines[0].certificates[0].lower > 0 else "most rows first"


def group_lines(report: GroupReport, statements: Collection[str]) -> list[Line]:
    """The groups, worst first by the first of the statements."""
    first = next(iter(statements))
    found = []
    for name in report.worst_first(first):
        certificates = report.groups[name].certificates
        found.append(Line(name, certificates[first].n, tuple(certificates[key] for key in statements)))
    return found


def group_columns(report: GroupReport) -> list[str]:
    """The statements of the table of groups."""
    return shown_of(report.worst)


def class_lines(report: ClassReport, statements: Collection[str]) -> list[Line]:
    """The classes, worst first by the first of the statements, each with the rows that are of it."""
    ordered = report.worst_first(next(iter(statements)))
    return [Line(c.name, c.positives, tuple(c.certificates[key] for key in statements)) for c in ordered]


def class_columns(report: ClassReport) -> list[str]:
    """The statements of the table of classes."""
    return shown_of(report.mean)


def shown_of(certified: Collection[str]) -> list[str]:
    """The statements that a table with many lines shows: those that were asked for, or the usual ones of all."""
    usual = [name for name in columns() if name in certified]
    return columns(usual if len(certified) >= len(columns()) else certified)


def window_lines(status: Status, statements: Collection[str]) -> list[Line]:
    """The windows in the order of time."""
    return [Line(w.key, w.rows, tuple(w.certificates[key] for key in statements)) for w in status.windows]


def model_lines(comparison: Comparison, statements: Collection[str]) -> list[Line]:
    """The models, the smallest upper bound of the first of the statements first."""
    order, models = comparison.statement(next(iter(statements))).order, comparison.models
    return [Line(m, models[m].n, tuple(models[m].certificates[key] for key in statements)) for m in order]


def meanings(names: Sequence[str], lines: Sequence[Line]) -> str:
    """What all columns of intervals are about, and what is assumed in any of their lines."""
    return " ".join(meaning(name, [line.certificates[at] for line in lines]) for at, name in enumerate(names))
