"""States that older layouts wrote are brought up to date, say the same, and keep nothing that was not bound."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.monitoring.gamblers import Wealth
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states.remembered_states import remembered
from calcert.monitoring.states.state_opening import APPLICATION
from calcert.monitoring.status import Status
from calcert.monitoring.witness_memory import Memory, gains
from calcert.summary.packed import pack
from calcert.summary.summary import Summary

SETTINGS = {"delta": 0.1, "bandwidth": 1 / 64, "variation": 1.0, "seed": 0.0}
BATCHES = 5


def batch(seed: int) -> Summary:
    rng = np.random.default_rng(seed)
    scores = rng.random(1000).round(2)
    return calcert.summarize(scores, rng.random(1000) < scores)


def window(number: int) -> str:
    return f"window {number // 3}"


def time(number: int) -> str:
    return f"2026-03-0{number + 1}T00:00:00"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path)
    try:
        with database:
            yield database
    finally:
        database.close()


def write_layout_0(path: Path, batches: int) -> None:
    """Settings and saved Summaries."""
    with opened(path) as database:
        database.execute("CREATE TABLE settings (name TEXT NOT NULL, value REAL NOT NULL)")
        database.executemany("INSERT INTO settings VALUES (?, ?)", SETTINGS.items())
        database.execute("CREATE TABLE batches (id TEXT NOT NULL, time TEXT NOT NULL, summary BLOB NOT NULL)")
        lines = [(str(number), time(number), batch(number).to_bytes()) for number in range(batches)]
        database.executemany("INSERT INTO batches VALUES (?, ?, ?)", lines)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute("PRAGMA user_version = 0")


LAYOUT_1 = """
CREATE TABLE settings (name TEXT NOT NULL, value REAL NOT NULL);
CREATE TABLE batches (number INTEGER PRIMARY KEY, id TEXT NOT NULL, rows INTEGER NOT NULL, positives INTEGER NOT NULL,
  time TEXT NOT NULL, window TEXT, lower REAL NOT NULL, gains_digest BLOB NOT NULL, summary_digest BLOB NOT NULL,
  digest BLOB NOT NULL);
CREATE TABLE contents (number INTEGER PRIMARY KEY, gains BLOB NOT NULL, summary BLOB NOT NULL);
CREATE TABLE learned (batches INTEGER PRIMARY KEY, memory BLOB NOT NULL, wealth BLOB NOT NULL, digest BLOB NOT NULL);
CREATE TABLE looks (stretch TEXT NOT NULL, number INTEGER NOT NULL, statement TEXT NOT NULL, certificate TEXT NOT NULL,
  digest BLOB NOT NULL, PRIMARY KEY (stretch, number, statement));
