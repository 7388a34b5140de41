"""Witnesses for counts in ranges: the range of scores that is furthest off in each memory.

The indicator of a range, with a sign, times x - y has a mean of at most the largest miscount (Theorem 9), whichever
range it is, as long as it was fixed before the batch came. Ranges begin and end where blocks do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.ranges import widest_run
from calcert.monitoring.betting import gains
from calcert.monitoring.blocks import BLOCKS, HALF_LIVES, kept_after, per_block
from calcert.summary.counts import Summary

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RangeMemory:
    """Rows seen, with forgetting.

    Attributes
    ----------
    seen
        Per memory and block, the sum of x - y; shape (memories, blocks).
    """

    seen: Floats

    @classmethod
    def blank(cls) -> RangeMemory:
        """Nothing seen yet."""
        return cls(np.zeros((len(HALF_LIVES), BLOCKS)))

    def packed(self) -> bytes:
        """As a state keeps it."""
        return self.seen.tobytes()

    @classmethod
    def unpacked(cls, content: bytes) -> RangeMemory:
        """The inverse of :meth:`packed`."""
        return cls(np.frombuffer(content).reshape(-1, BLOCKS))

    def witnesses(self) -> Floats:
        """For the next batch, one witness a memory, per block: 1 or -1 in the range that is furthest off, else 0."""
        witnesses = np.zeros(self.seen.shape)
        for witness, seen in zip(witnesses, self.seen, strict=True):
            first, stop, sign = widest_run(seen)
            witness[first:stop] = sign
        return witnesses

    def gains(self, batch: Summary) -> Floats:
        """Per memory, the histogram of what the rows of `batch` gain from its witness."""
        return gains(batch, self.witnesses())

    def after(self, batch: Summary) -> RangeMemory:
        """The memory once the batch has been judged."""
        return RangeMemory(self.seen * kept_after(batch.n)[:, None] + per_block(batch)[1])
