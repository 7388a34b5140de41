"""Windows: shares of delta, certified change, and what a monitor says of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calcert
from calcert.certificates.certificate import Certificate
from calcert.monitoring.looks import Window, changes, window_key
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states import state_opening
from calcert.monitoring.states.checksummed_batches import Batch, moment, written
from calcert.monitoring.states.state_content import State
from calcert.monitoring.status import Change, WindowStatement
from tests.monitoring.lives import overconfident

CERTIFICATE = Certificate("error", "as it is", "none", 0.1, 0.0, 0.05, 100, "Theorem 4", {"plug-in": 0.1})


def batch(number: int, rows: int, window: str | None) -> Batch:
    return Batch(number, str(number), rows, 0, f"2026-03-{number:02d}T00:00:00", window, 0.0, b"", b"", b"", b"")


def statement(key: str, lower: float, upper: float) -> WindowStatement:
    certificate = replace(CERTIFICATE, lower=lower, upper=upper)
    unsure = replace(CERTIFICATE, lower=0.0, upper=1.0)
    return WindowStatement(key, key, key, 1, 100, {"perturbed": unsure, "l1": certificate})


def test_the_bounds_of_all_windows_and_looks_spend_no_more_than_delta() -> None:
    spent = 0.0
    for number in range(1, 60):
        for size in range(1, 60):
            window = Window("w", number, tuple(batch(k, 2**k, "w") for k in range(1, size + 1)))
            assert window.look == size
            # Two bounds at each look.
            spent += 2 * window.failure(0.05)
    assert 0.95 * 0.05 < spent < 0.05


def test_a_window_speaks_of_its_rows_up_to_the_last_look() -> None:
    window = Window("w", 1, (batch(1, 100, "w"), batch(2, 10, "w"), batch(3, 10, "w")))
    assert window.look == 1
    assert [b.number for b in window.seen] == [1]
    longer = replace(window, batches=(*window.batches, batch(4, 10, "w")))
    assert longer.look == 2
    assert len(longer.seen) == 4


def test_a_change_is_certified_exactly_where_intervals_do_not_meet() -> None:
    calm, drifted, unsure = statement("1", 0.0, 0.03), statement("2", 0.05, 0.09), statement("3", 0.02, 0.06)
    (found,) = changes([calm, drifted])
    assert (found.statement, found.earlier, found.later, found.grown) == ("l1", "1", "2", True)
    assert found.by == pytest.approx(0.02)
    assert changes([calm, unsure]) == ()
    assert changes([statement("1", 0.0, 0.05), drifted]) == ()
    (back,) = changes([drifted, calm])
    assert not back.grown
    assert back.by == pytest.approx(0.02)
    assert {change.later for change in changes([calm, unsure, drifted, unsure])} == {"2"}


def changes_one_by_one(windows: list[WindowStatement]) -> list[Change]:
    """Each window against every earlier one."""
    found = []
    for name in windows[0].certificates:
        for place, later in enumerate(windows):
            now, gaps = later.certificates[name], []
            for earlier in windows[:place]:
                then = earlier.certificates[name]
                gaps.append(Change(name, earlier.key, later.key, True, now.lower - then.upper))
                gaps.append(Change(name, earlier.key, later.key, False, then.lower - now.upper))
            widest = max(gaps, key=lambda change: change.by, default=None)
            if widest is not None and widest.by > 0:
                found.append(widest)
    return found


def test_changes_of_many_windows_are_those_found_one_by_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        ends = np.sort(rng.random((30, 2)) ** 0.3, axis=1).tolist()
        windows = [statement(f"{place:02d}", lower, upper) for place, (lower, upper) in enumerate(ends)]
        assert list(changes(windows)) == changes_one_by_one(windows)
        assert changes(windows)


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Monitor:
    found = Monitor(tmp_path_factory.mktemp("monitor") / "state")
    rng = np.random.default_rng(0)
    for day in range(1, 22):
        law = overconfident(0.0 if day <= 14 else 0.12)
        found.add(law.batch(rng, 3_000), batch_id=f"day {day}", time=date(2026, 6, day), window="week")
    return found


def test_a_monitor_proves_the_change_and_dates_the_alarm(monitor: Monitor) -> None:
    status = monitor.status(alarm=0.03)
    assert [window.key for window in status.windows] == ["2026-W23", "2026-W24", "2026-W25"]
    assert [window.rows for window in status.windows] == [21_000] * 3
    assert {(change.statement, change.later, change.grown) for change in status.changes} == {
        ("distance", "2026-W25", True),
    }
    assert status.alarm is not None
    assert "2026-06-15" <= status.alarm.between <= status.alarm.since <= "2026-06-18"
    assert 0.03 < status.lower < 0.12
    assert status.rows == 63_000
    assert monitor.status().alarm is None
    assert monitor.status(alarm=0.11).alarm is None


def test_asking_twice_says_the_same_and_asking_late_does_too(tmp_path: Path) -> None:
    asked, unasked = Monitor(tmp_path / "asked"), Monitor(tmp_path / "unasked")
    rng = np.random.default_rng(1)
    for number in range(6):
        rows = overconfident(0.05).batch(rng, 500)
        for one in (asked, unasked):
            one.add(rows, batch_id=str(number), time="2026-03-01", window_name=f"window {number % 2}")
        asked.status()
    assert asked.status().to_dict() == unasked.status().to_dict() == asked.status().to_dict()


def test_the_words_name_alarm_windows_and_change(monitor: Monitor) -> None:
    text = " ".join(str(monitor.status(alarm=0.03)).split())
    assert "ALARM since 2026-06-1" in text
    assert "63,000 rows in 21 batches, 2026-06-01 to 2026-06-21" in text
    assert "Calibration has changed (distance)" in text
    assert "at all times together with 95% confidence" in text
    assert "No alarm" in str(monitor.status(alarm=0.5))


def test_the_picture_shows_bounds_windows_limit_and_alarm(monitor: Monitor) -> None:
    pytest.importorskip("matplotlib")
    status = monitor.status(alarm=0.03)
    (axes,) = status.plot().axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "lower bound, worst batch so far",
        "upper bound, all rows pooled",
        "interval of a window",
        "limit 0.03",
    ]
    lower, upper = axes.lines[:2]
    assert max(lower.get_ydata()) == status.lower
    assert list(upper.get_ydata()) == [look.certificate.upper for look in status.looks]
    bars = [tuple(line.get_ydata()) for line in axes.lines[2:5]]
    assert bars == [(w.distance.lower, w.distance.upper) for w in status.windows]
    assert [text.get_text().strip() for text in axes.texts] == ["alarm"]


def test_prometheus_reads_every_line(monitor: Monitor) -> None:
    from calcert.show.monitor import prometheus_text

    lines = prometheus_text(monitor.status(alarm=0.03)).splitlines()
    values = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}
    assert values["calcert_rows"] == 63_000
    assert values['calcert_alarm{limit="0.03",statement="distance"}'] == 1
    assert values['calcert_window_error_lower{window="2026-W25",statement="distance"}'] > 0.03
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {name.partition("{")[0] for name in values} == named
    labelled = [line for line in prometheus_text(monitor.status(), 'a "b"').splitlines() if not line.startswith("#")]
    assert all('{model="a \\"b\\""' in line for line in labelled)


def test_a_batch_added_late_moves_no_end_of_the_range_inwards(tmp_path: Path) -> None:
    from calcert.show.monitor import prometheus_text

    monitor, rng = Monitor(tmp_path / "state"), np.random.default_rng(0)
    for day in (20, 21, 22, 3, 1, 2):
        scores = rng.random(100)
        monitor.add(scores, rng.random(100) < scores**2, batch_id=str(day), time=date(2026, 4, day))
    status = monitor.status(alarm=0.05)
    assert "600 rows in 6 batches, 2026-04-01 to 2026-04-22" in str(status)
    values = status.to_dict()
    assert (values["first"], values["last"]) == ("2026-04-01T00:00:00", "2026-04-22T00:00:00")
    latest = int(datetime(2026, 4, 22, tzinfo=UTC).timestamp())
    assert f"calcert_last_batch_timestamp_seconds {latest}\n" in prometheus_text(status)
    # The alarm came with a late batch: some batch of the stretch is meant, so its dates are those of all of them.
    assert status.alarm is not None
    assert status.alarm.since < status.alarm.between
    stretch = [point.time[:10] for point in status.history[status.alarm.between_number - 1 : status.alarm.number]]
    text = " ".join(str(status).split())
    assert f"ALARM since {status.alarm.since[:10]} (batch" in text
    assert f"in some batch from {min(stretch)} to {max(stretch)}." in text
    pytest.importorskip("matplotlib")
    times = list(status.plot().axes[0].lines[0].get_xdata())
    assert times == sorted(times)
    page = status.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "600 rows in 6 batches, 2026-04-01 to 2026-04-22" in page


def test_keys_of_days_weeks_and_months() -> None:
    time = moment("2026-01-01T23:30:00-05:00")
    assert window_key("day", None, time) == "2026-01-01"
    assert window_key("week", None, time) == "2026-W01"
    assert window_key("week", None, moment("2027-01-02")) == "2026-W53"
    assert window_key("month", None, time) == "2026-01"
    assert window_key(None, "campaign 7", time) == "campaign 7"
    assert window_key(None, "weekly", time) == "weekly"
    assert window_key(None, None, time) is None
    assert written(time) == "2026-01-02T04:30:00"
    assert written(moment(date(2026, 3, 4))) == "2026-03-04T00:00:00"
    assert written(moment(datetime(2026, 3, 4, 5, tzinfo=UTC))) == "2026-03-04T05:00:00"
    assert abs((moment(None) - datetime.now(UTC)).total_seconds()) < 60


def test_arguments_are_checked_in_words(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path / "state", confidence=0.9)
    rows = calcert.summarize([0.5, 0.6], [0, 1])
    for words, arguments in (
        ("batch_id must be a string that is not empty", {"batch_id": " "}),
        ("window must be day, week or month; got ''", {"batch_id": "a", "window": ""}),
        ("got 'weekly'. For a window of your own pass window_name='weekly'", {"batch_id": "a", "window": "weekly"}),
        ("window must be day, week or month; got '2026-W09'", {"batch_id": "a", "window": "2026-W09"}),
        ("window_name must be a string that is not empty", {"batch_id": "a", "window_name": " "}),
        ("must not come together", {"batch_id": "a", "window": "day", "window_name": "a"}),
        ("time must be an ISO 8601 date or time", {"batch_id": "a", "time": "yesterday"}),
    ):
        with pytest.raises(ValueError, match=words):
            monitor.add(rows, **arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="time must be a date"):
        monitor.add(rows, batch_id="a", time=5)  # type: ignore[arg-type]
    assert not monitor.path.exists()
    monitor.add(rows, batch_id="a")
    for limit in (-0.1, 1, True, "0.05"):
        with pytest.raises(ValueError, match="alarm must be a calibration error"):
            monitor.status(alarm=limit)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"confidence must lie strictly between 0\.5 and 1"):
        Monitor(tmp_path / "state", confidence=-4.0)
    with pytest.raises(ValueError, match=r"seed must be at most 2\^53"):
        Monitor(tmp_path / "state", seed=2**60 + 1)
    with pytest.raises(ValueError, match=r"confidence is fixed for the life of a state; got 0\.95, and .* 0\.9"):
        Monitor(tmp_path / "state", confidence=0.95).add(rows, batch_id="b")
    with pytest.raises(ValueError, match="bandwidth is fixed for the life of a state"):
        Monitor(tmp_path / "state", bandwidth=0.5).status()


def test_a_state_keeps_the_noise_that_it_was_started_with(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    kinds: tuple[dict[str, Any], ...] = ({"odds": 1 / 8}, {"bandwidth": 1 / 32})
    for noise in kinds:
        path = tmp_path / repr(noise)
        Monitor(path, statement="perturbed", **noise).add(scores, rng.random(200) < scores, batch_id="first")
        with state_opening.reading(path) as database:
            assert State(database, path).settings() == {"confidence": 0.95, "crossings": 3.0, "seed": 0.0} | noise
        assert dict(Monitor(path).status().upper.parameters) == noise
    with pytest.raises(
        ValueError, match=r"odds is fixed for the life .* got 0\.125, and .* started with bandwidth 1/32"
    ):
        Monitor(path, odds=1 / 8).status()


def test_the_same_batch_twice_changes_nothing_and_says_so(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path / "state")
    first = monitor.add([0.2, 0.7], [0, 1], batch_id="monday")
    assert str(first) == "Added batch 'monday': 2 rows, batch 1 of this state."
    before = monitor.path.read_bytes()
    again = monitor.add([0.7, 0.2], [1, 0], batch_id="monday")
    assert again.duplicate
    assert str(again) == "Batch 'monday' is there already, as batch 1: nothing was changed."
    with pytest.raises(ValueError, match="'monday' is there already as batch 1 with 2 other rows"):
        monitor.add([0.2, 0.8], [0, 1], batch_id="monday")
    assert monitor.path.read_bytes() == before
