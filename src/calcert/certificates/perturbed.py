"""Theorem 1: the L1 calibration error of the classifier with perturbed scores, with no assumption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, any_rows, proved_for
from calcert.certificates.limits.deviations import Limit, Squares, iid_limit
from calcert.certificates.limits.sampling_term import upper_mean
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.cluster_lower import clusters_lower, perturbed_patterns
from calcert.certificates.witnesses.perturbed_witness import Cut, PerturbedWitness
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid import absolute_integral, missed
from calcert.perturbation.grids.grid_view import unlikely_ends
from calcert.perturbation.noise import Noise, choose_noise
from calcert.summary.points import merged, seen_from
from calcert.summary.summary import Summary


@proved_for(any_rows)
def perturbed(
    summary: Summary,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Certificate:
    """Certify the L1 calibration error of the classifier perturbed by :func:`calcert.perturb`.

    Guarantee
        With probability at least 1 - delta over the rows, E|S - E[Y|S]| <= upper for the perturbed score S; likewise
        for lower, over the rows and the random split set by the seed. Nothing is assumed of the score distribution or
        the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes; deployed scores have the same noise.
    Terms
        ``plug-in``: the calibration error of the perturbed empirical distribution; ``sampling``: the deviation of the
        mean (D2, D3, Hoeffding, inverted); ``discretisation``: everything the grid, the cells and rounding may hide.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.perturbed(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.164 to 0.169; the truth is 0.167
    """
    noise = choose_noise(odds, bandwidth)
    return Certificate.of(
        summary,
        "L1 calibration error",
        upper_terms(summary, noise, delta),
        perturbed_lower(summary, noise, delta, seed),
        delta,
        theorem="Theorem 1" if noise.kind == "additive" else "Theorem 1L",
        subject=perturbed_subject(noise),
        parameters=noise.parameters | {"seed": seed},
    )


def perturbed_subject(noise: Noise) -> str:
    """The perturbed classifier in words."""
    return f"with perturbed scores, {noise.words}"


def upper_terms(summary: Summary, noise: Noise, delta: float, limit: Limit = iid_limit) -> dict[str, float]:
    """The terms of the upper bound of Theorem 1 at confidence 1 - delta; `limit` bounds the deviation of the mean."""
    (terms,) = parts_terms(summary, noise, delta, whole, limit)
    return terms


def parts_terms(
    summary: Summary, noise: Noise, delta: float, parts: Parts, limit: Limit = iid_limit
) -> list[dict[str, float]]:
    """The terms of an upper bound for each part of the error, each at confidence 1 - delta."""
    found = plug_in(summary, noise, parts)
    rows = squares_of(summary, noise, found)

    def terms(part: float) -> dict[str, float]:
        seen = part + found.hidden
        upper = seen if found.hidden >= 1 else upper_mean(summary, seen, rows, delta, limit, noise)
        return {"plug-in": part, "discretisation": found.hidden, "sampling": upper - seen}

    return [terms(part) for part in found.parts.tolist()]


@dataclass(frozen=True)
class PlugIn:
    """Parts of the error of the perturbed empirical distribution, what may be hidden of each, and the second moment.

    `square` is at least the mean of E(y - S)^2 over the rows, for noise on the odds.
    """

    parts: Floats
    hidden: float
    square: float


Parts = Callable[[Floats, Floats, float], Floats]
"""Integrals of m^, given at grid points by the score there, its values and the step of the grid."""


def whole(t: Floats, gap: Floats, step: float) -> Floats:
    """The one part of Theorem 1: the integral of |m^|."""
    return np.array([absolute_integral(gap, step)])


@lru_cache(maxsize=2)
def plug_in(summary: Summary, noise: Noise, parts: Parts = whole) -> PlugIn:
    """The plug-in from a grid as fine as the rows deserve: their number alone decides."""
    where = coordinate_of(noise)
    view, grid = where.joined(summary), where.grid_for(summary.rows)
    hidden = where.hidden(view, grid)
    # End rows with the unlikely label matter by 1 at most (L6): a gap of -1 at score 0 or of 1 at score 1.
    low, high = unlikely_ends(view)
    found = parts(np.zeros(2), np.full(2, -float(low)), 1.0) + parts(np.ones(2), np.full(2, float(high)), 1.0)
    found, square = found / view.n, (low + high) / view.n
    if hidden >= 1:
        # The cells are far wider than the bandwidth: nothing can be said, so nothing is computed.
        return PlugIn(0 * found, hidden, 1.0)
    for place, density, positive, rounding in grid.densities(grid.masses(view.places, view.n)):
        t = where.score(place)
        gap = t * density - positive
        found = found + parts(t, gap, grid.step)
        square += float(np.trapezoid(t * (gap - positive) + positive, dx=grid.step))
        hidden += where.broken_line(gap, grid) + 3 * rounding * float(place[-1] - place[0])
    return PlugIn(found, hidden, min(square + hidden, 1.0))  # L7: what is hidden of the error covers the square


def squares_of(summary: Summary, noise: Noise, found: PlugIn) -> Squares:
    """At least (y - E[S|x])^2 of the rows."""
    if noise.kind == "additive":
        return additive_squares(summary, noise.size)
    # The mean perturbed score grows with x: from label 0 the right end of a cell is farthest, from label 1 the left
    # one.
    least, most = noise.mean_between(summary.points.low)[0], noise.mean_between(summary.points.high)[1]
    squares = np.stack([most, 1 - least], axis=1) ** 2 + 2 * ROUNDING
    return Squares.of(squares, summary.points.count, found.square)


def additive_squares(summary: Summary, h: float) -> Squares:
    """At least (y - E[S|x])^2 of the rows for additive noise: at the ends of cells, and what is hidden in between."""
    # It matters for the deviation only, and there by its root: far wider cells will do.
    points = seen_from(summary.points, h)
    if not points.exact:
        points, _ = merged(points, min(h / 16, 2.0**-10))
    mean = np.stack([sech_kernel.mean(position, h) for position in (points.low, points.high)])
    hidden = (points.high - points.low) ** 2 / 8 * (2 + 0.68 / h)
    squares = np.stack([mean**2, (1 - mean) ** 2], axis=2) + hidden[:, None] + 2 * ROUNDING
    return Squares.of(squares, points.count * np.stack([1 - points.fraction, points.fraction]))


def perturbed_lower(summary: Summary, noise: Noise, delta: float, seed: int, cut: Cut | None = None) -> Lower:
    """A lower bound for the L1 calibration error of the perturbed classifier at confidence 1 - delta.

    With `cut`, for the largest mean gain of the witnesses that it lets through.
    """
    if summary.clusters is not None:
        if cut is not None:
            raise ValueError("sides are proved for independent rows of equal weight alone")
        return Lower(clusters_lower(summary, perturbed_patterns(summary, noise), delta, noise))
    where = coordinate_of(noise)
    (view, cells), grid = where.by_joined_cell(summary), where.witness_grid(summary.n)
    hidden = where.hidden_gain(view, grid) + missed(grid)
    if float((view.points.count * hidden).sum()) >= summary.n / 2:
        # The cells are wider than the bandwidth: no gain could be vouched for, so nothing is bet.
        return Lower(0.0)
    witness = PerturbedWitness(where, view, grid, cut)

    def gain(known: Integers, last: Integers) -> Floats:
        found = np.empty(known.shape)
        held = witness.held(known)
        found[witness.inner] = witness.gain(known[witness.inner], held) - hidden
        if view.ends.low.size:
            found[~view.between] = where.end_gain(view, held)
        return np.clip(found, -1.0, 1.0)

    return lower_limit(
        summary, delta, seed, in_turn(gain), splits=random_splits.splits(cells, seed, random_splits.GROWING)
    )
