"""A simultaneous band for the calibration function of the perturbed classifier: what the reliability picture shows.

Write w(x) = k(t|x) / ceiling, between 0 and 1, for the weight of a row in the served score t. The chance of label 1
given that t is served is c = E[w Y] / E[w]. For every p the likelihood ratio of weighted coin tosses,

    product over rows of [ (p/c)^y ((1-p)/(1-c))^(1-y) ]^w,

has mean at most 1, because r^w <= 1 - w + w r and the mean of w r is (p/c) E[wY] + (1-p)/(1-c) E[w(1-Y)] = E[w]. So has
its average over p by Jeffreys' law, and by Markov it exceeds J/delta at any of J points with probability at most delta.
In c it is a constant times c^-hits (1-c)^-misses, so that the values not excluded are an interval around the estimate
(theory, Theorem 8).

Two things stand between the J computed points and the whole curve, and both multiply the odds c/(1-c) by little: the
logarithm of the odds moves by at most 2/h per unit of t, as d ln k / dt = -tanh((t-x)/h) / h; and rows are known to
their cell and placed on a grid, which changes every weight by a factor near 1. For noise on the odds all of it happens
in log-odds, and scores 0 and 1, which are served as they are, are two more points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.bends import Bend, bends_of
from calcert.certificates.limits.share_limits import share_limits
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.result import Result
from calcert.foundation.validation import check_delta, check_summary
from calcert.serving.grids.coordinate_of_noise import coordinate_of
from calcert.serving.grids.grid import Grid
from calcert.serving.grids.grid_view import View
from calcert.serving.noise import Noise, choose_noise
from calcert.summary.summary import Summary

FINENESS = 512
POINT_LIMIT = 1 << 17
CUT_OFF = 1e-16
"""More than the weight of any row further away than the grid's reach: sech(40) times at most pi."""


