"""A column that names users, patients or sessions, with names that come again: then rows may not be independent."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from calcert.sources.columns import Column

LOG = logging.getLogger("calcert")

NAME = re.compile(
    r"((user|patient|account|session|game|customer|client|member|person|household|driver|student|device|visitor)"
    r"s?([ _-]?(id|no|nr|number|name|key|hash))?)|(.+[ _-](id|uuid))",
    re.IGNORECASE,
)
"""How such columns are called."""

LOOKED_AT = 10_000
"""Rows of a column that are looked at."""

FEWEST = 20
"""A column with fewer values than this holds kinds rather than names."""


def remark_on_clusters(
    columns: Sequence[Column], chosen: Iterable[Column], source: str, values: Callable[[str], Iterable[Any]]
) -> None:
    """Say, through the logger ``calcert``, that rows of one user may not be independent, if there seem to be users.

    `values` gives the first values of a column.
    """
    taken = {column.name for column in chosen}
    for column in columns:
        if column.name in taken or column.kind in ("boolean", "real") or NAME.fullmatch(column.name.strip()) is None:
            continue
        seen = [str(value) for value in values(column.name) if value is not None and value != ""]
        if FEWEST <= len(set(seen)) < len(seen):
            LOG.warning(
                "%s: column %r has values that come again, and rows of one of them may not be independent; if so, name "
                "it: clusters=%r (--cluster)",
                source,
                column.name,
                column.name,
            )
            return
