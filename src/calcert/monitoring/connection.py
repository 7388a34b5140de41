"""Opening the file of a state, and every way in which that may fail, in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from calcert.monitoring import layout

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
    with _words(path), _connected(path, "rw" if os.access(path, os.W_OK) else "ro") as database:
        database.execute("BEGIN")
        found = _version(database, path)
        if found is None:
            raise ValueError(f"{path} must be the state of a monitor; it is empty. Adding a first batch fills it.")
        if found < layout.VERSION:
            raise ValueError(
                f"{path} has layout {found}; this calcert reads {layout.VERSION}. Adding a batch brings it up to date."
            )
        yield database


@contextmanager
def writing(path: Path, replay: layout.Replay) -> Iterator[sqlite3.Connection]:
    """The only writer, from before the first read until what was written is safe on the disk, or nothing of it is."""
    with _words(path), _connected(path, "rwc") as database:
        database.execute("BEGIN IMMEDIATE")
        try:
            found = _version(database, path)
            if found is None:
                layout.create(database)
            elif found < layout.VERSION:
                layout.migrate(database, found, replay)
            yield database
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")


def _version(database: sqlite3.Connection, path: Path) -> int | None:
    try:
        return layout.version(database)
    except ValueError as error:
        raise ValueError(f"{path} must be the state of a monitor; it {error}. Nothing was changed.") from error


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
