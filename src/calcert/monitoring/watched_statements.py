"""What a state may watch: per statement, how betting strategies learn, and what is certified of rows and windows.

A state watches one statement for life. Its lower bounds and its alarm need witnesses that were fixed before each batch
and whose mean gain is at most the error (W1); its upper bounds need the statement for drifting distributions (W2); its
windows are certified as reports are (W3).

A witness is a function of score and label (docs/theory/monitoring.md). No bound depends on how good it is, only how
soon an alarm comes. Three memories of earlier batches forget with different half-lives, each with a betting strategy of
its own: one has forgotten old, calibrated rows, another finds errors that take a million rows to see.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar, Self

import numpy as np

from calcert.certificates.certificate import Certificate
from calcert.certificates.cutoff import widest_run
from calcert.certificates.drifting_pool import pooled_cutoff, pooled_distance, pooled_upper
from calcert.foundation.array_types import Floats, Integers
from calcert.reports.settings import Settings
from calcert.summary import cells
from calcert.summary.points import Points
from calcert.summary.summary import Summary

CELLS_PER_BLOCK = 64
"""Cells of a Summary that a memory does not tell apart."""

BLOCKS = cells.CELLS // CELLS_PER_BLOCK + 1
"""Blocks are 1/256 wide in the middle of [0, 1] and finer near its ends, as cells are."""

HALF_LIVES = (4_000.0, 32_000.0, math.inf)
"""Rows after which a memory has forgotten half: one for sudden changes, one for slow ones, one for none at all."""

NODES = np.linspace(-1.0, 1.0, 65)
"""Gains at which the histogram of a batch is kept."""

SCALES = (1, 8, 64, BLOCKS)
"""Numbers of groups of equal mass in which a witness may be constant; at the finest, a group is a block."""

USUAL_SCALE = 1
"""As long as none has proven itself: 8 groups."""

PROOF = 2.0
"""Standard errors that a scale must have earned to be preferred."""


def kept_after(rows: int) -> Floats:
    """The share of what each memory knows that is left after so many more rows."""
    return np.array([2.0 ** -(rows / half_life) for half_life in HALF_LIVES])


def block_of(batch: Summary) -> Integers:
    """The block of each of the batch's points."""
    if not batch.is_finite:
        return batch.cell // CELLS_PER_BLOCK
    cell, _ = cells.locate(np.floor(batch.values * cells.UNIT).astype(np.int64))
    return cell // CELLS_PER_BLOCK


def per_block(batch: Summary) -> Floats:
    """Rows, sum of x - y and sum of (x - y)^2 per block, the last from the mean score of each cell."""
    block, rows = batch.cell // CELLS_PER_BLOCK, batch.count.sum(axis=1)
    score = batch.score_sum.sum(axis=1)
    mean = score / rows
    square = batch.count[:, 0] * mean**2 + batch.count[:, 1] * (1 - mean) ** 2
    return np.stack([np.bincount(block, values, BLOCKS) for values in (rows, score - batch.count[:, 1], square)])


def gains(batch: Summary, witnesses: Floats) -> Floats:
    """Per function of the score, given by its values on blocks, the histogram of what rows gain."""
    points, block, histograms = batch.points, block_of(batch), []
    for witness in witnesses:
        f = witness[block]
        worst = np.where(f >= 0, points.low, points.high)
        histograms.append(shared(np.stack([f * worst, f * (worst - 1)], axis=1), points.count))
    return np.array(histograms)


def shared(gain: Floats, count: Integers) -> Floats:
    """The histogram over NODES of gains in [-1, 1], each with its number of rows, shared between the nearest nodes."""
    rows, place = count.ravel(), (gain.ravel() + 1) * ((NODES.size - 1) / 2)
    base = np.minimum(place.astype(np.int64), NODES.size - 2)
    upper = rows * (place - base)
    histogram = np.zeros(NODES.size)
    histogram += np.bincount(base, rows - upper, NODES.size)
    histogram[1:] += np.bincount(base, upper, NODES.size)[:-1]
    return histogram


