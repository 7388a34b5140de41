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

FACTS = {
    "title": "Heading of the page.",
    "model": "Name of the model, for the record.",
    "version": "Its version.",
    "period": "When the rows are from.",
    "population": "Whom the rows stand for.",
    "owner": "Who answers for it.",
    "note": "Anything else.",
}
"""What may be said, and how it is asked for."""


def facts(command: Callable[..., None]) -> Callable[..., None]:
    """``--title``, ``--model`` and so on, as one mapping of what was said."""

    @wraps(command)
    def with_facts(**options: Any) -> None:
        said = {name: options.pop(name) for name in FACTS}
        command(said={name: value for name, value in said.items() if value is not None}, **options)

    for name, words in reversed(FACTS.items()):
        with_facts = click.option(f"--{name}", metavar="TEXT", help=words)(with_facts)
    return with_facts


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
        f"{account.left_out} (--drop-missing). The bounds speak of rows that lack nothing." if account.left_out else ""
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
        found.append(ReadFile(files.called or path, digest, _rows_of_parquet(path) if rows is None else rows))
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
