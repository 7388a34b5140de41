"""A Summary in few bytes: what a state keeps of every batch.

Cells are stored as differences and counts as bytes, deflated. Sums of offsets are close to random, so deflating them is
wasted time: a cell of known width and count bounds its sum, and each sum is stored in as many bits as that bound needs,
one bit plane after another. That is within a few per cent of the least possible, and packs a million rows in
milliseconds.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Integers
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.consistency import check_cells, checked, largest_offsets
from calcert.summary.summary import Summary

VERSION = 1
HEADER = struct.Struct("<B?4I")
"""Version, whether distinct scores are listed, cells, distinct scores, and the bytes of the two deflated parts."""

DIGEST = 16


def pack(summary: Summary) -> bytes:
    """The Summary of plain rows as bytes that end in their checksum."""
    if summary.clusters is not None:
        raise ValueError(f"only plain rows are packed; got {summary.rows:,} rows{summary.clusters.words}")
    listed = summary.distinct is not None
    whole = _deflate(_planes(np.diff(summary.cell, prepend=0)), _planes(summary.count.ravel()))
    values = b""
    if summary.distinct is not None and summary.distinct_count is not None:
        values = _deflate(summary.distinct.astype("<i8").tobytes(), _planes(summary.distinct_count.ravel()))
    size = 0 if summary.distinct is None else summary.distinct.size
    body = HEADER.pack(VERSION, listed, summary.cell.size, size, len(whole), len(values)) + whole + values
    body += b"".join(_pack_offsets(summary))
    return body + _digest(body)


def unpack(content: bytes) -> Summary:
    """The inverse of :func:`pack`; ValueError where the content is damaged, or not the Summary of any rows."""
    body, listed, size, distinct_size, whole, values = _checked(content)
    cell, count = _cells(body, size, whole)
    start = HEADER.size + whole
    distinct = distinct_count = None
    if listed:
        reader = Inflated(body[start : start + values], 24 * distinct_size)
        distinct = np.frombuffer(reader.take(8 * distinct_size), "<i8").astype(np.int64)
        distinct_count = reader.planes(2 * distinct_size).reshape(-1, 2)
        reader.close()
    offset = _unpack_offsets(cell, count, np.frombuffer(body, np.uint8)[start + values :])
    return Summary(*checked((cell, count, offset, distinct, distinct_count)))


def counts_of(content: bytes) -> tuple[Integers, Integers]:
    """The cells of a packed Summary and their rows by label, without the rest."""
    body, _, size, _, whole, _ = _checked(content)
    return _cells(body, size, whole)


def _checked(content: bytes) -> tuple[bytes, bool, int, int, int, int]:
    """The content without its checksum, and what its header says."""
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if len(body) < HEADER.size or _digest(body) != digest:
        raise ValueError("its checksum does not fit its content")
    version, listed, size, distinct_size, whole, values = HEADER.unpack_from(body)
    if version != VERSION:
        raise ValueError(f"it is packed in format {version}, and this calcert reads {VERSION}")
    if size > cells.CELLS or distinct_size > DISTINCT_LIMIT:
        raise ValueError(f"it promises {size:,} cells and {distinct_size:,} distinct scores, more than there can be")
    if not listed and (distinct_size or values):
        raise ValueError("it has distinct scores that it does not list")
    return body, listed, size, distinct_size, whole, values


def _cells(body: bytes, size: int, whole: int) -> tuple[Integers, Integers]:
    reader = Inflated(body[HEADER.size : HEADER.size + whole], 24 * size)
    cell = np.cumsum(reader.planes(size))
    count = reader.planes(2 * size).reshape(-1, 2)
    reader.close()
    check_cells(cell, count)
    return cell, count


class Inflated:
    """Takes bytes off the front of deflated content, which must have no more than `most` and two for widths."""

    def __init__(self, deflated: bytes, most: int) -> None:
        try:
            # No more is inflated than there can be, whatever the content would become.
            self._content = zlib.decompressobj().decompress(deflated, most + 3)
        except zlib.error as error:
            raise ValueError(f"a part cannot be inflated: {error}") from error
        self._at = 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        self._at += size
        if self._at > len(self._content):
            raise ValueError("its length does not fit its content")
        return self._content[self._at - size : self._at]

    def close(self) -> None:
        """Everything has been taken."""
        if self._at != len(self._content):
            raise ValueError("its length does not fit its content")

    def planes(self, size: int) -> Integers:
        """The next integers, as :func:`_planes` wrote them."""
        width = self.take(1)[0]
        if width > 8:
            raise ValueError("its integers have more than 64 bits")
        plane = np.frombuffer(self.take(width * size), np.uint8).reshape(width, size)
        return np.asarray(sum(plane[p].astype(np.int64) << (8 * p) for p in range(width)) + np.zeros(size, np.int64))


def _planes(values: Integers) -> bytes:
    """Nonnegative integers: how many bytes the largest needs, all lowest bytes, all second ones, and so on."""
    width = max(int(values.max(initial=0)).bit_length() + 7, 8) // 8
    octets = values.astype("<i8").view(np.uint8).reshape(-1, 8)
    return bytes([width]) + np.ascontiguousarray(octets[:, :width].T).tobytes()


def _deflate(*parts: bytes) -> bytes:
    return zlib.compress(b"".join(parts), 1)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()


def _pack_offsets(summary: Summary) -> Iterator[bytes]:
    place, bits = _bits_needed(summary.cell, summary.count)
    values = summary.offset.ravel()[place]
    for plane, first in enumerate(_first_with(bits)):
        yield np.packbits(((values[first:] >> plane) & 1).astype(np.uint8)).tobytes()


def _unpack_offsets(cell: Integers, count: Integers, packed: NDArray[np.uint8]) -> Integers:
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
