"""Files as two columns in memory, for methods that need the rows themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.validation import label_message, score_message
from calcert.sources.files import read_files


def read_rows(
    paths: Sequence[str | os.PathLike[str]], score: str | None = None, label: str | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores and labels of all rows of some files, checked; folders and globs stand for the files in them."""
    return read_files(paths, score, label, lambda place, few: Kept(place)).columns()


class Kept:
    """Keeps every row."""

    def __init__(self, place: Callable[[int], str]) -> None:
        self._place = place
        self._scores: list[NDArray[np.float64]] = []
        self._labels: list[NDArray[np.int8]] = []
        self.rows = 0

    def add(self, scores: NDArray[Any], labels: NDArray[Any]) -> None:
        bad = ~((scores >= 0) & (scores <= 1))
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(score_message(scores, row, self._place(self.rows + row)))
        bad = (labels != 0) & (labels != 1)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(label_message(scores, labels, row, self._place(self.rows + row)))
        self._scores.append(scores.astype(np.float64))
        self._labels.append(labels.astype(np.int8))
        self.rows += scores.size

    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        return np.concatenate(self._scores), np.concatenate(self._labels)
