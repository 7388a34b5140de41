"""Nothing in a state is believed that is not bound to the batches that it was computed from."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calcert
from calcert.monitoring import looks
from calcert.monitoring.looks import schedule
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states import state_opening
from calcert.monitoring.states.checksummed_batches import Batch, digest
from calcert.monitoring.states.state_content import State, remembered
from calcert.reports.settings import Settings
from calcert.summary.summary import Summary

SIZES = (400, 300, 500, 200, 900, 100, 700, 1500, 50)
LAST = len(schedule(SIZES))
"""The number of the last look at all rows; there are two windows besides."""


def batch(seed: int, rows: int, error: float = 0.0) -> Summary:
    rng = np.random.default_rng(seed)
    scores = rng.random(rows).round(3)
    return calcert.summarize(scores, rng.random(rows) < np.clip(scores - error, 0, 1))


def lived(path: Path, error: float = 0.0, seed: int = 0, sizes: tuple[int, ...] = SIZES) -> Monitor:
    """A state with a batch a day in two windows, asked after every one."""
    monitor = Monitor(path)
    for number, rows in enumerate(sizes):
        time, window = f"2026-03-{number + 1:02d}", f"window {number // 5}"
        monitor.add(batch(seed + number, rows, error), batch_id=str(number), time=time, window_name=window)
    monitor.status()
    return monitor


def told(monitor: Monitor) -> dict[str, Any]:
    """What a process says that has never seen the state."""
    remembered.cache_clear()
    return monitor.status(alarm=0.05).to_dict()


def test_a_fingerprint_stands_for_all_batches_in_their_order(tmp_path: Path) -> None:
    first, again, other, fewer = (
        told(lived(tmp_path / name, seed=seed, sizes=sizes))["state_fingerprint"]
        for name, seed, sizes in (("a", 0, SIZES), ("b", 0, SIZES), ("c", 1, SIZES), ("d", 0, SIZES[:-1]))
    )
    assert first == again
    assert len({first, other, fewer}) == 3
    shutil.copyfile(tmp_path / "a", tmp_path / "e")
    assert told(Monitor(tmp_path / "e"))["state_fingerprint"] == first


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path)
    try:
        with database:
            yield database
    finally:
        database.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lived(tmp_path_factory.mktemp("sound") / "state").path


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Equal settings, equal sizes, the same ids, times and windows, and another classifier."""
    return lived(tmp_path_factory.mktemp("other") / "state", error=0.3, seed=100).path


@pytest.fixture
def monitor(sound: Path, tmp_path: Path) -> Monitor:
    return Monitor(shutil.copy(sound, tmp_path / "state"))


def test_any_lost_look_is_computed_again_and_nothing_is_pooled_twice(monitor: Monitor, sound: Path) -> None:
    answer = told(monitor)
    with opened(sound) as database:
        looks = database.execute("SELECT stretch, number FROM looks").fetchall()
    assert len(looks) == LAST + 2
    for lost in ([one] for one in looks):
        shutil.copy(sound, monitor.path)
        with opened(monitor.path) as database:
            database.executemany("DELETE FROM looks WHERE stretch = ? AND number = ?", lost)
        assert told(monitor) == answer


def test_looks_early_late_and_all_of_them_lost_with_the_pool_at_any_look(monitor: Monitor, sound: Path) -> None:
    answer = told(monitor)
    for statement in (
        "DELETE FROM looks WHERE number <= 3",
        "DELETE FROM looks WHERE number >= 3",
        "DELETE FROM looks WHERE number % 2 = 0",
        "DELETE FROM looks",
    ):
        shutil.copy(sound, monitor.path)
        with opened(monitor.path) as database:
            database.execute(statement)
        assert told(monitor) == answer
        with opened(monitor.path) as database:
            database.execute("DELETE FROM pool")
            database.execute(statement)
        assert told(monitor) == answer


