"""Theorem 7: the squared calibration error of the classifier with perturbed scores, with no assumption."""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, plain_rows, proved_for
from calcert.certificates.limits.deviations import invert_squared
from calcert.certificates.perturbed import perturbed_lower, perturbed_subject
from calcert.foundation.array_types import Floats
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid_view import View
from calcert.perturbation.noise import Noise, choose_noise
from calcert.summary.summary import Summary

FINENESS = 256
"""Grid points to a bandwidth."""


@proved_for(plain_rows)
def squared(
    summary: Summary,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Certificate:
    """Certify the squared calibration error E(S - E[Y|S])^2 of the classifier perturbed by :func:`calcert.perturb`.

    Guarantee
        With probability at least 1 - delta over the rows the squared error is at most upper, which falls like 1/n for
        a calibrated classifier; likewise, over the rows and the random split set by the seed, for lower, the square
        of the lower bound for the L1 error (Jensen).
    Assumes
        As :func:`calcert.bounds.perturbed`.
    Terms
        ``plug-in``: the squared error of the perturbed empirical distribution; ``sampling`` (Bernstein, inverted);
        ``discretisation``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.squared(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.4f} to {c.upper:.4f}; the truth is 0.0333")
    0.0268 to 0.0354; the truth is 0.0333
    """
    noise = choose_noise(odds, bandwidth)
    root = perturbed_lower(summary, noise, delta, seed)
    return Certificate.of(
        summary,
        "squared calibration error",
        upper_terms(summary, noise, delta),
        Lower(root.limit**2, root.e_value),
        delta,
        theorem="Theorem 7" if noise.kind == "additive" else "Theorem 7L",
        subject=perturbed_subject(noise),
        parameters=noise.parameters | {"seed": seed},
    )


def upper_terms(summary: Summary, noise: Noise, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 7 at confidence 1 - delta."""
    where = coordinate_of(noise)
    view, grid = where.apart(summary), where.grid(FINENESS)
    discretisation = where.hidden_squares(view, grid)
    if discretisation >= 1:
        return {"plug-in": 0.0, "discretisation": discretisation, "sampling": 0.0}
    areas = [end_squares(view) / view.n]
    for place, density, positive, rounding in grid.densities(grid.masses(view.places, view.n)):
        height = heights(where.score(place), density, positive, rounding)
        # m^2/D is jointly convex, so the trapezoid is above the integral along each grid cell.
        areas.append(float((height[:-1] + height[1:]).sum() * grid.step / 2))
        discretisation += 4 * rounding * float(place[-1] - place[0])  # Q1
    plug_in = math.fsum(areas)
    upper = invert_squared(plug_in + discretisation, summary.n, delta)
    return {
        "plug-in": plug_in,
        "discretisation": discretisation,
        "sampling": upper - plug_in - discretisation,
    }


def heights(t: Floats, density: Floats, positive: Floats, rounding: float) -> Floats:
    """m^2/D at grid points t from the computed densities D of the perturbed score and P of it with label 1, m = tD - P.

    Lemma Q1: too low by at most the error of D, twice the error of P, and `rounding` where D is not known to exceed it.
    """
    gap = t * density - positive
    ratio = np.divide(gap * gap, density, out=np.zeros_like(gap), where=density > rounding)
    # P lies between 0 and D, so that m^2/D never exceeds D.
    return np.asarray(np.clip(np.minimum(ratio, density), 0.0, None))


def end_squares(view: View) -> float:
    """What end rows with the label that they are not likely to have add: 1 each, less where they share a score.

    At scores that are left unperturbed, 0 and 1, the share of such labels counts by its square.
    """
    ends = view.ends
    unlikely = np.where(ends.high < 0.5, ends.count[:, 1], ends.count[:, 0])
    # Score 1 has a cell of its own; score 0 is known for what it is only where scores are listed.
    unperturbed = (ends.low == 1) | ((ends.high == 0) & (view.resolution == 0))
    share = unlikely / np.maximum(ends.count.sum(axis=1), 1)
    return float((unlikely * np.where(unperturbed, share, 1.0)).sum())
