"""Files that stand on the command line, standard input among them."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from calcert.foundation.validation import NoRows

LOG = logging.getLogger("calcert")
STANDARD_INPUT = "-"
SUFFIXES = (".parquet", ".jsonl", ".csv")
"""Of a copy of standard input."""

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

    def as_standard_input(message: str) -> str:
        """People know what they piped in as standard input, not as a file of ours."""
        for suffix in SUFFIXES:
            message = message.replace(copy + suffix, "standard input")
        return message

    def renamed(record: logging.LogRecord) -> bool:
        record.msg, record.args = as_standard_input(record.getMessage()), ()
        return True

    LOG.addFilter(renamed)
    try:
        yield [_copy_of_standard_input(sys.stdin.buffer, copy)]
    except BrokenPipeError:
        raise
    except NoRows as error:
        raise NoRows(as_standard_input(error.source), error.left_out) from error
    except (ValueError, TypeError, OSError) as error:
        raise ValueError(as_standard_input(str(error))) from error
    finally:
        LOG.removeFilter(renamed)
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
