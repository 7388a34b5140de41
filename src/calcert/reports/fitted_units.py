"""A law that rows in clusters, or with weights, could have come from: for estimates, never for bounds.

Scores and labels come from the law fitted to as many plain rows as the units count for. Sizes, weights and gains of the
units stay as they are, and so does what was declared of them: more rows are more units of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calcert.reports.advice import design_effect
from calcert.reports.fitted_law import FittedLaw, fit
from calcert.serving.noise import Noise
from calcert.summary.counts import Summary
from calcert.summary.units import Units

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
