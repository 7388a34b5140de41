"""Names of clusters that are text, numbered in the order in which they come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.kernels.clusters import move_names, number_names


class ClusterTexts:
    """All different texts so far, in the order in which they came; they are compared byte by byte."""

    def __init__(self) -> None:
        self._table = np.zeros((1 << 10, 2), np.int64)
        self._known = np.zeros(1 << 14, np.uint8)
        self._ends = np.zeros(1 << 10, np.int64)
        self.number = 0

    def numbers(self, text: NDArray[np.uint8], ends: Integers) -> Integers:
        """The number of each of some texts, text[ends[i]:ends[i + 1]]."""
        found, done = np.empty(ends.size - 1, np.int64), 0
        while done < found.size:
            kept = self._table, self._known, self._ends, self.number
            more, self.number = number_names(text, ends[done:], *kept, found[done:])
            done += more
            if done < found.size:
                self._grow(int(ends[done + 1] - ends[done]))
        return found

    def _grow(self, size: int) -> None:
        table = np.zeros((2 * self._table.shape[0], 2), np.int64)
        move_names(self._table, table)
        self._table = table
        self._known = np.concatenate([self._known, np.zeros(self._known.size + size, np.uint8)])
        self._ends = np.concatenate([self._ends, np.zeros_like(self._ends)])
