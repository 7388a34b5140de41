"""Work that must not be interrupted in the middle: Ctrl-C waits until it is done."""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name))


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