class Memory(ABC):
    """Rows seen, with forgetting: a frozen dataclass of arrays that begin with an axis of three memories."""

    shapes: ClassVar[tuple[tuple[int, ...], ...]]
    """Of its arrays, per memory."""

    @classmethod
    def blank(cls) -> Self:
        """Nothing seen yet."""
        return cls(*(np.zeros((len(HALF_LIVES), *shape)) for shape in cls.shapes))

    def packed(self) -> bytes:
        """As a state keeps it."""
        return b"".join(array.tobytes() for array in vars(self).values() if isinstance(array, np.ndarray))

    @classmethod
    def unpacked(cls, content: bytes) -> Self:
        """The inverse of :meth:`packed`."""
        sizes = [len(HALF_LIVES) * math.prod(shape) for shape in cls.shapes]
        parts = np.split(np.frombuffer(content), np.cumsum(sizes)[:-1])
        return cls(*(part.reshape(-1, *shape) for part, shape in zip(parts, cls.shapes, strict=True)))

    @abstractmethod
    def gains(self, batch: Summary) -> Floats:
        """Per memory, the histogram over NODES of what the rows of `batch` gain from its witness.

        A row is known to its cell, so its gain is the smallest that any place in the cell could give.
        """

    @abstractmethod
    def after(self, batch: Summary) -> Self:
        """The memory once the batch has been judged."""


class ScoreMemory(Memory):
    """Witnesses f(x) (x - y), for a function f of the score that is constant on blocks."""

    @abstractmethod
    def witnesses(self) -> Floats:
        """For the next batch, one function per memory, by its values on blocks."""

    def gains(self, batch: Summary) -> Floats:
        return gains(batch, self.witnesses())


@dataclass(frozen=True)
class L1Memory(ScoreMemory):
    """Functions into [-1, 1], witnesses of the L1 error.

    Seen are, per memory and block, rows, the sum of x - y and that of (x - y)^2; earned is, per memory and scale, what
    witnesses would have, forgotten likewise.
    """

    shapes: ClassVar = ((3, BLOCKS), (len(SCALES),))

    seen: Floats
    earned: Floats

    @cached_property
    def proposed(self) -> Floats:
        """A witness for every memory and scale, per block; shape (memories, scales, blocks)."""
        return np.array([_signs(seen) for seen in self.seen])

    def witnesses(self) -> Floats:
        """At the scale that earned most, if it earned enough."""
        proven = self.earned.max(axis=1) > PROOF * np.sqrt(self.seen[:, 2].sum(axis=1))
        scale = np.where(proven, self.earned.argmax(axis=1), USUAL_SCALE)
        return np.asarray(self.proposed[np.arange(len(HALF_LIVES)), scale])

    def after(self, batch: Summary) -> L1Memory:
        blocks = per_block(batch)
        kept = kept_after(batch.n)
        return L1Memory(
            seen=self.seen * kept[:, None, None] + blocks,
            earned=self.earned * kept[:, None] + np.einsum("msb,b->ms", self.proposed, blocks[1]),
        )


def _signs(seen: Floats) -> Floats:
    """Per scale and block, the mean of x - y in its group of blocks, in standard errors, cut to [-1, 1]."""
    signs = np.empty((len(SCALES), BLOCKS))
    through = np.zeros((3, BLOCKS + 1))
    np.cumsum(seen, axis=1, out=through[:, 1:])
    for place, groups in enumerate(SCALES[:-1]):
        edges = through[0].searchsorted(through[0, -1] * np.arange(groups + 1) / groups)
        edges[0], edges[-1] = 0, BLOCKS
        total = through[:, edges[1:]] - through[:, edges[:-1]]
        signs[place] = np.repeat(_standardised(total[1], total[2]), edges[1:] - edges[:-1])
    signs[-1] = _standardised(seen[1], seen[2])
    return signs


def _standardised(excess: Floats, square: Floats) -> Floats:
    """Sums of x - y in standard errors, cut to [-1, 1]: the values of a witness."""
    return np.asarray(np.clip(excess / np.sqrt(np.maximum(square, 0.0) + 1e-300), -1.0, 1.0))


PARTS = 64
"""Rows that are half forgotten are told to the linear program in parts of a row."""


