"""What earlier batches taught: witnesses for the next batch that are quick to notice a change.

A witness is any function of the score into [-1, 1] that was fixed before the batch was seen (theory, sections 0 and 5),
so everything here is free to be a guess: no statement depends on how good it is, only how soon an alarm comes. The
scores are cut into 1,697 fixed blocks. Three memories, which forget at different speeds, hold the rows seen per block,
and each bets on its own. Old, calibrated rows therefore do not drown new ones: one memory has forgotten them, while
another finds small errors that take a million rows to see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calcert.monitoring.betting import gains
from calcert.monitoring.blocks import BLOCKS, HALF_LIVES, kept_after, per_block
from calcert.summary.counts import Summary

Floats = NDArray[np.float64]

SCALES = (1, 8, 64, BLOCKS)
"""Numbers of groups of equal mass in which a witness may be constant; at the finest, a group is a block."""

USUAL = 1
"""The scale as long as none has proven itself: 8 groups."""

PROOF = 2.0
"""Standard errors that a scale must have earned to be preferred."""


@dataclass(frozen=True)
class Memory:
    """Rows seen, with forgetting.

    Attributes
    ----------
    seen
        Per memory and block: rows, sum of x - y, sum of (x - y)^2; shape (memories, 3, blocks).
    earned
        Per memory and scale, what witnesses would have earned, forgotten likewise; shape (memories, scales).
    """

    seen: Floats
    earned: Floats

    @classmethod
    def blank(cls) -> Memory:
        """Nothing seen yet."""
        return cls(np.zeros((len(HALF_LIVES), 3, BLOCKS)), np.zeros((len(HALF_LIVES), len(SCALES))))

    @cached_property
    def proposed(self) -> Floats:
        """A witness for every memory and scale, per block; shape (memories, scales, blocks)."""
        return np.array([_signs(seen) for seen in self.seen])

    def witnesses(self) -> Floats:
        """For the next batch, one witness a memory, per block: at the scale that earned most, if it earned enough."""
        proven = self.earned.max(axis=1) > PROOF * np.sqrt(self.seen[:, 2].sum(axis=1))
        scale = np.where(proven, self.earned.argmax(axis=1), USUAL)
        return np.asarray(self.proposed[np.arange(len(HALF_LIVES)), scale])

    def gains(self, batch: Summary) -> Floats:
        """Per memory, the histogram of what the rows of `batch` gain from its witness."""
        return gains(batch, self.witnesses())

    def packed(self) -> bytes:
        """As a state keeps it."""
        return self.seen.tobytes() + self.earned.tobytes()

    @classmethod
    def unpacked(cls, content: bytes) -> Memory:
        """The inverse of :meth:`packed`."""
        size, values = len(HALF_LIVES) * 3 * BLOCKS, np.frombuffer(content)
        return cls(values[:size].reshape(-1, 3, BLOCKS), values[size:].reshape(-1, len(SCALES)))

    def after(self, batch: Summary) -> Memory:
        """The memory once the batch has been judged."""
        blocks = per_block(batch)
        kept = kept_after(batch.n)
        return Memory(
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
    return np.asarray(np.clip(excess / np.sqrt(np.maximum(square, 0.0) + 1e-300), -1.0, 1.0))
