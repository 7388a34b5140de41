"""Certificate: one certified statement, frozen. Nothing here computes a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from calcert.foundation.numbers import at_least, at_most, confidence
from calcert.foundation.plain import plain_fields, restored_fields

TELLING = 0.95
"""Intervals up to this wide are said to say something."""

NOTHING = 0.999
"""An upper bound from here on says nothing; rounding it up to 1 is sound, and honest."""


@dataclass(frozen=True)
class Certificate:
    """One certified statement: `lower` <= the quantity <= `upper`.

    Each bound holds with probability at least 1 - delta, `upper` over the rows and `lower` over the rows and the throws
    that the seed stands for; so both together with at least 1 - 2 delta.

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
    delta, n
        The probability of failure of each bound, and the number of rows.
    theorem
        Where the proof stands.
    terms
        What the upper bound is made of, by name; the values add up to `upper`.
    parameters
        What was fixed in advance: bandwidth, variation, seed and the like.

    Examples
    --------
    >>> c = calcert.finite(calcert.summarize([0.25, 0.75] * 500, [0, 1] * 500))
    >>> round(c.upper, 3), c.assumption, c.vacuous
    (0.264, 'none', False)
    """

    derived: ClassVar = ("vacuous",)

    quantity: str
    subject: str
    assumption: str
    upper: float
    lower: float
    delta: float
    n: int
    theorem: str
    terms: Mapping[str, float]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper <= 1:
            raise ValueError(
                f"a certificate must have 0 <= lower <= upper <= 1; got lower {self.lower!r}, upper {self.upper!r}."
            )
        if not (0 < self.delta < 1 and self.n >= 1 and all(map(math.isfinite, self.terms.values()))):
            raise ValueError(
                "a certificate must have delta between 0 and 1, at least one row and finite terms; got delta "
                f"{self.delta!r}, {self.n!r} rows, terms {dict(self.terms)!r}."
            )

    @classmethod
    def from_terms(
        cls,
        *,
        quantity: str,
        subject: str,
        assumption: str,
        terms: Mapping[str, float],
        lower: float,
        delta: float,
        n: int,
        theorem: str,
        parameters: Mapping[str, float],
    ) -> Certificate:
        """The certificate whose upper bound is what `terms` add up to; a lower bound above it is cut to it."""
        upper, made_of = total(terms)
        return cls(
            quantity=quantity,
            subject=subject,
            assumption=assumption,
            upper=upper,
            lower=min(lower, upper),
            delta=delta,
            n=n,
            theorem=theorem,
            terms=made_of,
            parameters=dict(parameters),
        )

    @property
    def vacuous(self) -> bool:
        """True where the interval is all of [0, 1]: too few rows to say anything."""
        return self.upper >= 1.0 and self.lower <= 0.0

    @property
    def telling(self) -> bool:
        """False where the interval is nearly all of [0, 1]: wider than 0.95, and of no use to anybody."""
        return self.upper - self.lower <= TELLING

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON."""
        return plain_fields(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The inverse of :meth:`to_dict`."""
        return restored_fields(cls, values, "the certificate")

    def __str__(self) -> str:
        terms = " + ".join(f"{name} {value:.2g}" for name, value in self.terms.items())
        return (
            f"{self.quantity[:1].upper()}{self.quantity[1:]} of the classifier {self.subject}; assumption: "
            f"{self.assumption}. At least {at_least(self.lower)}, at most {at_most(self.upper)}, "
            f"each with probability {confidence(self.delta)} ({self.n:,} rows, {self.theorem}).\nAt most = {terms}."
        )


def total(terms: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """The upper bound that `terms` add up to and the terms; one that says nothing is 1, by a term of its own."""
    upper = math.fsum(terms.values())
    if upper < NOTHING:
        return upper, dict(terms)
    return 1.0, {**terms, "cap at 1": terms.get("cap at 1", 0.0) + 1.0 - upper}
