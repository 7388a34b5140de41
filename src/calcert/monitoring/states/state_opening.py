"""Opening the SQLite file of a state: its tables, its transactions, and every failure in words.

The header says whose file it is (application_id) and in which format (user_version). Batches form a chain
(:mod:`calcert.monitoring.states.checksummed_batches`), and everything else is bound to the digest of one:

* `settings`, and in `watched` the statement, to the first line, and to what was learned;
* `contents` (gains, rows and hashed ids of a batch) to the line of the batch;
* `learned` to the last line;
* `pool` and `looks` to the line of the last batch that they cover.

A page that went bad, a lost line, one counted twice or one that belongs to another state does not fit. What is needed
is refused then; what can be computed again (`pool`, `looks`) is. No index could go bad on its own.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

APPLICATION = 0x63616C63
"""Marks an SQLite file as ours: the letters "calc"."""

FORMAT = 6
"""Of the tables below and of what they hold: a state of any other format is refused by its number."""

COLUMNS = {
    "settings": "(name TEXT NOT NULL, value REAL NOT NULL)",
    "watched": "(statement TEXT NOT NULL)",
    "batches": "(number INTEGER PRIMARY KEY, id TEXT NOT NULL, rows INTEGER NOT NULL, positives INTEGER NOT NULL, "
    "time TEXT NOT NULL, window TEXT, lower REAL NOT NULL, gains_digest BLOB NOT NULL, summary_digest BLOB NOT NULL, "
    "ids_digest BLOB NOT NULL, digest BLOB NOT NULL)",
    "contents": "(number INTEGER PRIMARY KEY, gains BLOB NOT NULL, summary BLOB NOT NULL, ids BLOB NOT NULL)",
    "learned": "(batches INTEGER PRIMARY KEY, memory BLOB NOT NULL, wealth BLOB NOT NULL, digest BLOB NOT NULL)",
    "looks": "(stretch TEXT NOT NULL, number INTEGER NOT NULL, certificates TEXT NOT NULL, digest BLOB NOT NULL, "
    "PRIMARY KEY (stretch, number)) WITHOUT ROWID",
    "pool": "(batches INTEGER PRIMARY KEY, summary BLOB NOT NULL, digest BLOB NOT NULL)",
}
TABLES = {name: f"CREATE TABLE {name} {columns}" for name, columns in COLUMNS.items()}
"""All that a state has, and how SQLite writes it down."""

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""


class DamagedState(ValueError):
    """The file is not what was written to it."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A snapshot: everything read inside belongs to one moment."""
    if not path.exists():
        raise FileNotFoundError(
            f"{path} must be the state of a monitor; there is no such file. The first batch that is added starts one."
        )
    _refuse_no_bytes(path)
    with _words(path), _connected(path, "rw" if os.access(path, os.W_OK) else "ro") as database:
        database.execute("BEGIN")
        _refuse_foreign(database, path)
        yield database


@contextmanager
def starting(path: Path) -> Iterator[sqlite3.Connection]:
    """The only writer of a state that is started where there is none."""
    if not path.exists():
        with _words(path):
            _start(path.resolve())
    with writing(path) as database:
        yield database


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """The only writer, from before the first read until what was written is safe on the disk, or nothing of it is."""
    _refuse_no_bytes(path)
    with _words(path), _connected(path, "rw") as database:
        database.execute("BEGIN IMMEDIATE")
        try:
            _refuse_foreign(database, path)
            yield database
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")


def _start(path: Path) -> None:
    """Lay out a state beside `path` and give it that name, so that a state is never seen unfinished."""
    unfinished = path.with_name(f".calcert-{secrets.token_hex(8)}.part")
    try:
        with _connected(unfinished, "rwc") as database:
            database.execute("BEGIN IMMEDIATE")
            for statement in TABLES.values():
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            database.execute("COMMIT")
        try:
            os.link(unfinished, path)
        except FileExistsError:
            pass  # Another process was first, and its state is as good.
        except OSError:
            # No hard links on this disk: whoever creates the name may replace what it stands for.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL))
                os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse_no_bytes(path: Path) -> None:
    """SQLite takes such a file for a new database; but states appear whole, so that this one has lost everything."""
    if not path.stat().st_size:
        raise DamagedState(
            f"{path} is damaged: it has 0 bytes. Nothing was changed; restore the file from a copy, or remove it to "
            "start anew."
        )


def _refuse_foreign(database: sqlite3.Connection, path: Path) -> None:
    """ValueError, in words, for a file that no monitor of this format made; asked before anything else is read.

    Views, triggers and generated columns would run a stranger's code, and an index could hide rows: a state has tables
    alone, each as it is written above.
    """
    number = int(database.execute("PRAGMA user_version").fetchone()[0])
    schema = database.execute(f"SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT {len(TABLES) + 1}").fetchall()
    expected = {("table", name, name, sql) for name, sql in TABLES.items()}
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        foreign = "is a database of another program"
    elif number != FORMAT:
        writer = "a newer" if number > FORMAT else "an older" if number >= 0 else "no"
        foreign = f"has format {number}, which {writer} calcert wrote; this one reads format {FORMAT} alone"
    elif expected != set(schema):
        kind, name, *_ = min(set(schema) - expected or expected - set(schema), key=repr)
        foreign = f"must have the tables of a state and nothing else, and has not: see {kind} {name!r}"
    elif database.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        foreign = "keeps a write-ahead log beside it, and a state is one file: set PRAGMA journal_mode = DELETE"
    else:
        return
    raise ValueError(f"{path} must be the state of a monitor; it {foreign}. Nothing was changed.")


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, timeout=PATIENCE, isolation_level=None
    )
    try:
        # EXTRA also syncs the folder once the journal is gone: an acknowledged batch survives a power cut.
        database.execute("PRAGMA synchronous = EXTRA")
        database.execute("PRAGMA cell_size_check = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        yield database
    finally:
        database.close()


WRITABLE = PermissionError("{path} must be writable, and so must its folder; they are not. Nothing was changed.")
BUSY = TimeoutError("{path} is being written by another process, for over a minute. Nothing was changed; try again.")
FAILURES = {
    sqlite3.SQLITE_NOTADB: ValueError(
        "{path} must be the state of a monitor; it is a file of another kind. Nothing was changed; give another path, "
        "and a new state is started there."
    ),
    sqlite3.SQLITE_FULL: OSError("the disk of {path} is full. The batch was not added; free some space and try again."),
    sqlite3.SQLITE_READONLY: WRITABLE,
    sqlite3.SQLITE_PERM: WRITABLE,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_CANTOPEN: OSError(
        "{path} cannot be opened: is there such a folder, and may you write to it? {error}"
    ),
    sqlite3.SQLITE_IOERR: OSError("{path} could not be read or written. Nothing unfinished was kept. {error}"),
}
DAMAGED = DamagedState("{path} is damaged. Nothing was changed; restore the file from a copy. {error}")


@contextmanager
def _words(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences that say what happened, that nothing was changed, and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        failure = FAILURES.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF, DAMAGED)
        raise type(failure)(failure.args[0].format(path=path, error=f"SQLite says: {error}")) from error
