"""Rows in order of score, dealt into random folds: what every cross-fitted method of the paper starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_count
from calcert.kernels.strings import complement, locate

FOLDS = 5
"""Folds by default. The paper gives no number: ours."""

_MOST_FOLDS = 255
_FEWEST, _MOST, _SHARE = 5_000, 15_000, 0.05


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """Sorted rows, the fold of each, and the rows on which each fold's surrogate is judged.

    Several methods may share one instance, and so one sort.

    Attributes
    ----------
    scores, labels
        Rows in order of score; rows with equal scores in order of label, which no method may depend on.
    fold
        The fold of each row. A row of a fold that is not in `validation` is only ever trained on.
    validation
        For each fold that is judged, the positions of its validation rows, ascending.
    """

    scores: Floats
    labels: NDArray[np.int8]
    fold: NDArray[np.uint8]
    validation: tuple[NDArray[np.int64], ...]

    @property
    def n(self) -> int:
        """All rows."""
        return int(self.scores.size)

    @property
    def given_split(self) -> bool:
        """Whether training and validation rows were given: cross-fitting judges two folds or more."""
        return len(self.validation) == 1

    def training_size(self, held_out: int) -> int:
        """Rows outside one fold."""
        return self.n - int(np.count_nonzero(self.fold == held_out))

    def training(
        self, held_out: int, buffer: tuple[Floats, NDArray[np.int8]] | None = None
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Scores and labels of the rows outside one fold, in `buffer` (two arrays of n) if given."""
        scores, labels = buffer or (np.empty(self.n), np.empty(self.n, np.int8))
        size = complement(self.scores, self.labels, self.fold, held_out, scores, labels)
        return scores[:size], labels[:size]


def fold_rows(
    scores: Floats,
    labels: NDArray[np.int8],
    *,
    folds: int = FOLDS,
    rng: np.random.Generator,
    validation: Any = None,
) -> FoldedRows:
    """Sort the rows, deal them into folds of equal size (give or take one row) and draw each fold's validation
    rows; or split them as `validation`, True for a validation row, says.

    Each fold is judged on a uniform sample, without replacement, of min(15000, max(5000, n/20)) of its rows, or on
    all of them if it has no more. A given split is judged on all of its validation rows.
    """
    if validation is not None:
        if folds != FOLDS:
            raise ValueError(f"validation and folds exclude each other; got a mask and folds={folds!r}.")
        return single_split(scores, labels, _check_mask(validation, scores.size))
    check_folds(folds, scores.size)
    return deal_rows(*sort_rows(scores, labels), folds=folds, rng=rng)


def deal_rows(scores: Floats, labels: NDArray[np.int8], *, folds: int = FOLDS, rng: np.random.Generator) -> FoldedRows:
    """:func:`fold_rows` of rows that are in order already."""
    count = check_folds(folds, scores.size)
    # Positions are dealt, not rows: the deal ignores scores and labels, so it makes no difference, and saves a shuffle.
    fold = deal(scores.size, count, rng)
    sizes = np.bincount(fold, minlength=count)
    sample = np.minimum(sizes, validation_size(scores.size))
    chosen = [np.sort(rng.choice(size, m, replace=False, shuffle=False)) for size, m in zip(sizes, sample, strict=True)]
    return FoldedRows(scores, labels, fold, tuple(_positions(fold, chosen)))


def single_split(scores: Floats, labels: NDArray[np.int8], held_out: NDArray[np.bool_]) -> FoldedRows:
    """One given split: train on the rows that are not `held_out`, judge on all those that are."""
    order = np.lexsort((labels, scores))
    fold = np.where(held_out[order], 0, 1).astype(np.uint8)
    return FoldedRows(scores[order], labels[order], fold, (np.flatnonzero(fold == 0),))


def _check_mask(validation: Any, n: int) -> NDArray[np.bool_]:
    """True for a validation row; at least one of them, and two rows to train on."""
    mask = np.asarray(validation)
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise ValueError(
            f"validation must be a boolean array with one value per row, shape ({n},); got {mask.dtype} of shape "
            f"{mask.shape}. For positions pass numpy.isin(numpy.arange({n}), positions)."
        )
    judged = int(mask.sum())
    if not 1 <= judged <= n - 2:
        raise ValueError(f"validation must mark at least 1 row and leave 2 to train on; it marks {judged} of {n}.")
    return mask


def validation_size(n: int) -> int:
    """The largest number of validation rows of one fold among n rows."""
    return int(min(_MOST, max(_FEWEST, _SHARE * n)))


def check_folds(folds: int, n: int) -> int:
    """The number of folds, if n rows can be dealt into them and leave two rows to train on."""
    count = check_count("folds", folds, 2, _MOST_FOLDS)
    needed = max(count, 4 if count == 2 else 3)
    if n < needed:
        raise ValueError(f"{count}-fold cross-fitting needs at least {needed} rows; got {n}.")
    return count


def sort_rows(scores: Floats, labels: NDArray[np.int8]) -> tuple[Floats, NDArray[np.int8]]:
    """Rows in order of score, then label, by one sort of integers.

    The bits of a double in [0, 1] leave the two highest free and are in order of value, so the label fits in below
    them.
    """
    # The mask drops the sign of -0.0.
    keys = ((scores.view(np.int64) & 0x7FFF_FFFF_FFFF_FFFF) << 1) | labels
    keys.sort()
    ordered_labels = (keys & 1).astype(np.int8)
    keys >>= 1
    return keys.view(np.float64), ordered_labels


def deal(n: int, folds: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A uniformly random partition of n rows into folds whose sizes differ by at most one.

    Folds are drawn row by row; then random rows of the folds that came out too large move to those that came out
    too small. Every step treats rows alike and the final sizes are fixed, so all partitions of those sizes are
    equally likely.
    """
    fold = rng.integers(0, folds, n, dtype=np.uint8)
    places = np.full(folds, n // folds)
    places[: n % folds] += 1
    sizes = np.bincount(fold, minlength=folds)
    excess = np.maximum(sizes - places, 0)
    moving = [np.sort(rng.choice(size, m, replace=False, shuffle=False)) for size, m in zip(sizes, excess, strict=True)]
    new = np.repeat(np.arange(folds, dtype=np.uint8), np.maximum(places - sizes, 0))
    fold[np.concatenate(_positions(fold, moving))] = rng.permutation(new)
    return fold


def _positions(fold: NDArray[np.uint8], ranks: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Where the members of each fold with the given ascending ranks stand."""
    begin = np.cumsum([0] + [r.size for r in ranks])
    # A rank that never comes ends every list, so that the kernel need not look where lists end.
    lists = np.concatenate([np.append(r, -1) for r in ranks])
    found = np.empty(begin[-1], np.int64)
    locate(fold, lists, begin, found)
    return np.split(found, begin[1:-1])
