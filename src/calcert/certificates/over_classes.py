"""The mean over classes of calibration errors, each class against the rest: of bounds, and by Theorem 1 at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate
from calcert.certificates.deviations import SPLIT, iid_limit, invert, mean_upper
from calcert.serving.grid import ROUNDING
from calcert.serving.noise import Noise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROWS_AT_ONCE = 1 << 20


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
        lower=math.fsum(c.lower for c in certificates) / size,
        delta=delta,
        n=first.n,
        theorem=weakest.theorem,
        terms=terms,
        parameters=weakest.parameters,
    )


def mean_perturbed(p: Floats, y: Integers, certificates: list[Certificate], noise: Noise, delta: float) -> Certificate:
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
    moment = mean_upper(_mean_square(p, y, noise), y.size, (1 - SPLIT) * delta)
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


def _mean_square(p: Floats, y: Integers, noise: Noise) -> float:
    """The mean over rows of the squared mean over classes of a = |y^k - E[S^k|x^k]|, or a little more."""
    rows, size = p.shape
    step = max(ROWS_AT_ONCE // size, 1)
    squares = 0.0
    for start in range(0, rows, step):
        part = slice(start, start + step)
        least, most = noise.mean_between(p[part])
        own = y[part, None]
        right, taken = (np.take_along_axis(served, own, axis=1)[:, 0] for served in (least, most))
        # Of the right class 1 - E[S], of the others E[S].
        squares += float((((most.sum(axis=1) - taken + 1 - right) / size) ** 2).sum())
    return float(min(squares / rows + 4 * ROUNDING, 1.0))
