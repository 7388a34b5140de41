"""What noise costs and buys: ranking, log loss and mean shift of the perturbed scores beside the certified bound.

The costs are estimates, but free of the noise that perturbing would add: densities of the perturbed score are
convolutions (theory, sections 1 and 11), so that nothing is drawn. The bounds are certified, all of one kind together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calcert.certificates import perturbed, several
from calcert.certificates.certificate import total
from calcert.foundation.array_types import Floats
from calcert.foundation.result import Result
from calcert.foundation.validation import check_confidence, check_summary, complement
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.grids.grid_view import chosen
from calcert.perturbation.noise import Noise
from calcert.reports.advice_and_warnings import RARE
from calcert.reports.estimates import auroc, log_loss
from calcert.sources.rows import Rows
from calcert.summary.points import Points
from calcert.summary.summary import Summary

LARGEST, SMALLEST = 2.0**-3, 2.0**-16
MOST = 14
"""How many powers of two there are from LARGEST to SMALLEST."""

FINENESS = 128
"""Of the grid on which perturbed scores are ranked."""

ODDS = tuple(2.0**-k for k in range(7, 0, -1))
"""Noise on the odds that is tried: 1/128 to 1/2, whatever the rows."""


@dataclass(frozen=True)
class NoiseCost:
    """One kind and size of noise: what it costs, and what can be certified of it.

    Attributes
    ----------
    noise
        The noise.
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
        False where a bandwidth is large next to the mean score of the rarer outcome; noise on the odds always fits.
    upper, each
        Certified upper bound on the L1 calibration error of the perturbed classifier, and what it may fail with.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> row = calcert.noise_costs(calcert.summarize(x, rng.random(10_000) < x), odds=[1/16]).rows[0]
    >>> print(f"a score moves by {row.mean_shift:.3f}, AUROC falls by {row.auroc_loss:.4f}")
    a score moves by 0.012, AUROC falls by 0.0006
    """

    noise: Noise
    auroc: float
    auroc_loss: float
    log_loss: float
    log_loss_added: float
    mean_shift: float
    mean_score: float
    fits_rare_events: bool
    upper: float
    each: float


@dataclass(frozen=True)
class NoiseCosts(Result):
    """A row for each noise on the odds, smallest first, then for each bandwidth, and the current scores.

    The upper bounds of all rows of one kind hold together with probability at least 1 - delta: any of them may be
    chosen after looking at them, and then be certified with these rows again at its `each`.

    Attributes
    ----------
    rows
        One for each noise.
    auroc, log_loss, mean_score
        Of the current scores.
    confidence
        Probability with which all upper bounds of one kind hold together.
    n
        The number of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> costs = calcert.noise_costs(calcert.summarize(x, rng.random(10_000) < x))
    >>> costs.recommended().noise.shown
    'odds 1/16'
    """

    kind: ClassVar = "noise costs"
    noun: ClassVar = "the table of noise costs"

    rows: tuple[NoiseCost, ...]
    auroc: float
    log_loss: float
    mean_score: float
    confidence: float
    n: int

    def recommended(self, max_auroc_loss: float = 0.001) -> NoiseCost | None:
        """The most noise that costs at most so much AUROC, None if none does.

        On the odds wherever such was tried, so that the kind is not chosen by the rows; else the largest bandwidth that
        fits rare events.
        """
        kind = "odds" if any(row.noise.kind == "odds" for row in self.rows) else "additive"
        good = [row for row in self.rows if row.fits_rare_events and not row.auroc_loss > max_auroc_loss]
        return max((row for row in good if row.noise.kind == kind), key=lambda row: row.noise.size, default=None)

    def _rows(self) -> list[dict[str, Any]]:
        return [{"kind": row.noise.kind, "size": row.noise.size} | _numbers(row) for row in self.rows]


def _numbers(row: NoiseCost) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "noise"}


def noise_costs(
    scores: Any,
    labels: Any = None,
    *,
    bandwidths: Sequence[float] | None = None,
    odds: Sequence[float] | None = None,
    confidence: float = 0.95,
) -> NoiseCosts:
    """What each kind and size of noise would cost in ranking and log loss, and what would be certified of it.

    Guarantee
        With probability at least 1 - delta over the rows, every `upper` of noise on the odds holds, and likewise every
        `upper` of a bandwidth: m given ones at delta/m each; of the default lists the seven on the odds at delta/7
        each, and the bandwidths at delta/14 each, as the rows choose among 14. The other columns are estimates.
    Assumes
        As :func:`calcert.bounds.perturbed`. Noise that is given was all listed before the rows were seen: a second
        list, made after a look at the first, is not covered.

    Parameters
    ----------
    scores, labels
        The rows, with their unperturbed scores: all that :func:`calcert.summarize` takes.
    bandwidths, odds
        Which to try. Where both are left out: on the odds 1/2, 1/4, ..., 1/128, and bandwidths that are powers of two
        suited to the rows.
    confidence
        Probability with which all upper bounds of a kind hold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.beta(2, 5, 100_000)
    >>> costs = calcert.noise_costs(calcert.summarize(x, rng.random(100_000) < x), bandwidths=[1/64], odds=[1/16, 1/8])
    >>> for row in costs.rows:
    ...     print(f"{row.noise.shown}: {row.auroc_loss:.5f} {row.log_loss_added:.5f} {row.upper:.4f}")
    odds 1/16: 0.00140 0.00086 0.0069
    odds 1/8: 0.00538 0.00344 0.0091
    bandwidth 1/64: 0.00261 0.00217 0.0065
    """
    summary = Rows.of(scores, labels).summary()
    check_summary(summary)
    delta = complement(check_confidence(confidence))
    tried: list[tuple[Noise, float]] = []
    if bandwidths is None and odds is None:
        # How many powers of two are tried depends on the scores; had they chosen their own level too, delta would be
        # exceeded. Of all that might be tried each has its share.
        tried += [(Noise("odds", b), several.share(delta, len(ODDS))) for b in ODDS]
        tried += [(Noise("additive", h), several.share(delta, MOST)) for h in sorted(default_bandwidths(summary))]
    for kind, sizes in (("odds", odds), ("additive", bandwidths)):
        if sizes is not None and not len(sizes):
            name = "odds" if kind == "odds" else "bandwidths"
            raise ValueError(f"{name} must name at least one, such as [1/64], or be left out; got none.")
        given = sorted({Noise(kind, size) for size in sizes or ()}, key=lambda noise: noise.size)  # type: ignore[arg-type]
        tried += [(noise, several.share(delta, len(given))) for noise in given]
    as_they_are = auroc(summary), log_loss(summary)
    rows = [_cost(summary, noise, each, *as_they_are) for noise, each in tried]
    return NoiseCosts(tuple(rows), *as_they_are, summary.mean_score, complement(delta), summary.n)


def _cost(summary: Summary, noise: Noise, each: float, ranking_before: float, loss_before: float) -> NoiseCost:
    ranking, loss = ranking_and_log_loss(summary, noise)
    view = coordinate_of(noise).joined(summary)
    return NoiseCost(
        noise=noise,
        auroc=ranking,
        auroc_loss=ranking_before - ranking,
        log_loss=loss,
        log_loss_added=loss - loss_before if math.isfinite(loss_before) else math.nan,
        mean_shift=view.mean_of(noise.mean_shift),
        mean_score=view.mean_of(noise.mean),
        fits_rare_events=noise.kind == "odds" or noise.size * RARE <= _rarer(summary),
        upper=total(perturbed.upper_terms(summary, noise, each))[0],
        each=each,
    )


def default_bandwidths(summary: Summary) -> list[float]:
    """Powers of two from 1/8 to three below the largest that fits the rarer outcome, and at least to 1/256."""
    # Where scores crowd at 0, one that fits still costs ranking; three halvings bring that down to about a thousandth.
    fits = 2.0 ** math.floor(math.log2(_rarer(summary) / RARE))
    smallest = max(min(2.0**-8, fits / 8), SMALLEST)
    return [2.0**-k for k in range(round(-math.log2(LARGEST)), round(-math.log2(smallest)) + 1)]


def _rarer(summary: Summary) -> float:
    """The mean score of the rarer outcome; where it is 0, half a row's worth."""
    rarer = min(summary.mean_score, 1 - summary.mean_score)
    return rarer if rarer > 0 else 0.5 / summary.n


