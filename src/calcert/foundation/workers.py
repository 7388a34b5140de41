"""Much of the same work, in several processes where it takes more than a second.

Processes are started afresh, so that neither threads of other libraries nor a script without a main guard are in their
way, and are told a function by its name. Whatever a process cannot do, because it died or never started, is done here:
how many there are changes the time that it takes, and nothing else.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from calcert.foundation.long_work import RowProgress

Item = TypeVar("Item")
Found = TypeVar("Found")

PATIENCE = 1.0
"""Seconds of work, done and to come, from which on processes are worth starting."""

AT_ONCE = 0.1
"""Seconds of work that a process is handed at a time: asking takes a while where this one is at work itself."""

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
    """What the function makes of every item, in their order; it must be one that a module has by its name.

    Once it is known to take long, this process works on, and a thread hands items to each of the others.
    """
    found, left = dict[int, Found](), deque(range(len(items)))
    helpers, started, start = list[Future[None]](), list[subprocess.Popen[bytes]](), time.monotonic()
    name, command = (
        f"{function.__module__}:{function.__qualname__}",
        [sys.executable, "-c", START, json.dumps(sys.path)],
    )

    def ask(process: subprocess.Popen[bytes], seconds: float) -> None:
        # Items may be made when they are asked for, and are to be few at a time; so few at last that all end together.
        most = max(round(AT_ONCE / max(seconds, 1e-9)), 1)
        while left:
            taken = _taken(left, min(most, max(len(left) // (2 * workers), 1)))
            try:
                answers = _asked(process, name, [items[number] for number in taken])
            except Exception:
                left.clear()  # What there is to say is said where somebody waits.
                raise
            if answers is None:
                left.extendleft(reversed(taken))  # One that failed to answer is not asked again.
                return
            found.update(zip(taken, answers, strict=True))

    with (
        RowProgress(task, total=len(items), unit=unit) as progress,
        uncollected(),
        ThreadPoolExecutor(workers) as threads,
    ):
        try:
            while left:
                elapsed, done = time.monotonic() - start, len(found)
                if workers > 1 and not started and _takes_long(elapsed, done, len(items)):
                    for _ in range(min(workers, len(left)) - 1):
                        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
                        helpers.append(threads.submit(ask, started[-1], elapsed / done))
                for number in _taken(left, 1):
                    found[number] = function(items[number])
                if not left:
                    wait(helpers)
                progress.advance_to(len(found))
            for helper in helpers:
                helper.result()
        finally:
            left.clear()
            for process in started:
                process.kill()
                with suppress(OSError), process:
                    pass
    return [found[number] for number in range(len(items))]


@contextmanager
def uncollected() -> Iterator[None]:
    """Inside, nothing looks for cycles: there are none, and looking through all results again and again takes long."""
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            gc.enable()


def _takes_long(elapsed: float, done: int, number: int) -> bool:
    """Whether what is to come takes more than a second, as far as what was done tells."""
    return done > 0 and elapsed > PATIENCE / 8 and elapsed / done * (number - done) > PATIENCE


def _taken(left: deque[int], most: int) -> list[int]:
    """The first numbers that are left, so many at most; nobody else takes them."""
    taken: list[int] = []
    with suppress(IndexError):
        while len(taken) < most:
            taken.append(left.popleft())
    return taken


def _asked(process: subprocess.Popen[bytes], name: str, items: list[Any]) -> list[Any] | None:
    """What the process found for each, or None where it is gone; what it met is raised here."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump((name, items), process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
        answers = pickle.load(process.stdout)
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):  # Of a pipe that was closed, a ValueError.
        process.kill()
        return None
    if isinstance(answers, BaseException):
        raise answers
    return list(answers)


def serve() -> None:
    """Answer until nobody asks any more: what a process that was started does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Whoever started this one decides.
    target, sys.stdout = sys.stdout.buffer, sys.stderr  # What is printed must not come between the answers.
    while True:
        try:
            name, items = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        module, _, function = name.partition(":")
        answers: Any
        try:
            work = getattr(importlib.import_module(module), function)
            with uncollected():
                answers = [work(item) for item in items]
        except Exception as error:
            answers = error
        pickle.dump(answers, target, pickle.HIGHEST_PROTOCOL)
        target.flush()
