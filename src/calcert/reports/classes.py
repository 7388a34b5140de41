"""Many classes: is the prediction as often right as it says, and is each class's probability?

Top-label: the score is the largest probability, the label is 1 if the prediction is right. Class-wise: for each class,
its probability against "it is this class". Both are binary statements, and all theorems apply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate
from calcert.certificates.deviations import SPLIT, iid_limit, invert, mean_upper
from calcert.certificates.perturbed import perturbed
from calcert.foundation.validation import check_scores
from calcert.reports.certify import as_it_is, certify_summary
from calcert.reports.report import Report
from calcert.serving import kernel
from calcert.serving.grid import ROUNDING
from calcert.serving.top_label import forecast, score
from calcert.sources.arrays import summarize_arrays

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up: half-precision softmax stays within."""

ROWS_AT_ONCE = 1 << 20
STATEMENTS = ("unmodified", "perturbed")


@dataclass(frozen=True)
class ClassStatement:
    """One class against the rest.

    Attributes
    ----------
    number
        The class, 0 to K - 1.
    positives
        How many rows are of it; a class without any is certified like the others.
    perturbed, unmodified
        Certificates for its probability, as in :class:`calcert.Report`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 5_000)
    >>> y = (rng.random((5_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> first = calcert.certify(p, y).classes[0]
    >>> first.number, first.positives, round(first.perturbed.upper, 2)
    (0, 2521, 0.03)
    """

    number: int
    positives: int
    perturbed: Certificate
    unmodified: Certificate

    @property
    def certificates(self) -> dict[str, Certificate]:
        """The statements by name."""
        return {"perturbed": self.perturbed, "unmodified": self.unmodified}

    def to_dict(self) -> dict[str, Any]:
        """Plain types only."""
        certificates = {name: certificate.to_dict() for name, certificate in self.certificates.items()}
        return {"number": self.number, "positives": self.positives} | certificates

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ClassStatement:
        """The inverse of :meth:`to_dict`."""
        certificates = {name: Certificate.from_dict(values[name]) for name in STATEMENTS}
        return cls(values["number"], values["positives"], **certificates)


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

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 5_000)
    >>> y = (rng.random((5_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> report = calcert.certify(p, y)
    >>> len(report.classes), round(report.mean["perturbed"].upper, 2)
    (3, 0.03)
    """

    _pages: ClassVar[str] = "pages.classes"

    classes: tuple[ClassStatement, ...]
    mean: Mapping[str, Certificate]

    def worst_first(self, statement: str = "unmodified") -> list[ClassStatement]:
        """The classes by lower bound, then upper bound, falling."""
        return sorted(
            self.classes, key=lambda c: (-c.certificates[statement].lower, -c.certificates[statement].upper, c.number)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain types only; what a Report has is about the prediction."""
        return super().to_dict() | {
            "classes": [entry.to_dict() for entry in self.classes],
            "mean": {name: certificate.to_dict() for name, certificate in self.mean.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ClassReport:
        """The inverse of :meth:`to_dict`."""
        certificates = {name: Certificate.from_dict(c) for name, c in values["mean"].items()}
        classes = tuple(ClassStatement.from_dict(entry) for entry in values["classes"])
        return cls(**vars(Report.from_dict(values)), classes=classes, mean=certificates)

    def __str__(self) -> str:
        from calcert.show.text.classes import classes_text

        return classes_text(self)

    def plot_classes(self, statement: str = "unmodified", ax: Any = None) -> Any:
        """The intervals of all classes, worst first (matplotlib)."""
        from calcert.show.pictures.intervals import plot_classes

        return plot_classes(self, statement, ax=ax)


def certify_classes(
    probabilities: Any, labels: Any, delta: float, bandwidth: float, variation: float, seed: int
) -> ClassReport:
    """Certify the prediction of a classifier with K classes, and each class against the rest.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2.0, 1.0, 1.0], 20_000)
    >>> y = (rng.random((20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> report = calcert.certify(p, y)
    >>> round(report.perturbed.upper, 3), round(report.mean["perturbed"].upper, 3)
    (0.015, 0.013)
    """
    p, y = check_probabilities(probabilities, labels)
    report = certify_summary(summarize_arrays(score(p), forecast(p) == y), delta, bandwidth, variation, seed)
    each, classes = delta / p.shape[1], []
    for number in range(p.shape[1]):
        rows = summarize_arrays(np.ascontiguousarray(p[:, number]), y == number)
        served = perturbed(rows, bandwidth=bandwidth, delta=each, seed=seed)
        classes.append(ClassStatement(number, rows.positives, served, as_it_is(rows, variation, each, seed)))
    mean = {
        "perturbed": mean_perturbed(p, y, [entry.perturbed for entry in classes], bandwidth, delta),
        "unmodified": mean_of([entry.unmodified for entry in classes], delta),
    }
    return ClassReport(**vars(report), classes=tuple(classes), mean=mean)


def mean_of(certificates: list[Certificate], delta: float) -> Certificate:
    """The mean of several bounds, which holds whenever they hold together."""
    first, size = certificates[0], len(certificates)
    # Where classes are certified by different theorems, the one that assumes something is named.
    weakest = next((c for c in certificates if c.assumption != "none"), first)
    names = dict.fromkeys(name for certificate in certificates for name in certificate.terms)
    terms = {name: math.fsum(c.terms.get(name, 0.0) for c in certificates) / size for name in names}
    return Certificate(
        quantity=f"{first.quantity}, mean over {size} classes",
        subject=first.subject,
        assumption=weakest.assumption,
        upper=math.fsum(terms.values()),
        lower=math.fsum(c.lower for c in certificates) / size,
        delta=delta,
        n=first.n,
        theorem=weakest.theorem,
        terms=terms,
        parameters=weakest.parameters,
    )


def mean_perturbed(p: Floats, y: Integers, certificates: list[Certificate], h: float, delta: float) -> Certificate:
    """Certify the mean over classes of the L1 calibration errors of the served probabilities, at once.

    Guarantee
        With probability at least 1 - delta the mean error is at most upper; the lower bound is the mean of those of the
        classes, which hold together.
    Proof
        Let G_i be the mean over classes k of the integrals of f*_k(t)(t - y_i^k) k(t|x_i^k), f*_k the sign of m_k. The
        G_i are i.i.d., their mean is the mean error, and |G_i| is at most the mean over k of a_i^k, which is at most 1.
        The mean over k of the plug-ins is at least the mean of the G_i. So Theorem 1 applies with the mean plug-in and
        the D1 limit for the mean square of mean_k a_i^k: no union over classes, and a smaller second moment.
    """
    together = mean_of(certificates, delta)
    known = {name: together.terms[name] for name in ("plug-in", "discretisation")}
    moment = mean_upper(_mean_square(p, y, h), y.size, (1 - SPLIT) * delta)
    base = math.fsum(known.values())
    terms = known | {"sampling": invert(base, moment, y.size, SPLIT * delta, iid_limit) - base}
    return Certificate.from_terms(
        quantity=together.quantity,
        subject=together.subject,
        assumption="none",
        lower=together.lower,
        delta=delta,
        n=y.size,
        theorem="Theorem 1, mean over classes",
        terms=terms,
        parameters=together.parameters,
    )


def _mean_square(p: Floats, y: Integers, h: float) -> float:
    """The mean over rows of the squared mean over classes of a = |y^k - E[S^k|x^k]|."""
    rows, size = p.shape
    step = max(ROWS_AT_ONCE // size, 1)
    squares = 0.0
    for start in range(0, rows, step):
        part = slice(start, start + step)
        served = kernel.mean(p[part], h)
        right = np.take_along_axis(served, y[part, None], axis=1)[:, 0]
        # Of the right class 1 - E[S], of the others E[S].
        squares += float((((served.sum(axis=1) - right + 1 - right) / size) ** 2).sum())
    return float(min(squares / rows + 4 * ROUNDING, 1.0))


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