@dataclass(frozen=True)
class PairMemory(Memory):
    """Pairs, witnesses of the distance from calibration (Theorem 6).

    A pair (g0, g1) changes by no more than the score does, with (1 - u) g0(u) + u g1(u) <= 0 for all u; a row gains
    g_label(score). Seen are, per memory, block and label, rows and the sum of their distances from the left edge.
    """

    shapes: ClassVar = ((2, BLOCKS, 2),)

    seen: Floats

    def gains(self, batch: Summary) -> Floats:
        # Only those who watch a distance wait for this.
        from calcert.certificates.distance import suggested
        from calcert.kernels.knots import promised

        low, high = _block_edges()
        points, histograms = batch.points, []
        for rows, inside in self.seen:
            parts = np.rint(PARTS * rows).astype(np.int64)
            gain = np.zeros(points.count.shape)
            if parts.any():
                wide = np.maximum(rows * (high - low)[:, None], 1e-300)
                remembered = Points(low, high, np.clip(inside / wide, 0.0, 1.0), parts)
                gain = promised(*suggested(remembered, parts, max(float(rows.sum()), 1.0)), points.low, points.high)
            histograms.append(shared(gain, points.count))
        return np.array(histograms)

    def after(self, batch: Summary) -> PairMemory:
        block, (low, _) = batch.cell // CELLS_PER_BLOCK, _block_edges()
        inside = batch.score_sum - batch.count * low[block][:, None]
        new = [[np.bincount(block, part[:, y], BLOCKS) for y in range(2)] for part in (batch.count, inside)]
        return PairMemory(self.seen * kept_after(batch.n)[:, None, None, None] + np.moveaxis(np.array(new), 1, 2))


@cache
def _block_edges() -> tuple[Floats, Floats]:
    """Both edges of every block."""
    first = np.arange(BLOCKS) * CELLS_PER_BLOCK
    left, _ = cells.bounds(first)
    last, wide = cells.bounds(np.minimum(first + CELLS_PER_BLOCK - 1, cells.CELL_OF_ONE))
    return np.asarray(left * cells.RESOLUTION), np.asarray((last + wide) * cells.RESOLUTION)


@dataclass(frozen=True)
class RangeMemory(ScoreMemory):
    """Indicators of a range of scores with a sign, witnesses of counts in ranges (Theorem 9); seen is x - y."""

    shapes: ClassVar = ((BLOCKS,),)

    seen: Floats

    def witnesses(self) -> Floats:
        """1 or -1 in the range that is furthest off, else 0."""
        witnesses = np.zeros(self.seen.shape)
        for witness, seen in zip(witnesses, self.seen, strict=True):
            first, stop, sign = widest_run(seen)
            witness[first:stop] = sign
        return witnesses

    def after(self, batch: Summary) -> RangeMemory:
        return RangeMemory(self.seen * kept_after(batch.n)[:, None] + per_block(batch)[1])


@dataclass(frozen=True)
class Watched:
    """One statement that a state may watch, and those that lower bounds with the alarm, and windows, are about."""

    below: str
    memory: type[Memory]  # How betting strategies learn.
    pooled: Callable[[Summary, Settings, float], Certificate]  # Of all rows together, at a delta.
    windows: tuple[str, ...]


WATCHED: Mapping[str, Watched] = {
    "distance": Watched("distance", PairMemory, lambda rows, s, delta: pooled_distance(rows, delta), ("distance",)),
    "cutoff": Watched("cutoff", RangeMemory, lambda rows, s, delta: pooled_cutoff(rows, delta), ("cutoff",)),
    "perturbed": Watched(
        "l1", L1Memory, lambda rows, s, delta: pooled_upper(rows, s.noise, delta), ("l1", "perturbed")
    ),
}
"""By the name of the statement that upper bounds are about."""

USUAL = "distance"
"""What a new state watches: it assumes nothing and asks for nothing."""


def certify_pool(pool: Summary, statement: str, settings: Settings, delta: float) -> Certificate:
    """The upper bound of all rows together, for what is watched."""
    return WATCHED[statement].pooled(pool, settings, delta)
