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


ROWS_AT_ONCE = 1 << 15
"""Probabilities that are added up at a time: a few arrays of them stay close to the processor."""


def mean_of(certificates: list[Certificate], delta: float) -> Certificate:
    """The mean of several bounds, which holds whenever they hold together."""
    first, size = certificates[0], len(certificates)
    # Where classes are certified by different theorems, the one that assumes something is named.
    weakest = next((c for c in certificates if c.assumption != "none"), first)
    names = dict.fromkeys(name for certificate in certificates for name in certificate.terms)
    terms = {name: math.fsum(c.terms.get(name, 0.0) for c in certificates) / size for name in names}
    return Certificate.from_terms(
        quantity=f"{first.quantity}, mean over {size} classes",
        subject=first.subject,
        assumption=weakest.assumption,
        lower=Lower(math.fsum(c.lower for c in certificates) / size, mean_e_value(certificates)),
        delta=delta,
        n=first.n,
        theorem=weakest.theorem,
        terms=terms,
        parameters=weakest.parameters,
    )


def mean_perturbed(squares: Floats, certificates: list[Certificate], delta: float) -> Certificate:
    """Certify the mean over classes of the L1 calibration errors of the perturbed probabilities, at once.

    Guarantee
        With probability at least 1 - delta the mean error is at most upper; the lower bound is the mean of those of the
        classes, which hold together.
    Proof
        Let G_i be the mean over classes k of the integrals of f*_k(t)(t - y_i^k) k(t|x_i^k), f*_k the sign of m_k. The
        G_i are i.i.d., their mean is the mean error, and |G_i| is at most the mean over k of a_i^k, which is at most 1.
        The mean over k of the plug-ins is at least the mean of the G_i. So Theorem 1 applies with the mean plug-in and
        the D1 limit for the mean square of mean_k a_i^k: no union over classes, and a smaller second moment.
    Parameters
        `squares` are what :func:`mean_squares` says of every row with the noise.
    """
    found = mean_of(certificates, delta)
    return _at_once(found, Squares.of(squares), delta, theorem="Theorem 1, mean over classes")


def mean_as_it_is(squares: Floats, certificates: list[Certificate], delta: float) -> Certificate:
    """Certify the mean over classes of errors that are each the largest mean of gains, at once.

    Guarantee
        With probability at least 1 - delta the mean error is at most upper, if no gain of class k exceeds |x^k - y^k|
        in size and plug-in and discretisation are at least the largest mean gain of the rows; the lower bound is the
        mean of those of the classes, which hold together.
    Proof
        A gain of each class, and their mean is a gain of the row; it is at most the mean over k of |x^k - y^k| in size.
        The mean over classes of the largest mean gains is the largest mean of such gains, for the distribution and for
        the rows: Theorem W, means, with that second moment.
    Parameters
        `squares` are what :func:`mean_squares` says of every row without noise.
    """
    found = mean_of(certificates, delta)
    return _at_once(found, Squares.of(squares), delta, theorem="Theorem W, mean over classes")


def _at_once(found: Certificate, squares: Squares, delta: float, *, theorem: str) -> Certificate:
    """The mean of several certificates with one sampling term in place of theirs."""
    known = {name: found.terms[name] for name in ("plug-in", "discretisation")}
    level = share_for_mean(found.n) * delta
    base = math.fsum(known.values())
    upper = base if base >= 1 else invert(base, squares.upper(found.n, delta), found.n, level, iid_limit)
    return Certificate.from_terms(
        quantity=found.quantity,
        subject=found.subject,
        assumption=found.assumption,
        lower=Lower(found.lower, found.e_value),
        delta=delta,
        n=found.n,
        theorem=theorem,
        terms=known | {"sampling": upper - base},
        parameters=found.parameters,
    )


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
