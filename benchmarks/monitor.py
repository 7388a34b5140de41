"""What a monitor costs and how soon it notices, with the limits that must hold.

Time of `add` over that of `summarize` on the same Parquet file, growth of the state a batch, rows from a change
(calibration error 0 to 0.05 after 20,000 rows) to the alarm at 0.01, and what `add` and `status` cost after 5,000
batches, a batch a day in windows of a month, over what they cost after 50.

python benchmarks/monitor.py [--rows 1000000] [--lives 40] [--batches 5000]
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars
from rich.console import Console
from rich.table import Table

import calcert
from calcert.monitoring.betting_strategies import Wealth
from calcert.monitoring.states import state_opening
from calcert.monitoring.states.state_content import State
from calcert.monitoring.watched_statements import USUAL, L1Memory, gains
from calcert.reports.settings import Settings

TIME_LIMIT, GROWTH_LIMIT, DELAY_LIMIT, AGE_LIMIT = 3.0, 300_000, 15_000, 2.0
REPEATS = 7
YOUNG = 50
"""Batches of the state that an old one is compared with."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--lives", type=int, default=40)
    parser.add_argument("--batches", type=int, default=5_000)
    arguments = parser.parse_args()
    table = Table("what", "measured", "limit")
    with tempfile.TemporaryDirectory() as folder:
        ages = age(Path(folder), arguments.batches)
    for what, (young, old) in ages.items():
        shown = f"{old / young:.2f} ({1000 * old:.1f} ms)"
        table.add_row(f"{what}, {arguments.batches:,} batches / {YOUNG}", shown, f"{AGE_LIMIT:g}")
    with tempfile.TemporaryDirectory() as folder:
        ratio, growth = cost(Path(folder), arguments.rows)
    table.add_row(f"add / summarize, {arguments.rows:,} rows", f"{ratio:.2f}", f"{TIME_LIMIT}")
    table.add_row("growth of the state a batch", f"{growth / 1000:.0f} kB", f"{GROWTH_LIMIT / 1000:.0f} kB")
    for size in (500, 1_000, 2_500, 5_000):
        delay = delays(arguments.lives, size)
        shown = f"median {np.median(delay):,.0f}, 95% within {np.quantile(delay, 0.95):,.0f} rows"
        table.add_row(f"alarm after a change, batches of {size:,}", shown, f"95% within {DELAY_LIMIT:,}")
        assert np.mean(delay <= DELAY_LIMIT) >= 0.95, "too slow to notice"
    Console().print(table)
    assert ratio <= TIME_LIMIT, "adding is too slow"
    assert growth <= GROWTH_LIMIT, "the state grows too fast"
    assert all(old <= AGE_LIMIT * young for young, old in ages.values()), "age costs too much"


def rows_of(rng: np.random.Generator, size: int, overconfidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels of a classifier that multiplies the true log-odds; 1 is calibrated, 1.3895 has error 0.05."""
    odds = 1.5 * rng.standard_normal(size)
    return 1 / (1 + np.exp(-overconfidence * odds)), rng.random(size) < 1 / (1 + np.exp(-odds))


def cost(folder: Path, rows: int) -> tuple[float, float]:
    """Shortest time of add over shortest time of summarize, taken in turns; the largest growth of the file."""
    scores, labels = rows_of(np.random.default_rng(0), rows, 1.2)
    path = folder / "rows.parquet"
    polars.DataFrame({"p": scores, "y": labels}).write_parquet(path)
    monitor, times, sizes = calcert.Monitor(folder / "state"), ([], []), []
    for number in range(REPEATS):
        times[0].append(clock(lambda: calcert.summarize(path, score="p", label="y")))
        times[1].append(clock(lambda n=number: monitor.add(path, score="p", label="y", batch_id=str(n), again=True)))
        sizes.append(monitor.path.stat().st_size)
    return min(times[1]) / min(times[0]), float(np.diff(sizes).max())


def lived(path: Path, batches: int) -> calcert.Monitor:
    """A state with a batch of 1,000 rows a day and a window a month, asked once."""
    rng = np.random.default_rng(0)
    rows = [calcert.summarize(*rows_of(rng, 1_000, 1.0)) for _ in range(30)]
    packed = [summary.to_bytes() for summary in rows]
    # One transaction for all, because a sync for each would take longer than everything else.
    with state_opening.starting(path) as database:
        state = State(database, path)
        state.set(Settings(), USUAL)
        tip = state.tip()
        for number in range(batches):
            day, place = date(2012, 1, 1) + timedelta(days=number), number % len(rows)
            _, tip = state.append(tip, str(day), f"{day}T00:00:00", f"{day:%Y-%m}", rows[place], packed[place])
    monitor = calcert.Monitor(path)
    monitor.status()
    return monitor


def age(folder: Path, batches: int) -> dict[str, tuple[float, float]]:
    """The shortest times for a young and an old state, taken in turns."""
    monitors = [lived(folder / str(size), size) for size in (YOUNG, batches)]
    rng = np.random.default_rng(1)
    times: dict[str, tuple[list[float], list[float]]] = {}

    def measured(what: str, work: Callable[[calcert.Monitor], object]) -> None:
        for place, monitor in enumerate(monitors):
            times.setdefault(what, ([], []))[place].append(clock(lambda m=monitor: work(m)))

    for number in range(4 * REPEATS):
        rows, window = rows_of(rng, 1_000, 1.0), f"window {number}"
        measured("add", lambda m, n=number, r=rows, w=window: m.add(*r, batch_id=str(n), window_name=w))
        # The first batch of a window is a look at it.
        measured("status with a new look", lambda m: m.status(alarm=0.05))
        measured("status again", lambda m: m.status(alarm=0.05))
        measured("add", lambda m, n=number, r=rows: m.add(*r, batch_id=f"{n} again", again=True))
        measured("status without a new look", lambda m: m.status(alarm=0.05))
    command = [sys.executable, "-m", "calcert", "monitor", "status"]
    for _ in range(REPEATS):
        measured("a new process", lambda m: subprocess.run([*command, m.path], capture_output=True, check=True))
    return {what: (min(young), min(old)) for what, (young, old) in times.items()}


def clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def delays(lives: int, size: int) -> np.ndarray:
    """Per life, the rows from the change to the alarm; infinite where there was none."""
    found = np.full(lives, math.inf)
    for life in range(lives):
        rng = np.random.default_rng((size, life))
        memory, wealth = L1Memory.blank(), Wealth.blank()
        for start in range(0, 40_000, size):
            batch = calcert.summarize(*rows_of(rng, size, 1.0 if start < 20_000 else 1.3895))
            wealth = wealth.after(gains(batch, memory.witnesses()))
            memory = memory.after(batch)
            if wealth.lower(0.05) > 0.01:
                found[life] = start + size - 20_000
                break
    return found


if __name__ == "__main__":
    main()
