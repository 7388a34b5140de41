"""A saved Summary: one header line with format and checksum, then an archive of its arrays.

A file may come from a stranger. Names, sizes and headers are looked at before anything is decompressed, so that no
archive takes more memory than the largest Summary, and nothing is executed; then the content is checked, not only the
checksum: what is loaded is the Summary of some rows.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np

from calcert.foundation.array_types import Integers
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.clusters import Clusters
from calcert.summary.consistency import Arrays, check_clusters, checked
from calcert.summary.pair_sums import PAIR_SUMS

FORMAT, WITH_CLUSTERS = 1, 2
"""Formats: of plain rows, and of rows in clusters or with weights, which have two arrays more, or three."""

MAGIC = b"calcert summary"

MOST = 8 << 20
"""Bytes that are read of a file: no Summary needs more than five million."""

ROOM = 1024
"""Bytes that the header of an array may take; NumPy takes 128."""

LARGEST = {
    "cell": 8 * cells.CELLS,
    "count": 16 * cells.CELLS,
    "offset": 16 * cells.CELLS,
    "distinct": 8 * DISTINCT_LIMIT,
    "distinct_count": 16 * DISTINCT_LIMIT,
    "pairs": 16 * cells.CELLS,
    "clusters": 8 * 16,
    "pair_sums": 8 * PAIR_SUMS,
}
"""The arrays that may be there, and the most bytes that each has."""

STRAY = "allow_pickle.npy"
"""NumPy 2.0 took an option of that name for an array: such a member is not looked at."""

END = -22
"""Where the record is with which an archive ends."""

HEADER = re.compile(
    rb"\x93NUMPY\x01\x00[\x00-\xff]{2}"
    rb"\{'descr': '([<>])i8', 'fortran_order': (False|True), 'shape': \((\d{1,6}), ?(2?)\), \} *\n"
)
"""The header of an array of 64-bit integers, of one column or of two."""


def to_bytes(arrays: Mapping[str, Integers]) -> bytes:
    """The content of a saved Summary."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    body = buffer.getvalue()
    form = WITH_CLUSTERS if "clusters" in arrays else FORMAT
    return b"%s %d %s\n" % (MAGIC, form, hashlib.sha256(body).hexdigest().encode()) + body


def from_bytes(content: bytes, name: str) -> tuple[*Arrays, Clusters | None]:
    """The arrays of a saved Summary, checked; ValueError, in words, where they are not those of any rows."""
    header, _, body = content.partition(b"\n")
    words = header.split(b" ")
    if not header.startswith(MAGIC + b" ") or len(words) != 4 or not words[2].isdigit():
        raise ValueError(f"{name} is not a saved Summary: it does not begin with {MAGIC.decode()!r}.")
    if words[2] not in (b"%d" % FORMAT, b"%d" % WITH_CLUSTERS):
        raise ValueError(
            f"{name} holds a Summary of format {words[2][:20].decode()}; this calcert reads formats {FORMAT} and "
            f"{WITH_CLUSTERS}. "
            "Summaries of different formats do not mix: summarise the rows again with one version."
        )
    if hashlib.sha256(body).hexdigest().encode() != words[3]:
        raise ValueError(f"{name} is damaged: its checksum does not fit its content. Summarise the rows again.")
    try:
        found = _arrays(body)
        whole = found["cell"], found["count"], found["offset"]
        arrays = checked((*whole, found.get("distinct"), found.get("distinct_count")))
        return *arrays, _clusters(found, int(words[2]))
    except (ValueError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged: {error}. Summarise the rows again.") from error


def _clusters(found: Mapping[str, Integers], form: int) -> Clusters | None:
    """What is known of clusters, checked."""
    wanted = {"pairs", "clusters"} if form == WITH_CLUSTERS else set()
    if found.keys() & {"pairs", "clusters"} != wanted or ("pair_sums" in found and not wanted):
        raise ValueError(f"format {form} has {' and '.join(sorted(wanted)) or 'no clusters'}; it does not")
    if not wanted:
        return None
    clusters = Clusters.from_array(found["pairs"], found["clusters"], found.get("pair_sums"))
    check_clusters(clusters, found["count"])
    return clusters


def _arrays(body: bytes) -> dict[str, Integers]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        if body[END:][:4] != b"PK\x05\x06" or int.from_bytes(body[END:][10:12], "little") != len(archive.infolist()):
            # Python's reader passes over what stands between or behind members.
            raise ValueError("it does not hold as many arrays as it says")
        belonging = [member for member in archive.infolist() if member.filename != STRAY]
        members = {member.filename.removesuffix(".npy"): member for member in belonging}
        if len(members) != len(belonging):
            raise ValueError("it holds an array twice")
        for name, member in members.items():
            if name not in LARGEST or member.filename != f"{name}.npy":
                raise ValueError(f"it holds {member.filename[:80]!r}, which is no part of a Summary")
            if member.file_size > LARGEST[name] + ROOM:
                raise ValueError(f"{name} would have {member.file_size:,} bytes, more than that of any Summary")
            if member.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
                raise ValueError(f"{name} is compressed in a way that Summaries are not")
        for name in ("cell", "count", "offset"):
            if name not in members:
                raise ValueError(f"it lacks {name!r}")
        return {name: _array(name, _content(archive, member)) for name, member in members.items()}


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as file:
        # With a limit no more is decompressed, even of a member that lies about its size; one byte more checks the sum.
        return file.read(member.file_size + 1)


def _array(name: str, content: bytes) -> Integers:
    header = HEADER.match(content[:ROOM])
    if header is None:
        raise ValueError(f"{name} is not an array of 64-bit integers")
    order, columns_first, length, columns = header.groups()
    shape = (int(length), 2) if columns else (int(length),)
    values = np.frombuffer(content, order.decode() + "i8", offset=header.end())
    if values.size != np.prod(shape):
        raise ValueError(f"{name} has {values.size:,} values, and its header promises {shape}")
    return np.ascontiguousarray(values.reshape(shape, order="F" if columns_first == b"True" else "C"), np.int64)
