"""Files that no monitor made, or one of another format: refused by name before anything in them is read or run."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states.state_content import remembered
from calcert.monitoring.states.state_opening import FORMAT
from calcert.summary.summary import Summary
from tests.campaign.monitor_states import FOREIGN, opened


def batch(seed: int) -> Summary:
    rng = np.random.default_rng(seed)
    scores = rng.random(200).round(2)
    return calcert.summarize(scores, rng.random(200) < scores)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    for number in range(3):
        Monitor(tmp_path / "state").add(batch(number), batch_id=str(number))
    remembered.cache_clear()
    return tmp_path / "state"


def refused(path: Path, words: str) -> None:
    """Whatever is asked is refused in these words, soon, and changes nothing."""
    before, start = path.read_bytes(), time.monotonic()
    for ask in (
        lambda: Monitor(path).add(batch(9), batch_id="nine"),
        lambda: Monitor(path).status(),
        lambda: Monitor(path).check(),
    ):
        with pytest.raises(ValueError, match=words):
            ask()
    assert path.read_bytes() == before
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("name", FOREIGN)
def test_a_schema_that_no_monitor_makes_is_refused_before_anything_is_read(path: Path, name: str) -> None:
    with opened(path) as database:
        database.executescript(FOREIGN[name])
    refused(path, "must have the tables of a state and nothing else|SQLite says: malformed database schema")


def test_a_state_is_its_one_file(path: Path) -> None:
    with opened(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
    refused(path, "keeps a write-ahead log beside it")
    with opened(path) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    assert Monitor(path).check().batches == 3


@pytest.mark.parametrize(
    ("number", "writer"), [(FORMAT + 1, "a newer"), (FORMAT - 1, "an older"), (0, "an older"), (-3, "no")]
)
def test_a_state_of_another_format_is_refused_by_its_number(path: Path, number: int, writer: str) -> None:
    with opened(path) as database:
        database.execute(f"PRAGMA user_version = {number}")
    refused(path, f"has format {number}, which {writer} calcert wrote; this one reads format {FORMAT} alone")


def test_files_of_another_kind_are_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("score,label\n0.5,1\n" * 100)
    refused(tmp_path / "notes.txt", "is a file of another kind")
    with opened(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE users (name TEXT)")
    refused(tmp_path / "other.db", "is a database of another program")


def test_a_state_that_was_dumped_and_restored_is_a_state(path: Path, tmp_path: Path) -> None:
    with opened(path) as database, opened(tmp_path / "restored") as other:
        database.backup(other)
        other.execute("VACUUM")
    assert Monitor(tmp_path / "restored").status() == Monitor(path).status()
    assert sqlite3.sqlite_version_info >= (3, 31), "PRAGMA trusted_schema"
