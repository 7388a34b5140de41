"""Certificate: one certified statement, frozen. Nothing here computes a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from calcert.foundation.number_text import at_least, at_most, e_value, percent, percent_sure, rounded_up, rows_text
from calcert.foundation.plain_types import plain_fields, restored_fields
from calcert.foundation.validation import (
    check_constant,
    check_crossings,
    check_delta,
    check_seed,
    check_summary,
    complement,
    refuse_clusters,
)
from calcert.summary.summary import Summary

TELLING = 0.95
"""Upper bounds up to this large say something by themselves."""

NOTHING = 0.999
"""An upper bound from here on says nothing; rounding it up to 1 is sound, and honest."""

CURRENT = "with its current scores"

CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "delta": check_delta,
    "seed": check_seed,
    "crossings": check_crossings,
    "constant": check_constant,
}

Sampling = Callable[[Summary], bool]
"""True of rows that a theorem is proved for."""

Theorem = TypeVar("Theorem", bound=Callable[..., Any])


def any_rows(summary: Summary) -> bool:
    """Independent rows or clusters, with weights, shares for labels or neither."""
    return True


def unweighted_rows(summary: Summary) -> bool:
    """Rows that count alike, in clusters or not."""
    return summary.clusters is None or not (summary.clusters.design.weighted or summary.clusters.design.soft)


def plain_rows(summary: Summary) -> bool:
    """Independent rows of equal weight."""
    return summary.clusters is None


def proved_for(sampling: Sampling) -> Callable[[Theorem], Theorem]:
    """A theorem for rows of this sampling: others are refused, and arguments that theorems share are checked, once."""

    def of(theorem: Theorem) -> Theorem:
        @wraps(theorem)
        def checked(summary: Summary, *given: Any, **named: Any) -> Any:
            check_summary(summary, clusters=True)
            if not sampling(summary):
                refuse_clusters(summary)
            return theorem(summary, *given, **{name: CHECKS.get(name, _same)(value) for name, value in named.items()})

        return cast("Theorem", checked)

    return of


def _same(value: Any) -> Any:
    return value


class Lower(NamedTuple):
    """A lower bound, and what the bets behind it own against an error of 0; None where there are none."""

    limit: float
    e_value: float | None = None

    @classmethod
    def of(cls, limit: float, log_wealth: float) -> Lower:
        """With the logarithm of the final wealth against an error of 0, from a wealth of 1; at most 1e300 is told."""
        return cls(limit, math.exp(min(log_wealth, math.log(1e300))))


@dataclass(frozen=True)
class Certificate:
    """One certified statement: `lower` <= the quantity <= `upper`.

    Each bound holds with probability at least 1 - delta, `upper` over the rows and `lower` over the rows and the random
    splits that the seed stands for; so both together with at least 1 - 2 delta.

    Attributes
    ----------
    quantity
        What is bounded, in words.
    subject
        Of which classifier.
    assumption
        What must be true for the guarantee; "none" where nothing is assumed beyond independent rows.
    upper, lower
        The bounds. A bound that says nothing is 1.0 or 0.0.
    confidence, n
        The probability with which each bound holds, and the number of rows.
    theorem
        Where the proof stands.
    terms
        What the upper bound is made of, by name; the values add up to `upper`.
    parameters
        What was fixed in advance: odds or bandwidth, variation, seed and the like.
    e_value
        Evidence against an error of 0 from the bets behind `lower`: if the error is 0 its mean is at most 1, so that it
        reaches 20 with probability at most 1/20, at every number of rows. E-values of independent rows may be
        multiplied, each with a seed of its own. None where nothing was bet.

    Examples
    --------
    >>> c = calcert.bounds.finite(calcert.summarize([0.25, 0.75] * 500, [0, 1] * 500))
    >>> round(c.upper, 3), c.assumption, c.vacuous
    (0.256, 'none', False)
    """

    derived: ClassVar = ("vacuous",)

    quantity: str
    subject: str
    assumption: str
    upper: float
    lower: float
    confidence: float
    n: int
    theorem: str
    terms: Mapping[str, float]
    parameters: Mapping[str, float] = field(default_factory=dict)
    e_value: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper <= 1:
            raise ValueError(
                f"a certificate must have 0 <= lower <= upper <= 1; got lower {self.lower!r}, upper {self.upper!r}."
            )
        if self.e_value is not None and not 0 <= self.e_value < math.inf:
            raise ValueError(f"a certificate must have an e-value from 0 on, or none; got {self.e_value!r}.")
        if not (0 < self.confidence < 1 and self.n >= 1 and all(map(math.isfinite, self.terms.values()))):
            raise ValueError(
                "a certificate must have a confidence between 0 and 1, at least one row and finite terms; got "
                f"{self.confidence!r}, {self.n!r} rows, terms {dict(self.terms)!r}."
            )

    @classmethod
    def of(
        cls,
        summary: Summary,
        quantity: str,
        terms: Mapping[str, float],
        lower: Lower,
        delta: float,
        *,
        theorem: str,
        subject: str = CURRENT,
        assumption: str = "none",
        parameters: Mapping[str, float] | None = None,
    ) -> Certificate:
        """The certificate of some rows; for clusters it says of which distribution it speaks."""
        clusters = summary.clusters
        if clusters is not None:
            subject = f"{subject}, {clusters.design.words}"
            theorem += " for clusters" if clusters.pair_sums is None else " for clusters, pair sums"
        n, asked = summary.rows, dict(parameters or {})
        blank = cls(quantity, subject, assumption, 1.0, 0.0, complement(delta), n, theorem, {}, asked)
        return blank.restated(quantity, terms, lower, delta, n, theorem=theorem)

    def restated(
        self, quantity: str, terms: Mapping[str, float], lower: Lower, delta: float, n: int, *, theorem: str
    ) -> Certificate:
        """The same of another quantity: the upper bound is what `terms` add up to, and a lower one above it is cut."""
        upper, made_of = total(terms)
        return replace(
            self,
            quantity=quantity,
            upper=upper,
            lower=min(lower.limit, upper),
            confidence=complement(delta),
            n=n,
            theorem=theorem,
            terms=made_of,
            e_value=lower.e_value,
        )

    @property
    def delta(self) -> float:
        """The probability with which each bound may fail."""
        return complement(self.confidence)

    @property
    def vacuous(self) -> bool:
        """True where the interval is all of [0, 1]: too few rows to say anything."""
        return self.upper >= 1.0 and self.lower <= 0.0

    @property
    def telling(self) -> bool:
        """False where nothing is proven and the upper bound is above 0.95, of no use to anybody."""
        return self.lower > 0 or self.upper <= TELLING

    @property
    def at_most(self) -> float:
        """The upper bound, rounded up to as many digits as are shown: certified too."""
        return min(float(rounded_up(self.upper)), 1.0)

    @property
    def at_least(self) -> float:
        """The lower bound, rounded down."""
        return float(at_least(self.lower))

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON."""
        return plain_fields(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The inverse of :meth:`to_dict`."""
        return restored_fields(cls, values, "the certificate")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In notebooks: the sentence, and not every field."""
        printer.text(str(self))

    @property
    def about(self) -> str:
        """What is bounded, of which scores, and the worst of which groups or classes."""
        error, comma, whose = self.quantity.partition(", ")
        return f"{error} of the classifier {self.subject}{comma}{whose}"

    def __str__(self) -> str:
        terms = " + ".join(f"{name} {value:.2g}" for name, value in self.terms.items())
        evidence = "" if self.e_value is None else f" E-value against an error of 0: {e_value(self.e_value)}."
        evidence += why_no_bound([self])
        return (
            f"{self.about[:1].upper()}{self.about[1:]}; assumption: "
            f"{self.assumption}. At least {at_least(self.lower)}, at most {at_most(self.upper)}, "
            f"each with {percent_sure(self.delta)} confidence ({rows_text(self.n)}, {self.theorem}).{evidence}\n"
            f"At most = {terms}."
        )


def why_no_bound(certificates: Iterable[Certificate]) -> str:
    """Why a lower bound is 0 beside an e-value that would do by itself; empty where none is."""
    for c in certificates:
        if c.lower == 0 and c.e_value is not None and c.e_value * c.delta >= 1:
            return (
                f" The lower bound is 0 beside an e-value of {e_value(c.e_value)} because it shares its "
                f"{percent(c.delta)} with other tests, and so asks for more evidence."
            )
    return ""


def total(terms: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """The upper bound that `terms` add up to and the terms; one that says nothing is 1, by a term of its own."""
    upper = math.fsum(terms.values())
    if upper < NOTHING:
        return upper, dict(terms)
    return 1.0, {**terms, "cap at 1": terms.get("cap at 1", 0.0) + 1.0 - upper}


def mean_e_value(certificates: Sequence[Certificate]) -> float | None:
    """The mean of their e-values, one against all their errors being 0, whatever they have in common; None if one is.

    A mean of variables of mean at most 1 has a mean of at most 1.
    """
    found = [c.e_value for c in certificates if c.e_value is not None]
    return math.fsum(value / len(found) for value in found) if len(found) == len(certificates) else None
