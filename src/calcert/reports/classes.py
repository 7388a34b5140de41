"""Many classes: is the prediction as often right as it says, and is each class's probability?

Top-label: the score is the largest probability, the label is 1 if the prediction is right. Class-wise: for each class,
its probability against "it is this class". Both are binary statements, and all theorems apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate
from calcert.certificates.over_classes import Floats, Integers
from calcert.certificates.worst_of_many import Entry, worst_of
from calcert.foundation.validation import check_scores
from calcert.foundation.workers import check_workers, spread
from calcert.reports.report import Report, certificate_rows, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import (
    STATEMENTS,
    Certified,
    certificates_of,
    check_all_there,
    check_statement,
    entries_of,
)
from calcert.serving.top_label import forecast, score
from calcert.sources.arrays import summarize_arrays
from calcert.summary.summary import Summary

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up: half-precision softmax stays within."""

ALWAYS = ("unmodified", "perturbed")
"""What is certified of every class, also by what was written when nothing else was."""


@dataclass(frozen=True)
class ClassStatement(Certified):
    """One class against the rest.

    Attributes
    ----------
    number
        The class, 0 to K - 1.
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
    >>> first.number, first.positives, round(first.perturbed.upper, 2)
    (0, 2521, 0.04)
    """

    flat: ClassVar = "certificates"
    least: ClassVar = ALWAYS

    number: int
    positives: int
    certificates: Mapping[str, Certificate]


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
    >>> len(report.classes), round(report.mean["perturbed"].upper, 2)
    (3, 0.03)
    """

    kind: ClassVar = "classes"

    classes: tuple[ClassStatement, ...]
    mean: Mapping[str, Certificate]
    worst: Mapping[str, Certificate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_all_there(self.mean, ALWAYS)
        for certificates in (*(each.certificates for each in self.classes), *filter(None, [self.worst])):
            check_all_there(certificates, self.mean)

    def worst_first(self, statement: str | None = None) -> list[ClassStatement]:
        """The classes by lower bound, then upper bound, falling: of the distance unless another statement is named."""
        name = self._leading(statement)
        return sorted(self.classes, key=lambda c: (-c.statement(name).lower, -c.statement(name).upper, c.number))

    def plot_classes(self, statement: str | None = None, ax: Any = None) -> Any:
        """The intervals of all classes, worst first (matplotlib)."""
        return self.plot(ax, classes=self._leading(statement))

    def _leading(self, statement: str | None) -> str:
        """The statement, or the first that there is: JSON of before there were more has fewer."""
        return check_statement(statement or next(name for name in STATEMENTS if name in self.mean), self.mean)

    def _rows(self) -> list[dict[str, Any]]:
        top = certificate_rows({"class": "prediction"}, self.certificates)
        mean = certificate_rows({"class": "mean"}, self.mean)
        worst = certificate_rows({"class": "worst"}, self.worst)
        return [
            *top,
            *mean,
            *worst,
            *(row for c in self.classes for row in certificate_rows({"class": str(c.number)}, c.certificates)),
        ]


@dataclass(frozen=True)
class _Columns(Sequence[tuple[int, Summary, Settings, Settings]]):
    """Every class against the rest, summarised when it is asked for."""

    p: Floats
    y: Integers
    settings: Settings
    first: int = 0

    def __len__(self) -> int:
        return int(self.p.shape[1]) - self.first

    @overload
    def __getitem__(self, at: int) -> tuple[int, Summary, Settings, Settings]: ...
    @overload
    def __getitem__(self, at: slice) -> _Columns: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return replace(self, first=self.first + (at.start or 0))
        if at >= len(self):
            raise IndexError(at)
        number = self.first + at
        rows = summarize_arrays(np.ascontiguousarray(self.p[:, number]), self.y == number)
        return number, rows, self.settings.shared(self.p.shape[1]), self.settings


def certify_class(asked: tuple[int, Summary, Settings, Settings]) -> tuple[ClassStatement, dict[str, Entry]]:
    """One class with its share of delta, and what it says of the worst with all of it."""
    number, rows, each, settings = asked
    found = certificates_of(rows, each)
    return ClassStatement(number, rows.positives, found), entries_of(rows, found, settings)


def certify_classes(probabilities: Any, labels: Any, settings: Settings, workers: int | None = None) -> ClassReport:
    """Certify the prediction of a classifier with K classes, and each class against the rest.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 20_000)
    >>> y = (rng.random((20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> report = calcert.certify(p, y)
    >>> round(report.perturbed.upper, 3), round(report.mean["perturbed"].upper, 3)
    (0.016, 0.015)
    """
    workers = check_workers(workers)
    p, y = check_probabilities(probabilities, labels)
    report = certify_summary(summarize_arrays(score(p), forecast(p) == y), settings)
    found = spread(certify_class, _Columns(p, y, settings), workers, "certifying", "classes")
    classes, entries = [each for each, _ in found], [entry for _, entry in found]
    mean, worst = {}, {}
    for name, statement in STATEMENTS.items():
        mean[name] = statement.over_classes(p, y, [each.statement(name) for each in classes], settings)
        worst[name] = worst_of([entry[name] for entry in entries], "classes", settings.delta, y.size)
    about_prediction = {entry.name: getattr(report, entry.name) for entry in fields(report)}
    return ClassReport(**about_prediction, classes=tuple(classes), mean=mean, worst=worst)


def check_probabilities(probabilities: Any, labels: Any) -> tuple[Floats, Integers]:
    """Probabilities, shape (rows, K), that add up to 1 in every row, and labels 0 to K - 1."""
    raw = _array(probabilities)
    if raw.dtype.kind in "fiu":
        outside = ~((raw >= 0) & (raw <= 1))
        if outside.any():
            row, column = np.argwhere(outside)[0].tolist()
            raise ValueError(
                f"probabilities must lie in [0, 1]; got {raw[row, column]:.6g} at row {row}, column {column}. "
                "For logits pass scipy.special.softmax(logits, axis=1)."
            )
    p = check_scores(raw)
    if p.shape[0] == 0:
        raise ValueError("probabilities must hold at least one row; got none.")
    wrong = np.abs(p.sum(axis=1) - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"probabilities must add up to 1 in every row, within {SUM_TOLERANCE:g}; got {p[row].sum():.6g} at row "
            f"{row}. For logits pass scipy.special.softmax(logits, axis=1); where classes do not exclude each other, "
            "certify each column on its own."
        )
    if labels is None:
        raise TypeError("labels must be given: the number of the class of every row, 0 to K - 1; got None.")
    y = _array(labels)
    if y.ndim != 1 or y.size != p.shape[0]:
        raise ValueError(
            f"labels must be one number a row; got shape {y.shape} for {p.shape[0]} rows of probabilities. "
            "For one-hot labels pass labels.argmax(axis=1)."
        )
    bad = (y != np.floor(y)) | (y < 0) | (y >= p.shape[1]) if y.dtype.kind in "fiub" else np.ones(y.size, bool)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"labels must be whole numbers from 0 to {p.shape[1] - 1}, the columns of probabilities; got "
            f"{y[row].item()!r} at row {row}. For other names pass numpy.searchsorted(names, labels), names in the "
            "order of the columns."
        )
    return p, y.astype(np.int64)


def _array(values: Any) -> NDArray[Any]:
    if type(values).__module__.partition(".")[0] == "torch":
        values = values.detach().cpu().numpy()
    return np.asarray(values)
