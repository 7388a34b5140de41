"""Long work: Ctrl-C and termination, which engines may ignore and some work must not hear; and how far it is."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, NoReturn

from calcert.foundation.escaped_text import visible

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name))


TERMINATED = 128 + signal.SIGTERM

AGAIN = 1.0
"""Seconds after which an interruption that nobody heard is repeated: enough to clean up after one that was heard."""


def load(module: str) -> ModuleType:
    """Import a module of C++, which would abort the process where an exception comes in the middle."""
    with uninterrupted():
        return importlib.import_module(module)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that come meanwhile are noted, and handled as they would have been when the block is done.

    Blocking them would not do: whichever thread a signal reaches, Python handles it in the main one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[tuple[int, FrameType | None]] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    # None is a handler that was not installed from Python, and could not be put back.
    ours = [number for number, handler in before.items() if callable(handler)]
    try:
        for number in ours:
            signal.signal(number, lambda *seen: noted.append(seen))
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
    for number, frame in noted:
        handler = before[number]
        assert callable(handler)
        handler(number, frame)


@contextmanager
def heard() -> Iterator[None]:
    """Ctrl-C leaves this block as a KeyboardInterrupt for certain, and SIGTERM as a SystemExit.

    DuckDB imports other libraries by itself and forgets an exception that happens meanwhile, so Ctrl-C is repeated; or
    it turns the exception into one of its own, which is turned back here. SIGTERM makes an exception at all, because
    dying on the spot would leave temporary files.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    interrupted = False

    def interrupt(number: int, frame: object) -> NoReturn:
        nonlocal interrupted
        interrupted = True
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        raise KeyboardInterrupt

    handlers = {signal.SIGINT: interrupt, signal.SIGALRM: interrupt, signal.SIGTERM: _terminate}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    except Exception:
        if interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(number: int, frame: object) -> NoReturn:
    sys.exit(TERMINATED)


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
