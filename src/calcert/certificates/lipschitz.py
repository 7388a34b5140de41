"""Theorem 3: the L1 calibration error of the current scores, if their calibration function is Lipschitz."""

from __future__ import annotations

import numpy as np

from calcert.certificates.bounded_variation import (
    REFINEMENTS,
    Groups,
    Rows,
    best_groups,
    best_terms,
    capped_groups,
    mean_apart,
    plug_in,
)
from calcert.certificates.certificate import Certificate, plain_rows, proved_for
from calcert.certificates.witnesses.betting import l1_lower
from calcert.foundation.number_text import given
from calcert.summary.summary import Summary


@proved_for(plain_rows)
def lipschitz(summary: Summary, *, constant: float, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the L1 calibration error of the current scores, given a Lipschitz constant.

    Guarantee
        With probability at least 1 - delta over the rows, E|X - E[Y|X]| <= upper. The lower bound holds with the same
        probability over the rows and the random split set by the seed, and needs no assumption on the calibration
        function.
    Assumes
        What :func:`calcert.certify` assumes, and ``|E[Y|X = x] - E[Y|X = x']| <= constant |x - x'|``. For rows whose
        scores were perturbed with bandwidth h, constant = 1/(2h) always holds.
    Terms
        ``plug-in``: mean distance of scores to the mean label of their group; ``binning bias``: the constant times the
        mean distance of scores within groups; ``sampling``; ``discretisation``.

    Parameters
    ----------
    constant
        L, the Lipschitz constant.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.lipschitz(calcert.summarize(x, rng.random(100_000) < x**2), constant=2.0)
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.164 to 0.171; the truth is 0.167
    """
    return Certificate.of(
        summary,
        "L1 calibration error",
        upper_terms(summary, constant, delta),
        l1_lower(summary, delta, seed),
        delta,
        theorem="Theorem 3",
        assumption=f"calibration function Lipschitz with constant {given(constant)}",
        parameters={"constant": constant, "seed": seed},
    )


def upper_terms(summary: Summary, constant: float, delta: float) -> dict[str, float]:
    """The terms whose sum bounds the error from above."""

    def bias(rows: Rows, groups: Groups) -> float:
        return lipschitz_bias(summary, rows, groups, constant)

    rows = Rows.of(summary.points)
    # Groups of equal mass or of equal width, whichever is predicted to be better: both look at scores alone.
    positions = (rows.mass, np.append(rows.score, 2.0))
    best = [best_groups(rows, bias, position) for position in positions]
    which = int(best[1][1] < best[0][1])
    cap, position = best[which][0], positions[which]
    options = [capped_groups(rows, position, cap * refinement) for refinement in REFINEMENTS]
    each = [(plug_in(summary.points, groups, summary.n), bias(rows, groups)) for groups in options]
    return best_terms(summary, each, delta)


def lipschitz_bias(summary: Summary, rows: Rows, groups: Groups, constant: float) -> float:
    """The sum over groups of p min(1/2, L G), G the mean distance of two of its rows."""
    share = groups.sums(rows.share)
    half = np.minimum(0.5, constant * (mean_apart(summary.points, rows, groups) + summary.resolution))
    return float((share * half)[~groups.plain].sum())