@pytest.mark.parametrize("table", ["looks", "pool"])
def test_what_another_state_with_equal_settings_computed_is_not_believed(
    monitor: Monitor, other: Path, table: str
) -> None:
    answer = told(monitor)
    assert told(Monitor(other)) != answer
    with opened(monitor.path) as database:
        database.execute("ATTACH ? AS other", (str(other),))
        database.execute(f"DELETE FROM {table}")
        database.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
        # The last look is due to be computed, from the pool.
        database.execute(f"DELETE FROM looks WHERE number = {LAST}")
    assert told(monitor) == answer


@pytest.mark.parametrize("table", ["settings", "batches", "contents", "learned"])
def test_what_another_state_was_given_is_refused(monitor: Monitor, other: Path, table: str) -> None:
    answer = told(monitor)
    with opened(other) as database:
        rows = database.execute(f"SELECT * FROM {table}").fetchall()
    if table == "settings":
        rows = [("delta", 0.2)]
    keyed = {"settings": "name", "batches": "number", "contents": "number", "learned": "batches"}[table]
    before = monitor.path.read_bytes()
    for row in rows:
        monitor.path.write_bytes(before)
        with opened(monitor.path) as database:
            database.execute(f"DELETE FROM {table} WHERE {keyed} = ?", row[:1])
            database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        with pytest.raises(ValueError, match="is damaged"):
            monitor.check()
        if table == "contents":
            # What was computed from them is known, and they are not read.
            assert told(monitor) == answer
            with opened(monitor.path) as database:
                database.execute("DELETE FROM looks")
                database.execute("DELETE FROM pool")
            if row[0] == len(SIZES):
                continue  # after the last look
        with pytest.raises(ValueError, match="is damaged"):
            told(monitor)


def test_looks_that_are_exchanged_or_not_due_are_not_believed(monitor: Monitor, sound: Path) -> None:
    answer = told(monitor)
    for statement in (
        "UPDATE looks SET number = -number",
        f"INSERT INTO looks SELECT stretch, 99, certificates, digest FROM looks WHERE number = {LAST}",
        f"UPDATE looks SET certificates = (SELECT certificates FROM looks WHERE number = {LAST})",
        f"UPDATE looks SET (certificates, digest) = (SELECT certificates, digest FROM looks WHERE number = {LAST})",
        "UPDATE looks SET certificates = replace(certificates, '\"upper\": 0', '\"upper\": 0.0')",
        "UPDATE looks SET (stretch, number) = ('all rows', 77) WHERE stretch = 'window window 1'",
    ):
        shutil.copy(sound, monitor.path)
        with opened(monitor.path) as database:
            database.execute(statement)
            assert database.execute("SELECT changes()").fetchone() != (0,)
        assert told(monitor) == answer


def test_looks_that_another_version_kept_in_another_form_are_computed_again(monitor: Monitor) -> None:
    answer = told(monitor)
    with opened(monitor.path) as database:
        (covered,) = database.execute(
            "SELECT digest FROM batches WHERE number = ?", (schedule(SIZES)[-1] + 1,)
        ).fetchone()
        key = ("all rows", LAST)
        (content,) = database.execute("SELECT certificates FROM looks WHERE stretch = ? AND number = ?", key).fetchone()
        for other in (content.replace('"theorem"', '"proof"'), "[]", "{}", "null"):
            fits = (other, digest(covered, key, other), *key)
            database.execute("UPDATE looks SET certificates = ?, digest = ? WHERE stretch = ? AND number = ?", fits)
            database.commit()
            assert told(monitor) == answer


def test_a_look_speaks_of_as_many_rows_as_its_batches_have(monitor: Monitor) -> None:
    status = monitor.status()
    through = np.cumsum(SIZES)
    assert [look.certificate.n for look in status.looks] == [through[place] for place in schedule(SIZES)]
    assert [look.number for look in status.looks] == [place + 1 for place in schedule(SIZES)]


