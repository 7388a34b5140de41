"""Theorem 6: the distance from calibration of the classifier as it is, with no assumption."""

from __future__ import annotations

import math

from calcert.certificates import choice, perturbed
from calcert.certificates.certificate import Certificate
from calcert.certificates.lower_bounds import distance_lower
from calcert.foundation.validation import check_delta, check_seed, check_summary
from calcert.serving.kernel import LARGEST_MEAN_SHIFT
from calcert.serving.noise import Noise
from calcert.serving.score_coordinate import ScoreCoordinate
from calcert.summary.counts import Summary

SPREAD = (1 / 8, 1 / 2, 2.0)
"""Bandwidths tried, as multiples of one that depends on n alone."""

LARGEST_AT_LEAST = 2.0**-10

COARSE = 32
"""Grid points to a bandwidth for choosing between bandwidths."""


def distance(summary: Summary, *, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the distance from calibration: how far the scores are, on average, from some calibrated score.

    Guarantee
        With probability at least 1 - delta over the rows, inf E|U - X| over all U with E[Y|U] = U is at most upper;
        likewise for lower, over the rows and the throws that the seed stands for. Nothing is assumed of the score
        distribution or the calibration function.
    Assumes
        Independent rows, not used to train the classifier.
    Terms
        ``plug-in``, ``sampling`` and ``discretisation`` of Theorem 1 at the best of three bandwidths, each at delta/3,
        and ``shift``: the mean distance 1.16625 h that the perturbation moves a score.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned.
    delta
        Probability with which each bound may fail.
    seed
        Throws the rows into batches for the lower bound; to be fixed before the rows are seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.distance(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}")
    0.082 to 0.172
    """
    check_summary(summary)
    delta, seed = check_delta(delta), check_seed(seed)
    bandwidth, best = upper_terms(summary, delta)
    terms = best
    return Certificate.from_terms(
        quantity="distance from calibration",
        subject="as it is",
        assumption="none",
        lower=distance_lower(summary, delta, seed),
        delta=delta,
        n=summary.n,
        theorem="Theorem 6",
        terms=terms,
        parameters={"bandwidth": bandwidth, "seed": seed},
    )


def upper_terms(summary: Summary, delta: float) -> tuple[float, dict[str, float]]:
    """The bandwidth that promises most, and the terms whose sum bounds the distance from above there."""
    best = min((h for h in bandwidths(summary.n) if worth_trying(summary, h)), key=lambda h: promise(summary, h))
    return best, terms_at(summary, best, choice.share(delta, len(SPREAD)))


def promise(summary: Summary, h: float) -> float:
    """About the bound at bandwidth h, but for what sampling costs: nearly the same for all of them from 1,000 rows on.

    A coarse grid will do: whichever bandwidth is chosen, and by whatever means, its bound holds.
    """
    noise = Noise("additive", h)
    return float(perturbed.plug_in(summary, noise, COARSE).parts[0]) + _placing(summary, h) + LARGEST_MEAN_SHIFT * h


def bandwidths(n: int) -> list[float]:
    """Three bandwidths around the one that balances shift and noise for a calibrated classifier with n rows.

    The largest stays above 2^-10, where the widest cells still cost little.
    """
    centre = (0.063 / math.sqrt(n)) ** (2 / 3)
    small, middle, large = (centre * factor for factor in SPREAD)
    return [small, middle, max(large, LARGEST_AT_LEAST)]


def worth_trying(summary: Summary, h: float) -> bool:
    """False where the cells alone would cost more than the shift: a larger bandwidth is sure to do better."""
    return h >= LARGEST_AT_LEAST or _placing(summary, h) <= LARGEST_MEAN_SHIFT * h


def terms_at(summary: Summary, h: float, delta: float) -> dict[str, float]:
    """Theorem 1 at bandwidth h, and the shift."""
    return perturbed.upper_terms(summary, Noise("additive", h), delta) | {"shift": LARGEST_MEAN_SHIFT * h}


def _placing(summary: Summary, h: float) -> float:
    """What the cells would hide at bandwidth h."""
    where = ScoreCoordinate(h)
    return where.placing(where.apart(summary), where.grid(perturbed.FINENESS))
