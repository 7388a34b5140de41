"""Columns that nobody named and that look as if rows were in clusters, or had weights: a remark."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

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
