"""Witnesses for the distance from calibration: pairs of functions that earlier batches suggest.

A pair (g0, g1) is admissible if both change by no more than the score does and (1 - u) g0(u) + u g1(u) <= 0 for all u;
then the mean of g_label(score) under any law is at most its distance from calibration (Theorem 6). So a pair that was
fixed before a batch comes is a witness for it, and everything here is free to be a guess: rows are remembered by the
blocks of :mod:`calcert.monitoring.blocks`, by three memories that forget at different speeds, and each suggests a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from calcert.monitoring.betting import shared
from calcert.monitoring.blocks import BLOCKS, CELLS_PER_BLOCK, HALF_LIVES, kept_after
from calcert.summary import cells
from calcert.summary.counts import Summary
from calcert.summary.points import Points

Floats = NDArray[np.float64]

PARTS = 64
"""Rows that are half forgotten are told to the linear program in parts of a row."""


@dataclass(frozen=True)
class PairMemory:
    """Rows seen, with forgetting.

    Attributes
    ----------
    seen
        Per memory, block and label: rows, and the sum of their distances from the left edge of the block; shape
        (memories, 2, blocks, 2).
    """

    seen: Floats

    @classmethod
    def blank(cls) -> PairMemory:
        """Nothing seen yet."""
        return cls(np.zeros((len(HALF_LIVES), 2, BLOCKS, 2)))

    def packed(self) -> bytes:
        """As a state keeps it."""
        return self.seen.tobytes()

    @classmethod
    def unpacked(cls, content: bytes) -> PairMemory:
        """The inverse of :meth:`packed`."""
        return cls(np.frombuffer(content).reshape(-1, 2, BLOCKS, 2))

    def gains(self, batch: Summary) -> Floats:
        """Per memory, the histogram of what the rows of `batch` gain from the pair that it suggests.

        A row is known to its cell, so its gain is the smallest that any place in the cell could give.
        """
        # Numba takes a moment to import: only those who watch a distance wait for it.
        from calcert.certificates.distance_lower import promised, suggested

        low, high = _edges()
        points, found = batch.points, []
        for rows, inside in self.seen:
            known = np.rint(PARTS * rows).astype(np.int64)
            gain = np.zeros(points.count.shape)
            if known.any():
                wide = np.maximum(rows * (high - low)[:, None], 1e-300)
                told = Points(low, high, np.clip(inside / wide, 0.0, 1.0), known)
                gain = promised(*suggested(told, known, max(float(rows.sum()), 1.0)), points.low, points.high)
            found.append(shared(gain, points.count))
        return np.array(found)

    def after(self, batch: Summary) -> PairMemory:
        """The memory once the batch has been judged."""
        block, (low, _) = batch.cell // CELLS_PER_BLOCK, _edges()
        inside = batch.score_sum - batch.count * low[block][:, None]
        new = [[np.bincount(block, part[:, y], BLOCKS) for y in range(2)] for part in (batch.count, inside)]
        return PairMemory(self.seen * kept_after(batch.n)[:, None, None, None] + np.moveaxis(np.array(new), 1, 2))


@cache
def _edges() -> tuple[Floats, Floats]:
    """Both edges of every block."""
    first = np.arange(BLOCKS) * CELLS_PER_BLOCK
    left, _ = cells.bounds(first)
    last, wide = cells.bounds(np.minimum(first + CELLS_PER_BLOCK - 1, cells.CELL_OF_ONE))
    return np.asarray(left * cells.RESOLUTION), np.asarray((last + wide) * cells.RESOLUTION)
