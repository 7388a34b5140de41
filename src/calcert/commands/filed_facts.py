"""What a result is filed with: what was said on the command line, and which files were read, as they are now."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calcert.foundation.escaped_text import visible

if TYPE_CHECKING:
    from calcert.foundation.facts import Facts, ReadFile
    from calcert.foundation.result import Result
    from calcert.sources.files.reading_account import Files
    from calcert.sources.parsed_values import Reading
    from calcert.sources.rows import Rows

    Filed = TypeVar("Filed", bound=Result)


def facts(command: Callable[..., None]) -> Callable[..., None]:
    """``--fact NAME=TEXT``, as often as wanted, as one mapping of what was said."""

    @wraps(command)
    def with_facts(facts: tuple[str, ...], **options: Any) -> None:
        command(said=said_of(facts), **options)

    return click.option(
        "--fact",
        "facts",
        metavar="NAME=TEXT",
        multiple=True,
        help="For the record, such as model='PD 7', version, period, population, owner or note; title is the heading "
        "of the page. May be given more than once.",
    )(with_facts)


def said_of(facts: tuple[str, ...]) -> dict[str, str]:
    """What was said, by name."""
    said: dict[str, str] = {}
    for fact in facts:
        name, equals, text = fact.partition("=")
        if not (equals and name.strip() and text.strip()):
            raise click.UsageError(f"--fact must be NAME=TEXT, such as model='PD 7'; got {visible(fact)!r}.")
        if name.strip() in said:
            raise click.UsageError(f"--fact must name each fact once; got {visible(name.strip())} twice.")
        said[name.strip()] = text.strip()
    return said


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
        with open(path, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if files.begun < os.stat(path).st_mtime_ns <= time.time_ns():
            raise ValueError(f"{visible(path)} must not change while it is read; it did. Run the command again.")
        rows = files.account.rows.get(path)
        found.append(ReadFile(getattr(path, "called", path), digest, _rows_of_parquet(path) if rows is None else rows))
    return found


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