class _Pairs:
    """Shares of rows from low scores to high ones: how many pairs are in order, and what labels cost in log loss."""

    def __init__(self) -> None:
        self.zeros = self.ones = self.ordered = self.loss = 0.0

    def add(self, zeros: Floats, ones: Floats, surprise_of_zero: Floats, surprise_of_one: Floats) -> None:
        """Some more, each a tie: shares of both labels and the mean log loss of each."""
        before = self.zeros + np.cumsum(zeros) - zeros / 2
        self.ordered += float((ones * before).sum())
        for share, surprise in ((ones, surprise_of_one), (zeros, surprise_of_zero)):
            there = share > 0  # A label that is not there costs nothing, whatever it would have cost.
            self.loss += float((share[there] * surprise[there]).sum())
        self.zeros, self.ones = self.zeros + float(zeros.sum()), self.ones + float(ones.sum())

    def add_as_they_are(self, points: Points, n: int) -> None:
        """Rows whose scores noise on the odds hardly moves, or not at all."""
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = -np.log(points.positions), -np.log1p(-points.positions)
        zeros, ones = points.count.T / n
        self.add(zeros, ones, surprise[1][:, 0], surprise[0][:, 1])


def ranking_and_log_loss(summary: Summary, noise: Noise) -> tuple[float, float]:
    """AUROC and expected log loss of the perturbed scores of the rows, without drawing them; AUROC NaN for one label.

    AUROC is the integral of f1 F0, f1 the density of perturbed scores with label 1 and F0 the distribution function of
    those with label 0; log loss that of -ln t and -ln(1 - t) against the two densities. Both by cells of the grid, over
    which the logarithms are averaged exactly, as they are infinite at the ends. Scores 0 and 1 that are left
    unperturbed tie among themselves; a wrong label there costs infinite log loss.
    """
    where = coordinate_of(noise)
    grid, view, pairs = where.grid(FINENESS), where.fewest_ends(summary), _Pairs()
    low = view.ends.high < 0.5
    pairs.add_as_they_are(chosen(view.ends, low), view.n)
    for place, density, positive, _ in grid.densities(grid.masses(view.places, view.n)):
        t = where.score(place)
        zeros, ones = (_per_cell(part, grid.step) for part in (density - positive, positive))
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs.add(zeros, ones, _mean_surprise(1 - t), _mean_surprise(t))
    pairs.add_as_they_are(chosen(view.ends, ~low), view.n)
    one_label = summary.positives in (0, summary.n)
    ranking = math.nan if one_label else pairs.ordered / (pairs.zeros * pairs.ones)
    return ranking, pairs.loss / (pairs.zeros + pairs.ones)


def _per_cell(density: Floats, step: float) -> Floats:
    """Mass between neighbouring grid points."""
    return np.asarray(np.maximum(density[:-1] + density[1:], 0.0) * step / 2)


def _mean_surprise(t: Floats) -> Floats:
    """The mean of -ln t between neighbouring grid points; where they cannot be told apart, that at one of them."""
    apart = np.diff(t)
    part = t * np.log(np.where(t > 0, t, 1.0))
    return np.where(apart != 0, 1 - np.diff(part) / apart, -np.log(np.maximum(t[1:], 1e-300)))
