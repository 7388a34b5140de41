"""Limits for shares: the mean probability of independent trials, and the shares that weighted trials leave possible.

Limits for a mean probability come from how many trials fell on 1 (Theorems 13 and 14). For equal trials they are those
of Clopper and Pearson (1934). Trials that differ fall on few 1s, or on many, less often than equal ones of the same
mean probability, as long as few means at least one fewer than expected (Hoeffding 1956). A limit that never excludes a
mean within one of the count is therefore theirs as well.

Weights take likelihood ratios, averaged over Jeffreys' prior (Theorem 8).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from calcert.foundation.array_types import Floats, Integers

SLACK = 1e-9
"""Relative widening of every limit, far more than SciPy's inverse is wrong by; 1e-12 of it absolute."""

FEW = 16.0
"""From so many trials on Stirling's series is good to 1e-13."""

ALL = 700.0
"""A divergence that no share but 1 is known to reach."""

TINY = 1e-300

STEPS = 12
"""Ten leave less than rounding of what is spent, from 1e-8 to everything and for shares as close to 0 and 1 as any."""


def share_upper(hits: Integers, trials: Integers, delta: ArrayLike) -> Floats:
    """D4: upper limits for the mean probability of independent trials, `hits` of which fell on 1.

    Guarantee
        With probability at least 1 - delta the mean of the probabilities is at most the result, whether they differ or
        not.
    """
    from scipy.special import betainccinv  # Here, because few calls need it and it takes long to load.

    hits, trials = np.asarray(hits), np.asarray(trials)
    missed = np.maximum(trials - hits, 1)
    limit = betainccinv(hits + 1.0, missed.astype(np.float64), delta)
    limit = np.maximum(limit * (1 + SLACK) + 1e-12, (hits + 1) / trials)
    return np.asarray(np.where(hits < trials, np.minimum(limit, 1.0), 1.0))


def share_lower(hits: Integers, trials: Integers, delta: ArrayLike) -> Floats:
    """D4, the other tail."""
    return 1 - share_upper(np.asarray(trials) - hits, trials, delta)


def share_limits(hits: Floats, misses: Floats, evidence: Floats | float) -> tuple[Floats, Floats]:
    """The shares c that weighted Bernoulli trials do not exclude: those with likelihood ratio at most exp(evidence).

    Guarantee
        With hits = sum of w y and misses = sum of w (1 - y) over independent rows, weights w in [0, 1], the share
        E[sum w y] / E[sum w] lies outside the limits with probability at most exp(-evidence).
    """
    total = hits + misses
    share = hits / np.maximum(total, 1e-300)
    allowed = (evidence + _averaging(hits, misses)) * (1 + 1e-6) / np.maximum(total, 1e-300) + 1e-14
    return 1 - _largest_share(1 - share, allowed), _largest_share(share, allowed)


def _averaging(hits: Floats, misses: Floats) -> Floats:
    """What averaging the likelihood over Jeffreys' prior costs against the likeliest p, as a logarithm.

    The distribution has density 1 / (pi sqrt(p (1 - p))), so that this is ln pi and the logarithm of the likelihood at
    its best, less ln B(hits + 1/2, misses + 1/2). By Stirling's formula what is large cancels, and remainders are left.
    """
    total = hits + misses
    n = np.maximum(total, FEW)
    found = np.log(n * (math.pi / 2)) / 2 + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5) - 1 / (1680 * n**7)
    found = np.asarray(found - _remainder(hits) - _remainder(misses))
    few = total < FEW
    a, b, n = hits[few], misses[few], total[few]
    found[few] = _x_log_x(a) + _x_log_x(b) - _x_log_x(n) + math.log(math.pi)
    found[few] -= _log_gamma(a + 0.5) + _log_gamma(b + 0.5) - _log_gamma(n + 1)
    return found


def _remainder(number: Floats) -> Floats:
    """ln Gamma(z + 1/2) - z ln z + z - ln(2 pi) / 2."""
    z = np.maximum(number, FEW)
    found = np.asarray(-1 / (24 * z) + 7 / (2880 * z**3) - 31 / (40320 * z**5) + 127 / (215040 * z**7))
    z = number[number < FEW]
    found[number < FEW] = _log_gamma(z + 0.5) - _x_log_x(z) + z - math.log(2 * math.pi) / 2
    return found


def _log_gamma(values: Floats) -> Floats:
    """ln Gamma of values from 1/2 on, to 1e-13: by Stirling's series for those that are larger by `FEW`."""
    x, factors = values + FEW, values.copy()
    for step in range(1, int(FEW)):
        factors *= values + step
    series = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
    return np.asarray((x - 0.5) * np.log(x) - x + math.log(2 * math.pi) / 2 + series - np.log(factors))


def _x_log_x(values: Floats) -> Floats:
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def _largest_share(share: Floats, allowed: Floats) -> Floats:
    """The largest c with kl(share, c) <= allowed, from above.

    The divergence is convex and rises from the share on, so that Newton's steps that begin above end above.
    """
    rest, spent = 1 - share, np.minimum(allowed, ALL)
    own = _x_log_x(share) + _x_log_x(rest)
    # It is at least 2 (c - share)^2 (Pinsker), and at least what it is without the logarithm of c.
    found = np.minimum(share + np.sqrt(spent / 2), 1 - np.exp((own - spent) / np.maximum(rest, TINY)))
    for _ in range(STEPS):
        far = np.maximum(1 - found, TINY)
        # Rounding is below 1e-15, less than `allowed` has to spare.
        over = np.maximum(own - share * np.log(np.maximum(found, TINY)) - rest * np.log(far) - spent, 0.0)
        found = np.maximum(found - over * found * far / np.maximum(found - share, TINY), share)
    # The last difference was rounded, perhaps down.
    return np.where(allowed >= ALL, 1.0, np.nextafter(found, 1.0))
