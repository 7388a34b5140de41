"""What may go wrong with a state: killed writers, many writers, full and read-only disks, damage. Nothing is lost."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states import state_opening
from calcert.monitoring.states.state_content import State, remembered
from calcert.summary.summary import Summary

WRITERS = Path(__file__).with_name("writers.py")


def batch(seed: int, rows: int = 200, decimals: int = 2) -> Summary:
    rng = np.random.default_rng(seed)
    scores = rng.random(rows).round(decimals)
    return calcert.summarize(scores, rng.random(rows) < scores)


def ids(path: Path) -> list[str]:
    """The ids in a state whose every checksum, row and number has been read."""
    with state_opening.reading(path) as database:
        state = State(database, path)
        tip = state.tip()
        batches = state.batches(tip)
        assert tip.wealth.batches == len(batches) == sum(map(len, state.gains(batches)))
        for line in batches:
            assert state.summary(line).n == line.rows
        return [line.id for line in batches]


def writers(*arguments: object) -> dict[str, list[str]]:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(WRITERS), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_200_kills_at_random_instants_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "state"
    found = writers("kill", path, 200)
    there = ids(path)
    assert len(found["acknowledged"]) > 100, "most writers were killed before they did anything"
    assert found["interrupted"], "no writer was killed inside a transaction: the test has lost its teeth"
    assert set(found["acknowledged"]) <= set(there)
    assert len(set(there)) == len(there)
    # At most the one batch that each writer had not acknowledged may be there as well.
    assert len(there) <= len(found["acknowledged"]) + 200
    Monitor(path).add(batch(1), batch_id="life goes on")


def test_eight_writers_at_once_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "state"
    assert writers("compete", path, 8, 6)["codes"] == [0] * 8  # type: ignore[comparison-overlap]
    expected = {f"{writer}-{number}" for writer in range(8) for number in range(6)}
    expected |= {f"common-{number}" for number in range(6)}
    found = ids(path)
    assert len(found) == len(expected)
    assert set(found) == expected


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small tmpfs cannot be mounted here: that needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_refused_in_words_and_loses_nothing(small_disk: Path) -> None:
    monitor, added = Monitor(small_disk / "state"), []

    def fill() -> None:
        for number in range(1000):
            monitor.add(batch(number, 3000, 5), batch_id=str(number))
            added.append(str(number))

    with pytest.raises(OSError, match=r"is full\. The batch was not added; free some space"):
        fill()
    assert len(added) > 3
    assert ids(monitor.path) == added
    with pytest.raises(OSError, match="is full"):
        monitor.add(batch(len(added), 3000, 5), batch_id=added[-1] + " again")
    # There is no room to keep certificates either, and still they are computed.
    assert monitor.status().rows == 3000 * len(added)
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    assert not monitor.add(batch(len(added), 3000, 5), batch_id=str(len(added))).duplicate


def test_a_read_only_disk_is_refused_in_words_and_can_be_read(small_disk: Path) -> None:
    monitor = Monitor(small_disk / "state")
    monitor.add(batch(0), batch_id="one")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(PermissionError, match="must be writable"):
        monitor.add(batch(1), batch_id="two")
    assert monitor.status().rows == 200
    assert ids(monitor.path) == ["one"]


def test_a_read_only_file_is_refused_in_words_and_can_be_read(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path / "state")
    monitor.add(batch(0), batch_id="one")
    monitor.path.chmod(0o444)
    (tmp_path / "rows.csv").write_text("p,y\n0.5,1\n0.25,0\n")
    # Permissions hold for root too once the capability to override them is gone.
    powerless = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    program = [*powerless, sys.executable, "-m", "calcert", "monitor"]
    add = [*program, "add", str(monitor.path), str(tmp_path / "rows.csv"), "--batch-id", "two"]
    done = subprocess.run(add, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "must be writable" in done.stderr
    status = subprocess.run(
        [*program, "status", str(monitor.path), "--json"], capture_output=True, text=True, check=False
    )
    assert json.loads(status.stdout)["rows"] == 200
    assert ids(monitor.path) == ["one"]


def test_a_damaged_byte_in_any_page_is_refused_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "state"
    monitor = Monitor(path)
    for number in range(6):
        monitor.add(batch(number, 2000, 6), batch_id=f"batch {number}", window="week", time=f"2026-03-0{number + 1}")
    answer = monitor.status(alarm=0.01).to_dict()
    sound = path.read_bytes()
    expected = ids(path)
    chance, refused = random.Random(0), 0
    pages = len(sound) // 4096
    for page in range(pages):
        damaged = bytearray(sound)
        for _ in range(3):
            damaged[4096 * page + chance.randrange(4096)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        remembered.cache_clear()
        words = ""
        try:
            assert monitor.status(alarm=0.01).to_dict() == answer
            assert ids(path) == expected
            assert monitor.add(batch(0, 2000, 6), batch_id="batch 0").duplicate
        except (ValueError, OSError) as error:
            words = str(error)
            refused += 1
        assert not words or str(path) in words
    assert refused > pages / 2


def test_a_lost_tail_and_a_line_taken_out_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for number in range(4):
        Monitor(path).add(batch(number), batch_id=str(number))
    sound = path.read_bytes()
    for statement in (
        "DELETE FROM batches WHERE number = 4",
        "DELETE FROM batches WHERE number = 2",
        "UPDATE batches SET rows = rows + 1 WHERE number = 3",
        "UPDATE batches SET lower = 0.5 WHERE number = 3",
        "UPDATE settings SET value = 0.6 WHERE name = 'confidence'",
        "DELETE FROM learned",
    ):
        path.write_bytes(sound)
        with sqlite3.connect(path) as database:
            database.execute(statement)
        database.close()
        remembered.cache_clear()
        with pytest.raises(ValueError, match="is damaged"):
            Monitor(path).add(batch(9), batch_id="nine")
        with pytest.raises(ValueError, match="is damaged"):
            Monitor(path).status()


def test_a_missing_state_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        Monitor(tmp_path / "none").status()
    with pytest.raises(OSError, match="is there such a folder"):
        Monitor(tmp_path / "no folder" / "state").add(batch(0), batch_id="one")
    assert list(tmp_path.iterdir()) == []
