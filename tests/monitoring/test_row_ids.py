"""Rows that were added before are left out by their ids, counted and told; the store of ids is checked and bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states.state_content import remembered
from tests.campaign.monitor_states import opened

RNG = np.random.default_rng(0)
SCORES = RNG.random(3_000).round(2)
LABELS = RNG.random(3_000) < SCORES
DAYS = (0, 700, 1_000, 2_400, 3_000)


def add(monitor: Monitor, day: int, start: int = 0, **options: object) -> calcert.monitoring.status.Added:
    """The export of a day: all rows from `start` to that day."""
    rows = slice(start, DAYS[day])
    return monitor.add(
        SCORES[rows],
        LABELS[rows],
        ids=np.arange(DAYS[day])[start:],
        batch_id=f"day {day}",
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    monitor = Monitor(tmp_path / "state")
    for day in (1, 2, 3):
        added = add(monitor, day)
        assert (added.rows, added.known) == (DAYS[day] - DAYS[day - 1], DAYS[day - 1])
    remembered.cache_clear()
    return monitor


def test_a_cumulative_export_counts_every_row_once(monitor: Monitor, tmp_path: Path) -> None:
    apart = Monitor(tmp_path / "apart")
    for day in (1, 2, 3):
        rows = slice(DAYS[day - 1], DAYS[day])
        apart.add(SCORES[rows], LABELS[rows], batch_id=f"day {day}")
    # The same rows in the same batches: the same bounds.
    found, expected = monitor.status(), apart.status()
    assert (found.rows, found.lower, found.upper) == (2_400, expected.lower, expected.upper)
    assert [point.lower for point in found.history] == [point.lower for point in expected.history]


def test_a_failed_job_may_run_again_and_an_overlap_is_left_out(monitor: Monitor) -> None:
    before = monitor.path.read_bytes()
    for day in (2, 1, 3):
        assert add(monitor, day).duplicate
    assert monitor.path.read_bytes() == before
    added = add(monitor, 4, start=900)
    assert (added.rows, added.known) == (600, 1_500)
    assert (
        str(added)
        == "Added batch 'day 4': 600 rows, batch 4 of this state. Left out: 1,500 rows that were added before."
    )


def test_a_batch_of_rows_that_were_all_added_before_has_no_new_rows(monitor: Monitor) -> None:
    before = monitor.path.read_bytes()
    rows = {"labels": LABELS[:700], "ids": np.arange(700), "batch_id": "empty"}
    with pytest.raises(ValueError, match=r"all of its 700 were added before.*allow_empty=True"):
        monitor.add(SCORES[:700], **rows)  # type: ignore[arg-type]
    empty = monitor.add(SCORES[:700], allow_empty=True, **rows)  # type: ignore[arg-type]
    assert str(empty) == "Batch 'empty' has no new rows: all of its 700 rows were added before. Nothing was changed."
    assert monitor.path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE contents SET ids = x'' WHERE number = 2",
        "UPDATE contents SET ids = zeroblob(length(ids)) WHERE number = 2",
        "UPDATE contents SET ids = (SELECT ids FROM contents WHERE number = 1) WHERE number = 3",
        "UPDATE contents SET ids = substr(ids, 9) WHERE number = 1",
    ],
)
def test_ids_that_are_damaged_are_refused(monitor: Monitor, statement: str) -> None:
    with opened(monitor.path) as database:
        database.execute(statement)
    for ask in (lambda: add(monitor, 4), monitor.check):
        with pytest.raises(ValueError, match="is damaged: the ids of a batch do not fit their checksum"):
            ask()


def test_the_store_of_ids_is_bounded(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calcert.monitoring.new_batches.MOST_IDS", 2_999)
    before = monitor.path.read_bytes()
    with pytest.raises(ValueError, match="ids of at most 2,999 rows are kept; got 600 beside 2,400"):
        add(monitor, 4)
    assert monitor.path.read_bytes() == before


def test_a_state_that_was_begun_without_ids_says_that_they_came_too_late(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path / "state")
    monitor.add(SCORES[:300], LABELS[:300], batch_id="one")
    before = monitor.path.read_bytes()
    with pytest.raises(
        ValueError, match=r"got them with 'two', and batch 'one' \(batch 1\) has none.*Leave ids out, or"
    ):
        monitor.add(SCORES[:600], LABELS[:600], ids=np.arange(600), batch_id="two")
    assert monitor.path.read_bytes() == before


def test_a_batch_without_ids_among_others_is_refused_as_its_rows_could_count_twice(monitor: Monitor) -> None:
    before, rows = monitor.path.read_bytes(), slice(DAYS[3], DAYS[4])
    for again in (False, True):
        with pytest.raises(
            ValueError, match=r"none with 'day 4', and batch 'day 1' .* has ids.*Pass ids='...', or start another"
        ):
            monitor.add(SCORES[rows], LABELS[rows], batch_id="day 4", again=again)
    assert monitor.path.read_bytes() == before
    assert add(monitor, 4).rows == 600


def test_exports_that_number_their_rows_anew_are_told_so(tmp_path: Path) -> None:
    monitor, scores = Monitor(tmp_path / "state"), RNG.random(600)
    monitor.add(scores[:300], LABELS[:300], ids=np.arange(300), batch_id="one")
    with pytest.raises(ValueError, match=r"those of batch 'one'.*with ids that rows keep from export to export"):
        monitor.add(scores, LABELS[:600], ids=np.arange(600, 1_200), batch_id="two")