@dataclass(frozen=True)
class CalibrationBand(Result):
    """The chance of label 1 given the served score, between `lower` and `upper` everywhere at once.

    Attributes
    ----------
    t
        Served scores, increasing, from 0 to 1.
    edges
        Where the stretch of each t begins and ends: one more than `t`, from 0 to 1.
    estimate
        The plug-in estimate of the chance of label 1 at t; NaN where there are no rows. No guarantee.
    lower, upper
        With probability at least 1 - delta they enclose the chance of label 1 at every served score in [0, 1], each on
        its stretch between edges. 0 and 1 where too few rows are near.
    negative, positive
        Densities at t of served scores with label 0 and with label 1; together they integrate to 1. Estimates.
    noise, delta, n
        What is served, as given, and the number of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> band = calcert.calibration_band(calcert.summarize(x, rng.random(10_000) < x)).thinned(4, (0.1, 0.9))
    >>> [f"{low:.2f} to {high:.2f}" for low, high in zip(band.lower, band.upper)]
    ['0.02 to 0.45', '0.18 to 0.63', '0.36 to 0.82', '0.57 to 0.98']
    """

    kind: ClassVar = "band"
    noun: ClassVar = "the band"

    t: Floats
    edges: Floats
    estimate: Floats
    lower: Floats
    upper: Floats
    negative: Floats
    positive: Floats
    noise: Noise
    delta: float
    n: int

    def thinned(self, stretches: int, between: tuple[float, float] = (0.0, 1.0)) -> CalibrationBand:
        """The part between two scores in at most so many stretches, about as wide as each other.

        Each is the envelope of those that it replaces, so that they are a band too.
        """
        first = int(np.searchsorted(self.edges, between[0], "right")) - 1
        last = int(np.searchsorted(self.edges, between[1], "left"))
        begin = np.searchsorted(self.edges, np.linspace(*between, stretches, endpoint=False), "right") - 1
        starts = np.unique(np.clip(begin, first, last - 1))
        edges = self.edges[np.append(starts, last)]
        middle = np.searchsorted(self.edges, (edges[1:] + edges[:-1]) / 2, "right") - 1
        centre = np.clip(middle, starts, np.append(starts[1:], last) - 1)
        return replace(
            self,
            t=self.t[centre],
            edges=edges,
            estimate=self.estimate[centre],
            lower=np.minimum.reduceat(self.lower[:last], starts),
            upper=np.maximum.reduceat(self.upper[:last], starts),
            negative=self.negative[centre],
            positive=self.positive[centre],
        )

    @property
    def bends(self) -> tuple[Bend, ...]:
        """Ranges of served scores in which the chance is off, the largest first; they hold wherever the band does.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random(100_000)
        >>> band = calcert.calibration_band(calcert.summarize(x, rng.random(100_000) < x**2))
        >>> print(band.bends[0])
        between 0.21 and 0.76 the chance is below the score by at least 0.14
        """
        share = (self.negative + self.positive) * np.diff(self.edges)
        return bends_of(self.edges, self.lower, self.upper, share)

    def _rows(self) -> list[dict[str, Any]]:
        names = ("t", "estimate", "lower", "upper", "negative", "positive")
        columns = (getattr(self, name).tolist() for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def calibration_band(
    summary: Summary,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    delta: float = 0.05,
    points: int = 128,
) -> CalibrationBand:
    """Enclose the calibration function of the classifier served through :func:`calcert.perturb`, everywhere at once.

    Guarantee
        With probability at least 1 - delta over the rows, lower <= P(Y = 1 | S = s) <= upper for all served scores s in
        [0, 1] together. Nothing is assumed of the score distribution or the calibration function. For clusters and
        weights it is the curve of a row drawn by weight from such clusters, or of the population (Theorem 8U).
    Assumes
        Independent rows, or rows in independent clusters, from the law that is served, not used to train, select or
        recalibrate the classifier; their number, `delta` and every other argument were fixed before the rows were seen,
        labels or scores.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned for the original, unperturbed scores.
    odds, bandwidth
        Which noise is served, as in :func:`calcert.perturb`; at most one of them, `odds` 1/16 if neither.
    delta
        Probability with which the band may miss the curve anywhere at all.
    points
        Computed points to a bandwidth; more cost confidence, fewer cost room for the curve to move between them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> band = calcert.calibration_band(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> middle = band.t.size // 2
    >>> print(f"at {band.t[middle]:.2f} between {band.lower[middle]:.3f} and {band.upper[middle]:.3f}; truth 0.251")
    at 0.50 between 0.211 and 0.289; truth 0.251
    """
    check_summary(summary, units=True)
    return served_band(summary, choose_noise(odds, bandwidth), check_delta(delta), points)


def served_band(summary: Summary, noise: Noise, delta: float, points: int = 128) -> CalibrationBand:
    """The band for what the noise serves; arguments were checked."""
    where = coordinate_of(noise)
    # Rows of a unit are one toss between them, whatever their number (Theorem 8U).
    tosses = summary.n if summary.units is None else summary.n / summary.units.heaviest
    grid = where.grid(FINENESS)
    index = where.reported(grid, _stride(grid, points))
    # By cell even where distinct scores are listed: weights must not depend on which rows were drawn.
    view = where.by_cell(summary)
    served, positive, rounding = _densities(grid, view, index)
    place = index / grid.size
    top = where.ceiling(grid, place)
    # The true sums of weights are not below these, and above them by at most `excess` in all.
    error = tosses * (2 * rounding / top + CUT_OFF)
    hits = np.maximum(tosses * positive / top - error, 0.0)
    misses = np.maximum(tosses * (served - positive) / top - error, 0.0)
    excess = 4 * error + where.end_weight(view, place) * (tosses / summary.n)
    known = math.log((index.size + where.atoms) / delta)
    lower, upper = share_limits(hits, misses, known + excess * (2 + np.log1p(hits + misses + excess)))
    slack = float(np.diff(place).max()) / grid.h + odds_slack(where.weight_change(grid, place))
    t, steepness = where.score(place), where.steepness(place)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(hits + misses > 0, positive / served, np.nan)
        middle = CalibrationBand(
            t=t,
            edges=np.concatenate([[0.0], where.score((place[1:] + place[:-1]) / 2), [1.0]]),
            estimate=np.clip(estimate, 0.0, 1.0),
            lower=_limit_moved(lower, -slack),
            upper=_limit_moved(upper, slack),
            negative=np.maximum(served - positive, 0.0) / steepness,
            positive=np.maximum(positive, 0.0) / steepness,
            noise=noise,
            delta=delta,
            n=summary.rows,
        )
    if not where.atoms:
        return middle
    atoms = np.asarray(_rows_at_0_and_1(summary) * (tosses / summary.n), np.float64)
    return _with_ends(middle, where.score(np.array([place[0], place[-1]])), atoms, known)


def _rows_at_0_and_1(summary: Summary) -> Integers:
    """Rows per label at scores 0 and 1, which noise on the odds serves as they are; none at 0 unless it is listed."""
    points = summary.points
    zero, one = (points.high == 0) & summary.is_finite, points.low == 1
    return np.stack([points.count[which].sum(axis=0) for which in (zero, one)])


def _with_ends(band: CalibrationBand, outermost: Floats, atoms: Floats, evidence: float) -> CalibrationBand:
    """The band with a stretch on either side about which nothing is said, and with scores 0 and 1 as points."""
    hits, misses = atoms[:, 1], atoms[:, 0]
    lower, upper = share_limits(hits, misses, evidence)
    share = np.where(hits + misses > 0, hits / np.maximum(hits + misses, 1e-300), np.nan)

    def around(middle: Floats, beside: float, ends: Floats) -> Floats:
        return np.concatenate([ends[:1], [beside], middle, [beside], ends[1:]])

    low, high = outermost
    return replace(
        band,
        t=np.concatenate([[0.0, low / 2], band.t, [(1 + high) / 2, 1.0]]),
        edges=np.concatenate([[0.0, 0.0, low], band.edges[1:-1], [high, 1.0, 1.0]]),
        estimate=around(band.estimate, math.nan, share),
        lower=around(band.lower, 0.0, lower),
        upper=around(band.upper, 1.0, upper),
        negative=around(band.negative, 0.0, np.zeros(2)),
        positive=around(band.positive, 0.0, np.zeros(2)),
    )


def odds_slack(change: Floats) -> Floats:
    """How far the log-odds of a weighted share move where every weight changes by a factor within 1 +- `change`."""
    return np.where(change < 1, 2 * np.arctanh(np.minimum(change, 1 - 1e-16)), np.inf)


def _limit_moved(share: Floats, by: Floats | float) -> Floats:
    """A share whose log-odds are moved."""
    with np.errstate(divide="ignore", over="ignore"):
        found: Floats = 1 / (1 + np.exp(np.log1p(-share) - np.log(share) - by))
    return found


def _stride(grid: Grid, points: int) -> int:
    """The band is computed at every so many grid points: `points` to a bandwidth, and not too many."""
    stride = 1
    while stride * points < grid.fineness or grid.size > stride * POINT_LIMIT:
        stride *= 2
    return stride


def _densities(grid: Grid, view: View, index: Integers) -> tuple[Floats, Floats, Floats]:
    """Density of the served score, that with label 1, and the largest rounding error of either, at grid points."""
    found = np.zeros((3, index.size))
    masses = grid.masses(view.places, view.n)
    for start, stop in grid.blocks(masses.index, grid.reach):
        a, b = np.searchsorted(index, (start, stop + 1))
        _, served, positive, rounding = grid.density(masses, start, stop + 1)
        inside = index[a:b] - start
        # At a single point the error may be larger than on average.
        largest = rounding * math.sqrt(stop - start + 1 + 2 * grid.reach)
        found[0, a:b], found[1, a:b], found[2, a:b] = served[inside], positive[inside], largest
    return found[0], found[1], found[2]
