"""Certificate: one certified statement, frozen. Nothing here computes a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

TELLING = 0.95
"""Intervals up to this wide are said to say something."""

NOTHING = 0.999
"""An upper bound from here on says nothing; rounding it up to 1 is sound, and honest."""


@dataclass(frozen=True)
class Certificate:
    """One certified statement: `lower` <= the quantity <= `upper`.

    Each bound holds with probability at least 1 - delta over the rows, so both together with at least 1 - 2 delta.

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
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {
            "terms": dict(self.terms),
            "parameters": dict(self.parameters),
            "vacuous": self.vacuous,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The inverse of :meth:`to_dict`."""
        return cls(**{f.name: values[f.name] for f in fields(cls)})

    def __str__(self) -> str:
        from calcert.show.text.report import certificate_text

        return certificate_text(self)


def total(terms: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """The upper bound that `terms` add up to and the terms; one that says nothing is 1, by a term of its own."""
    upper = math.fsum(terms.values())
    if upper < NOTHING:
        return upper, dict(terms)
    return 1.0, {**terms, "cap at 1": 1.0 - upper}
