"""Writers that are killed or compete, run by tests as a process of its own, which forks.

Usage: writers.py kill STATE ROUNDS | writers.py compete STATE WRITERS BATCHES
Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

import numpy as np

from calcert import summarize
from calcert.monitoring.monitor import Monitor

RNG = np.random.default_rng(0)
SCORES = RNG.random(200).round(2)
BATCH = summarize(SCORES, RNG.random(200) < SCORES)


def add_for_ever(state: str, prefix: str, acknowledged: int) -> None:
    monitor = Monitor(state)
    for number in range(10_000):
        name = f"{prefix}-{number}"
        monitor.add(BATCH, batch_id=name, again=True, window_name=f"window {number % 3}")
        os.write(acknowledged, f"{name}\n".encode())


def kill(state: str, rounds: int) -> dict[str, object]:
    """Fork a writer, kill it at a random instant, look what is there; again and again."""
    chance, names, unfinished = random.Random(0), [], 0
    # The first add warms up what children inherit; the others say how long one takes on this machine, now.
    started = []
    for number in range(6):
        started.append(time.perf_counter())
        Monitor(state).add(BATCH, batch_id=f"first-{number}", again=True)
        names.append(f"first-{number}")
    usual = float(np.median(np.diff(started[1:])))
    for number in range(rounds):
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            add_for_ever(state, str(number), writable)
            os._exit(0)
        os.close(writable)
        time.sleep(chance.uniform(0.0, 5 * usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(readable) as lines:
            names += lines.read().split()
        # The machine may be busier now than it was: about two batches a writer are wanted.
        usual *= 1.05 if len(names) < 2 * number else 0.97
        unfinished += os.path.exists(f"{state}-journal")
    return {"acknowledged": names, "interrupted": unfinished}


def compete(state: str, writers: int, batches: int) -> dict[str, object]:
    """Several writers at once, each with batches of its own and all with one in common."""
    children = []
    for writer in range(writers):
        child = os.fork()
        if child == 0:
            monitor = Monitor(state)
            for number in range(batches):
                monitor.add(BATCH, batch_id=f"{writer}-{number}", again=True)
                monitor.add(BATCH, batch_id=f"common-{number}", again=True)
            os._exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return {"codes": codes}


if __name__ == "__main__":
    command, path, *numbers = sys.argv[1:]
    print(json.dumps({"kill": kill, "compete": compete}[command](path, *map(int, numbers))))  # type: ignore[operator]
