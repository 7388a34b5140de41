"""States of older layouts, brought up to date. What they kept without binding it to its batches is computed again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from calcert.monitoring.states.checksummed_batches import digest
from calcert.monitoring.states.state_content import State
from calcert.monitoring.states.state_opening import create
from calcert.summary.packed import pack
from calcert.summary.summary import Summary


def update(database: sqlite3.Connection, path: Path, found: int) -> None:
    """Bring a state of layout `found` up to date inside the caller's transaction."""
    {0: _from_0, 1: _from_1, 2: _from_2}[found](database, path)


def _from_0(database: sqlite3.Connection, path: Path) -> None:
    """Layout 0 held, beside the settings, saved Summaries and nothing else: they are added again."""
    for name in ("settings", "batches"):
        database.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    create(database)
    database.execute("INSERT INTO settings SELECT name, value FROM old_settings")
    state = State(database, path)
    tip = state.tip()
    for (row,) in database.execute("SELECT rowid FROM old_batches ORDER BY rowid").fetchall():
        name, time, saved = database.execute(
            "SELECT id, time, summary FROM old_batches WHERE rowid = ?", (row,)
        ).fetchone()
        rows = Summary.from_bytes(saved, name=f"batch {name!r}")
        _, tip = state.append(tip, name, time, None, rows, pack(rows))
    for name in ("settings", "batches"):
        database.execute(f"DROP TABLE old_{name}")


def _from_1(database: sqlite3.Connection, path: Path) -> None:
    """Layout 1 bound looks to the settings alone, and what was learned to the last line alone."""
    database.execute("DROP TABLE looks")
    create(database, ["looks", "watched"])
    state = State(database, path)
    last = database.execute("SELECT digest FROM batches ORDER BY number DESC LIMIT 1").fetchone()
    for memory, wealth, checksum in database.execute("SELECT memory, wealth, digest FROM learned").fetchall():
        if last is None or checksum != digest(last[0], memory, wealth):
            raise state.damaged("what earlier batches taught does not fit its checksum")
        database.execute("UPDATE learned SET digest = ?", (digest(last[0], state.origin(), memory, wealth),))
    state.batches(state.tip())


def _from_2(database: sqlite3.Connection, path: Path) -> None:
    """Layout 2 knew one thing to watch: a state without a line that says what it watches goes on with that."""
    create(database, ["watched"])
    state = State(database, path)
    state.batches(state.tip())
