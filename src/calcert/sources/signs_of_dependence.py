"""What looks as if rows were not independent, or not equal: columns that nobody named, neighbours that err together."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.sources.columns import Column

LOG = logging.getLogger("calcert")

NAME = re.compile(
    r"((user|patient|account|session|game|customer|client|member|person|household|driver|student|device|visitor|question"
    r"|prompt)s?([ ._-]?(id|no|nr|number|name|key|hash))?)|((.+[ ._-])?(id|uuid|nr))|.+nummer|(?-i:.+[a-z](Id|ID|Nr))",
    re.IGNORECASE,
)
"""How such columns are called."""

KEY = re.compile(r"(?!(19|20)\d\d-?[01]\d)(?=(\D*\d){4})[\w#/.-]{5,}")
"""How such columns are filled, whatever they are called: no blanks, at least four digits, and no dates."""

WEIGHT = re.compile(r"((sample|sampling|row|case|survey)[ _-]?)?weights?", re.IGNORECASE)
"""How columns of weights are called; ``weight`` is what ``calcert choose`` writes."""

LOOKED_AT = 10_000
"""Rows of a column that are looked at."""

FEWEST = 20
"""A column with fewer values than this holds kinds rather than names."""


def remark_on_clusters(
    columns: Sequence[Column],
    chosen: Iterable[Column],
    source: str,
    values: Callable[[str], Iterable[Any]],
    *,
    by_values: bool = False,
) -> list[str]:
    """Say through the logger ``calcert``, and return, that rows of one user may not be independent, if there are users.

    `values` gives the first values of a column; `by_values` says that it is cheap to look at those of every column.
    """
    taken = {column.name for column in chosen}
    _remark_on_weights([column for column in columns if column.name not in taken], source, values)
    others = [column for column in columns if column.name not in taken and column.kind not in ("boolean", "real")]
    named = [column for column in others if NAME.fullmatch(column.name.strip())]
    for column in [*named, *(column for column in others if by_values and column not in named)]:
        seen = [str(value) for value in values(column.name) if value is not None and value != ""]
        if FEWEST <= len(set(seen)) < len(seen) and (column in named or all(map(KEY.fullmatch, set(seen)))):
            words = (
                f"column {column.name!r} has values that come again, and rows of one of them may not be independent; "
                f"if so, name it: clusters={column.name!r} (--clusters), or keep one row of each"
            )
            LOG.warning("%s: %s", source, words)
            return [f"{words}."]
    return []


def _remark_on_weights(columns: Sequence[Column], source: str, values: Callable[[str], Iterable[Any]]) -> None:
    """Say that there is a column of weights: rows that were chosen with different probabilities need it."""
    for column in columns:
        if column.kind not in ("real", "integer") or WEIGHT.fullmatch(column.name.strip()) is None:
            continue
        if len({str(value) for value in values(column.name)}) > 1:
            LOG.warning(
                "%s: column %r is not used; if rows stand for unequally many others, as those of calcert choose do, "
                "the bounds are about the wrong population without weights=%r (--weights). A monitor takes no weights",
                source,
                column.name,
                column.name,
            )
            return


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
    scale = float(np.sqrt((variance[:-1] * variance[1:]).sum()))
    return float((error[:-1] * error[1:]).sum()) / scale if scale > 0 else 0.0


def _is_sorted(column: NDArray[Any]) -> bool:
    return bool((column[:-1] <= column[1:]).all() or (column[:-1] >= column[1:]).all())
