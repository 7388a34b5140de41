"""Several statements together: the union bound, the worst of many (Theorem W, worst) and the mean over classes.

Where each of m statements gets delta/m, all hold together with probability at least 1 - delta (union bound); whichever
is then chosen, and by whatever means, holds too. What counts is how many might have been looked at, not how many were.

That no group is worse than the *largest* of their bounds takes the full delta each: one of them is the worst of the
distribution, unknown but fixed, and only its bound has to hold. The mean over classes has one sampling term for all
(Theorem 1 and Theorem W, mean over classes).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, mean_e_value, total
from calcert.certificates.limits.deviations import Squares, iid_limit, invert, share_for_mean
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.perturbation.noise import Noise


def share(delta: float, candidates: int) -> float:
    """What each of so many candidates may fail with."""
    return delta / candidates


def smallest(candidates: Sequence[Mapping[str, float]]) -> int:
    """Which candidate, given by the terms of its upper bound at its Bonferroni level, promises most; the first of ties.

    Examples
    --------
    >>> smallest([{"plug-in": 0.1, "sampling": 0.02}, {"plug-in": 0.1, "sampling": 0.01}])
    1
    """
    return min(range(len(candidates)), key=lambda place: math.fsum(candidates[place].values()))


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
    quantity = f"{weakest.quantity}, worst of {len(entries) + without_rows} {many}"
    lower = Lower(max(entry.found.lower for entry in entries), mean_e_value([entry.found for entry in entries]))
    return weakest.restated(quantity, terms, lower, delta, n, theorem="Theorem W, worst")


ROWS_AT_ONCE = 1 << 15
"""Probabilities that are added up at a time: a few arrays of them stay close to the processor."""


def mean_of(certificates: list[Certificate], delta: float) -> Certificate:
    """The mean of several bounds, which holds whenever they hold together."""
    first, size = certificates[0], len(certificates)
    # Where classes are certified by different theorems, the one that assumes something is named.
    weakest = next((c for c in certificates if c.assumption != "none"), first)
    names = dict.fromkeys(name for certificate in certificates for name in certificate.terms)
    terms = {name: math.fsum(c.terms.get(name, 0.0) for c in certificates) / size for name in names}
    lower = Lower(math.fsum(c.lower for c in certificates) / size, mean_e_value(certificates))
    quantity = f"{first.quantity}, mean over {size} classes"
    return weakest.restated(quantity, terms, lower, delta, first.n, theorem=weakest.theorem)


def mean_at_once(squares: Floats, certificates: list[Certificate], delta: float, *, theorem: str) -> Certificate:
    """Certify the mean over classes of their errors, with one sampling term in place of those of the classes.

    Guarantee
        With probability at least 1 - delta the mean error is at most upper, if what :func:`mean_squares` says of every
        row bounds the squared gains of its classes, and plug-in and discretisation are at least the largest mean gain
        of the rows; the lower bound is the mean of those of the classes, which hold together.
    """
    found, known_squares = mean_of(certificates, delta), Squares.of(squares)
    known = {name: found.terms[name] for name in ("plug-in", "discretisation")}
    level, n, base = share_for_mean(found.n) * delta, found.n, math.fsum(known.values())
    upper = base if base >= 1 else invert(base, known_squares.upper(n, delta), n, level, iid_limit)
    terms, lower = known | {"sampling": upper - base}, Lower(found.lower, found.e_value)
    return found.restated(found.quantity, terms, lower, delta, n, theorem=theorem)


mean_perturbed = partial(mean_at_once, theorem="Theorem 1, mean over classes")
mean_as_it_is = partial(mean_at_once, theorem="Theorem W, mean over classes")


def mean_squares(p: Floats, y: Integers, noise: Noise | None = None) -> Floats:
    """Of every row at least the squared mean over classes of |y^k - E[S^k|x^k]|; of |y^k - x^k| without noise."""
    rows, size = p.shape
    step = max(ROWS_AT_ONCE // size, 1)
    squares = np.empty(rows)
    for start in range(0, rows, step):
        part = slice(start, start + step)
        least, most = (p[part], p[part]) if noise is None else noise.mean_between(p[part])
        own = y[part, None]
        right, taken = (np.take_along_axis(bound, own, axis=1)[:, 0] for bound in (least, most))
        # Of the right class 1 - E[S], of the others E[S].
        squares[part] = ((most.sum(axis=1) - taken + 1 - right) / size) ** 2 + 4 * ROUNDING
    return squares
