"""A distribution that rows or clusters may have come from, and Summaries drawn from it: for estimates, never bounds.

Its scores are those of the rows. Its probability of label 1 at score x is x + strength * residual(x): the residual is
the local mean of label minus score, and the strength says how much of it is taken for error.

For rows in clusters, or with weights, scores and labels are those of as many plain rows as the clusters count for.
Sizes, weights and gains of the clusters stay as they are, and so does what was declared of them: more rows are more
clusters of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.validation import LARGEST_BANDWIDTH, LARGEST_ODDS
from calcert.perturbation.grids.coordinates import coordinate_of
from calcert.perturbation.noise import Noise
from calcert.reports.estimates import design_effect
from calcert.summary import cells
from calcert.summary.points import Points
from calcert.summary.summary import Summary

WIDER = 4
"""Residuals are averaged over so many bandwidths: less noise, and miscalibration is seldom finer."""

NEW_SCORES = 0.01
"""Scores count as a finite set where at most this share of the rows has a score that no other row has."""

SCORES = 4096
"""A distribution has no more scores than this, unless they are a finite set: more cost time and change nothing."""

FINE = 16
"""Quanta of weight to a row that counts as independent: enough to tell weights apart, few enough for integers."""

FAR, FAR_IN_CLUSTERS = 1 << 34, 1 << 29
"""So many independent rows that sampling no longer matters."""


@dataclass(frozen=True)
class FittedDistribution:
    """Scores with their shares, and the probability of label 1 at each: score + strength * residual, cut to [0, 1].

    Attributes
    ----------
    cell, offset, score, share, residual
        Of each score; its cell, and where in it.
    distinct
        The bits of the scores where they are a finite set; else scores are known to their cell.
    rows
        The Summary that it was fitted to.
    worth
        As how many independent rows these count.
    """

    cell: Integers
    offset: Floats
    score: Floats
    share: Floats
    residual: Floats
    distinct: Integers | None
    rows: Summary
    worth: float
    strength: float = 1.0

    @property
    def far(self) -> int:
        """So many rows that sampling no longer matters."""
        return FAR if self.rows.clusters is None else round(FAR_IN_CLUSTERS * self.rows.rows / self.worth)

    @property
    def probability(self) -> Floats:
        """Of label 1, at each score."""
        return np.clip(self.score + self.strength * self.residual, 0.0, 1.0)

    @property
    def gap(self) -> float:
        """How far the share of label 1 is above the mean score."""
        return float(self.share @ (self.probability - self.score))

    def draw(self, rows: int, rng: np.random.Generator) -> Summary:
        """The Summary of so many rows from the distribution, in clusters like those of the rows at hand."""
        if self.rows.clusters is None:
            return self._draw_plain(rows, rng)
        return self._in_clusters(rows, self._draw_plain(max(round(self.worth * rows / self.rows.rows), 1), rng))

    def _draw_plain(self, n: int, rng: np.random.Generator) -> Summary:
        rows = rng.multinomial(n, self.share)
        positive = rng.binomial(rows, self.probability)
        count = np.stack([rows - positive, positive], axis=1)
        seen = rows > 0
        cell, first = np.unique(self.cell[seen], return_index=True)
        offset = (count[seen] * self.offset[seen, None]).astype(np.int64)
        merged, moved = (np.add.reduceat(column, first, axis=0) for column in (count[seen], offset))
        if self.distinct is None:
            return Summary(cell, merged, moved, None, None)
        return Summary(cell, merged, moved, self.distinct[seen], count[seen])

    def _in_clusters(self, rows: int, plain: Summary) -> Summary:
        clusters = self.rows.clusters
        assert clusters is not None
        times, scale = rows / clusters.rows, FINE * self.worth / self.rows.n
        count, offset = FINE * plain.count, FINE * plain.offset
        squares = clusters.squares * scale**2 * times / (FINE * plain.n)

        def scaled(value: float, power: int) -> int:
            return max(round(value * scale**power * times), 1)

        drawn = replace(
            clusters,
            pairs=np.maximum(np.rint(count * squares).astype(np.int64), count),
            rows=rows,
            number=max(round(clusters.number * times), 1),
            largest=max(int(clusters.largest * scale), 1),
            fourth=scaled(float(clusters.fourth), 4),
            gain_squares=scaled(float(clusters.gain_squares), 2),
            gain_weights=scaled(float(clusters.gain_weights), 2),
            # How gains of rows of one cluster go together is that of the rows at hand alone.
            design=replace(clusters.design, quantum=clusters.design.quantum / scale, paired=False),
            pair_sums=None,
        )
        listed = None if plain.distinct_count is None else FINE * plain.distinct_count
        return Summary(plain.cell, count, offset, plain.distinct, listed, drawn)


def fit(summary: Summary, noise: Noise) -> FittedDistribution:
    """The distribution with the scores of the rows and, at full strength, their residuals, averaged over wider noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(50_000)
    >>> from calcert.perturbation.noise import Noise
    >>> distribution = fit(calcert.summarize(x, rng.random(50_000) < x**2), Noise("additive", 1/64))
    >>> print(f"error {(distribution.share * abs(distribution.residual)).sum():.2f}; the truth is 0.17")
    error 0.16; the truth is 0.17
    """
    cell, offset, score, rows, distinct = _scores(summary)
    largest = LARGEST_ODDS if noise.kind == "odds" else LARGEST_BANDWIDTH
    wider = replace(noise, size=min(WIDER * noise.size, largest))
    share, worth = rows / rows.sum(), summary.rows / design_effect(summary)
    residual = _residual(summary, score, wider)
    distribution = FittedDistribution(cell, offset, score, share, residual, distinct, summary, worth, strength=0.0)
    noise_alone = _residual(distribution.draw(summary.rows, np.random.default_rng(0)), score, wider)
    # What the residuals have beside their mean is shrunk by the part of it that is noise (James and Stein).
    mean = share @ residual
    shown, at_random = (share @ (each - share @ each) ** 2 for each in (residual, noise_alone))
    real = max(1 - at_random / max(shown, 1e-300), 0.0)
    return replace(distribution, residual=mean + real * (residual - mean), strength=1.0)


def _scores(summary: Summary) -> tuple[Integers, Floats, Floats, Floats, Integers | None]:
    """Cell, offset, score, weight and bits of the scores: one by one where they are a finite set."""
    if summary.distinct is not None and summary.distinct_count is not None:
        rows = summary.distinct_count.sum(axis=1)
        single = 1 if summary.clusters is None else summary.clusters.largest
        if (rows <= single).sum() <= NEW_SCORES * summary.rows:
            cell, offset = cells.locate((summary.values * cells.UNIT).astype(np.int64))
            return cell, offset.astype(float), summary.values, rows.astype(float), summary.distinct
    rows = summary.count.sum(axis=1)
    # Of neighbouring cells with few rows each, the one in the middle stands for all.
    group = ((np.cumsum(rows) - rows / 2) / summary.n * SCORES).astype(np.int64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    middle = (first + np.append(first[1:], rows.size) - 1) // 2
    offset = summary.offset.sum(axis=1)[middle] / rows[middle]
    score = summary.left[middle] + offset * cells.RESOLUTION
    return summary.cell[middle], offset, score, np.add.reduceat(rows, first).astype(float), None


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
    for place, density, excess, _ in grid.densities(grid.place(points).masses(weight)):
        here = (asked >= place[0]) & (asked <= place[-1])
        found[here] = np.interp(asked[here], place, excess) / np.interp(asked[here], place, density)
    return found
