"""What a bandwidth costs and buys: ranking, log loss and mean shift of the perturbed scores beside the certified bound.

The costs are estimates, but free of the noise that perturbing would add: densities of the served score are convolutions
(theory, sections 1 and 11), so that nothing is drawn. The bounds are certified, all together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from calcert.certificates import choice, perturbed
from calcert.certificates.certificate import total
from calcert.foundation.result import Result
from calcert.foundation.validation import check_bandwidth, check_delta, check_summary
from calcert.reports.advice import RARE
from calcert.reports.estimates import auroc, log_loss
from calcert.serving import kernel
from calcert.serving.grid import Grid
from calcert.serving.noise import Noise
from calcert.summary.counts import Summary

Floats = NDArray[np.float64]

FINENESS = 128
LARGEST, SMALLEST = 2.0**-3, 2.0**-16
MOST = 14
"""How many powers of two there are from LARGEST to SMALLEST."""


@dataclass(frozen=True)
class BandwidthCost:
    """One bandwidth: what serving with it costs, and what can be certified of it.

    Attributes
    ----------
    bandwidth
        h of the sech kernel.
    auroc, auroc_loss
        AUROC of the perturbed scores, exact for the rows seen, and how much less that is than of the scores as they
        are. An estimate for other rows, as every AUROC is.
    log_loss, log_loss_added
        Expected log loss of the perturbed scores, and how much more that is.
    mean_shift
        E|S - X|, how far a score is moved on average.
    mean_score
        The mean perturbed score.
    fits_rare_events
        False where the bandwidth is large next to the mean score of the rarer outcome.
    upper
        Certified upper bound on the L1 calibration error of the perturbed classifier.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> row = calcert.bandwidth_costs(calcert.summarize(x, rng.random(10_000) < x), [1/64]).rows[0]
    >>> print(f"a score moves by {row.mean_shift:.3f}, AUROC falls by {row.auroc_loss:.4f}")
    a score moves by 0.018, AUROC falls by 0.0011
    """

    bandwidth: float
    auroc: float
    auroc_loss: float
    log_loss: float
    log_loss_added: float
    mean_shift: float
    mean_score: float
    fits_rare_events: bool
    upper: float


@dataclass(frozen=True)
class BandwidthCosts(Result):
    """A row for each bandwidth, smallest first, and the scores as they are for comparison.

    The upper bounds of all rows hold together with probability at least 1 - delta: any of the bandwidths may be chosen
    after looking at them, and then be certified with these rows again at `each`.

    Attributes
    ----------
    rows
        One for each bandwidth.
    auroc, log_loss, mean_score
        Of the scores as they are.
    delta, each
        What all upper bounds together, and what each of them, may fail with.
    n
        The number of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> costs = calcert.bandwidth_costs(calcert.summarize(x, rng.random(10_000) < x))
    >>> costs.recommended().bandwidth
    0.0078125
    """

    kind: ClassVar = "bandwidths"
    noun: ClassVar = "the table of bandwidths"

    rows: tuple[BandwidthCost, ...]
    auroc: float
    log_loss: float
    mean_score: float
    delta: float
    each: float
    n: int

    def recommended(self, max_auroc_loss: float = 0.001) -> BandwidthCost | None:
        """The largest bandwidth that fits rare events and costs at most so much AUROC; None if there is none."""
        good = [row for row in self.rows if row.fits_rare_events and not row.auroc_loss > max_auroc_loss]
        return max(good, key=lambda row: row.bandwidth, default=None)

    def _rows(self) -> list[dict[str, Any]]:
        return [dict(vars(row)) for row in self.rows]


def bandwidth_costs(
    summary: Summary, bandwidths: Sequence[float] | None = None, *, delta: float = 0.05
) -> BandwidthCosts:
    """What each bandwidth would cost in ranking and log loss, and what would be certified of it.

    Guarantee
        With probability at least 1 - delta over the rows, every `upper` holds: m given bandwidths at delta/m each, and
        those of the default list at delta/14 each, as the rows choose among 14. The other columns are estimates.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned for the original scores.
    bandwidths
        Which to try; powers of two suited to the rows when None.
    delta
        Probability with which any of the upper bounds may fail.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.beta(2, 5, 100_000)
    >>> costs = calcert.bandwidth_costs(calcert.summarize(x, rng.random(100_000) < x), [1/64, 1/16])
    >>> for row in costs.rows:
    ...     print(f"{row.bandwidth:.4f} {row.auroc_loss:.5f} {row.log_loss_added:.5f} {row.upper:.4f}")
    0.0156 0.00261 0.00217 0.0070
    0.0625 0.03200 0.02771 0.0344
    """
    check_summary(summary)
    delta = check_delta(delta)
    tried = sorted({check_bandwidth(h) for h in (default_bandwidths(summary) if bandwidths is None else bandwidths)})
    if not tried:
        raise ValueError("bandwidths must name at least one bandwidth, such as [1/64]; got none.")
    # How many powers of two are tried depends on the scores; had they chosen their own level too, delta would be
    # exceeded. Of all that might be tried each has its share.
    each = choice.share(delta, MOST if bandwidths is None else len(tried))
    as_they_are = auroc(summary), log_loss(summary)
    rarer = _rarer(summary)
    rows = []
    for h in tried:
        ranking, loss = ranking_and_log_loss(summary, h)
        rows.append(
            BandwidthCost(
                bandwidth=h,
                auroc=ranking,
                auroc_loss=as_they_are[0] - ranking,
                log_loss=loss,
                log_loss_added=loss - as_they_are[1],
                mean_shift=_mean_over_rows(summary, kernel.mean_absolute_shift, h),
                mean_score=_mean_over_rows(summary, kernel.mean, h),
                fits_rare_events=h * RARE <= rarer,
                upper=total(perturbed.upper_terms(summary, Noise("additive", h), each))[0],
            )
        )
    return BandwidthCosts(tuple(rows), *as_they_are, summary.mean_score, delta, each, summary.n)


def default_bandwidths(summary: Summary) -> list[float]:
    """Powers of two from 1/8 to three below the largest that fits the rarer outcome, and at least to 1/256."""
    # Where scores crowd at 0, one that fits still costs ranking; three halvings bring that down to about a thousandth.
    fits = 2.0 ** math.floor(math.log2(_rarer(summary) / RARE))
    smallest = max(min(2.0**-8, fits / 8), SMALLEST)
    return [2.0**-k for k in range(round(-math.log2(LARGEST)), round(-math.log2(smallest)) + 1)]


def ranking_and_log_loss(summary: Summary, bandwidth: float) -> tuple[float, float]:
    """AUROC and expected log loss of the perturbed scores of the rows, without drawing them; AUROC NaN for one label.

    AUROC is the integral of f1 F0, f1 the density of served scores with label 1 and F0 the distribution function of
    those with label 0; log loss that of -ln t and -ln(1 - t) against the two densities. Both by cells of the grid, over
    which the logarithms are averaged exactly, as they are infinite at the ends.
    """
    grid = Grid(check_bandwidth(bandwidth), FINENESS)
    points = summary.points
    below = ranked = hits = loss = 0.0
    for t, served, positive, _ in grid.densities(grid.place(points).masses(points.count)):
        ones, zeros = (_per_cell(density, grid.step) for density in (positive, served - positive))
        before = below + np.cumsum(zeros) - zeros / 2
        ranked += float((ones * before).sum())
        loss += float((ones * _mean_surprise(t)).sum() + (zeros * _mean_surprise(1 - t)).sum())
        below, hits = below + float(zeros.sum()), hits + float(ones.sum())
    one_label = summary.positives in (0, summary.n)
    return math.nan if one_label else ranked / (below * hits), loss / (below + hits)


def _per_cell(density: Floats, step: float) -> Floats:
    """Mass between neighbouring grid points."""
    return np.asarray(np.maximum(density[:-1] + density[1:], 0.0) * step / 2)


def _mean_surprise(t: Floats) -> Floats:
    """The mean of -ln t between neighbouring grid points."""
    return np.asarray(1 - np.diff(xlogy(t, t)) / np.diff(t))


def _mean_over_rows(summary: Summary, function: Callable[[Floats, float], Floats], h: float) -> float:
    """The mean of function(score, h), linear inside cells."""
    points, total = summary.points, 0.0
    for position, share in ((points.low, 1 - points.fraction), (points.high, points.fraction)):
        total += float(((points.count * share).sum(axis=1) * function(position, h)).sum())
    return total / summary.n


def _rarer(summary: Summary) -> float:
    """The mean score of the rarer outcome; where it is 0, half a row's worth."""
    rarer = min(summary.mean_score, 1 - summary.mean_score)
    return rarer if rarer > 0 else 0.5 / summary.n
