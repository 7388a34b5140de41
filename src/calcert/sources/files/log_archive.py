"""An ``.eval`` log of inspect_ai: a zip archive of JSON, read member by member; nothing is written to disk."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.interruption import load
from calcert.sources.files.json_file import DECODER

SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)
CHUNKED = re.compile(r"samples/.+_epoch_\d+/sample\.json", re.DOTALL)
STORED, DEFLATED, ZSTANDARD = 0, 8, 93
"""How members of an archive are compressed."""

LARGEST = 1 << 27
"""Characters of one sample."""

MOST_EXPANSION, SMALL_ARCHIVE = 500, 1 << 30
"""Archives of more bytes than the second, unpacked, must not have more than so many for each of their own."""


class LogArchive:
    """The members of an archive, of which one is in memory at a time."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name

    def __enter__(self) -> LogArchive:
        self._file = open(self._path, "rb")
        try:
            self._members = zipfile.ZipFile(self._file).infolist()
            self._check_members()
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError, OverflowError) as error:
            self._file.close()
            raise self._refused(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _check_members(self) -> None:
        size = self._file.seek(0, 2)
        names = [member.filename for member in self._members]
        unpacked = sum(member.file_size for member in self._members)
        name, times = Counter(names).most_common(1)[0] if names else ("", 0)
        if times > 1:
            raise ValueError(f"it holds {visible(name)!r} twice")
        if sum(member.compress_size for member in self._members) > size:
            raise ValueError("its members overlap")
        if unpacked > max(SMALL_ARCHIVE, MOST_EXPANSION * size):
            raise ValueError(f"{size:,} bytes would become {unpacked:,}")

    def header(self) -> dict[str, Any]:
        """``header.json`` or, where the log was not finished, what stood there when it began."""
        known = {member.filename: member for member in self._members}
        member = known.get("header.json") or known.get("_journal/start.json")
        if member is None:
            raise self._refused("it has neither 'header.json' nor '_journal/start.json'")
        found = self._json(member)
        if not isinstance(found, dict):
            raise self._refused(f"{member.filename!r} is not an object")
        return found

    def samples(self) -> Iterator[Any]:
        """All samples, in the order of the archive."""
        for member in self._members:
            if CHUNKED.fullmatch(member.filename):
                raise self._refused("its samples are in chunks. Write it again with inspect log convert --to eval")
            if SAMPLE.fullmatch(member.filename):
                yield self._json(member)

    def _json(self, member: zipfile.ZipInfo) -> Any:
        shown = visible(member.filename[:80])
        try:
            return DECODER.decode(self._content(member).decode())
        except RecursionError:
            raise self._refused(f"{shown!r} is nested too deeply") from None
        except (ValueError, OSError, EOFError, zlib.error) as error:
            raise self._refused(f"{shown!r}: {error}") from error

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        """The bytes of a member, which must be as many as it says, with its checksum, and not too many."""
        if member.file_size > LARGEST:
            raise ValueError(f"it would have {member.file_size:,} bytes, and {LARGEST:,} are read at most")
        self._file.seek(member.header_offset)
        head = self._file.read(30)
        if len(head) < 30 or member.flag_bits & 1:
            raise ValueError("it is cut off, or encrypted")
        self._file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        packed, most = self._file.read(member.compress_size), member.file_size + 1
        if member.compress_type == ZSTANDARD:  # What inspect_ai writes; the standard library of older Pythons lacks it.
            found = bytes(load("pyarrow").CompressedInputStream(BytesIO(packed), "zstd").read(most))
        elif member.compress_type == DEFLATED:
            found = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        elif member.compress_type == STORED:
            found = packed
        else:
            raise ValueError(f"it is compressed by method {member.compress_type}, which is not read")
        if len(found) != member.file_size or zlib.crc32(found) != member.CRC:
            raise ValueError("it does not have its size and checksum")
        return found

    def _refused(self, why: str) -> ValueError:
        return ValueError(
            f"{self._name} must be a whole log of inspect_ai; {why.rstrip('.')}. If it was copied, copy it again."
        )
