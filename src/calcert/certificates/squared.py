"""Theorem 7: the squared calibration error of the classifier that serves perturbed scores, with no assumption."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate
from calcert.certificates.deviations import invert_squared
from calcert.certificates.lower_bounds import perturbed_lower
from calcert.certificates.perturbed import FINENESS, served_subject
from calcert.foundation.validation import check_bandwidth, check_delta, check_seed, check_summary
from calcert.serving.grid import ROUNDING, Grid
from calcert.summary.counts import Summary

Floats = NDArray[np.float64]


def squared(summary: Summary, *, bandwidth: float = 1 / 64, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the squared calibration error E(S - E[Y|S])^2 of the classifier served through :func:`calcert.perturb`.

    Guarantee
        With probability at least 1 - delta over the rows the squared error is at most upper, which falls like 1/n for
        a calibrated classifier; likewise for lower, the square of the lower bound for the L1 error (Jensen).
    Assumes
        As :func:`calcert.perturbed`: independent rows, bandwidth fixed in advance, serving perturbs.
    Terms
        ``plug-in``: the squared error of the perturbed empirical law; ``sampling`` (Bernstein, inverted);
        ``discretisation``.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned for the original scores.
    bandwidth
        h of the sech kernel.
    delta
        Probability with which each bound may fail.
    seed
        Orders the rows for the lower bound.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.squared(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.4f} to {c.upper:.4f}; the truth is 0.0333")
    0.0269 to 0.0352; the truth is 0.0333
    """
    check_summary(summary)
    h, delta, seed = check_bandwidth(bandwidth), check_delta(delta), check_seed(seed)
    terms = upper_terms(summary, h, delta)
    return Certificate.from_terms(
        quantity="squared calibration error",
        subject=served_subject(h),
        assumption="none",
        lower=perturbed_lower(summary, h, delta, seed) ** 2,
        delta=delta,
        n=summary.n,
        theorem="Theorem 7",
        terms=terms,
        parameters={"bandwidth": h, "seed": seed},
    )


def upper_terms(summary: Summary, h: float, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 7 at confidence 1 - delta."""
    grid = Grid(h, FINENESS)
    # The tangent at the truth weighs a row's (t, y) by |t^2 - eta^2| or |(1-t)^2 - (1-eta)^2|, at most 1; what is
    # interpolated, 2 r m - r^2 D, bends three times as much as m (theory of computing, integrating).
    discretisation = grid.binning_error(summary) + 3 * grid.integration_error() + 2 * ROUNDING
    if discretisation >= 1:
        return {"plug-in": 0.0, "discretisation": discretisation, "sampling": 0.0}
    areas = []
    for t, served, positive, rounding in grid.densities(grid.place(summary.points).masses(summary.points.count)):
        height = heights(t, served, positive, rounding)
        # m^2/D is jointly convex, so the trapezoid is above the integral along each grid cell.
        areas.append(float((height[:-1] + height[1:]).sum() * grid.step / 2))
        discretisation += 4 * rounding * float(t[-1] - t[0])  # Q1
    plug_in = math.fsum(areas)
    upper = invert_squared(plug_in + discretisation, summary.n, delta)
    return {
        "plug-in": plug_in,
        "discretisation": discretisation,
        "sampling": upper - plug_in - discretisation,
    }


def heights(t: Floats, served: Floats, positive: Floats, rounding: float) -> Floats:
    """m^2/D at grid points t from the computed densities D of the served score and P of it with label 1, m = tD - P.

    Lemma Q1: too low by at most the error of D, twice the error of P, and `rounding` where D is not known to exceed it.
    """
    gap = t * served - positive
    ratio = np.divide(gap * gap, served, out=np.zeros_like(gap), where=served > rounding)
    # P lies between 0 and D, so that m^2/D never exceeds D.
    return np.asarray(np.clip(np.minimum(ratio, served), 0.0, None))
