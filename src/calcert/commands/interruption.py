"""Ctrl-C and termination, heard even by engines that would rather not."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

TERMINATED = 128 + signal.SIGTERM

AGAIN = 1.0
"""Seconds after which an interruption that nobody heard is repeated: enough to clean up after one that was heard."""


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
