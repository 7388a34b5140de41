"""Many classes: is the prediction as often right as it says, and is each class's probability?

Top-label: the score is the largest probability, the label is 1 if the prediction is right. Class-wise: for each class,
its probability against "it is this class". Both are binary statements, and all theorems apply.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate
from calcert.certificates.limits.worst_of_many import OneOfMany, worst_of
from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_one_of
from calcert.foundation.workers import check_workers, spread
from calcert.perturbation.top_label import forecast, score
from calcert.reports.report import Report, certificate_rows, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import (
    STATEMENTS,
    Certified,
    certificates_of,
    check_all_there,
    check_statement,
    entries_of,
    leading,
    statements_of,
)
from calcert.sources.arrays import summarize_arrays
from calcert.sources.classes.class_rows import ClassRows
from calcert.summary.summary import Summary

OF = ("prediction", "worst", "mean")
"""Whose error a gate may bound: that of the prediction, of the worst class, or the mean over classes."""

SURELY = 20
"""Where so many rows of a class are expected, none is no coincidence."""


@dataclass(frozen=True)
class ClassStatement(Certified):
    """One class against the rest.

    Attributes
    ----------
    number
        The class, 0 to K - 1.
    name
        What it is called; its number where nobody said.
    positives
        How many rows are of it; a class without any is certified like the others.
    certificates
        Statements of its probability by name, and as attributes, as in :class:`calcert.Report`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 5_000)
    >>> y = (rng.random((5_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> first = calcert.certify(p, y).classes[0]
    >>> first.number, first.positives, round(first.l1.upper, 2)
    (0, 2521, 0.04)
    """

    flat: ClassVar = "certificates"

    number: int
    positives: int
    certificates: Mapping[str, Certificate]
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", self.name or str(self.number))


@dataclass(frozen=True, kw_only=True)
class ClassReport(Report):
    """What :func:`calcert.certify` returns for K > 2 classes: the Report on the prediction, and one line a class.

    As a Report it is about top-label calibration: the score is the largest probability of a row, the label is 1 if the
    class that has it is right. Where several classes share the largest probability, the first is the prediction
    (numpy.argmax).

    Attributes
    ----------
    classes
        Each class against the rest, at delta / K, so that for each statement the upper bounds of all classes hold
        together with probability at least 1 - delta, and so do the lower ones.
    mean
        Certificates for the mean over classes of the calibration error, by statement, each bound at delta.
    worst
        Certificates for the worst class, by statement: no class is worse than its `upper`, with probability at least
        1 - delta, whatever the number of classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 5_000)
    >>> y = (rng.random((5_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> report = calcert.certify(p, y)
    >>> len(report.classes), round(report.mean["l1"].upper, 2)
    (3, 0.03)
    """

    kind: ClassVar = "classes"

    classes: tuple[ClassStatement, ...]
    mean: Mapping[str, Certificate]
    worst: Mapping[str, Certificate]

    def __post_init__(self) -> None:
        super().__post_init__()
        for certificates in (self.mean, self.worst, *(each.certificates for each in self.classes)):
            check_all_there(certificates, self.certificates)

    def worst_first(self, statement: str | None = None) -> list[ClassStatement]:
        """The classes by lower bound, then by their rows, falling; of the first column, unless a statement is named."""
        name = self._leading(statement)
        return sorted(self.classes, key=lambda c: (-c.statement(name).lower, -c.positives, c.number))

    def plot_classes(self, statement: str | None = None, ax: Any = None) -> Any:
        """The intervals of all classes, worst first (matplotlib)."""
        return self.plot(ax, classes=self._leading(statement))

    def _leading(self, statement: str | None) -> str:
        """The statement, or the first that there is."""
        return check_statement(statement or leading(self.mean), self.mean)

    def _rows(self) -> list[dict[str, Any]]:
        top = certificate_rows({"class": "prediction"}, self.certificates)
        mean = certificate_rows({"class": "mean"}, self.mean)
        worst = certificate_rows({"class": "worst"}, self.worst)
        return [
            *top,
            *mean,
            *worst,
            *(row for c in self.classes for row in certificate_rows({"class": c.name}, c.certificates)),
        ]


class _Asked(NamedTuple):
    """One class against the rest: its column and who is of it, to be summarised where it is certified."""

    scores: Floats
    labels: NDArray[np.bool_]
    each: Settings
    settings: Settings
    statements: Collection[str]


@dataclass(frozen=True)
class _Columns(Sequence[_Asked]):
    """Every class against the rest, made when it is asked for."""

    rows: ClassRows
    settings: Settings
    statements: Collection[str]
    first: int = 0

    def __len__(self) -> int:
        return int(self.rows.probabilities.shape[1]) - self.first

    @overload
    def __getitem__(self, at: int) -> _Asked: ...
    @overload
    def __getitem__(self, at: slice) -> _Columns: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return replace(self, first=self.first + (at.start or 0))
        if at >= len(self):
            raise IndexError(at)
        (p, y, _), number = self.rows, self.first + at
        scores = np.ascontiguousarray(p[:, number])
        return _Asked(scores, y == number, self.settings.shared(p.shape[1]), self.settings, self.statements)


def certify_class(asked: _Asked) -> tuple[int, dict[str, OneOfMany]]:
    """The rows of one class, its statements at its Bonferroni level, and what they say of the worst with all of it."""
    rows = summarize_arrays(asked.scores, asked.labels)
    found = certificates_of(rows, asked.each, asked.statements)
    return rows.positives, entries_of(rows, found, asked.settings)


def certify_classes(rows: ClassRows, settings: Settings, workers: int | None = None) -> ClassReport:
    """Certify the prediction of a classifier with K classes, and each class against the rest.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 20_000)
    >>> y = (rng.random((20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> report = calcert.certify(p, y)
    >>> round(report.l1.upper, 3), round(report.mean["l1"].upper, 3)
    (0.019, 0.014)
    """
    report = certify_summary(summary_of(rows), settings)
    report = replace(report, warnings=(*report.warnings, *_first_class(rows)))
    names = statements_of(settings)
    found = spread(certify_class, _Columns(rows, settings, names), check_workers(workers), "certifying", "classes")
    classes = [
        ClassStatement(number, positives, {name: entry.found for name, entry in entries.items()}, name)
        for number, ((positives, entries), name) in enumerate(zip(found, rows.names or [""] * len(found), strict=True))
    ]
    mean, worst = ({name: _over(rows, of, name, found, settings) for name in names} for of in ("mean", "worst"))
    about_prediction = {entry.name: getattr(report, entry.name) for entry in fields(report)}
    return ClassReport(**about_prediction, classes=tuple(classes), mean=mean, worst=worst)


def certify_of(
    rows: ClassRows, of: str, statement: str, settings: Settings, workers: int | None = None
) -> tuple[Certificate, int | None]:
    """One statement of the prediction, the worst class or the mean, as in the report; and which class is the highest.

    That class has the largest of the bounds that the worst is made of; there is none for the prediction and the mean.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 5_000)
    >>> y = (rng.random((5_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> worst, highest = certify_of(ClassRows(p, y), "worst", "distance", Settings())
    >>> worst == calcert.certify(p, y).worst["distance"], highest
    (True, 0)
    """
    check_one_of("of", of, OF)
    if of == "prediction":
        found, size = STATEMENTS[statement].certify(summary_of(rows), settings), rows.probabilities.shape[1]
        return replace(found, quantity=f"{found.quantity}, prediction among {size} classes"), None
    columns = _Columns(rows, settings, [statement])
    each = spread(certify_class, columns, check_workers(workers), "certifying", "classes")
    highest = max(range(len(each)), key=lambda number: each[number][1][statement].upper)
    return _over(rows, of, statement, each, settings), highest if of == "worst" else None


def summary_of(rows: ClassRows, number: int | None = None) -> Summary:
    """The rows of the prediction or, with its number, of one class against the rest."""
    p, y, _ = rows
    if number is None:
        return summarize_arrays(score(p), forecast(p) == y)
    return summarize_arrays(np.ascontiguousarray(p[:, number]), y == number)


def _first_class(rows: ClassRows) -> list[str]:
    """A warning where the first class never occurs and often should: labels may begin with 1."""
    expected = float(rows.probabilities[:, 0].sum())
    if expected < SURELY or rows.labels.min() == 0:
        return []
    return [
        f"no row is of the first class, {rows.names[0] if rows.names else 0}, of which probabilities expect about "
        f"{expected:,.0f}: if labels are numbers that begin with 1, subtract 1 from them."
    ]


def _over(
    rows: ClassRows, of: str, name: str, found: Sequence[tuple[int, dict[str, OneOfMany]]], settings: Settings
) -> Certificate:
    """The mean over classes, or the worst of them, from what each says of both."""
    entries = [entries[name] for _, entries in found]
    if of == "worst":
        return worst_of(entries, "classes", settings.delta, rows.labels.size)
    each = [entry.found for entry in entries]
    return STATEMENTS[name].over_classes(rows.probabilities, rows.labels, each, settings)
