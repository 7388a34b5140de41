"""The worst of many groups, or classes: no price for their number (Theorem W, worst).

That every one is below its *own* bound takes delta / m each. That none is worse than the *largest* of their bounds
takes the full delta each: one of them is the worst of the distribution, unknown but fixed, and only its bound has to
hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calcert.certificates.certificate import Certificate, Lower, mean_e_value, total


@dataclass(frozen=True)
class OneOfMany:
    """One of many.

    Attributes
    ----------
    found
        Its certificate at its Bonferroni level, so that those of all hold together.
    terms
        The terms of its upper bound at the full delta, for what the certificate assumes.
    """

    found: Certificate
    terms: Mapping[str, float]

    @property
    def upper(self) -> float:
        """Its upper bound at the full delta: what it may say of the worst, and not of itself."""
        return total(self.terms)[0]


def worst_of(entries: Sequence[OneOfMany], many: str, delta: float, n: int, *, without_rows: int = 0) -> Certificate:
    """Certify the largest of many errors: `many` is what they are errors of, such as "groups", and `n` their rows.

    Guarantee
        With probability at least 1 - delta none of them is larger than upper, if each upper bound holds by itself with
        probability at least 1 - delta; with the same probability one of them is at least lower, if all lower bounds
        hold together with it.
    Terms
        Those of the largest bound. Of listed groups without rows nothing is known: their bound is 1.
    """
    highest = max(entries, key=lambda entry: entry.upper)
    terms = {"groups without rows": 1.0} if without_rows else highest.terms
    # Where they are certified by different theorems, the one that assumes something is named.
    weakest = next((e.found for e in entries if e.found.assumption != "none"), entries[0].found)
    return Certificate.from_terms(
        quantity=f"{weakest.quantity}, worst of {len(entries) + without_rows} {many}",
        subject=weakest.subject,
        assumption=weakest.assumption,
        lower=Lower(max(entry.found.lower for entry in entries), mean_e_value([entry.found for entry in entries])),
        delta=delta,
        n=n,
        theorem="Theorem W, worst",
        terms=terms,
        parameters=weakest.parameters,
    )
