"""Theorem 18: in every segment and every score range, scores add up to the positives; with no assumption."""

from __future__ import annotations

from collections.abc import Mapping

from calcert.certificates.certificate import Certificate, Lower, any_rows, proved_for
from calcert.certificates.cutoff import QUANTITY, Excess, at_edges, cutoff_lower, largest_sum
from calcert.certificates.limits.sampling_term import largest_mean_terms
from calcert.foundation.rounding import ROUNDING
from calcert.summary.summary import Summary


@proved_for(any_rows)
def segment_cutoff(
    rows: Summary, segments: Mapping[str, Summary], *, delta: float = 0.05, seed: int = 0
) -> tuple[Certificate, str]:
    """Certify the sums of scores in all score ranges of all segments, per row of all rows; and which is the worst.

    Guarantee
        With probability at least 1 - delta over the rows, E[(X - Y) 1{X in I} 1{row in s}] is at most upper in size for
        all ranges I and all segments s at once, those without rows among them; all rows are a segment too. Likewise,
        over the rows and the random split set by the seed, it is at least lower for some. The name is that of the
        segment that is worst in these rows: an estimate.
    Assumes
        Independent rows, or clusters; what might be a segment, as all values of some attributes and all pairs of
        values, was fixed before the rows were seen, and whether a row belongs depends on its own attributes alone.
    Terms
        As in :func:`calcert.bounds.cutoff`.

    Parameters
    ----------
    rows
        All rows.
    segments
        The rows of each segment that has any, by its name.
    delta, seed
        As in :func:`calcert.bounds.cutoff`.

    Examples
    --------
    >>> north, south = calcert.summarize([0.2] * 500, [0] * 500), calcert.summarize([0.2, 0.2] * 50, [0, 1] * 50)
    >>> certificate, worst = segment_cutoff(north + south, {"north": north, "south": south})
    >>> worst, round(certificate.upper, 3)
    ('north', 0.194)
    """
    terms, worst = upper_terms(rows, segments, delta)
    lower, quantity = Lower(cutoff_lower(rows, delta, seed).limit), f"{QUANTITY['either']}, worst of all segments"
    return Certificate.of(rows, quantity, terms, lower, delta, theorem="Theorem 18", parameters={"seed": seed}), worst


def upper_terms(rows: Summary, segments: Mapping[str, Summary], delta: float) -> tuple[dict[str, float], str]:
    """The terms of the upper bound of Theorem 18 at confidence 1 - delta, and the segment that is worst in the rows."""
    found, most = {}, 0.0
    for name, segment in (*segments.items(), (None, rows)):
        share, excess = segment.n / rows.n, Excess.of(segment)
        found[name] = share * largest_sum(at_edges(excess))
        most = max(most, share * (largest_sum(excess) + excess.rounding(2)))
    seen = max(found.values())
    terms = largest_mean_terms(rows, seen, max(most - seen, 0.0) + ROUNDING, delta)
    return terms, max(segments, key=lambda name: found[name])
