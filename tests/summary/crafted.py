"""Saved Summaries that no honest program wrote, under checksums that fit."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np

import calcert
from calcert.summary.saved import DIGEST, FORMAT, HEADER, MAGIC

HONEST = calcert.summarize([0.2, 0.2, 0.2, 0.5, 0.500000001, 0.9, 1.0], [0, 1, 1, 1, 0, 1, 1])
"""Five distinct scores in four cells."""


def sealed(body: bytes) -> bytes:
    """A body under the line and the checksum that fit it."""
    return b"%s %d\n" % (MAGIC, FORMAT) + body + hashlib.blake2b(body, digest_size=DIGEST).digest()


def body_of(content: bytes) -> bytes:
    """The inverse of :func:`sealed`."""
    return content.partition(b"\n")[2][:-DIGEST]


def packed(size: int, distinct: int, counted: bytes, beside: bytes = zlib.compress(b""), offsets: bytes = b"") -> bytes:
    """A file of these parts, whatever they are; with `distinct` scores listed where there are any."""
    return sealed(HEADER.pack(distinct > 0, size, distinct, len(counted), len(beside)) + counted + beside + offsets)


def altered(**changes: Any) -> dict[str, Any]:
    """The arrays of the honest Summary, with some of them replaced; None leaves one out."""
    assert HONEST.distinct is not None
    assert HONEST.distinct_count is not None
    arrays = {
        "cell": HONEST.cell,
        "count": HONEST.count,
        "offset": HONEST.offset,
        "distinct": HONEST.distinct,
        "distinct_count": HONEST.distinct_count,
    }
    return {name: array for name, array in {**arrays, **changes}.items() if array is not None}


def put(array: Any, place: Any, value: int) -> Any:
    """A copy with one entry replaced."""
    changed = np.array(array)
    changed[place] = value
    return changed


def unlisted(**changes: Any) -> dict[str, Any]:
    """As :func:`altered`, without the distinct scores."""
    return altered(distinct=None, distinct_count=None, **changes)
