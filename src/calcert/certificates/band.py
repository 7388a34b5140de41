"""Theorem 8: a simultaneous band for the calibration function of the perturbed classifier.

Write w = k(t|x) / ceiling, between 0 and 1, for the weight of a row in the perturbed score t. The likelihood ratio of
weighted Bernoulli trials, averaged over Jeffreys' prior, excludes all but an interval of values of E[w Y] / E[w] at
each of J points. Between the points, and for rows that are known to their cell, log-odds move by little. Where noise
is on the odds scores 0 and 1 are two more points, and next to them the mean over each end is enclosed instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.certificate import any_rows, proved_for
from calcert.certificates.limits.share_limits import share_limits
from calcert.certificates.miscalibrated_ranges import MiscalibratedRange, RangeMean, miscalibrated_ranges_of
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.result import Result
from calcert.foundation.validation import complement
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid import Grid
from calcert.perturbation.grids.grid_view import View
from calcert.perturbation.noise import Noise, choose_noise
from calcert.perturbation.odds_kernel import distribution
from calcert.summary.points import Points
from calcert.summary.summary import Summary

FINENESS = 512
POINT_LIMIT = 1 << 17
CUT_OFF = 1e-16
"""More than the weight of any row further away than the grid's reach: sech(40) times at most pi."""

END = 1e-6
"""Perturbed scores so near to 0 or 1 have a mean probability; just before, the grid of log-odds ends."""


