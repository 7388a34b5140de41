"""How much scores exceed labels, point by point in score order: what Theorems 9 and 10 cumulate.

The rows of a cell are known, their order inside it is not. Its rows of label 0 push the running sum of x - y up, those
of label 1 push it down: whatever the order, the sum stays between what it was less all the latter and what it was plus
all the former. Rows of one listed score are in no order, and move the sum in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.rounding import ROUNDING
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class Excess:
    """Shares of all rows: x summed over the rows of label 0 of each point, 1 - x over those of label 1.

    `single` where every point is one score.
    """

    above: Floats
    below: Floats
    single: bool

    @classmethod
    @lru_cache(maxsize=2)
    def of(cls, summary: Summary) -> Excess:
        """Of the rows of a Summary: by listed score where there are any, else by cell."""
        points = summary.points
        score, count = points.positions, points.count
        return cls(count[:, 0] * score[:, 0] / summary.n, count[:, 1] * (1 - score[:, 1]) / summary.n, points.exact)

    @cached_property
    def net(self) -> Floats:
        """The sum of x - y over the rows of each point."""
        return self.above - self.below

    @cached_property
    def up(self) -> Floats:
        """The most that the running sum can rise above what it was, inside each point."""
        return np.maximum(self.net, 0.0) if self.single else self.above

    @cached_property
    def down(self) -> Floats:
        """The most that the running sum can fall below what it was, inside each point."""
        return np.maximum(-self.net, 0.0) if self.single else self.below

    def rounding(self, sums: int) -> float:
        """Charged for adding up so many running sums: each is wrong by less than one unit in the last place a point."""
        return ROUNDING + sums * (self.net.size + 16) * float(np.finfo(float).eps)


def at_edges(excess: Excess) -> Excess:
    """The same rows, every point taken for one score: what can be seen without looking inside cells."""
    return Excess(excess.above, excess.below, single=True)
