"""The L1 calibration error of the classifier as it is: the better of Theorem 2 and Theorem 4."""

from __future__ import annotations

import math
from dataclasses import replace

from calcert.certificates import bounded_variation, finite
from calcert.certificates.certificate import Certificate
from calcert.summary.counts import Summary


def as_it_is(summary: Summary, *, variation: float = 1.0, delta: float = 0.05, seed: int = 0) -> Certificate:
    """The better of theorems 2 and 4 for the unmodified classifier, at delta/2 each so that both may be looked at.

    Theorem 4 with its sharper deviation bound (D3) is not conditional on the scores, so a choice made after looking at
    them is not free; sharing delta covers every choice.
    """
    by_variation = bounded_variation.upper_terms(summary, variation, delta / 2)
    if summary.is_finite:
        by_score = finite.upper_terms(summary, delta / 2)
        if math.fsum(by_score.values()) <= math.fsum(by_variation.values()):
            found = finite.statement(summary, by_score, delta, seed)
            # Theorem 2 was looked at as well, so what it was asked belongs to how the statement was made.
            return replace(found, parameters={"variation": variation, **found.parameters})
    return bounded_variation.statement(summary, variation, by_variation, delta, seed)
