"""A law that rows, or clusters of rows, could have come from, and Summaries drawn from it: for estimates, never bounds.

Its scores are those of the rows. Its chance of label 1 at score x is x + strength * residual(x): the residual is the
local mean of label minus score, and the strength shrinks or stretches it until rows drawn from the law show on average
the plug-in calibration error of the rows themselves. Without shrinking, sampling noise would count as error.

For rows in clusters, or with weights, scores and labels come from the law fitted to as many plain rows as the units
count for. Sizes, weights and gains of the units stay as they are, and so does what was declared of them: more rows are
more units of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from calcert.certificates import perturbed
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.validation import LARGEST_BANDWIDTH, LARGEST_ODDS
from calcert.reports.estimates import design_effect
from calcert.serving.grids.coordinate_of_noise import coordinate_of
from calcert.serving.noise import Noise
from calcert.summary import cells
from calcert.summary.points import Points
from calcert.summary.summary import Summary
from calcert.summary.units import Units

WIDER = 4
"""Residuals are averaged over so many bandwidths: less noise, and miscalibration is seldom finer."""

CLEARLY = 3.0
"""Standard deviations by which the rows must show more error than the law before a finer fit is made."""

STRONGEST = 4.0
DRAWS = 4
NEW_SCORES = 0.01
"""Scores count as a finite set where at most this share of the rows has a score that no other row has."""


@dataclass(frozen=True)
class FittedLaw:
    """Scores with their shares, and the chance of label 1 at each: score + strength * residual, cut to [0, 1].

    `distinct` holds the bits of the scores where they are a finite set; else scores are known to their cell.
    """

    cell: Integers
    offset: Floats
    score: Floats
    share: Floats
    residual: Floats
    strength: float
    distinct: Integers | None
    far: ClassVar = 1 << 34
    """So many rows that sampling no longer matters."""

    def draw(self, n: int, rng: np.random.Generator) -> Summary:
        """The Summary of n rows from the law."""
        rows = rng.multinomial(n, self.share)
        chance = np.clip(self.score + self.strength * self.residual, 0.0, 1.0)
        positive = rng.binomial(rows, chance)
        count = np.stack([rows - positive, positive], axis=1)
        seen = rows > 0
        cell, first = np.unique(self.cell[seen], return_index=True)
        offset = (count[seen] * self.offset[seen, None]).astype(np.int64)
        merged, moved = (np.add.reduceat(column, first, axis=0) for column in (count[seen], offset))
        if self.distinct is None:
            return Summary(cell, merged, moved, None, None)
        return Summary(cell, merged, moved, self.distinct[seen], count[seen])


def fit(summary: Summary, noise: Noise, seed: int = 0, *, rows: int | None = None) -> FittedLaw:
    """The law whose rows look like those of the Summary to Theorem 1, under wider noise if that explains the rows.

    `rows` is how many independent ones they count for, if not for as many as they are.

    Wider noise averages over more rows. Where rows from the law so fitted show clearly less error under `noise` itself
    than the rows do, miscalibration is finer than that, and the strength is matched under `noise` instead.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(50_000)
    >>> from calcert.serving.noise import Noise
    >>> law = fit(calcert.summarize(x, rng.random(50_000) < x**2), Noise("additive", 1/64))
    >>> print(f"error {(law.share * abs(law.strength * law.residual)).sum():.2f}; the truth is 0.17")
    error 0.17; the truth is 0.17
    """
    law, wider = _scores(summary), _wider(noise)
    law = replace(law, residual=_residual(summary, law.score, wider))
    number = rows or summary.n
    wide = _matched(law, summary, number, wider, seed)
    shown = _shown(wide, number, noise, seed, draws=3 * DRAWS)
    if _plug_in(summary, noise) <= shown.mean() + CLEARLY * shown.std(ddof=1):
        return wide
    return _matched(law, summary, number, noise, seed)


def _wider(noise: Noise) -> Noise:
    largest = LARGEST_ODDS if noise.kind == "odds" else LARGEST_BANDWIDTH
    return replace(noise, size=min(WIDER * noise.size, largest))


def _matched(law: FittedLaw, summary: Summary, number: int, noise: Noise, seed: int) -> FittedLaw:
    """The law with the strength at which so many of its rows show on average the plug-in error of the Summary."""
    observed = _plug_in(summary, noise)

    def enough(strength: float) -> bool:
        return bool(_shown(replace(law, strength=strength), number, noise, seed).mean() >= observed)

    low, high = 0.0, STRONGEST
    if enough(low):
        return law
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return replace(law, strength=(low + high) / 2)


def _shown(law: FittedLaw, n: int, noise: Noise, seed: int, draws: int = DRAWS) -> Floats:
    """The plug-in error of each of a few Summaries of n rows from the law; the same chance at every strength."""
    rng = np.random.default_rng(seed)
    return np.array([_plug_in(law.draw(n, rng), noise) for _ in range(draws)])


def _scores(summary: Summary) -> FittedLaw:
    """Scores and shares; one by one where they are a finite set."""
    if summary.distinct is not None and summary.distinct_count is not None:
        rows = summary.distinct_count.sum(axis=1)
        single = 1 if summary.units is None else summary.units.largest
        if (rows <= single).sum() <= NEW_SCORES * summary.rows:
            cell, offset = cells.locate((summary.values * cells.UNIT).astype(np.int64))
            zeros = np.zeros(rows.size)
            return FittedLaw(cell, offset.astype(float), summary.values, rows / summary.n, zeros, 0.0, summary.distinct)
    rows = summary.count.sum(axis=1)
    offset = summary.offset.sum(axis=1) / rows
    score = summary.left + offset * cells.RESOLUTION
    return FittedLaw(summary.cell, offset, score, rows / summary.n, np.zeros(rows.size), 0.0, None)


def _residual(summary: Summary, score: Floats, noise: Noise) -> Floats:
    """The mean of label minus score around each score, weighted by what the noise serves."""
    where = coordinate_of(noise)
    grid = where.grid(64)
    rows = summary.count.sum(axis=1)
    mean = summary.score_sum.sum(axis=1) / rows
    residual = summary.count[:, 1] - summary.score_sum.sum(axis=1)
    weight = np.stack([rows - residual, residual], axis=1)
    known, asked = where.place(where.inside(mean)), where.place(where.inside(score))
    points = Points(known, known, np.zeros(weight.shape), weight)
    found = np.zeros(score.size)
    for place, served, excess, _ in grid.densities(grid.place(points).masses(weight)):
        here = (asked >= place[0]) & (asked <= place[-1])
        found[here] = np.interp(asked[here], place, excess) / np.interp(asked[here], place, served)
    return found


def _plug_in(summary: Summary, noise: Noise) -> float:
    return perturbed.upper_terms(summary, noise, 0.05)["plug-in"]


FINE = 16
"""Quanta of weight to a row that counts as independent: enough to tell weights apart, few enough for integers."""

FAR = 1 << 29
"""So many independent rows that sampling no longer matters."""


@dataclass(frozen=True)
class FittedUnits:
    """The law of scores and labels, the units of so many quanta of weight, and how many plain rows they count for."""

    law: FittedLaw
    units: Units
    weight: int
    worth: float

    @property
    def far(self) -> int:
        """So many rows that sampling no longer matters."""
        return round(FAR * self.units.rows / self.worth)

    def draw(self, rows: int, rng: np.random.Generator) -> Summary:
        """The Summary of about so many rows, in units like those of the rows at hand."""
        times = rows / self.units.rows
        plain = self.law.draw(max(round(self.worth * times), 1), rng)
        scale = FINE * self.worth / self.weight
        count, offset = FINE * plain.count, FINE * plain.offset
        squares = self.units.squares * scale**2 * times / (FINE * plain.n)

        def scaled(value: float, power: int) -> int:
            return max(round(value * scale**power * times), 1)

        units = replace(
            self.units,
            pairs=np.maximum(np.rint(count * squares).astype(np.int64), count),
            rows=rows,
            number=max(round(self.units.number * times), 1),
            largest=max(int(self.units.largest * scale), 1),
            fourth=scaled(float(self.units.fourth), 4),
            gain_squares=scaled(float(self.units.gain_squares), 2),
            gain_weights=scaled(float(self.units.gain_weights), 2),
            # How gains of rows of one unit go together is that of the rows at hand alone.
            design=replace(self.units.design, quantum=self.units.design.quantum / scale, paired=False),
            pair_sums=None,
        )
        listed = None if plain.distinct_count is None else FINE * plain.distinct_count
        return Summary(plain.cell, count, offset, plain.distinct, listed, units)


def fit_units(summary: Summary, units: Units, noise: Noise, seed: int = 0) -> FittedUnits:
    """The law whose rows, in such units, look like those of the Summary.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat(rng.random(2_000), 5)
    >>> rows = calcert.summarize(x, np.repeat(rng.random(2_000), 5) < x, clusters=np.arange(10_000) // 5)
    >>> from calcert.serving.noise import Noise
    >>> law = fit_units(rows, rows.units, Noise("odds", 1/16))
    >>> law.draw(50_000, rng).units.number
    10000
    """
    worth = summary.rows / design_effect(summary)
    return FittedUnits(fit(summary, noise, seed, rows=max(round(worth), 1)), units, summary.n, worth)