@dataclass(frozen=True)
class CalibrationBand(Result):
    """The probability of label 1 given the perturbed score, between `lower` and `upper` simultaneously.

    Attributes
    ----------
    t
        Perturbed scores, increasing, from 0 to 1.
    edges
        Where the stretch of each t begins and ends: one more than `t`, from 0 to 1.
    estimate
        The plug-in estimate of the probability of label 1 at t; NaN where there are no rows. No guarantee.
    lower, upper
        With probability at least 1 - delta they enclose the probability of label 1 at every perturbed score in [0, 1],
        each on its stretch between edges. 0 and 1 where too few rows are near.
    negative, positive
        The shares of all rows whose perturbed scores are in the stretch, with label 0 and with label 1. Estimates.
    noise, confidence, n
        The noise, as given, and the number of rows.
    ends
        For noise on the odds, the mean probability over perturbed scores next to 0 and next to 1, enclosed together
        with the curve.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> band = calcert.curves.calibration_band(calcert.summarize(x, rng.random(10_000) < x)).thinned(4, (0.1, 0.9))
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
    confidence: float
    n: int
    ends: tuple[RangeMean, ...] = ()

    def __post_init__(self) -> None:
        if self.edges.size != self.t.size + 1:
            raise ValueError(
                f"a band must have one more edge than scores; got {self.edges.size}, {self.t.size} scores."
            )

    def thinned(self, stretches: int, between: tuple[float, float] = (0.0, 1.0)) -> CalibrationBand:
        """The part between two scores in at most so many stretches, about as wide as each other.

        Each is the envelope of those that it replaces, so that they are a band too.
        """
        # Scores 0 and 1 may be stretches without any width.
        first = int(np.searchsorted(self.edges[1:], between[0], "left"))
        last = int(np.searchsorted(self.edges[:-1], between[1], "right"))
        begin = np.searchsorted(self.edges, np.linspace(*between, stretches, endpoint=False), "right") - 1
        starts = np.unique(np.clip(np.append(first, begin[1:]), first, last - 1))
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
            negative=np.add.reduceat(self.negative[:last], starts),
            positive=np.add.reduceat(self.positive[:last], starts),
        )

    @property
    def miscalibrated_ranges(self) -> tuple[MiscalibratedRange, ...]:
        """Ranges of perturbed scores with certified miscalibration, the largest first; they hold where the band does.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random(100_000)
        >>> band = calcert.curves.calibration_band(calcert.summarize(x, rng.random(100_000) < x**2))
        >>> print(band.miscalibrated_ranges[0])
        between 0.21 and 0.76 the probability is below the score by at least 0.14
        """
        return miscalibrated_ranges_of(self.edges, self.lower, self.upper, self.negative + self.positive, self.ends)

    def _rows(self) -> list[dict[str, Any]]:
        names = ("t", "estimate", "lower", "upper", "negative", "positive")
        columns = (getattr(self, name).tolist() for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


@proved_for(any_rows)
def calibration_band(
    summary: Summary,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    delta: float = 0.05,
    points: int = 128,
) -> CalibrationBand:
    """Enclose the calibration function of the classifier perturbed by :func:`calcert.perturb`, simultaneously.

    Guarantee
        With probability at least 1 - delta over the rows, lower <= P(Y = 1 | S = s) <= upper for all perturbed scores s
        in [0, 1] together. Nothing is assumed of the score distribution or the calibration function. For clusters and
        weights it is the curve of a row drawn by weight from such clusters, or of the population (Theorem 8U).
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.

    Parameters
    ----------
    points
        Computed points to a bandwidth; more cost confidence, fewer cost room for the curve to move between them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> band = calcert.curves.calibration_band(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> middle = band.t.size // 2
    >>> print(f"at {band.t[middle]:.2f} between {band.lower[middle]:.3f} and {band.upper[middle]:.3f}; truth 0.251")
    at 0.50 between 0.211 and 0.289; truth 0.251
    """
    return perturbed_band(summary, choose_noise(odds, bandwidth), delta, points)


def perturbed_band(summary: Summary, noise: Noise, delta: float, points: int = 128) -> CalibrationBand:
    """The band for what the noise serves; arguments were checked."""
    where = coordinate_of(noise)
    # Rows of a cluster count as one trial, whatever their number (Theorem 8U).
    trials = summary.n if summary.clusters is None else summary.n / summary.clusters.heaviest
    grid = where.grid(FINENESS)
    index = where.reported(grid, _stride(grid, points))
    # By cell even where distinct scores are listed: weights must not depend on which rows were drawn.
    view = where.by_cell(summary)
    density, positive, rounding = _densities(grid, view, index)
    place = index / grid.size
    top = where.ceiling(grid, place)
    # The true sums of weights are not below these, and above them by at most `excess` in all.
    error = trials * (2 * rounding / top + CUT_OFF)
    hits = np.maximum(trials * positive / top - error, 0.0)
    misses = np.maximum(trials * (density - positive) / top - error, 0.0)
    excess = 4 * error + where.end_weight(view, place) * (trials / summary.n)
    known = math.log((index.size + 2 * where.atoms) / delta)  # With each atom goes the mean of an end.
    lower, upper = share_limits(hits, misses, known + excess * (2 + np.log1p(hits + misses + excess)))
    slack = float(np.diff(place).max()) / grid.h + odds_slack(where.weight_change(grid, place))
    between = (place[1:] + place[:-1]) / 2
    width = np.diff(between, prepend=place[0], append=place[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(hits + misses > 0, positive / density, np.nan)
        middle = CalibrationBand(
            t=where.score(place),
            edges=np.concatenate([[0.0], where.score(between), [1.0]]),
            estimate=np.clip(estimate, 0.0, 1.0),
            lower=_limit_moved(lower, -slack),
            upper=_limit_moved(upper, slack),
            negative=np.maximum(density - positive, 0.0) * width,
            positive=np.maximum(positive, 0.0) * width,
            noise=noise,
            confidence=complement(delta),
            n=summary.rows,
        )
    if not where.atoms:
        return middle
    outermost = where.score(np.array([place[0], place[-1]]))
    found = _with_ends(middle, outermost, _rows_at_0_and_1(summary), view, trials, known)
    return replace(found, ends=end_means(view, summary.cell_points, noise.size, trials, known))


def _rows_at_0_and_1(summary: Summary) -> Integers:
    """Rows per label at scores 0 and 1, which noise on the odds leaves unchanged; none at 0 unless it is listed."""
    points = summary.points
    zero, one = (points.high == 0) & summary.is_finite, points.low == 1
    return np.stack([points.count[which].sum(axis=0) for which in (zero, one)])


def _with_ends(
    band: CalibrationBand, outermost: Floats, atoms: Integers, view: View, trials: float, evidence: float
) -> CalibrationBand:
    """The band with a stretch on either side about which nothing is said, and with scores 0 and 1 as points."""
    misses, hits = atoms.T * (trials / view.n)
    lower, upper = share_limits(hits, misses, evidence)
    share = np.where(hits + misses > 0, hits / np.maximum(hits + misses, 1e-300), np.nan)
    low_end = view.ends.high < 0.5
    near = np.stack([view.ends.count[which].sum(axis=0) for which in (low_end, ~low_end)]) - atoms

    def around(middle: Floats, beside: Floats, ends: Floats) -> Floats:
        return np.concatenate([ends[:1], beside[:1], middle, beside[1:], ends[1:]])

    low, high = outermost
    return replace(
        band,
        t=np.concatenate([[0.0, low / 2], band.t, [(1 + high) / 2, 1.0]]),
        edges=np.concatenate([[0.0, 0.0, low], band.edges[1:-1], [high, 1.0, 1.0]]),
        estimate=around(band.estimate, np.full(2, np.nan), share),
        lower=around(band.lower, np.zeros(2), lower),
        upper=around(band.upper, np.ones(2), upper),
        negative=around(band.negative, near[:, 0] / view.n, atoms[:, 0] / view.n),
        positive=around(band.positive, near[:, 1] / view.n, atoms[:, 1] / view.n),
    )


def end_means(view: View, points: Points, b: float, trials: float, evidence: float) -> tuple[RangeMean, ...]:
    """The mean probability over perturbed scores within `END` of 0, and of 1, which are counted."""
    found, rounding = [], 1e-11  # Logarithms of odds are good to 1e-14, and divided by 1/256 at the least.
    ends = ((0.0, END, points.high, points.low), (1 - END, 1.0, 1 - points.low, 1 - points.high))
    for low, high, farthest, nearest in ends:
        # The nearer to the end a row is, the likelier its perturbed score lies there; where in its cell it is, nobody
        # knows.
        weight = distribution(END, farthest, b) * (1 - rounding)
        missed = distribution(END, nearest, b) * (1 + rounding) - weight
        misses, hits = (points.count * weight[:, None]).sum(axis=0, keepdims=True).T * (trials / view.n)
        unknown = float((points.count.sum(axis=1) * missed).sum()) * trials / view.n
        lower, upper = share_limits(hits, misses, evidence + unknown * (2 + np.log1p(hits + misses + unknown)))
        total = float(hits[0] + misses[0])
        estimate = float(hits[0]) / max(total, 1e-300)
        found.append(RangeMean(low, high, estimate, float(lower[0]), float(upper[0]), total / trials))
    return tuple(found)


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
    """Density of the perturbed score, that with label 1, and the largest rounding error of either, at grid points."""
    found = np.zeros((3, index.size))
    masses = grid.masses(view.places, view.n)
    for start, stop in grid.blocks(masses.index, grid.reach):
        a, b = np.searchsorted(index, (start, stop + 1))
        _, density, positive, rounding = grid.density(masses, start, stop + 1)
        inside = index[a:b] - start
        # At a single point the error may be larger than on average.
        largest = rounding * math.sqrt(stop - start + 1 + 2 * grid.reach)
        found[0, a:b], found[1, a:b], found[2, a:b] = density[inside], positive[inside], largest
    return found[0], found[1], found[2]
