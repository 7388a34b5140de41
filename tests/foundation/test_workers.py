"""Work spread over processes: the same results, whatever happens to the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calcert
from calcert.foundation import workers
from calcert.foundation.workers import check_workers, spread
from calcert.reports.certify import certify_rows
from calcert.reports.groups import GroupReport

HERE = os.getpid()


def square(number: int) -> int:
    print("on the way")  # must not come between the answers
    return number * number


def where(number: int) -> int:
    time.sleep(0.01)
    return os.getpid()


def dies_elsewhere(numbered: tuple[int, int]) -> int:
    number, home = numbered
    if os.getpid() != home:
        os._exit(3)
    return number


def refuses_seven(number: int) -> int:
    if number == 7:
        raise ValueError("seven is not wanted")
    return number


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started after the first item."""
    monkeypatch.setattr(workers, "_takes_long", lambda elapsed, done, number: done > 0)


@pytest.mark.usefixtures("at_once")
def test_results_come_in_order_from_other_processes() -> None:
    assert spread(square, range(20), 2, "squaring", "numbers") == [n * n for n in range(20)]
    found = spread(where, range(300), 3, "asking", "numbers")
    assert found[0] == HERE
    assert HERE in found[1:], "this process works, too"
    assert len(set(found)) == 3


@pytest.mark.usefixtures("at_once")
def test_what_a_process_that_died_should_have_done_is_done_here() -> None:
    items = [(n, os.getpid()) for n in range(6)]
    assert spread(dies_elsewhere, items, 2, "dying", "numbers") == list(range(6))


@pytest.mark.usefixtures("at_once")
def test_an_error_in_a_process_is_raised_here() -> None:
    with pytest.raises(ValueError, match="seven is not wanted"):
        spread(refuses_seven, range(20), 2, "refusing", "numbers")


SLOW = """
import time
from calcert.foundation import workers
if __name__ == "__main__":
    workers._takes_long = lambda elapsed, done, number: done > 0
    print("begun", flush=True)
    workers.spread(time.sleep, [0] + [0.2] * 1000, 2, "sleeping", "naps")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs groups of processes")
def test_an_interruption_ends_the_work_and_the_processes() -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n"
    time.sleep(1)
    started.send_signal(signal.SIGINT)  # To one process, as a supervisor does; a terminal tells all of them.
    _, words = started.communicate(timeout=10)
    assert "KeyboardInterrupt" in words
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)


def test_short_work_starts_no_process() -> None:
    assert set(spread(where, range(3), 2, "asking", "numbers")) == {HERE}
    assert not workers._takes_long(0.01, 1, 10_000)
    assert not workers._takes_long(10.0, 0, 100)
    assert not workers._takes_long(10.0, 99, 100)
    assert workers._takes_long(0.2, 1, 100)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_a_number_of_processes_that_makes_no_sense_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="workers must be a whole number from 1 on"):
        check_workers(wrong)
    with pytest.raises(ValueError, match="workers must be"):
        certify_rows(calcert.Rows([0.5] * 4, [0, 1] * 2, groups=[1, 1, 2, 2]), calcert.Settings(), wrong)


def test_without_a_number_free_cores_work_and_at_least_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(workers, "RUNNING", tmp_path / "loadavg")
    for load, running, wanted in (
        (0.2, "", 4),
        (1.4, "", 3),
        (99.0, "", 1),
        (1.4, "1", 4),
        (2.5, "2", 3),
        (0.2, "9", 4),
    ):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0), raising=False)
        (tmp_path / "loadavg").write_text(f"{load} 0.0 0.0 {running}/300 17" if running else "")
        assert check_workers(None) == wanted
    assert check_workers(7) == 7


@pytest.mark.usefixtures("at_once")
def test_groups_and_classes_are_the_same_from_several_processes() -> None:
    rng = np.random.default_rng(0)
    x, site = rng.random(900), np.repeat(["a", "b", "c"], 300)
    y = rng.random(900) < x
    p = rng.dirichlet([1.0, 1.0, 1.0], 300)
    one, two = (certify_rows(calcert.Rows(x, y, groups=site), calcert.Settings(), workers) for workers in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert isinstance(two, GroupReport)
    assert two.groups["b"].summary == calcert.summarize(x[300:600], y[300:600])
    few, many = (certify_rows(calcert.Rows(p, p.argmax(axis=1)), calcert.Settings(), workers) for workers in (1, 2))
    assert few.to_dict() == many.to_dict()
