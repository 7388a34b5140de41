"""From what stands on the command line to rows: files, standard input, or the saved result of ``calcert sql``."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from calcert.foundation.validation import NoRows

if TYPE_CHECKING:
    from calcert.sources.classes.class_rows import ClassRows
    from calcert.sources.files.reading_account import Files
    from calcert.summary.summary import Summary

LOG = logging.getLogger("calcert")
STANDARD_INPUT = "-"
SUFFIXES = (".parquet", ".jsonl", ".csv")
"""Of a copy of standard input."""

CHUNK = 1 << 20


def summarize(files: Files, score: str | None, label: str | None, **weighing: Any) -> Summary:
    """The Summary of all rows of the files, among them standard input as ``-``."""
    from calcert.sources import summarize as summarize_rows

    with named_files(files) as paths:
        found = counted_rows(paths, score, label, **weighing)
        return summarize_rows(paths, score=score, label=label, **weighing) if found is None else found


def counted_rows(paths: Files, score: str | None, label: str | None, **weighing: Any) -> Summary | None:
    """The Summary in a saved result of the query of ``calcert sql``; None where the files hold rows."""
    from calcert.sources.parsed_values import PLAIN

    named = score is not None or label is not None or weighing.keys() - {"largest_weight", "largest_gain"}
    if named or len(paths) != 1 or paths.spelling != PLAIN or not is_query_result(paths[0]):
        return None
    return read_query_result(paths[0], **weighing)


def read_classes(
    files: Files,
    score: str | None,
    label: str | None,
    class_columns: str | list[str] | None,
    class_names: str | list[str] | None,
    weighing: dict[str, Any],
    groups: str | None = None,
    smallest_group: int = 1,
    of: str | None = None,
) -> ClassRows | None:
    """The rows of a classifier with many classes; None where no columns of classes are named."""
    if class_columns is None:
        for option, value in (("--class-names", class_names), ("--of", of)):
            if value is not None:
                raise click.UsageError(f"{option} must come with --class-columns; got it alone.")
        return None
    from calcert.sources import rows_of_classes

    with named_files(files) as paths:
        return rows_of_classes(
            paths,
            None,
            groups=groups,
            smallest_group=smallest_group,
            score=score,
            label=label,
            class_columns=class_columns,
            class_names=class_names.split(",") if isinstance(class_names, str) else class_names,
            weighing=weighing,
        )


@contextmanager
def named_files(files: Files) -> Iterator[Files]:
    """The files, with standard input copied to a file that has a name for as long as it is needed."""
    if STANDARD_INPUT not in files:
        yield files
        return
    from calcert.commands.filed_facts import described

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
        files[:] = [_copy_of_standard_input(sys.stdin.buffer, copy)]
        files.begun = time.time_ns()
        yield files
        # The copy will be gone when somebody asks.
        files.account.files = described(files, "standard input")
    except (ValueError, TypeError, OSError) as error:
        kind = NoRows if isinstance(error, NoRows) else ValueError
        raise kind(as_standard_input(str(error))) from error
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


def is_query_result(path: str) -> bool:
    """True where a CSV file has the columns that the query of ``calcert sql`` returns, in any order."""
    from calcert.sources.files.csv_file import CsvFile
    from calcert.summary.query_result import COLUMNS, UNIT_COLUMNS

    # Whatever cannot be read is no such result, and whoever reads it next says why.
    if not path.lower().endswith(".csv") or not os.path.isfile(path) or not os.access(path, os.R_OK):
        return False
    try:
        return {name.lower() for name in CsvFile(path).header().names} in (set(COLUMNS), set(UNIT_COLUMNS))
    except ValueError:
        return False


def read_query_result(path: str, **declared: float) -> Summary:
    """The Summary in a saved result of the query of ``calcert sql``."""
    from calcert.sources.files.csv_file import CsvFile
    from calcert.summary.query_result import COLUMNS, UNIT_COLUMNS
    from calcert.summary.summary import Summary

    file = CsvFile(path)
    here = {name.lower(): name for name in file.header().names}
    try:
        known = UNIT_COLUMNS if len(here) == len(UNIT_COLUMNS) else COLUMNS
        rows = [values for _, values in file.rows([here[name] for name in known])]
        # Databases write a score that is not there as nothing, NULL or \N; every number is longer than that or a digit.
        lines = [dict(zip(known, values, strict=True)) for values in rows]
        read = [{name: _score_or_null(v) if name == "score" else int(v) for name, v in line.items()} for line in lines]
        return Summary.from_cells(read, **declared)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file.name} must be the whole result of the query of calcert sql: {error}") from error


def _score_or_null(text: str) -> float | None:
    return None if text.strip().lower() in ("", "null", "\\n", "none") else float(text)
