"""A text file as bytes and as lines: decompressed, complete, and text at all."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from calcert.foundation.escaped_text import visible
from calcert.foundation.long_work import load
from calcert.foundation.refusal import Argument, Phrase, WrongValue, reading

LONGEST = 1 << 24
"""Characters of a line or a quoted value: more is no table, or a quote that was never closed."""

HEAD = 4096
BYTE_ORDER_MARK = "\ufeff"

UTF_8 = "utf-8"
SAVE = "Save it as CSV UTF-8."

NOT_TEXT = {
    b"\x1f\x8b": "gzip. Give it a name that ends in .gz",
    b"\x28\xb5\x2f\xfd": "zstd. Give it a name that ends in .zst",
    b"PAR1": "Parquet. Give it a name that ends in .parquet",
    b"PK\x03\x04": "a spreadsheet or a zip archive. Save the sheet as CSV UTF-8",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def is_utf_8(text: str) -> bool:
    """False where bytes stand in a text that are not UTF-8."""
    return text.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in text)


def not_utf_8(name: str, value: str, where: str) -> WrongValue:
    """What to say of such a text."""
    windows = (reading("encoding", "cp1252"), " for files of Windows in Western Europe.")
    way = ("Pass what the file is written in, such as ", *windows)
    return WrongValue(name, "must be text in UTF-8", repr(value), where, way)


class Record(NamedTuple):
    """The number of its first line, counted from 1 (0 in an array), its text as in the file, and its values."""

    line: int
    text: str
    values: Any


class TextBytes(io.RawIOBase):
    """The bytes of a text file in UTF-8, decompressed where its name says so, whatever encoding it is written in.

    What cannot be decompressed to the end, or is no text, is an error that says so. `digests` gets the SHA-256 of the
    file once all of it has been read.
    """

    def __init__(self, path: str, encoding: str | None = None, digests: dict[str, str] | None = None) -> None:
        self._path = path
        self._way_out = (
            SAVE if encoding is None else ("Pass ", reading("encoding", "utf-16"), ", or save it as CSV UTF-8.")
        )
        self._size = os.path.getsize(path)
        self._raw = open(path, "rb") if digests is None else io.BufferedReader(HashedFile(path, digests))  # noqa: SIM115
        self._content = _decompressed(path, self._raw)
        if encoding not in (None, UTF_8):
            self._content = _Recoded(self._content, encoding, visible(path))
        self._begun = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            found: bytes = self._content.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(
                f"{visible(self._path)} must be complete; {error}. If the file was copied, copy it again."
            ) from error
        if not self._begun:
            self._begun = True
            check_text(found[:HEAD], visible(self._path), self._way_out)
        return found

    def readinto(self, buffer: Any) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def share_read(self) -> float:
        """How much of the file has been read, between 0 and 1."""
        return 1.0 if self._raw.closed else min(self._raw.tell() / max(self._size, 1), 1.0)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class HashedFile(io.FileIO):
    """A file whose bytes are hashed on their way to whoever reads them; `digests` gets the SHA-256 of all of them.

    It gets none where not all were read in order, and forgets that of an earlier reading: rows come from this one.
    """

    def __init__(self, path: str, digests: dict[str, str]) -> None:
        super().__init__(path)
        self._path, self._digests, self._sha, self._hashed = path, digests, hashlib.sha256(), 0
        digests.pop(path, None)

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        self._sha.update(memoryview(buffer)[:size])
        self._hashed += size
        return size

    def close(self) -> None:
        if not self.closed and self._hashed == self.tell() == os.fstat(self.fileno()).st_size:
            self._digests[self._path] = self._sha.hexdigest()
        super().close()


class _Recoded:
    """Bytes of some encoding, as UTF-8."""

    def __init__(self, content: Any, encoding: str, name: str) -> None:
        self._content, self._encoding, self._name = content, encoding, name
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._ended = b"", False

    def read(self, size: int) -> bytes:
        while not self._ready and not self._ended:
            block = self._content.read(size)
            self._ended = not block
            try:
                self._ready = self._decoder.decode(block, final=self._ended).encode()
            except UnicodeError as error:
                wanted = f"must be text in {self._encoding}; {error}"
                raise WrongValue(self._name, wanted, None, "", ("Pass another ", Argument("encoding"), ".")) from error
        found, self._ready = self._ready[:size], self._ready[size:]
        return found


def check_text(head: bytes, name: str, way_out: Phrase = SAVE) -> None:
    """The beginning of a file must look like text in UTF-8, or in something that has its digits and commas."""
    for mark, words in NOT_TEXT.items():
        if head.startswith(mark):
            raise WrongValue(name, "must be text", words, "", way_out if words == "UTF-16" else "")
    if b"\0" in head:
        raise WrongValue(name, "must be text", "bytes that are not, or UTF-16", "", way_out)


def _decompressed(path: str, raw: Any) -> Any:
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw)
    return load("pyarrow").CompressedInputStream(raw, "zstd") if suffix == ".zst" else raw


@contextmanager
def opened(
    path: str, newline: str = "", encoding: str | None = None, digests: dict[str, str] | None = None
) -> Iterator[tuple[io.TextIOWrapper, TextBytes]]:
    """A text file, and the bytes that it comes from; bytes that are not UTF-8 survive as they are.

    Lines keep their ends, and end where Python says, or at `newline` alone.
    """
    content = TextBytes(path, encoding, digests)
    with io.TextIOWrapper(io.BufferedReader(content, 1 << 18), "utf-8", "surrogateescape", newline) as text:
        yield text, content


def lines_of(text: IO[str], name: str) -> Iterator[str]:
    """The lines of a text, none longer than a line can be."""
    read = text.readline
    while line := read(LONGEST):
        if len(line) == LONGEST:
            raise ValueError(f"{name} must be a table; got a line of {LONGEST:,} characters or more.")
        yield line
