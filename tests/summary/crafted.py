"""Saved Summaries that no honest program wrote, under checksums that fit."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

import numpy as np

import calcert
from calcert.summary.saved import FORMAT, MAGIC

HONEST = calcert.summarize([0.2, 0.2, 0.2, 0.5, 0.500000001, 0.9, 1.0], [0, 1, 1, 1, 0, 1, 1])
"""Five distinct scores in four cells."""


def sealed(body: bytes) -> bytes:
    """A body under a header that fits it."""
    return b"%s %d %s\n" % (MAGIC, FORMAT, hashlib.sha256(body).hexdigest().encode()) + body


def crafted(arrays: dict[str, Any]) -> bytes:
    """A file of these arrays, whatever they are."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return sealed(buffer.getvalue())


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


def archive(members: dict[str, bytes], **options: Any) -> bytes:
    """A zip archive of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content, **options)
    return buffer.getvalue()


def members(arrays: dict[str, Any]) -> dict[str, bytes]:
    """What NumPy writes of each array, by the name of the member."""
    found = {}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, array)
        found[f"{name}.npy"] = buffer.getvalue()
    return found
