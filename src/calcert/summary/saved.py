"""A Summary as bytes: what files hold, and what the state of a monitor keeps of every batch.

After a line with the format come sizes, the deflated arrays, sums of offsets, and a checksum. Cells are stored as
differences, and integers as planes of bytes. Sums of offsets are close to random, so deflating them is wasted time: a
cell of known width and count bounds its sum, and each sum is stored in as many bits as that bound needs, one bit plane
after another. That is within a few per cent of the least possible, and takes milliseconds for a million rows.

A file may come from a stranger. No more is inflated than the largest Summary has, nothing is executed, and the content
is checked, not only the checksum: what is loaded is the Summary of some rows.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.clusters import Clusters
from calcert.summary.consistency import Arrays, check_cells, check_clusters, checked, largest_offsets
from calcert.summary.pair_sums import PAIR_SUMS

MAGIC, FORMAT = b"calcert summary", 1

MOST = 8 << 20
"""Bytes that are read of a file: no Summary needs more than five million."""

HEADER = struct.Struct("<B4I")
"""What there is beside cells, as below; cells, distinct scores, and the bytes of the two deflated parts."""

LISTED, CLUSTERED, PAIRED = 1, 2, 4
BESIDE = {"distinct": LISTED, "distinct_count": LISTED, "pairs": CLUSTERED, "clusters": CLUSTERED, "pair_sums": PAIRED}

DIGEST = 16


def to_bytes(arrays: Mapping[str, Integers]) -> bytes:
    """The content of a saved Summary."""
    cell, count = arrays["cell"], arrays["count"]
    counted = zlib.compress(_planes(np.diff(cell, prepend=0)) + _planes(count), 1)
    named = [name for name in BESIDE if name in arrays]
    beside = zlib.compress(b"".join(_planes(arrays[name]) for name in named), 1)
    kinds, distinct = 0, arrays["distinct"].size if "distinct" in arrays else 0
    for name in named:
        kinds |= BESIDE[name]
    parts = counted, beside, *_packed_offsets(cell, count, arrays["offset"])
    body = b"".join((HEADER.pack(kinds, cell.size, distinct, len(counted), len(beside)), *parts))
    return b"%s %d\n" % (MAGIC, FORMAT) + body + _digest(body)


def from_bytes(content: bytes, name: str) -> tuple[*Arrays, Clusters | None]:
    """The arrays of a saved Summary, checked; ValueError, in words, where they are not those of any rows."""
    magic, _, number = content[:64].partition(b"\n")[0].rpartition(b" ")
    if magic != MAGIC or not number.isdigit():
        raise ValueError(f"{name} is not a saved Summary: it does not begin with {MAGIC.decode()!r}.")
    if int(number) != FORMAT:
        raise ValueError(
            f"{name} holds a Summary of format {int(number)}; this calcert reads format {FORMAT}. "
            "Summaries of different formats do not mix: summarise the rows again with one version."
        )
    try:
        return _arrays(content)
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}. Summarise the rows again.") from error


def counts_of(content: bytes) -> tuple[Integers, Integers]:
    """The cells of a saved Summary and their rows by label, without the rest."""
    body, (_, size, _, counted, _) = _opened(content)
    return _cells(body, size, counted)


def _arrays(content: bytes) -> tuple[*Arrays, Clusters | None]:
    body, (kinds, size, distinct, counted, beside) = _opened(content)
    cell, count = _cells(body, size, counted)
    start = HEADER.size + counted
    shapes = {"distinct": (distinct,), "distinct_count": (distinct, 2), "pairs": (size, 2), "clusters": (16,)}
    shapes = {name: shapes.get(name, (PAIR_SUMS,)) for name, kind in BESIDE.items() if kinds & kind}
    parts = _inflated(body[start : start + beside], [int(np.prod(shape)) for shape in shapes.values()])
    found = {name: part.reshape(shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)}
    offset = _unpacked_offsets(cell, count, np.frombuffer(body, np.uint8)[start + beside :])
    arrays = checked((cell, count, offset, found.get("distinct"), found.get("distinct_count")))
    if not kinds & CLUSTERED:
        return *arrays, None
    clusters = Clusters.from_array(found["pairs"], found["clusters"], found.get("pair_sums"))
    check_clusters(clusters, count)
    return *arrays, clusters


def _opened(content: bytes) -> tuple[bytes, tuple[int, ...]]:
    """The content without its first line and checksum, and what its header says."""
    whole = content[len(MAGIC) + 3 :]
    body, digest = whole[:-DIGEST], whole[-DIGEST:]
    if len(body) < HEADER.size or _digest(body) != digest:
        raise ValueError("its checksum does not fit its content")
    kinds, size, distinct, *lengths = HEADER.unpack_from(body)
    if size > cells.CELLS or distinct > DISTINCT_LIMIT:
        raise ValueError(f"it promises {size:,} cells and {distinct:,} distinct scores, more than there can be")
    if kinds not in (0, LISTED, CLUSTERED, LISTED | CLUSTERED, CLUSTERED | PAIRED, LISTED | CLUSTERED | PAIRED):
        raise ValueError("it holds arrays that no Summary has")
    if distinct and not kinds & LISTED:
        raise ValueError("it has distinct scores that it does not list")
    return body, (kinds, size, distinct, *lengths)


def _cells(body: bytes, size: int, counted: int) -> tuple[Integers, Integers]:
    steps, counts = _inflated(body[HEADER.size : HEADER.size + counted], [size, 2 * size])
    cell, count = np.cumsum(steps), counts.reshape(-1, 2)
    check_cells(cell, count)
    return cell, count


def _inflated(deflated: bytes, sizes: list[int]) -> list[Integers]:
    """Arrays of these sizes, as :func:`_planes` wrote them, and nothing after them."""
    try:
        # No more is inflated than there can be, whatever the content would become: a byte more than all arrays.
        content = zlib.decompressobj().decompress(deflated, sum(1 + 8 * size for size in sizes) + 1)
    except zlib.error as error:
        raise ValueError(f"a part cannot be inflated: {error}") from error
    arrays, at = [], 0
    for size in sizes:
        width = content[at] if at < len(content) else 0
        if width > 8:
            raise ValueError("its integers have more than 64 bits")
        start, at = at + 1, at + 1 + width * size
        if at > len(content):
            break
        plane = np.frombuffer(content[start:at], np.uint8).reshape(width, size)
        number = sum((plane[p].astype(np.int64) << (8 * p) for p in range(width)), np.zeros(size, np.int64))
        arrays.append(number)
    if at != len(content):
        raise ValueError("its length does not fit its content")
    return arrays


def _planes(values: Integers) -> bytes:
    """64-bit integers: how many bytes they need, all lowest bytes, all second ones, and so on."""
    octets = values.ravel().astype("<i8").view(np.uint8).reshape(-1, 8)
    width = int(np.flatnonzero(octets.any(axis=0)).max(initial=0)) + 1
    return bytes([width]) + np.ascontiguousarray(octets[:, :width].T).tobytes()


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()


def _packed_offsets(cell: Integers, count: Integers, offset: Integers) -> Iterator[bytes]:
    place, bits = _bits_needed(cell, count)
    values = offset.ravel()[place]
    for plane, first in enumerate(_first_with(bits)):
        yield np.packbits(((values[first:] >> plane) & 1).astype(np.uint8)).tobytes()


def _unpacked_offsets(cell: Integers, count: Integers, packed: NDArray[np.uint8]) -> Integers:
    place, bits = _bits_needed(cell, count)
    values = np.zeros(place.size, np.int64)
    at = 0
    for plane, first in enumerate(_first_with(bits)):
        size = place.size - first
        stop = at + (size + 7) // 8
        if stop > packed.size:
            raise ValueError("its length does not fit its content")
        values[first:] |= np.unpackbits(packed[at:stop], count=size).astype(np.int64) << plane
        at = stop
    if at != packed.size:
        raise ValueError("its length does not fit its content")
    offset = np.zeros(count.size, np.int64)
    offset[place] = values
    return offset.reshape(count.shape)


def _bits_needed(cell: Integers, count: Integers) -> tuple[Integers, Integers]:
    """Entries in increasing order of the bits that their largest possible sum of offsets needs, and those bits."""
    largest = largest_offsets(cell, count).ravel()
    # Doubles round a 62-bit number up at most, so a bit may be wasted and never missed.
    bits = np.frexp(largest.astype(np.float64))[1].astype(np.uint8)
    # Stable sorting of bytes is a single pass.
    place = np.argsort(bits, kind="stable")
    return place, bits[place].astype(np.int64)


def _first_with(bits: Integers) -> Integers:
    """For each bit plane, the first entry (bits are increasing) that has it."""
    return np.asarray(np.searchsorted(bits, np.arange(int(bits[-1]) if bits.size else 0), side="right"))
