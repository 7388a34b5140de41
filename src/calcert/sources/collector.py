"""Rows chunk by chunk into a Summary, counted by as many threads as there are cores.

Every thread counts into tables of its own. What they hold are integers, so that it does not matter which rows went into
which: added up they are what one thread would have counted, bit for bit.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.foundation.refused_values import Place, bad_label, bad_score
from calcert.kernels import clusters, counting
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.summary import Summary

MOST_THREADS = 8
"""More of them only wait for memory."""

ENOUGH = 1 << 17
"""Rows at once that are worth waking a thread."""

STEP = 1 << 18
"""Rows that a thread counts at once: half of what one word can count, so that scattered rows are seldom unpacked."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ThreadCounts:
    """What one thread has counted."""

    def __init__(self) -> None:
        self.distinct = 0
        self._packed = np.zeros(2 * cells.CELLS, np.uint64)
        self._flushed: tuple[Integers, Integers] | None = None
        self._keys = np.full(clusters.SLOTS, -1, np.int64)
        self._tally = np.zeros(2 * clusters.SLOTS, np.int64)
        self._most = 0  # No packed word counts more rows than this.

    def add(self, scores: NDArray[Any], labels: NDArray[Any]) -> int:
        """Count rows, at most as many as one word can count; the first that is none, else -1."""
        x, y = score_chunk(scores), label_chunk(labels)
        if self._most + x.size > counting.CHUNK:
            self._most = int(self._packed.max()) >> counting.OFFSET_BITS
        if self._most + x.size > counting.CHUNK:
            self._flush()
        self._most += x.size
        bad = int(counting.fill(x, y, self._packed))
        if bad >= 0:
            return bad
        # Many distinct scores show themselves in the first rows, mostly.
        for here in (slice(None, 2 * DISTINCT_LIMIT), slice(2 * DISTINCT_LIMIT, None)):
            if self.distinct >= 0:
                # Adding 0.0 turns -0.0 into 0.0, which is the same score.
                bits = (x[here].astype(np.float64) + 0.0).view(np.int64)
                filled = counting.tally(bits, y[here], self._keys, self._tally, self.distinct, DISTINCT_LIMIT)
                self.distinct = int(filled)
        return -1

    def _flush(self) -> None:
        """Make room in the words."""
        if self._flushed is None:
            self._flushed = np.zeros(2 * cells.CELLS, np.int64), np.zeros(2 * cells.CELLS, np.int64)
        counting.flush(self._packed, *self._flushed)
        self._most = 0

    def used(self) -> NDArray[np.bool_]:
        """Which cells hold rows."""
        word: NDArray[np.bool_] = self._packed != 0
        if self._flushed is not None:
            word |= self._flushed[0] != 0
        return word[::2] | word[1::2]

    def add_to(self, count: Integers, offset: Integers, cell: Integers) -> None:
        """Add counts and sums of these cells, which are all that hold rows: no table of all cells is needed."""
        counting.flush(self._packed.reshape(-1, 2)[cell].ravel(), count.ravel(), offset.ravel())
        if self._flushed is not None:
            count += self._flushed[0].reshape(-1, 2)[cell]
            offset += self._flushed[1].reshape(-1, 2)[cell]

    def listed(self) -> tuple[Integers, Integers]:
        """The distinct scores, as the integers whose bits they are, and their rows by label."""
        used = np.flatnonzero(self._keys >= 0)
        return self._keys[used], self._tally.reshape(-1, 2)[used]


