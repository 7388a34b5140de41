"""How a state is laid out in its SQLite file, and what is bound to what.

The header says whose file it is (application_id) and in which layout (user_version). Batches form a chain: the digest
of a line covers the line, the digests of what is kept of the batch, and the digest before it, down to the settings. So
the digest of a batch stands for all that was known when it was added, and everything else is bound to one:

* `settings`, and in `watched` the statement, to the first line, and to what was learned;
* `contents` (gains and rows of a batch) to the line of the batch;
* `learned` to the last line;
* `pool` and `looks` to the line of the last batch that they cover.

A page that went bad, a lost line, one counted twice or one that belongs to another state does not fit. What is needed
is refused then; what can be computed again (`pool`, `looks`) is. No index could go bad on its own.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

APPLICATION = 0x63616C63
"""Marks an SQLite file as ours: the letters "calc"."""

VERSION = 3

TABLES = {
    "settings": "(name TEXT NOT NULL, value REAL NOT NULL)",
    "watched": "(statement TEXT NOT NULL)",
    "batches": "(number INTEGER PRIMARY KEY, id TEXT NOT NULL, rows INTEGER NOT NULL, positives INTEGER NOT NULL, "
    "time TEXT NOT NULL, window TEXT, lower REAL NOT NULL, gains_digest BLOB NOT NULL, summary_digest BLOB NOT NULL, "
    "digest BLOB NOT NULL)",
    "contents": "(number INTEGER PRIMARY KEY, gains BLOB NOT NULL, summary BLOB NOT NULL)",
    "learned": "(batches INTEGER PRIMARY KEY, memory BLOB NOT NULL, wealth BLOB NOT NULL, digest BLOB NOT NULL)",
    "looks": "(stretch TEXT NOT NULL, number INTEGER NOT NULL, certificates TEXT NOT NULL, digest BLOB NOT NULL, "
    "PRIMARY KEY (stretch, number)) WITHOUT ROWID",
    "pool": "(batches INTEGER PRIMARY KEY, summary BLOB NOT NULL, digest BLOB NOT NULL)",
}


class Batch(NamedTuple):
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
        return digest(before, line, self.gains_digest, self.summary_digest)


def digest(*parts: object) -> bytes:
    """A checksum of several parts, in which no part can borrow from the next; what is not bytes is taken as written."""
    total = bytearray()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        total += len(content).to_bytes(8, "little")
        total += content
    return hashlib.blake2b(total, digest_size=16).digest()


def create(database: sqlite3.Connection, tables: Iterable[str] = TABLES) -> None:
    """Lay out an empty file, or these tables of one; the caller has begun a transaction."""
    for name in tables:
        database.execute(f"CREATE TABLE {name} {TABLES[name]}")
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {VERSION}")


def version(database: sqlite3.Connection) -> int:
    """The layout of the file. ValueError, in words, for a foreign one."""
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise ValueError("is a database of another program")
    found = int(database.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise ValueError(f"has layout {found}, which a newer calcert wrote; this one reads up to {VERSION}. Upgrade it")
    return found
