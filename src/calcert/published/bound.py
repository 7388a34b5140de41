"""PublishedBound: what a method of the paper answers, and Bernstein's bound, which most of them rest on.

It is no Certificate, and nothing turns it into one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.several import share
from calcert.foundation.array_types import Floats
from calcert.foundation.plain_types import UNSAVED
from calcert.foundation.result import Readable
from calcert.published.folded_rows import FoldedRows

REALISED = (
    "The proof bounds the smoother's error on average over the training labels; the statement needs it for the labels "
    "drawn. As printed it can fail more often than delta: where many scores are one number, and on perturbed scores at "
    "delta 0.001 with a bandwidth of 10. At bandwidth 1/64 neither a failure so frequent nor a proof is known."
)
REALISED_BUCKETS = (
    "The paper prints no formula for the error of a bucket. Ours holds on average over the training labels and is used "
    "for the labels drawn: it can fail more often than delta where many scores are one number."
)
POOLED = (
    "As we read 'aggregate across folds', all folds enter one Bernstein bound, though their validation rows trained "
    "each other's surrogates; the proofs are for one split (per_fold=True)."
)
OVERSHOOT = (
    "Where the nearest neighbour stands in for an empty window, the error bound can exceed the constant that scales it."
)
UNNEEDED = "The bound is looser than needed: the last term of the transfer to the population can be left out."


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted calibration curve; call it with scores.

    Attributes
    ----------
    knots, values
        Ascending scores, and the curve there.
    kind
        "step": between knots the curve keeps the value of the knot below. "line": straight lines between knots.
        Outside the knots it keeps the value of the nearest.

    Examples
    --------
    >>> import numpy as np
    >>> from calcert.published.bound import Curve
    >>> Curve(np.array([0.0, 0.5]), np.array([0.1, 0.7]), "step")([0.2, 0.5, 0.9])
    array([0.1, 0.7, 0.7])
    """

    knots: Floats
    values: Floats
    kind: Literal["step", "line"]

    def __call__(self, scores: ArrayLike) -> Floats:
        at = np.asarray(scores, np.float64)
        if self.kind == "line":
            return np.asarray(np.interp(at, self.knots, self.values))
        return np.asarray(self.values[np.maximum(np.searchsorted(self.knots, at, side="right") - 1, 0)])

    @staticmethod
    def mean(curves: Sequence[Curve]) -> Curve:
        """The pointwise mean of curves of one kind."""
        if len(curves) == 1:
            return curves[0]
        knots = np.unique(np.concatenate([c.knots for c in curves]))
        return Curve(knots, np.mean([c(knots) for c in curves], axis=0), curves[0].kind)


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: trained on the other folds, judged on its own rows.

    `terms` adds up to the fold's own bound in the per-fold reading. In the pooled reading there is none, and
    `terms` holds the fold's share of the means only.

    Examples
    --------
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> bound = published.total_variation(x, rng.random(10_000) < x, rng=0)
    >>> [fold.validation_rows for fold in bound.folds]
    [2000, 2000, 2000, 2000, 2000]
    """

    training_rows: int
    validation_rows: int
    terms: Mapping[str, float]
    curve: Curve = field(repr=False)

    @property
    def value(self) -> float:
        """The sum of the terms."""
        return float(sum(self.terms.values()))


UNKNOWN = Curve(np.zeros(1), np.full(1, np.nan), "step")
"""The curve of a bound that was read from JSON, which holds none."""


@dataclass(frozen=True, kw_only=True)
class PublishedBound(Readable):
    """A number from the paper, for comparison; no :class:`calcert.Certificate`.

    Of these, total variation with `validation=` or `per_fold=True` is proved; the others are not.

    Attributes
    ----------
    method
        Which method.
    value
        The number, as the formula gives it; above 1 it says nothing.
    terms
        What it is made of, by name; the values add up to `value`.
    curve
        The fitted calibration curve: the mean of the folds' curves, or in the per-fold reading that of the fold
        whose bound is returned.
    folds
        The result of each fold.
    n, delta
        Rows, and the nominal probability of failure (None for a heuristic).
    guarantee
        What the number promises, in words.
    faults
        What is not proved, wrong or wasteful in the statement behind it, or in our reading of it.
    parameters
        The settings it was computed with.

    Examples
    --------
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> bound = published.total_variation(x, rng.random(10_000) < x, rng=0)
    >>> bound.vacuous, len(bound.faults)
    (False, 2)
    """

    kind: ClassVar = "published bound"

    method: str
    value: float
    terms: Mapping[str, float]
    curve: Curve = field(default=UNKNOWN, compare=False, repr=False, metadata=UNSAVED)
    folds: tuple[Fold, ...] = field(default=(), compare=False, repr=False, metadata=UNSAVED)
    n: int
    delta: float | None
    guarantee: str
    faults: tuple[str, ...]
    parameters: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def vacuous(self) -> bool:
        """True where the number says nothing: a calibration error is never above 1."""
        return self.value >= 1


def from_folds(
    method: str,
    rows: FoldedRows,
    folds: Sequence[Fold],
    pooled: Mapping[str, float] | None,
    *,
    delta: float,
    guarantee: str,
    faults: Sequence[str],
    parameters: Mapping[str, float | str],
) -> PublishedBound:
    """The bound with the terms `pooled` of all folds together; without them that of the fold with the smallest.

    With every fold's bound at delta/K, all K hold together with probability at least 1 - delta, hence so does the
    smallest.
    """
    best = min(folds, key=lambda fold: fold.value)
    terms = dict(best.terms if pooled is None else pooled)
    reading = "given split" if rows.given_split else "per fold" if pooled is None else "pooled"
    return PublishedBound(
        method=method,
        value=float(sum(terms.values())),
        terms=terms,
        curve=best.curve if pooled is None else Curve.mean([fold.curve for fold in folds]),
        folds=tuple(folds),
        n=rows.n,
        delta=delta,
        guarantee=guarantee,
        faults=tuple(faults),
        parameters={**parameters, "folds": len(folds), "reading": reading},
    )


def bernstein(n: int, delta: float, variance: float) -> float:
    """How far the mean of n values in [0, 1] may lie above their average, with probability at least 1 - delta.

    The empirical Bernstein bound of Audibert, Munos and Szepesvari, as the paper prints it: variance with divisor n.
    """
    log = math.log(3) - math.log(delta)
    return math.sqrt(2 * variance * log / n) + 3 * log / n


def judge(gap: Floats, error: Floats, scale: float, delta: float) -> dict[str, float]:
    """The terms of a bound whose surrogate has a pointwise error bound: `gap` and `error` on the validation rows.

    Both means get a Bernstein term at delta/2 (the paper leaves the parts open, and its proof takes half); `error`
    is divided by `scale`, which should bound it, to fit into [0, 1].
    """
    level = share(delta, 2)
    return {
        "gap to the curve": float(gap.mean()),
        "error of the curve": float(error.mean()),
        "Bernstein, gap": bernstein(gap.size, level, float(gap.var())),
        "Bernstein, error": scale * bernstein(gap.size, level, float((error / scale).var())),
    }