class Collector:
    """Collects rows chunk by chunk into a Summary; any chunking gives the same one.

    `place` says in words where a row stands, for errors; rows are counted from 0 over all chunks. A bad row is refused
    when its turn comes, at the latest by `settle` or `summary`, and again by each call after that; the first one is
    named, whatever the number of `threads`.
    """

    def __init__(self, place: Place = "at row {}".format, *, threads: int | None = None) -> None:
        self._place = place
        self.rows = 0
        self._threads = threads or min(cores(), MOST_THREADS)
        self._tables = [ThreadCounts()]
        self._free: SimpleQueue[ThreadCounts] = SimpleQueue()
        self._free.put(self._tables[0])
        self._pool: ThreadPoolExecutor | None = None
        # What threads count: rows that begin at a place in the arrays that were added, whose first row has a number.
        self._pending: deque[tuple[Future[int], NDArray[Any], NDArray[Any], int, int]] = deque()
        self._refused: ValueError | None = None

    def add(self, scores: NDArray[Any], labels: NDArray[Any]) -> None:
        """Add rows; `scores` and `labels` are what :func:`calcert.sources.arrays.checked_array` returns."""
        if self.rows + scores.size > ROW_LIMIT:
            raise OverflowError("a Summary holds at most 2^36 rows. Certify the parts.")
        parallel = self._threads > 1 and scores.size >= ENOUGH and self.rows + scores.size > STEP
        if not parallel:
            self.settle()
        for start in range(0, scores.size, STEP):
            here = slice(start, start + STEP)
            if parallel:
                counted = self._submit(scores[here], labels[here])
                self._pending.append((counted, scores, labels, start, self.rows))
                self.settle(down_to=2 * self._threads)
            elif (bad := self._tables[0].add(scores[here], labels[here])) >= 0:
                self._refuse(scores, labels, start + bad, self.rows)
        self.rows += scores.size

    def settle(self, down_to: int = 0) -> None:
        """Wait until everything is counted, or all but so many parts."""
        if self._refused is not None:  # Some rows beside the bad one were counted.
            raise self._refused
        while len(self._pending) > down_to:
            counted, scores, labels, start, first = self._pending.popleft()
            bad = counted.result()
            if bad >= 0:
                self._refuse(scores, labels, start + bad, first)

    def summary(self) -> Summary:
        """The Summary of all rows so far."""
        self.settle()
        cell = np.flatnonzero(np.logical_or.reduce([tables.used() for tables in self._tables]))
        count, offset = np.zeros((cell.size, 2), np.int64), np.zeros((cell.size, 2), np.int64)
        for tables in self._tables:
            tables.add_to(count, offset, cell)
        return Summary(cell, count, offset, *self._distinct_scores())

    def _distinct_scores(self) -> tuple[Integers, Integers] | tuple[None, None]:
        if any(tables.distinct < 0 for tables in self._tables):
            return None, None
        keys, rows = (np.concatenate(parts) for parts in zip(*(t.listed() for t in self._tables), strict=True))
        distinct, slot = np.unique(keys, return_inverse=True)
        if distinct.size > DISTINCT_LIMIT:
            return None, None
        count = np.zeros((distinct.size, 2), np.int64)
        np.add.at(count, slot, rows)
        return distinct, count

    def _submit(self, scores: NDArray[Any], labels: NDArray[Any]) -> Future[int]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads)
            for _ in range(self._threads - 1):
                self._tables.append(ThreadCounts())
                self._free.put(self._tables[-1])
        return self._pool.submit(self._count, scores, labels)

    def _count(self, scores: NDArray[Any], labels: NDArray[Any]) -> int:
        tables = self._free.get()
        try:
            return tables.add(scores, labels)
        finally:
            self._free.put(tables)

    def _refuse(self, scores: NDArray[Any], labels: NDArray[Any], row: int, first: int) -> None:
        where, is_score = self._place(first + row), 0 <= scores[row] <= 1
        self._refused = bad_label(scores, labels, row, where) if is_score else bad_score(scores, row, where)
        raise self._refused


def score_chunk(chunk: NDArray[Any]) -> NDArray[Any]:
    """Scores in a type that the kernel is compiled for, exactly."""
    wanted = chunk.dtype if chunk.dtype in (np.float32, np.float64) else np.float64
    return np.ascontiguousarray(chunk, wanted)


def label_chunk(chunk: NDArray[Any]) -> NDArray[Any]:
    """Labels as uint8, int64 or float64: three compiled kernels instead of a dozen."""
    if chunk.dtype in (np.bool_, np.int8):
        # Read as unsigned, a negative label is still neither 0 nor 1.
        return np.ascontiguousarray(chunk).view(np.uint8)
    if chunk.dtype in (np.uint8, np.int64):
        return np.ascontiguousarray(chunk)
    return np.ascontiguousarray(chunk, np.float64 if chunk.dtype.kind in "fu" else np.int64)