def test_a_file_replaced_while_a_status_is_computed_keeps_its_own_looks(
    monitor: Monitor, sound: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, expected = told(monitor), told(Monitor(other))
    compute = looks.certify_pool  # type: ignore[attr-defined]

    def replaced(*arguments: Any) -> Any:
        shutil.copy(other, monitor.path.with_suffix(".new"))
        monitor.path.with_suffix(".new").replace(monitor.path)
        return compute(*arguments)

    monkeypatch.setattr(looks, "certify_pool", replaced)
    with opened(monitor.path) as database:
        database.execute(f"DELETE FROM looks WHERE number = {LAST}")
    # All that was read belongs to the state that was asked, and the other one is left alone.
    assert told(monitor) == answer
    monkeypatch.undo()
    assert monitor.path.read_bytes() == other.read_bytes()
    assert told(monitor) == expected
    shutil.copy(sound, monitor.path)
    with opened(monitor.path) as database:
        database.execute("DELETE FROM looks")
        database.execute("DELETE FROM pool")
    monkeypatch.setattr(looks, "certify_pool", replaced)
    with pytest.raises(ValueError, match="was replaced by another state while it was read"):
        told(monitor)


@pytest.mark.parametrize("left", ["nothing", "0 bytes", "a text"])
def test_a_file_that_goes_while_a_status_is_computed_is_not_started_anew(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    answer = told(monitor)
    compute = looks.certify_pool  # type: ignore[attr-defined]

    def gone(*arguments: Any) -> Any:
        monitor.path.unlink()
        if left != "nothing":
            monitor.path.write_text("" if left == "0 bytes" else "score,label\n" * 100)
        return compute(*arguments)

    monkeypatch.setattr(looks, "certify_pool", gone)
    with opened(monitor.path) as database:
        database.execute(f"DELETE FROM looks WHERE number = {LAST}")
    assert told(monitor) == answer
    assert monitor.path.exists() == (left != "nothing")
    if left != "nothing":
        assert monitor.path.read_text() == ("" if left == "0 bytes" else "score,label\n" * 100)


def test_a_process_that_remembers_a_state_is_not_fooled_by_another_in_its_place(
    monitor: Monitor, sound: Path, other: Path, tmp_path: Path
) -> None:
    shorter = lived(tmp_path / "shorter", sizes=SIZES[:4]).path
    answers = {path: told(Monitor(path)) for path in (sound, other, shorter)}
    for path in (sound, other, shorter, sound, shorter, other, other):
        shutil.copy(path, monitor.path)
        assert monitor.status(alarm=0.05).to_dict() == answers[path]
    assert monitor.add(batch(9, 1200), batch_id="9", time="2026-03-10").number == len(SIZES) + 1
    assert monitor.status(alarm=0.05).rows == sum(SIZES) + 1200
    assert monitor.status(alarm=0.05).to_dict() == told(monitor)


def test_asking_again_computes_nothing_and_writes_nothing(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    before = monitor.path.read_bytes()
    monkeypatch.delattr(looks, "certify_pool")
    monkeypatch.delattr(looks, "certificates_of")
    remembered.cache_clear()
    assert monitor.status() == monitor.status()
    assert monitor.path.read_bytes() == before


def test_a_process_checks_every_line_once_however_many_there_are(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(monitor)
    checked, check = [], Batch.chained
    monkeypatch.setattr(Batch, "chained", lambda line, before: checked.append(line.number) or check(line, before))  # type: ignore[func-returns-value]
    for number in range(len(SIZES), len(SIZES) + 5):
        monitor.add(batch(number, 20), batch_id=str(number))
        monitor.status(alarm=0.01)
    # Each new line is chained to the one before it once, and read once.
    assert checked == [number for number in range(len(SIZES) + 1, len(SIZES) + 6) for _ in range(2)]


def test_a_state_that_has_lost_all_of_its_lines_is_damaged_and_not_new(monitor: Monitor) -> None:
    with opened(monitor.path) as database:
        for table in ("settings", "watched", "batches", "learned"):
            database.execute(f"DELETE FROM {table}")
    remembered.cache_clear()
    for ask in (monitor.status, monitor.check, lambda: monitor.add(batch(0, 10), batch_id="one")):
        with pytest.raises(ValueError, match="is damaged: it has the lines of more or fewer batches"):
            ask()


def test_looks_of_a_window_that_are_done_with_are_not_kept(monitor: Monitor) -> None:
    with opened(monitor.path) as database:
        kept = database.execute("SELECT stretch, count(*) FROM looks GROUP BY stretch ORDER BY stretch").fetchall()
    assert kept == [("all rows", len(schedule(SIZES))), ("window window 0", 1), ("window window 1", 1)]


def test_a_state_cut_to_no_bytes_is_damaged_and_not_new(monitor: Monitor) -> None:
    monitor.path.write_bytes(b"")
    for ask in (monitor.status, monitor.check, lambda: monitor.add(batch(0, 10), batch_id="one")):
        with pytest.raises(ValueError, match=r"is damaged: it has 0 bytes.*restore the file from a copy"):
            ask()
    assert monitor.path.read_bytes() == b""


def test_a_first_batch_that_was_interrupted_may_be_added_again(tmp_path: Path) -> None:
    path = tmp_path / "state"

    def interrupted() -> None:
        with state_opening.starting(path) as database:
            State(database, path).set(Settings(), "perturbed")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [found.name for found in tmp_path.iterdir()] == ["state"]
    with pytest.raises(ValueError, match="it has no rows yet"):
        Monitor(path).status()
    assert Monitor(path, confidence=0.9).check().batches == 0
    assert Monitor(path, confidence=0.9).add(batch(0, 10), batch_id="one").number == 1


def test_a_state_is_started_where_links_cannot_be_made_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("no hard links on this disk")

    monkeypatch.setattr("os.link", refused)
    monitor = Monitor(tmp_path / "state")
    assert [monitor.add(batch(k, 10), batch_id=str(k)).number for k in range(2)] == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_an_empty_batch_is_refused_and_changes_nothing(monitor: Monitor, tmp_path: Path) -> None:
    before = monitor.path.read_bytes()
    for one in (monitor, Monitor(tmp_path / "new")):
        with pytest.raises(ValueError, match=r"the Summary must hold at least one row; got none\..*allow_empty=True"):
            one.add(Summary.empty(), batch_id="empty")
        assert one.add(Summary.empty(), batch_id="empty", allow_empty=True).number is None
    assert monitor.path.read_bytes() == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("extra", [{"labels": [0, 1]}, {"score": "p"}, {"label": "y"}])
def test_arguments_that_a_summary_has_no_use_for_are_refused(tmp_path: Path, extra: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"must be left out where scores is a Summary|must name columns of a table"):
        Monitor(tmp_path / "state").add(batch(0, 10), batch_id="one", **extra)
    assert not (tmp_path / "state").exists()


def test_check_reads_what_a_status_does_not_need(monitor: Monitor) -> None:
    assert str(monitor.check()) == "9 batches of 4,650 rows: nothing is damaged. Looks kept: 8 of 8 due."
    answer, before = told(monitor), monitor.path.read_bytes()
    for statement, words in (
        (
            "UPDATE contents SET summary = (SELECT summary FROM contents WHERE number = 1) WHERE number = 3",
            "the rows of",
        ),
        ("UPDATE contents SET gains = (SELECT gains FROM contents WHERE number = 1) WHERE number = 3", "the gains of"),
    ):
        monitor.path.write_bytes(before)
        with opened(monitor.path) as database:
            database.execute(statement)
        assert told(monitor) == answer
        with pytest.raises(ValueError, match=f"is damaged: {words} .*do not fit"):
            monitor.check()
    monitor.path.write_bytes(before)
    with opened(monitor.path) as database:
        database.execute(f"DELETE FROM looks WHERE number = {LAST}")
    said = str(monitor.check())
    assert said.endswith("Looks kept: 7 of 8 due; the next status computes the rest.")
    remembered.cache_clear()
    monitor.status()
    assert str(monitor.check()).endswith("Looks kept: 8 of 8 due.")
