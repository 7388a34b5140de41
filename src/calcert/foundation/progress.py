"""A progress bar for anything that takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from calcert.foundation.escaped_text import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""Seconds before the bar appears."""


class RowProgress:
    """Rows, or what `unit` calls them, done so far, how fast and time left, on standard error; gone when all is done.

    Nothing is shown, and rich is not even imported, where standard error is not a terminal.
    """

    def __init__(self, task: str, total: int | None = None, unit: str = "rows") -> None:
        self._task = visible(task)
        self._unit = unit
        self._total = total
        self._start = time.monotonic()
        self._bar: Progress | None = None
        self._line: TaskID | None = None
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> RowProgress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance_to(self, rows: int, share: float | None = None) -> None:
        """`rows` have been read so far, which is this `share` of the work where the total is not known."""
        elapsed = time.monotonic() - self._start
        if not self._terminal or elapsed < PATIENCE:
            return
        if self._bar is None or self._line is None:
            self._bar, self._line = _bar(self._task, self._unit)
        total = self._total if self._total is not None else rows / share if share else None
        rate = rows / elapsed
        # rich forgets its own estimate of the time left whenever the total changes.
        left = "" if total is None or rows == 0 else f"{max(total - rows, 0) / rate:,.0f} s left"
        speed = f"{rate / 1e6:,.1f} million/s" if self._unit == "rows" else f"{rate:,.1f}/s"
        self._bar.update(self._line, completed=rows, total=total, rate=speed, left=left)


def _bar(task: str, unit: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        # No markup: square brackets in the name of a file are just that.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn(f"{{task.completed:,}} {unit}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
    )
    line = bar.add_task(task, total=None, rate="", left="")
    bar.start()
    return bar, line
