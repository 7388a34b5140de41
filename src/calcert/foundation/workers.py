"""Much of the same work, in several processes where it takes more than a second.

Processes are started afresh, so that neither threads of other libraries nor a script without a main guard are in their
way, and are told a function by its name. Whatever a process cannot do, because it died or never started, is done here:
how many there are changes the time that it takes, and nothing else.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Event
from typing import Any, BinaryIO, TypeVar

from calcert.foundation.progress import RowProgress

Item = TypeVar("Item")
Found = TypeVar("Found")

PATIENCE = 1.0
"""Seconds of work, done and to come, from which on processes are worth starting."""

RUNNING = "/proc/loadavg"
"""Where Linux says how many threads run at this moment, the one that asks among them."""

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from calcert.foundation.workers import serve; serve()"


def check_workers(workers: int | None) -> int:
    """How many processes may work: as asked for, or as many as there are cores that nobody uses, at least one."""
    if workers is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(cores - int(_busy()), 1)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a whole number from 1 on, or None for all free cores; got {workers!r}.")
    return workers


def _busy() -> float:
    """How many cores others use: for a minute, and now. What this process did before is no reason to do less now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    try:
        with open(RUNNING, encoding="ascii") as file:
            return min(load, int(file.read().split()[3].partition("/")[0]) - 1)
    except (OSError, ValueError, IndexError):
        return load


def spread(function: Callable[[Item], Found], items: Sequence[Item], workers: int, task: str, unit: str) -> list[Found]:
    """What the function makes of every item, in their order; it must be one that a module has by its name."""
    found: list[Found] = []
    start = time.monotonic()
    with RowProgress(task, total=len(items), unit=unit) as progress:
        for item in items:
            if workers > 1 and _takes_long(time.monotonic() - start, len(found), len(items)):
                break
            found.append(function(item))
            progress.advance_to(len(found))
        rest = items[len(found) :]
        if rest:
            for result in _by_processes(function, rest, min(workers, len(rest))):
                found.append(result)
                progress.advance_to(len(found))
    return found


def _takes_long(elapsed: float, done: int, number: int) -> bool:
    """Whether what is to come takes more than a second, as far as what was done tells."""
    return done > 0 and elapsed > PATIENCE / 8 and elapsed / done * (number - done) > PATIENCE


def _by_processes(function: Callable[[Item], Found], items: Sequence[Item], workers: int) -> Iterator[Found]:
    """The results in order. A thread waits for whichever process is free."""
    name = f"{function.__module__}:{function.__qualname__}"
    command = [sys.executable, "-c", START, json.dumps(sys.path)]
    free: SimpleQueue[subprocess.Popen[bytes] | None] = SimpleQueue()
    started: list[subprocess.Popen[bytes]] = []
    threads, stopped = ThreadPoolExecutor(workers), Event()

    def done(number: int) -> Found:
        item, process = items[number], free.get()
        try:
            answer = None if process is None else _asked(process, name, item)
        finally:
            # One that failed to answer is not asked again.
            free.put(process if process is not None and process.poll() is None else None)
        if stopped.is_set():
            raise CancelledError  # Nobody waits for it any more.
        if answer is None:
            return function(item)
        if isinstance(answer[0], BaseException):
            raise answer[0]
        result: Found = answer[0]
        return result

    try:
        for _ in range(workers):
            started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            free.put(started[-1])
        # By number: items may be made when they are asked for, and are to be few at a time.
        yield from threads.map(done, range(len(items)))
    finally:
        stopped.set()
        threads.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert pipe is not None
                    pipe.close()


def _asked(process: subprocess.Popen[bytes], name: str, item: Any) -> tuple[Any] | None:
    """What the process found; None where it is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump((name, item), process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
        answer: tuple[Any] = pickle.load(process.stdout)
        return answer
    except (OSError, EOFError, pickle.UnpicklingError):
        process.kill()
        process.wait()
        return None


def serve(source: BinaryIO | None = None, target: BinaryIO | None = None) -> None:
    """Answer until nobody asks any more: what a process that was started does."""
    import importlib
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Whoever started this one decides.
    source, target = source or sys.stdin.buffer, target or sys.stdout.buffer
    sys.stdout = sys.stderr  # What is printed must not come between the answers.
    while True:
        try:
            name, item = pickle.load(source)
        except EOFError:
            return
        module, _, function = name.partition(":")
        answer: Any
        try:
            answer = getattr(importlib.import_module(module), function)(item)
        except Exception as error:  # raised where it was asked
            answer = error
        pickle.dump((answer,), target, pickle.HIGHEST_PROTOCOL)
        target.flush()
