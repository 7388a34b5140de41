"""From what stands on the command line to a Summary: files, standard input, or the saved result of ``calcert sql``."""

from __future__ import annotations

import csv
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from calcert.commands.interruption import load

if TYPE_CHECKING:
    from calcert.summary.counts import Summary

LOG = logging.getLogger("calcert")
STANDARD_INPUT = "-"
CHUNK = 1 << 20


def summarize(files: Sequence[str], score: str | None, label: str | None) -> Summary:
    """The Summary of all rows of the files, among them standard input as ``-``."""
    from calcert.sources import summarize as summarize_rows

    load("duckdb")
    with named_files(files) as paths:
        if score is None and label is None and len(paths) == 1 and is_query_result(paths[0]):
            return read_query_result(paths[0])
        return summarize_rows(paths, score=score, label=label)


@contextmanager
def named_files(files: Sequence[str]) -> Iterator[list[str]]:
    """The files, with standard input copied to a file that has a name for as long as it is needed."""
    if STANDARD_INPUT not in files:
        yield list(files)
        return
    if len(files) > 1:
        raise ValueError(f"- must stand alone on the command line; got {len(files)} files. Certify them apart.")
    folder = tempfile.mkdtemp(prefix="calcert-")

    def without_folder(record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(f"{folder}/", ""), ()
        return True

    # People know what they piped in as standard input, not as a file in a folder of ours.
    LOG.addFilter(without_folder)
    try:
        yield [str(_copy(sys.stdin.buffer, Path(folder)))]
    except (ValueError, TypeError, OSError) as error:
        raise ValueError(str(error).replace(f"{folder}/", "")) from error
    finally:
        LOG.removeFilter(without_folder)
        shutil.rmtree(folder, ignore_errors=True)


def _copy(source: BinaryIO, folder: Path) -> Path:
    from calcert.foundation.progress import RowProgress

    head = source.read(CHUNK)
    path = folder / f"standard input{_suffix(head)}"
    with path.open("wb") as file, RowProgress("reading standard input") as progress:
        rows = 0
        while head:
            file.write(head)
            rows += head.count(b"\n")
            progress.advance_to(rows)
            head = source.read(CHUNK)
    return path


def _suffix(head: bytes) -> str:
    if not head.strip():
        raise ValueError("standard input must hold rows, as CSV with a header or as JSON lines; got nothing.")
    if head.startswith(b"\x1f\x8b"):
        raise ValueError("standard input must be text; got gzip. Pipe it through zcat, or pass the file by name.")
    if head.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if head.lstrip().startswith(b"{") else ".csv"


def is_query_result(path: str) -> bool:
    """True where a CSV file has the columns that the query of ``calcert sql`` returns, in any order."""
    from calcert.summary.query_result import COLUMNS

    file = Path(path)
    if file.suffix.lower() != ".csv" or not os.access(file, os.R_OK):
        return False
    with file.open(newline="", encoding="utf-8-sig", errors="replace") as lines:
        header = next(csv.reader(lines), [])
    return {name.lower() for name in header} == set(COLUMNS)


def read_query_result(path: str) -> Summary:
    """The Summary in a saved result of the query of ``calcert sql``."""
    from calcert.summary.counts import Summary
    from calcert.summary.query_result import COLUMNS

    with Path(path).open(newline="", encoding="utf-8-sig") as lines:
        table = csv.DictReader(lines)
        rows = [{(name or "").lower(): value for name, value in line.items()} for line in table]
    try:
        # Databases write a score that is not there as nothing, NULL or \N; every number is longer than that or a digit.
        return Summary.from_cells(
            [(*(int(row[name]) for name in COLUMNS[:-1]), _number_or_none(row["score"])) for row in rows]
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} must be the whole result of the query of calcert sql: {error}") from error


def _number_or_none(text: str) -> float | None:
    return None if text.strip().lower() in ("", "null", "\\n", "none") else float(text)
