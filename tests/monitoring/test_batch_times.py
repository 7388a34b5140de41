"""Times of batches: what a state takes can be shown, whatever else came before."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states.checksummed_batches import is_written

RNG = np.random.default_rng(0)
ROWS = RNG.random(500), RNG.random(500) < 0.5


@pytest.mark.parametrize(
    "time",
    [
        "9999-12-31",
        "0001-01-01",
        "1900-01-01",
        "2200-01-01",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:00-10:00",
        date.max,
        datetime.min,
    ],
)
def test_times_that_stand_for_unknown_are_refused_and_start_nothing(tmp_path: Path, time: Any) -> None:
    with pytest.raises(ValueError, match="time must lie between 1900-01-02 and 2199-12-31; got"):
        Monitor(tmp_path / "state").add(*ROWS, batch_id="one", time=time)
    assert list(tmp_path.iterdir()) == []


def test_the_ends_of_time_have_a_page_and_a_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    monitor = Monitor(tmp_path / "state")
    for time in ("1900-01-02", "2199-12-31", "2026-03-01T12:00+02:00"):
        monitor.add(*ROWS, batch_id=time, time=time, window="month", again=True)
    status = monitor.status(alarm=0.001)
    status.plot().savefig(tmp_path / "figure.svg")
    assert "2199-12-31" in Path(status.to_html(tmp_path / "page.html")).read_text()
    assert all(is_written(point.time) for point in status.history)
