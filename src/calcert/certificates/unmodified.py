"""The L1 calibration error of the classifier as it is: the better of Theorem 2 and Theorem 4."""

from __future__ import annotations

from dataclasses import replace

from calcert.certificates import bounded_variation, finite
from calcert.certificates.certificate import Certificate
from calcert.certificates.limits import union_bound
from calcert.foundation.validation import check_delta, check_seed, check_summary, check_variation
from calcert.summary.summary import Summary

WITHOUT_VARIATION = (
    "a bound on a variation is of no use where weights may depend on labels or scores (largest_weight), and scores are "
    "not a finite set: use distance, ranges, crossings or perturbed."
)
"""Why there is no statement by variation for units with a declared largest weight."""


def unmodified(summary: Summary, *, variation: float = 1.0, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the L1 calibration error of the unmodified classifier by whichever of theorems 2 and 4 promises more.

    Guarantee
        That of :func:`calcert.bounded_variation` or of :func:`calcert.finite`, as its `theorem` says. Both are tried at
        delta/2: the proof of Theorem 2 allows every choice of groups by the scores, but Theorem 4 with its sharper
        deviation bound (D3) is about one fixed sum, so that a choice made after looking at the scores is not free.
    Assumes
        What its `assumption` says; nothing where Theorem 4 gives the smaller bound.
    Terms
        Those of the theorem that was chosen.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned.
    variation
        Bound on the total variation of the calibration function.
    delta
        Probability with which each bound may fail.
    seed
        Throws the rows into batches for the lower bound; to be fixed before the rows are seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(1, 20, 100_000) / 20
    >>> unmodified(calcert.summarize(x, rng.random(100_000) < x)).theorem
    'Theorem 4'
    """
    check_summary(summary, units=True)
    variation, delta, seed = check_variation(variation), check_delta(delta), check_seed(seed)
    if summary.units is not None and summary.units.design.population:
        if not summary.is_finite:
            raise ValueError(WITHOUT_VARIATION)
        return finite.statement(summary, finite.upper_terms(summary, delta), delta, seed)
    each = union_bound.share(delta, 2)
    by_variation = bounded_variation.upper_terms(summary, variation, each)
    if summary.is_finite:
        by_score = finite.upper_terms(summary, each)
        if union_bound.smallest([by_score, by_variation]) == 0:
            found = finite.statement(summary, by_score, delta, seed)
            # Theorem 2 was looked at as well, so what it was asked belongs to how the statement was made.
            return replace(found, parameters={"variation": variation, **found.parameters})
    return bounded_variation.statement(summary, variation, by_variation, delta, seed)


def upper_terms(summary: Summary, variation: float, delta: float, assumption: str) -> dict[str, float]:
    """The terms of the upper bound at confidence 1 - delta, by the theorem that assumes what is named.

    Both theorems have delta/2, whichever is asked for, so that rows may have chosen it.
    """
    each = union_bound.share(delta, 2)
    if assumption == "none":
        return finite.upper_terms(summary, each)
    return bounded_variation.upper_terms(summary, variation, each)
