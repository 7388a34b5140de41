"""The progress bar is seen on a terminal after a while, and nowhere else."""

from __future__ import annotations

import contextlib
import os
import pty
import sys

import pytest

from calcert.foundation import long_work
from calcert.foundation.long_work import RowProgress


def seen_on_terminal(monkeypatch: pytest.MonkeyPatch, total: int | None, share: float | None) -> str:
    """What a terminal of 100 columns receives."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with RowProgress("reading", total) as rows:
            for done in (1_000_000, 2_000_000, 3_000_000):
                rows.advance_to(done, share)
        return everything(master)


def everything(master: int) -> str:
    """What is waiting at this end, which comes in pieces."""
    os.set_blocking(master, False)
    pieces = []
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(master, 4096):
            pieces.append(piece)
    os.close(master)
    return b"".join(pieces).decode(errors="replace")


@pytest.mark.parametrize(("total", "share"), [(4_000_000, None), (None, 0.75), (None, None)])
def test_rows_rate_and_time_left_are_shown_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, total: int | None, share: float | None
) -> None:
    monkeypatch.setattr(long_work, "PATIENCE", 0.0)
    shown = seen_on_terminal(monkeypatch, total, share)
    assert "reading" in shown
    assert "3,000,000 rows" in shown
    assert "million/s" in shown
    assert ("s left" in shown) == (total is not None or share is not None)


def test_nothing_is_shown_in_the_first_second(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen_on_terminal(monkeypatch, 4_000_000, None) == ""


def test_nothing_is_shown_in_a_pipe(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(long_work, "PATIENCE", 0.0)
    with RowProgress("reading", 10) as rows:
        rows.advance_to(5)
    assert capfd.readouterr() == ("", "")
