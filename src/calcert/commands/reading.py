"""Files that stand on the command line, standard input among them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from calcert.foundation.escaped_text import CalledFile

STANDARD_INPUT = "-"
CHUNK = 1 << 20


@contextmanager
def named_files(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """The files, with standard input copied to a file that has a name for as long as it is needed."""
    if STANDARD_INPUT not in files:
        yield files
        return
    if len(files) > 1:
        raise ValueError(f"- must stand alone on the command line; got {len(files)} files. Certify them apart.")
    folder = tempfile.mkdtemp(prefix="calcert-")
    copy = os.path.join(folder, "rows")
    try:
        yield [CalledFile(_copy_of_standard_input(sys.stdin.buffer, copy), "standard input")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_of_standard_input(source: BinaryIO, name: str) -> str:
    """The path of a copy, `name` and how it is written."""
    from calcert.foundation.progress import RowProgress

    head = source.read(CHUNK)
    path = name + _format_of_standard_input(head)
    with open(path, "wb") as file, RowProgress("reading standard input") as progress:
        rows = 0
        while head:
            file.write(head)
            rows += head.count(b"\n")
            progress.advance_to(rows)
            head = source.read(CHUNK)
    return path


def _format_of_standard_input(head: bytes) -> str:
    """The suffix of a file that begins so."""
    from calcert.sources.files.text_bytes import BYTE_ORDER_MARK

    text = head.removeprefix(BYTE_ORDER_MARK.encode()).lstrip()
    if not text:
        raise ValueError("standard input must hold rows, as CSV with a header or as JSON lines; got nothing.")
    if head.startswith(b"\x1f\x8b"):
        raise ValueError("standard input must be text; got gzip. Pipe it through zcat, or pass the file by name.")
    if head.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if text.startswith((b"{", b"[")) else ".csv"
