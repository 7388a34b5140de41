"""How a state is laid out in its SQLite file, and how older layouts are brought up to date.

The header says whose file it is (application_id) and in which layout (user_version). Batches form a chain: each line's
digest covers the line, what it refers to and the digest before it, so that a page that went bad, a lost line or one
counted twice is noticed whenever the state is read. There is no index that could go bad on its own.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from calcert.summary.counts import Summary

APPLICATION = 0x63616C63
"""Marks an SQLite file as ours: the letters "calc"."""

VERSION = 1

TABLES = (
    "CREATE TABLE settings (name TEXT NOT NULL, value REAL NOT NULL)",
    "CREATE TABLE batches (number INTEGER PRIMARY KEY, id TEXT NOT NULL, rows INTEGER NOT NULL, "
    "positives INTEGER NOT NULL, time TEXT NOT NULL, window TEXT, lower REAL NOT NULL, gains_digest BLOB NOT NULL, "
    "summary_digest BLOB NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE contents (number INTEGER PRIMARY KEY, gains BLOB NOT NULL, summary BLOB NOT NULL)",
    "CREATE TABLE learned (batches INTEGER PRIMARY KEY, memory BLOB NOT NULL, wealth BLOB NOT NULL, "
    "digest BLOB NOT NULL)",
    "CREATE TABLE looks (stretch TEXT NOT NULL, number INTEGER NOT NULL, statement TEXT NOT NULL, "
    "certificate TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (stretch, number, statement))",
    "CREATE TABLE pool (batches INTEGER PRIMARY KEY, summary BLOB NOT NULL, digest BLOB NOT NULL)",
)


@dataclass(frozen=True)
class Batch:
    """What a state says of one batch.

    Attributes
    ----------
    number
        1 for the first batch, and so on.
    id
        The name under which it was added.
    rows, positives
        Rows, and those of label 1.
    time
        When its rows are from, in ISO 8601.
    window
        The key of its window; None where it has none.
    lower
        The lower bound certified after this batch.
    gains_digest, summary_digest, digest
        Checksums of what is kept of it, and of the chain up to here.
    """

    number: int
    id: str
    rows: int
    positives: int
    time: str
    window: str | None
    lower: float
    gains_digest: bytes
    summary_digest: bytes
    digest: bytes

    def chained(self, before: bytes) -> bytes:
        """What `digest` must be after a batch whose digest is `before`."""
        line = (self.number, self.id, self.rows, self.positives, self.time, self.window, self.lower)
        return digest(before, repr(line).encode(), self.gains_digest, self.summary_digest)


def digest(*parts: bytes) -> bytes:
    """A checksum of several parts, in which no part can borrow from the next."""
    total = hashlib.blake2b(digest_size=16)
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.digest()


def create(database: sqlite3.Connection) -> None:
    """Lay out an empty file; the caller has begun a transaction."""
    for statement in TABLES:
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {VERSION}")


def version(database: sqlite3.Connection) -> int | None:
    """The layout of the file; None for one that holds nothing yet. ValueError, in words, for a foreign one."""
    application = database.execute("PRAGMA application_id").fetchone()[0]
    tables = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION and tables:
        raise ValueError("is a database of another program")
    if application != APPLICATION:
        return None
    found = int(database.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise ValueError(f"has layout {found}, which a newer calcert wrote; this one reads up to {VERSION}. Upgrade it")
    return found


Replay = Callable[[sqlite3.Connection, Iterator[tuple[str, str, Summary]]], None]
"""Adds batches (id, time, Summary), in order, to a state that has settings and nothing else."""


def migrate(database: sqlite3.Connection, found: int, replay: Replay) -> None:
    """Bring an older layout up to date inside the caller's transaction.

    A state is a function of its Summaries in order, so that every old layout is read as just that and played again.
    """
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in tables:
        database.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    create(database)
    database.execute("INSERT INTO settings SELECT name, value FROM old_settings")
    replay(database, OLDER[found](database))
    for name in tables:
        database.execute(f"DROP TABLE old_{name}")


def _from_0(database: sqlite3.Connection) -> Iterator[tuple[str, str, Summary]]:
    """Layout 0 held, beside the settings, saved Summaries and nothing else."""
    for (row,) in database.execute("SELECT rowid FROM old_batches ORDER BY rowid").fetchall():
        line = database.execute("SELECT id, time, summary FROM old_batches WHERE rowid = ?", (row,)).fetchone()
        yield line[0], line[1], Summary.from_bytes(line[2], name=f"batch {line[0]!r}")


OLDER = {0: _from_0}
