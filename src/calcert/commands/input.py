"""What commands read: files on the command line, standard input among them, and what a result says of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from calcert.foundation.escaped_text import CalledFile, visible

if TYPE_CHECKING:
    from calcert.foundation.facts import Facts, ReadFile
    from calcert.foundation.result import Result
    from calcert.sources.parsed_values import Reading
    from calcert.sources.rows import Rows
    from calcert.sources.source_argument import Files

    Filed = TypeVar("Filed", bound=Result)


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


def filed(result: Filed, said: dict[str, str], rows: Rows) -> Filed:
    """The result with its facts; the files must not have changed since they were read."""
    return result.with_facts(facts_of(said, rows))


def facts_of(said: dict[str, str], rows: Rows) -> Facts:
    """What was said, and what was read."""
    from calcert.foundation.facts import Facts

    account = rows.account
    read = tuple(described(rows.source.value))
    reading = in_words(rows.reading, account)
    gone = (
        f"{account.left_out} (--drop-missing). The bounds apply to rows that lack nothing." if account.left_out else ""
    )
    return Facts.of(said, columns=account.columns, files=read, reading=reading, left_out=gone)


def described(files: Files) -> list[ReadFile]:
    """Name, SHA-256 and number of rows of every file."""
    from calcert.foundation.facts import ReadFile
    from calcert.sources.files.paths import resolve

    found = []
    for path in resolve(files)[0]:
        digest = (files.digests or {}).get(path) or _digest(path)
        if files.begun < os.stat(path).st_mtime_ns <= time.time_ns():
            raise ValueError(f"{visible(path)} must not change while it is read; it did. Run the command again.")
        rows = files.account.rows.get(path)
        found.append(ReadFile(getattr(path, "called", path), digest, _rows_of_parquet(path) if rows is None else rows))
    return found


def _digest(path: str) -> str:
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _rows_of_parquet(path: str) -> int | None:
    if not path.lower().endswith((".parquet", ".pq")):
        return None
    from calcert.foundation.interruption import load

    return int(load("pyarrow.parquet").read_metadata(path).num_rows)


def in_words(spelling: Reading, account: Any) -> tuple[str, ...]:
    """What was made of the values in the files, in sentences."""
    said = []
    if spelling.decimal == ",":
        said.append("Numbers have decimal commas (--decimal ,).")
    if spelling.percent:
        said.append("Scores are percentages, of which a hundredth part was taken (--percent).")
    if account.doubt:
        said.append(f"{account.doubt}.")
    if spelling.positive is not None:
        said.append(f"Labels: {account.meaning(spelling)} (--positive).")
    if spelling.drop_missing and not account.left_out:
        said.append("No row was left out (--drop-missing).")
    if spelling.skip_lines:
        above = "1 line was" if spelling.skip_lines == 1 else f"{spelling.skip_lines} lines were"
        said.append(f"Above the column names of each file {above} passed over (--skip-lines).")
    if spelling.encoding != "utf-8":
        said.append(f"Text was read as {spelling.encoding} (--encoding).")
    if spelling.sheet is not None:
        said.append(f"Rows are from the sheet {spelling.sheet!r} (--sheet).")
    return tuple(said)
