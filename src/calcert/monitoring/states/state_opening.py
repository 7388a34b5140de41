"""Opening the SQLite file of a state: its tables and their versions, its transactions, and every failure in words.

The header says whose file it is (application_id) and in which layout (user_version). Batches form a chain
(:mod:`calcert.monitoring.states.checksummed_batches`), and everything else is bound to the digest of one:

* `settings`, and in `watched` the statement, to the first line, and to what was learned;
* `contents` (gains and rows of a batch) to the line of the batch;
* `learned` to the last line;
* `pool` and `looks` to the line of the last batch that they cover.

A page that went bad, a lost line, one counted twice or one that belongs to another state does not fit. What is needed
is refused then; what can be computed again (`pool`, `looks`) is. No index could go bad on its own.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

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

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

Update = Callable[[sqlite3.Connection, Path, int], None]
"""Brings a state of an older layout, the third argument, up to date inside the caller's transaction."""


class DamagedState(ValueError):
    """The file is not what was written to it."""


@contextmanager
def reading(path: Path, update: Update) -> Iterator[sqlite3.Connection]:
    """A snapshot: everything read inside belongs to one moment."""
    if not path.exists():
        raise FileNotFoundError(
            f"{path} must be the state of a monitor; there is no such file. The first batch that is added starts one."
        )
    _refuse_no_bytes(path)
    with _words(path), _connected(path, "rw" if os.access(path, os.W_OK) else "ro") as database:
        database.execute("BEGIN")
        found = _version(database, path)
        if found < VERSION:
            database.execute("ROLLBACK")
            try:
                with writing(path, update):
                    pass
            except PermissionError as error:
                raise PermissionError(
                    f"{path} has layout {found} and must be brought to layout {VERSION} once. {error}"
                ) from error
            database.execute("BEGIN")
        yield database


@contextmanager
def starting(path: Path, update: Update) -> Iterator[sqlite3.Connection]:
    """The only writer of a state that is started where there is none."""
    if not path.exists():
        with _words(path):
            _start(path.resolve())
    with writing(path, update) as database:
        yield database


@contextmanager
def writing(path: Path, update: Update) -> Iterator[sqlite3.Connection]:
    """The only writer, from before the first read until what was written is safe on the disk, or nothing of it is."""
    _refuse_no_bytes(path)
    with _words(path), _connected(path, "rw") as database:
        database.execute("BEGIN IMMEDIATE")
        try:
            found = _version(database, path)
            if found < VERSION:
                update(database, path, found)
            yield database
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")


def create(database: sqlite3.Connection, tables: Iterable[str] = TABLES) -> None:
    """Lay out an empty file, or these tables of one; the caller has begun a transaction."""
    for name in tables:
        database.execute(f"CREATE TABLE {name} {TABLES[name]}")
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {VERSION}")


def _start(path: Path) -> None:
    """Lay out a state beside `path` and give it that name, so that a state is never seen unfinished."""
    unfinished = path.with_name(f".calcert-{secrets.token_hex(8)}.part")
    try:
        with _connected(unfinished, "rwc") as database:
            database.execute("BEGIN IMMEDIATE")
            create(database)
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


def _version(database: sqlite3.Connection, path: Path) -> int:
    """The layout of the file. ValueError, in words, for a foreign one."""
    found = int(database.execute("PRAGMA user_version").fetchone()[0])
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        foreign = "is a database of another program"
    elif found > VERSION:
        foreign = f"has layout {found}, which a newer calcert wrote; this one reads up to {VERSION}. Upgrade it"
    else:
        return found
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


@contextmanager
def _words(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences that say what happened, that nothing was changed, and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        says = f"SQLite says: {error}"
        if code == sqlite3.SQLITE_NOTADB:
            raise ValueError(
                f"{path} must be the state of a monitor; it is a file of another kind. Nothing was changed; "
                "give another path, and a new state is started there."
            ) from error
        if code == sqlite3.SQLITE_FULL:
            raise OSError(
                f"the disk of {path} is full. The batch was not added; free some space and add it again."
            ) from error
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            raise PermissionError(
                f"{path} must be writable, and so must its folder; they are not. Nothing was changed."
            ) from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise TimeoutError(
                f"{path} is being written by another process, for more than {PATIENCE:.0f} seconds. Nothing was "
                "changed; try again.",
            ) from error
        if code == sqlite3.SQLITE_CANTOPEN:
            raise OSError(
                f"{path} cannot be opened: is there such a folder, and may this user write to it? {says}"
            ) from error
        if code == sqlite3.SQLITE_IOERR:
            raise OSError(f"{path} could not be read or written. Nothing unfinished was kept. {says}") from error
        raise DamagedState(f"{path} is damaged. Nothing was changed; restore the file from a copy. {says}") from error
