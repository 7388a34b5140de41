"""Theorem 1, Theorem 6 and Theorem 9 for rows whose distributions drift: upper bounds for the average of these.

The pooled distribution is the average of the distributions of the rows: that of a row picked at random among them. If
the distribution never changed, it is the distribution itself.

Assumes
    Rows that are independent given their distributions and the sizes of batches. Distributions may differ and sizes
    vary in any way that does not respond to rows seen, neither to their labels nor to their scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calcert.certificates import cutoff, distance, perturbed
from calcert.certificates.certificate import Certificate, Lower
from calcert.kernels.limits import bernstein, hoeffding
from calcert.perturbation.noise import Noise
from calcert.summary.summary import Summary


def drifting_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """D2 and Hoeffding for rows that are independent but need not have one distribution.

    The mean of row i may then be anything in [-1, 1], so that a centred gain is at most 2 and not 1 + c.
    """
    return min(bernstein(variance, 2.0, n, delta), hoeffding(1.0, n, delta))


def pooled_upper(pool: Summary, noise: Noise, delta: float) -> Certificate:
    """Certify the L1 calibration error of the perturbed classifier over rows whose distribution may have drifted.

    Guarantee
        With probability at least 1 - delta, E|S - E[Y|S]| <= upper under the pooled distribution.
    """
    terms = perturbed.upper_terms(pool, noise, delta, drifting_limit)
    asked = {"subject": perturbed.perturbed_subject(noise), "parameters": noise.parameters}
    return _pooled(pool, "L1 calibration error", terms, delta, theorem="Theorem 1, drifting distributions", **asked)


def pooled_distance(pool: Summary, delta: float) -> Certificate:
    """Certify the distance from calibration of the current scores over rows whose distribution may have drifted.

    Guarantee
        With probability at least 1 - delta, the distance from calibration under the pooled distribution is at most
        upper.
    """
    terms = distance.upper_terms(pool, delta, drifting_limit)
    return _pooled(pool, "distance from calibration", terms, delta, theorem="Theorem 6, drifting distributions")


def pooled_cutoff(pool: Summary, delta: float) -> Certificate:
    """Certify the cutoff calibration error over rows whose distribution may have drifted.

    Guarantee
        With probability at least 1 - delta, the cutoff calibration error under the pooled distribution is at most
        upper.
    """
    terms = cutoff.upper_terms(pool, delta, limit=drifting_limit)
    return _pooled(pool, cutoff.QUANTITY["either"], terms, delta, theorem="Theorem 9, drifting distributions")


def _pooled(
    pool: Summary, quantity: str, terms: Mapping[str, float], delta: float, *, theorem: str, **asked: Any
) -> Certificate:
    return Certificate.of(pool, f"{quantity}, all rows pooled", terms, Lower(0.0), delta, theorem=theorem, **asked)
