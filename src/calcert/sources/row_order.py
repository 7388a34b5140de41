"""Rows in order that stick together: what tells neighbouring rows of one game, user or day from independent ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 1 << 20
"""Rows that are looked at, the first ones."""

BINS = 50
"""Of scores: what each of them is off by, on average, does not count."""

STICKS = 8.0
"""Beyond this, rows stick together: independent ones are further than 5 from 0 once in 3 million times."""


class RowOrder:
    """The first rows, as they come, batch by batch."""

    def __init__(self) -> None:
        self._scores: list[NDArray[np.float32]] = []
        self._labels: list[NDArray[np.bool_]] = []
        self._room = KEPT

    def add(self, scores: NDArray[Any], labels: NDArray[Any]) -> None:
        """Look at more rows."""
        if self._room > 0:
            self._scores.append(np.asarray(scores[: self._room], np.float32))
            self._labels.append(np.asarray(labels[: self._room]) != 0)
            self._room -= self._scores[-1].size

    @property
    def warnings(self) -> list[str]:
        """That rows stick together, in words; nothing where they do not."""
        if not self._scores:
            return []
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        sticking = lag_one(scores, labels)
        # The order of rows that were sorted by label or by score says nothing.
        if not sticking > STICKS or any(_is_sorted(column) for column in (labels, scores)):
            return []
        return [
            f"neighbouring rows err together (lag-one statistic {sticking:.0f}; independent rows give about 0), as do "
            "rows of one game, user or day. The bounds need independent rows: name what rows belong to (clusters=, "
            "--clusters)."
        ]


def lag_one(scores: NDArray[Any], labels: NDArray[Any]) -> float:
    """The sum of products of neighbouring errors, in standard deviations; about standard normal for independent rows.

    An error is label less score, less its mean in a bin of scores, so that scores that are off do not look like rows
    that stick together; its variance is that of the bin. NaN with one row; 0 where nothing varies.
    """
    scores = np.asarray(scores, np.float64)
    which = np.minimum((scores * BINS).astype(np.int64), BINS - 1)
    rows = np.maximum(np.bincount(which, minlength=BINS), 1)
    error = np.asarray(labels, np.float64) - scores
    error -= (np.bincount(which, error, BINS) / rows)[which]
    variance = (np.bincount(which, error**2, BINS) / rows)[which]
    scale = float(np.sqrt(variance[:-1] @ variance[1:]))
    return float(error[:-1] @ error[1:]) / scale if scale > 0 else 0.0


def _is_sorted(column: NDArray[Any]) -> bool:
    return bool((column[:-1] <= column[1:]).all() or (column[:-1] >= column[1:]).all())
