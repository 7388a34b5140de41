"""Ctrl-C and termination: they wait for work that must not be interrupted, and engines that ignore them hear them."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import NoReturn

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
