"""The L1 calibration error of the current scores, in one statement: Theorem 4 or Theorem 10, or 2 where it is asked."""

from __future__ import annotations

from dataclasses import replace

from calcert.certificates import bounded_variation, finite, several
from calcert.certificates import crossings as few_crossings
from calcert.certificates.certificate import Certificate, any_rows, proved_for, total
from calcert.certificates.witnesses.betting import l1_lower
from calcert.foundation.validation import check_variation
from calcert.summary.summary import Summary

WORTH = 1.25
"""An upper bound without assumption is preferred while it is at most this many times the one under crossings."""

WITHOUT_VARIATION = (
    "a bound on a variation is of no use where weights may depend on labels or scores (largest_weight), and scores are "
    "not a finite set: leave variation out."
)
"""Why there is no statement by variation for clusters with a declared largest weight."""


@proved_for(any_rows)
def l1(
    summary: Summary,
    *,
    crossings: int = 3,
    variation: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Certificate:
    """Certify the L1 calibration error of the current scores, with as little assumed as the scores allow.

    Guarantee
        With probability at least 1 - delta over the rows, E|X - E[Y|X]| <= upper, if what `assumption` says is true.
        The lower bound holds with the same probability over the rows and the random split set by the seed, and needs
        no assumption. The theorem may be chosen by the rows: Theorems 4 and 10 hold on one event (theory, A finite
        score set); where a variation is given, Theorems 2 and 4 have delta/2 each.
    Assumes
        Nothing where scores repeat, so that Theorem 4 gives at most 1.25 times the bound under `crossings`. Else that
        x - E[Y|X = x] changes its sign at most `crossings` times, or that x -> E[Y|X = x] has total variation at most
        `variation`, where that is given.
    Terms
        Those of the theorem that was chosen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(1, 20, 100_000) / 20
    >>> l1(calcert.summarize(x, rng.random(100_000) < x)).theorem
    'Theorem 4'
    """
    if variation is not None:
        return _by_variation(summary, check_variation(variation), delta, seed)
    few, many = _upper_terms_of_both(summary, crossings, delta)
    if few is not None and total(few)[0] < 1 and total(few)[0] <= WORTH * total(many)[0]:
        found = finite.statement(summary, few, delta, seed)
        return replace(found, parameters={"crossings": crossings, **found.parameters})
    return _crossings_statement(summary, crossings, many, delta, seed)


def _upper_terms_of_both(
    summary: Summary, changes: int, delta: float
) -> tuple[dict[str, float] | None, dict[str, float]]:
    """Of Theorem 4, where scores are listed, and of Theorem 10: one event for both."""
    few = finite.upper_terms(summary, delta) if summary.is_finite else None
    return few, few_crossings.upper_terms(summary, changes, delta)


def _crossings_statement(
    summary: Summary, changes: int, terms: dict[str, float], delta: float, seed: int
) -> Certificate:
    return few_crossings.statement(summary, changes, terms, l1_lower(summary, delta, seed), delta, seed)


def _by_variation(summary: Summary, variation: float, delta: float, seed: int) -> Certificate:
    """The smaller of Theorem 2 and Theorem 4, each at delta/2: their limits do not share an event."""
    if summary.clusters is not None and summary.clusters.design.population:
        if not summary.is_finite:
            raise ValueError(WITHOUT_VARIATION)
        return finite.statement(summary, finite.upper_terms(summary, delta), delta, seed)
    each = several.share(delta, 2)
    by_variation = bounded_variation.upper_terms(summary, variation, each)
    if summary.is_finite:
        by_score = finite.upper_terms(summary, each)
        if several.smallest([by_score, by_variation]) == 0:
            found = finite.statement(summary, by_score, delta, seed)
            # Theorem 2 was looked at as well, so what it was asked belongs to how the statement was made.
            return replace(found, parameters={"variation": variation, **found.parameters})
    return bounded_variation.statement(summary, variation, by_variation, delta, seed)


def upper_terms(
    summary: Summary, changes: int, variation: float | None, delta: float, assumption: str
) -> dict[str, float]:
    """The terms of the upper bound at confidence 1 - delta, by the theorem that assumes what is named.

    Where there is a variation two theorems have delta/2, whichever is asked for, so that rows may have chosen it.
    """
    each = delta if variation is None else several.share(delta, 2)
    if assumption == "none":
        return finite.upper_terms(summary, each)
    if variation is None:
        return few_crossings.upper_terms(summary, changes, each)
    return bounded_variation.upper_terms(summary, variation, each)
