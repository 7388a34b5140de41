"""Theorem 12: the direction of the L1 calibration error: scores too high or low, over- or underconfident."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from calcert.certificates.certificate import CURRENT, Certificate, Lower, plain_rows, proved_for
from calcert.certificates.limits.sampling_term import largest_mean_terms
from calcert.certificates.perturbed import parts_terms, perturbed_lower, perturbed_subject
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.random_splits import net_of, worst_gain
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.result import Result
from calcert.foundation.rounding import ROUNDING
from calcert.perturbation.noise import Noise, choose_noise
from calcert.summary.points import across_labels
from calcert.summary.summary import Summary

Side = Literal["too high", "too low", "overconfident", "underconfident"]
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True)
class Sides(Result):
    """How much of the L1 calibration error goes to each side: four certificates, each at its own delta.

    Attributes
    ----------
    too_high, too_low
        Scores above the probability of label 1, and below it. The error is the sum of the two.
    overconfident, underconfident
        Scores beyond the probability as seen from 1/2, and short of it. The error is the sum of these as well.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 11, 50_000) / 10
    >>> sides = calcert.bounds.sides(calcert.summarize(x, rng.random(50_000) < 0.25 + x / 2))
    >>> print(f"overconfident by at least {sides.overconfident.lower:.3f}")
    overconfident by at least 0.129
    """

    kind: ClassVar = "sides"
    noun: ClassVar = "the sides"

    too_high: Certificate
    too_low: Certificate
    overconfident: Certificate
    underconfident: Certificate

    def _rows(self) -> list[dict[str, Any]]:
        names = ("quantity", "subject", "lower", "upper", "confidence", "n", "e_value")
        return [{name: getattr(side, name) for name in names} for side in vars(self).values()]


@proved_for(plain_rows)
def sides(
    summary: Summary,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Sides:
    """Certify to which side scores err, and by how much: current scores that repeat, or perturbed ones.

    With S the score, perturbed where noise is named, and c = E[Y|S]: too high is E (S - c)+, too low is E (c - S)+,
    overconfident is the part of either where S is on the far side of c from 1/2, underconfident the rest; a score of
    1/2 can only be underconfident.

    Guarantee
        Each of the eight bounds holds with probability at least 1 - delta over the rows, a lower one over the rows and
        the random split set by the seed. Nothing is assumed of the score distribution or the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.
    Terms
        Those of :func:`calcert.bounds.finite`, or of :func:`calcert.bounds.perturbed`, with one side of the plug-in.

    Parameters
    ----------
    odds, bandwidth
        Which noise is added to scores, as in :func:`calcert.perturb`; at most one of them. Without, the bounds are
        about the current scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(50_000)
    >>> sides = calcert.bounds.sides(x, rng.random(50_000) < x**2, odds=1/16)
    >>> print(f"too high by {sides.too_high.lower:.3f} or more, too low by {sides.too_low.upper:.3f} or less")
    too high by 0.160 or more, too low by 0.003 or less
    """
    if odds is None and bandwidth is None:
        terms, subject = finite_terms(summary, delta), CURRENT
        lower = {side: finite_lower(summary, side, delta, seed) for side in SIDES}
        asked: dict[str, float] = {"distinct scores": summary.values.size}
    else:
        noise = choose_noise(odds, bandwidth)
        terms, subject, asked = perturbed_terms(summary, noise, delta), perturbed_subject(noise), noise.parameters
        lower = {side: perturbed_lower(summary, noise, delta, seed, allowed(side)) for side in SIDES}
    return Sides(
        *(
            Certificate.of(
                summary,
                f"L1 calibration error of scores that are {side}",
                terms[side],
                lower[side],
                delta,
                theorem="Theorem 12",
                subject=subject,
                parameters=asked | {"seed": seed},
            )
            for side in SIDES
        )
    )


def perturbed_terms(summary: Summary, noise: Noise, delta: float) -> dict[Side, dict[str, float]]:
    """The terms of the upper bounds of Theorem 12 for the perturbed classifier, each at confidence 1 - delta."""
    return dict(zip(SIDES, parts_terms(summary, noise, delta, side_parts), strict=True))  # Largest mean


def side_parts(t: Floats, gap: Floats, step: float) -> Floats:
    """The integrals of the sides, in their order."""
    found = side_integrals(t, gap, step)
    return np.array([found[side] for side in SIDES])


def side_integrals(t: Floats, gap: Floats, step: float) -> dict[Side, float]:
    """The integrals of the sides of the linear interpolant of `gap`, given at grid points of perturbed score `t`.

    Exact where the gap changes its sign inside a grid cell. A grid cell that holds 1/2 inside counts for both sides of
    it, which is too much and never too little.
    """
    over, under = np.maximum(gap, 0.0), np.maximum(-gap, 0.0)
    over, under = over[:-1] + over[1:], under[:-1] + under[1:]
    # Where the ends differ in sign there is a triangle on either side of 0, over its share of the cell.
    share = over / np.maximum(over + under, 1e-300)
    above, below = over * share * step / 2, under * (1 - share) * step / 2
    upper, lower = t[1:] > 0.5, t[:-1] < 0.5
    return {
        "too high": float(above.sum()),
        "too low": float(below.sum()),
        "overconfident": float(above[upper].sum() + below[lower].sum()),
        "underconfident": float(below[upper].sum() + above[lower].sum()),
    }


def allowed(side: Side) -> Callable[[Floats, Floats, Floats], Floats]:
    """Cuts signs on stretches of scores from `low` to `high` to those that a side allows."""

    def cut(low: Floats, high: Floats, f: Floats) -> Floats:
        if side == "too high":
            return np.maximum(f, 0.0)
        if side == "too low":
            return np.minimum(f, 0.0)
        # A score of 1/2 can be underconfident, in either direction, but not overconfident.
        extreme = side == "overconfident"
        upper, lower = low > 0.5 if extreme else low >= 0.5, high <= 0.5
        outward = (upper & (f > 0)) | (lower & (f < 0))
        inward = (upper & (f < 0)) | (lower & (f > 0))
        return np.where(outward if extreme else inward, f, 0.0)

    return cut


def finite_terms(summary: Summary, delta: float) -> dict[Side, dict[str, float]]:
    """The terms of the upper bounds of Theorem 12 for listed scores, each at confidence 1 - delta."""
    x, count = summary.values, summary.points.count
    gap = (x * across_labels(count) - count[:, 1]) / summary.n
    above, below = np.maximum(gap, 0.0), np.maximum(-gap, 0.0)
    parts: dict[Side, Floats] = {
        "too high": above,
        "too low": below,
        "overconfident": np.where(x > 0.5, above, np.where(x < 0.5, below, 0.0)),
        "underconfident": np.where(x > 0.5, below, np.where(x < 0.5, above, np.abs(gap))),
    }
    return {side: largest_mean_terms(summary, float(part.sum()), ROUNDING, delta) for side, part in parts.items()}


def finite_lower(summary: Summary, side: Side, delta: float, seed: int) -> Lower:
    """A lower bound for one side of the error at confidence 1 - delta: betting on the signs of cells seen so far."""
    points = summary.cell_points
    middle, cut = (points.low + points.high) / 2, allowed(side)

    def witness(known: Integers, last: Integers) -> Floats:
        wobble = known[:, 0] * middle**2 + known[:, 1] * (1 - middle) ** 2
        f = np.clip(net_of(points, known) / np.sqrt(wobble + 1e-300), -1.0, 1.0)
        return worst_gain(points, cut(points.low, points.high, f))

    return lower_limit(summary, delta, seed, in_turn(witness))
