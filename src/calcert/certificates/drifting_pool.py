"""Theorem 1, Theorem 6 and Theorem 9 for rows whose distributions drift: upper bounds for the average of these."""

from __future__ import annotations

from collections.abc import Mapping

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
        With probability at least 1 - delta, E|S - E[Y|S]| <= upper under the pooled distribution, the average of the
        distributions of the rows: the distribution of a row picked at random among them. If the distribution never
        changed, that is the distribution itself.
    Assumes
        Rows that are independent given their distributions and the sizes of batches. Distributions may differ and sizes
        vary in any way that does not respond to rows seen, neither to their labels nor to their scores.
    Proof
        That of Theorem 1 with m the average of the rows' m_i and f* its sign. The G_i are independent with means e_i
        whose average is the pooled calibration error c; |G_i| <= a_i <= 1. So e_i - G_i is centred and at most 2, and
        the mean variance is at most mean E a_i^2 - mean e_i^2 <= mean E a_i^2 - c^2. D1, D2 and Hoeffding need
        independence alone.
    """
    return _pooled(
        pool,
        delta,
        quantity="L1 calibration error",
        subject=perturbed.perturbed_subject(noise),
        theorem="Theorem 1, drifting distributions",
        terms=perturbed.upper_terms(pool, noise, delta, drifting_limit),
        parameters=noise.parameters,
    )


def pooled_distance(pool: Summary, delta: float) -> Certificate:
    """Certify the distance from calibration of the current scores over rows whose distribution may have drifted.

    Guarantee
        With probability at least 1 - delta, the distance from calibration under the pooled distribution is at most
        upper.
    Assumes
        What :func:`pooled_upper` does.
    Proof
        The distance under the pooled distribution is the mean gain under it of one admissible pair, whose gain on a row
        is at most |x - y| in size (Theorem 6). From there on the proof of :func:`pooled_upper`, with a_i = |x_i - y_i|.
    """
    terms = distance.upper_terms(pool, delta, drifting_limit)
    return _pooled(
        pool, delta, quantity="distance from calibration", theorem="Theorem 6, drifting distributions", terms=terms
    )


def pooled_cutoff(pool: Summary, delta: float) -> Certificate:
    """Certify the cutoff calibration error over rows whose distribution may have drifted.

    Guarantee
        With probability at least 1 - delta, the cutoff calibration error under the pooled distribution is at most
        upper.
    Assumes
        What :func:`pooled_upper` does.
    Proof
        The error in one fixed range is a mean gain of at most |x - y| in size, so that the proof of
        :func:`pooled_upper` bounds it; Theorem W passes to the largest.
    """
    terms = cutoff.upper_terms(pool, delta, limit=drifting_limit)
    return _pooled(
        pool, delta, quantity=cutoff.QUANTITY["either"], theorem="Theorem 9, drifting distributions", terms=terms
    )


def _pooled(
    pool: Summary,
    delta: float,
    *,
    quantity: str,
    theorem: str,
    terms: Mapping[str, float],
    subject: str = "with its current scores",
    parameters: Mapping[str, float] | None = None,
) -> Certificate:
    return Certificate.from_terms(
        quantity=f"{quantity}, all rows pooled",
        subject=subject,
        assumption="none",
        lower=Lower(0.0),
        delta=delta,
        n=pool.n,
        theorem=theorem,
        terms=terms,
        parameters=parameters or {},
    )
