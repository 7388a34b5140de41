"""Theorem 1: the L1 calibration error of the classifier that serves perturbed scores, with no assumption."""

from __future__ import annotations

import numpy as np

from calcert.certificates.certificate import Certificate
from calcert.certificates.deviations import SPLIT, Limit, iid_limit, invert, mean_upper
from calcert.certificates.lower_bounds import perturbed_lower
from calcert.foundation.numbers import fraction
from calcert.foundation.validation import check_bandwidth, check_delta, check_seed, check_summary
from calcert.serving import kernel
from calcert.serving.grid import ROUNDING, Grid, absolute_integral
from calcert.summary.counts import Summary
from calcert.summary.points import merged, seen_from

FINENESS = 256
"""Grid points to a bandwidth; twice as many from MANY_ROWS on, where bounds are so small that the grid would show."""

MANY_ROWS = 1 << 22


def perturbed(summary: Summary, *, bandwidth: float = 1 / 64, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the L1 calibration error of the classifier served through :func:`calcert.perturb`.

    Guarantee
        With probability at least 1 - delta over the rows, E|S - E[Y|S]| <= upper for the served score S; likewise for
        lower. Nothing is assumed of the score distribution or the calibration function.
    Assumes
        Independent rows from the law that is served, not used to train the classifier; the bandwidth was fixed without
        looking at them, neither at their labels nor at their scores; serving perturbs with that bandwidth.
    Terms
        ``plug-in``: the calibration error of the perturbed empirical law; ``sampling``: the deviation of the mean
        (D2, D3, Hoeffding, inverted); ``discretisation``: everything the grid, the cells and rounding may hide.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned for the original, unperturbed scores.
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
    >>> c = calcert.perturbed(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.164 to 0.169; the truth is 0.167
    """
    check_summary(summary)
    h, delta, seed = check_bandwidth(bandwidth), check_delta(delta), check_seed(seed)
    terms = upper_terms(summary, h, delta)
    return Certificate.from_terms(
        quantity="L1 calibration error",
        subject=served_subject(h),
        assumption="none",
        lower=perturbed_lower(summary, h, delta, seed),
        delta=delta,
        n=summary.n,
        theorem="Theorem 1",
        terms=terms,
        parameters={"bandwidth": h, "seed": seed},
    )


def served_subject(h: float) -> str:
    """The perturbed classifier in words."""
    return f"served with perturbed scores, bandwidth {fraction(h)}"


def upper_terms(summary: Summary, h: float, delta: float, limit: Limit = iid_limit) -> dict[str, float]:
    """The terms of the upper bound of Theorem 1 at confidence 1 - delta; `limit` bounds the deviation of the mean."""
    plug_in, discretisation = empirical_error(summary, h, FINENESS if summary.n < MANY_ROWS else 2 * FINENESS)
    if discretisation >= 1:
        return {"plug-in": plug_in, "discretisation": discretisation, "sampling": 0.0}
    moment = mean_upper(second_moment(summary, h), summary.n, (1 - SPLIT) * delta)
    upper = invert(plug_in + discretisation, moment, summary.n, SPLIT * delta, limit)
    return {
        "plug-in": plug_in,
        "discretisation": discretisation,
        "sampling": upper - plug_in - discretisation,
    }


def empirical_error(summary: Summary, h: float, fineness: int) -> tuple[float, float]:
    """The calibration error of the perturbed empirical law on a grid, and what that may be wrong by."""
    grid, points = Grid(h, fineness), seen_from(summary.points, h)
    wrong = grid.binning_error(summary, points) + grid.integration_error() + ROUNDING
    if wrong >= 1:
        # The cells are far wider than the bandwidth: nothing can be said, so nothing is computed.
        return 0.0, wrong
    error = 0.0
    for t, served, positive, rounding in grid.densities(grid.place(points).masses(points.count)):
        error += absolute_integral(t * served - positive, grid.step)
        wrong += 2 * rounding * float(t[-1] - t[0])
    return error, wrong


def second_moment(summary: Summary, h: float) -> float:
    """The mean of (y - E[S|x])^2 over the rows, rounded up by what the cells hide."""
    # It matters for the deviation only, and there by its root: far wider cells will do.
    points = seen_from(summary.points, h)
    if not points.exact:
        points, _ = merged(points, min(h / 16, 2.0**-10))
    moment = 0.0
    for position, share in ((points.low, 1 - points.fraction), (points.high, points.fraction)):
        shift = kernel.mean(position, h)
        squares = np.stack([shift**2, (1 - shift) ** 2], axis=1)
        moment += float((points.count * share * squares).sum())
    width = points.high - points.low
    hidden = float((points.count.sum(axis=1) * width**2).sum()) / 8 * (2 + 0.68 / h)
    return min((moment + hidden) / summary.n + 2 * ROUNDING, 1.0)
