"""Many classes: is the prediction as often right as it says, and is each class's probability?

Top-label: the score is the largest probability, the label is 1 if the prediction is right. Class-wise: for each class,
its probability against "it is this class". Both are binary statements, and all theorems apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, overload

from calcert.certificates.certificate import Certificate
from calcert.certificates.several import OneOfMany, mean_squares, worst_of
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.validation import check_one_of
from calcert.reports.many import Many, Part, certify_entries, certify_parts, lines_of_all
from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS, check_all_there, statements_of
from calcert.sources.classes.class_rows import ClassRows
from calcert.sources.rows import Rows

OF = ("prediction", "worst", "mean")
"""Whose error a gate may bound: that of the prediction, of the worst class, or the mean over classes."""

SURELY = 20
"""Where so many rows of a class are expected, none is no coincidence."""


@dataclass(frozen=True, kw_only=True)
class ClassReport(Many, Report):
    """What :func:`calcert.certify` returns for K > 2 classes: the Report on the prediction, and one for each class.

    As a Report it is about top-label calibration: the score is the largest probability of a row, the label is 1 if the
    class that has it is right. Where several classes share the largest probability, the first is the prediction
    (numpy.argmax).

    Attributes
    ----------
    classes
        Reports by name of the class, or its number as text: its probability against whether a row is of it. Each is at
        delta / K, so that for each statement the upper bounds of all classes hold together with probability at least
        1 - delta, and so do the lower ones. They hold no rows; a class without any is certified like the others.
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
    one: ClassVar = "class"
    many: ClassVar = "classes"

    classes: Mapping[str, Report]
    mean: Mapping[str, Certificate]
    worst: Mapping[str, Certificate]

    def __post_init__(self) -> None:
        super().__post_init__()
        for certificates in (self.mean, self.worst, *(each.certificates for each in self.classes.values())):
            check_all_there(certificates, self.certificates)

    def size(self, name: str) -> int:
        """How many rows are of a class."""
        return positives_of(self.classes[name])

    def plot_classes(self, statement: str | None = None, ax: Any = None) -> Any:
        """The intervals of all classes, worst first (matplotlib)."""
        return self.plot(ax, classes=self.leading(statement))

    def _rows(self) -> list[dict[str, Any]]:
        of_all = {"prediction": self.certificates, "mean": self.mean, "worst": self.worst}
        all_lines = [row for name, found in of_all.items() for row in lines_of_all({"class": name}, found)]
        return [*all_lines, *self._lines()]


def positives_of(report: Report) -> int:
    """How many rows have label 1."""
    return round(report.n * report.estimates["base rate"])


@dataclass(frozen=True)
class _EachClass(Sequence[Part]):
    """Every class against the rest, made when it is asked for."""

    rows: ClassRows
    settings: Settings
    first: int = 0

    def __len__(self) -> int:
        return self.rows.size - self.first

    @overload
    def __getitem__(self, at: int) -> Part: ...
    @overload
    def __getitem__(self, at: slice) -> _EachClass: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return replace(self, first=self.first + (at.start or 0))
        if at >= len(self):
            raise IndexError(at)
        rows = self.rows.of_class(self.first + at)
        return Part(rows, self.settings.shared(self.rows.size), self.settings)


def read_classes(rows: Rows, settings: Settings, statement: str | None = None) -> ClassRows:
    """The rows of all classes, counted, and what the settings, or a statement beside them, must know of each row."""
    measured: dict[str, Callable[[Floats, Integers], Floats]] = {"current": mean_squares}
    if "perturbed" in (statement, *statements_of(settings)):
        measured["perturbed"] = partial(mean_squares, noise=settings.noise)
    return rows.by_class(measured)


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
    report = certify_summary(rows.prediction, settings)
    report = replace(report, warnings=(*report.warnings, *_first_class(rows)))
    found = certify_parts(_EachClass(rows, settings), "classes", workers)
    entries = [of_class for _, of_class in found]
    mean, worst = (
        {name: _over(rows, of, name, entries, settings) for name in statements_of(settings)} for of in ("mean", "worst")
    )
    classes = dict(zip(names_of(rows), (of_class for of_class, _ in found), strict=True))
    about_prediction = {entry.name: getattr(report, entry.name) for entry in fields(report)}
    return ClassReport(**about_prediction, classes=classes, mean=mean, worst=worst)


def names_of(rows: ClassRows) -> Sequence[str]:
    """What the classes are called; their numbers where nobody said."""
    return rows.names or [str(number) for number in range(rows.size)]


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
    >>> rows = read_classes(calcert.Rows(p, y), Settings())
    >>> worst, highest = certify_of(rows, "worst", "distance", Settings())
    >>> worst == calcert.certify(p, y).worst["distance"], highest
    (True, 0)
    """
    check_one_of("of", of, OF)
    if of == "prediction":
        found = STATEMENTS[statement].certify(rows.prediction, settings)
        return replace(found, quantity=f"{found.quantity}, prediction among {rows.size} classes"), None
    each = certify_entries(_EachClass(rows, settings.only(statement)), "classes", workers)
    highest = max(range(len(each)), key=lambda number: each[number][statement].upper)
    return _over(rows, of, statement, each, settings), highest if of == "worst" else None


def _first_class(rows: ClassRows) -> list[str]:
    """A warning where the first class never occurs and often should: labels may begin with 1."""
    first = rows.of_class(0)
    expected = first.mean_score * first.n
    if expected < SURELY or first.positives:
        return []
    return [
        f"no row is of the first class, {names_of(rows)[0]}, of which probabilities expect about "
        f"{expected:,.0f}: if labels are numbers that begin with 1, subtract 1 from them."
    ]


def _over(
    rows: ClassRows, of: str, name: str, found: Sequence[Mapping[str, OneOfMany]], settings: Settings
) -> Certificate:
    """The mean over classes, or the worst of them, from what each says of both."""
    entries = [of_class[name] for of_class in found]
    if of == "worst":
        return worst_of(entries, "classes", settings.delta, rows.prediction.n)
    each = [entry.found for entry in entries]
    return STATEMENTS[name].over_classes(rows.measured, each, settings)