CREATE TABLE pool (batches INTEGER PRIMARY KEY, summary BLOB NOT NULL, digest BLOB NOT NULL);
"""


def checksum(*parts: bytes) -> bytes:
    total = hashlib.blake2b(digest_size=16)
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.digest()


def write_layout_1(path: Path, batches: int) -> None:
    """A chain of lines, and looks that are bound to the settings alone: here they are all wrong, and all fit."""
    with opened(path) as database:
        database.executescript(" ".join(LAYOUT_1.split()))
        database.executemany("INSERT INTO settings VALUES (?, ?)", SETTINGS.items())
        origin = before = checksum(repr(sorted(SETTINGS.items())).encode())
        memory, wealth, pool = Memory.blank(), Wealth.blank(), Summary.empty()
        for number in range(batches):
            rows = batch(number)
            histograms = gains(rows, memory.witnesses())
            memory, wealth, pool = memory.after(rows), wealth.after(histograms), pool + rows
            line = (number + 1, str(number), rows.n, rows.positives, time(number), window(number), wealth.lower(0.1))
            content = (histograms.tobytes(), pack(rows))
            digests = [checksum(part) for part in content]
            before = checksum(before, repr(line).encode(), *digests)
            database.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*line, *digests, before))
            database.execute("INSERT INTO contents VALUES (?, ?, ?)", (number + 1, *content))
        known = (memory.seen.tobytes() + memory.earned.tobytes(), wealth.logarithm.tobytes())
        database.execute("INSERT INTO learned VALUES (?, ?, ?, ?)", (batches, *known, checksum(before, *known)))
        database.execute("INSERT INTO pool VALUES (?, ?, ?)", (batches, pack(pool), checksum(before, pack(pool))))
        wrong = json.dumps(calcert.perturbed(pool).to_dict() | {"upper": 1e-3, "lower": 0.0})
        keys = [("all rows", number + 1, "perturbed") for number in range(batches)]
        keys += [(f"window window {k}", 3 - k, name) for k in range(2) for name in ("perturbed", "unmodified")]
        for key in keys:
            fits = checksum(origin, repr([*key, wrong]).encode())
            database.execute("INSERT INTO looks VALUES (?, ?, ?, ?, ?)", (*key, wrong, fits))
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute("PRAGMA user_version = 1")


LAYOUT_2_LOOKS = """
CREATE TABLE looks (stretch TEXT NOT NULL, number INTEGER NOT NULL, certificates TEXT NOT NULL, digest BLOB NOT NULL,
PRIMARY KEY (stretch, number)) WITHOUT ROWID
"""


def write_layout_2(path: Path, batches: int) -> None:
    """As layout 1, with what was learned bound to the settings too; it watched what could be watched then."""
    write_layout_1(path, batches)
    with opened(path) as database:
        origin = checksum(repr(sorted(SETTINGS.items())).encode())
        (last,) = database.execute("SELECT digest FROM batches ORDER BY number DESC LIMIT 1").fetchone()
        known = database.execute("SELECT memory, wealth FROM learned").fetchone()
        database.execute("UPDATE learned SET digest = ?", (checksum(last, origin, *known),))
        database.execute("DROP TABLE looks")
        database.execute(" ".join(LAYOUT_2_LOOKS.split()))
        database.execute("PRAGMA user_version = 2")


WRITERS = {0: write_layout_0, 1: write_layout_1, 2: write_layout_2}


@pytest.fixture(autouse=True)
def forgetful() -> None:
    remembered.cache_clear()


def present(path: Path, batches: int, windows: bool) -> Monitor:
    monitor = Monitor(path, delta=0.1, statement="perturbed", bandwidth=1 / 64)
    for number in range(batches):
        key = window(number) if windows else None
        monitor.add(batch(number), batch_id=str(number), time=time(number), window=key)
    return monitor


def same(old: Status, new: Status) -> bool:
    """Whether both say the same; settings were written in other words, which the fingerprint covers."""
    assert old.state_fingerprint != new.state_fingerprint
    return replace(old, state_fingerprint=None).to_dict() == replace(new, state_fingerprint=None).to_dict()


@pytest.mark.parametrize("layout", WRITERS)
@pytest.mark.parametrize("first", ["add", "status", "check"])
def test_an_older_state_is_brought_up_to_date_and_says_the_same(tmp_path: Path, layout: int, first: str) -> None:
    old = Monitor(tmp_path / "old")
    WRITERS[layout](old.path, BATCHES - 1)
    # Layout 0 knew no windows.
    new = present(tmp_path / "new", BATCHES, windows=layout > 0)
    if first == "add":
        assert old.add(batch(0), batch_id="0").duplicate
    else:
        assert getattr(old, first)()
    key = window(BATCHES - 1) if layout > 0 else None
    old.add(batch(BATCHES - 1), batch_id=str(BATCHES - 1), time=time(BATCHES - 1), window=key)
    assert same(old.status(alarm=0.01), new.status(alarm=0.01))
    assert str(old.check()) == str(new.check())
    with opened(old.path) as one, opened(new.path) as other:
        schema = "SELECT name, sql FROM sqlite_schema ORDER BY name"
        assert one.execute(schema).fetchall() == other.execute(schema).fetchall()


@pytest.mark.parametrize("layout", WRITERS)
def test_an_older_state_goes_on_watching_what_it_watched(tmp_path: Path, layout: int) -> None:
    old = Monitor(tmp_path / "old")
    WRITERS[layout](old.path, BATCHES - 1)
    old.add(batch(BATCHES - 1), batch_id="new", time=time(BATCHES - 1), window="w")
    status = old.status(alarm=0.3)
    assert (status.statement, status.below) == ("perturbed", "unmodified")
    assert status.upper.theorem == "Theorem 1, drifting laws"
    assert list(status.windows[-1].certificates) == ["unmodified", "perturbed"]
    with pytest.raises(ValueError, match="statement is fixed for the life of a state; got 'distance'"):
        Monitor(old.path, statement="distance").status()
    assert Monitor(old.path, statement="perturbed").status().rows == status.rows


def test_looks_that_layout_1_did_not_bind_are_not_believed(tmp_path: Path) -> None:
    old, new = Monitor(tmp_path / "old"), present(tmp_path / "new", BATCHES, windows=True)
    write_layout_1(old.path, BATCHES)
    assert old.status().upper.upper > 0.01
    assert same(old.status(), new.status())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE settings SET value = 0.2 WHERE name = 'delta'",
        "DELETE FROM batches WHERE number = 2",
        "DELETE FROM batches WHERE number = 5",
        "DELETE FROM learned",
        "UPDATE learned SET wealth = zeroblob(length(wealth))",
        "UPDATE batches SET lower = 0.5 WHERE number = 3",
    ],
)
def test_an_older_state_that_is_damaged_is_refused_and_left_as_it_is(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "old"
    write_layout_1(path, BATCHES)
    with opened(path) as database:
        database.execute(statement)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is damaged"):
        Monitor(path).status()
    with pytest.raises(ValueError, match="is damaged"):
        Monitor(path).add(batch(9), batch_id="nine")
    assert path.read_bytes() == before


def test_an_older_state_that_may_not_be_written_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "old"
    write_layout_1(path, 1)
    path.chmod(0o444)
    # Permissions hold for root too once the capability to override them is gone.
    powerless = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    status = [*powerless, sys.executable, "-m", "calcert", "monitor", "status", str(path)]
    done = subprocess.run(status, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "has layout 1 and must be brought to layout 3 once" in " ".join(done.stderr.split())
    assert "must be writable" in " ".join(done.stderr.split())
