"""Parquet of any size: time against DuckDB's own histogram, peak memory, and how time grows with rows.

python benchmarks/files.py [--largest 1000000000] [--folder /tmp]

The file of 10^8 rows is written in row groups; 10^9 rows are ten copies of it (9 GB). Every measurement is a process of
its own, DuckDB and calcert by turns, and the shortest time counts: the one least disturbed by others. Held to: at most
twice the time of ``SELECT floor(score * 16384), count(*) ... GROUP BY 1`` by DuckDB on the same files in the same run,
400 MB at the peak, and an exponent of time in rows of 1.00 +- 0.05 over all sizes. Beside that exponent, which the
start-up pulls below 1, stand the one for times above the start-up (what a file of one row takes in the same run; it
rests on a few milliseconds at the smallest size, so look at several runs) and the nanoseconds that one more row costs.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FULL = 100_000_000
THREADS = 2
TURNS = 3


def make_file(path: Path, rows: int) -> None:
    """Half of the scores uniform, half crowded at 0, labels calibrated."""
    import duckdb

    with duckdb.connect() as database:
        database.execute(f"SET threads = {THREADS}; SET memory_limit = '1GB'; SET preserve_insertion_order = false")
        database.execute(
            f"""COPY (
              SELECT score, CAST(random() < score AS TINYINT) AS label
              FROM (SELECT CASE WHEN i % 2 = 0 THEN random() ELSE pow(random(), 9) END AS score FROM range({rows}) t(i))
            ) TO '{path}'"""
        )


def measure(what: str, files: list[str]) -> dict[str, Any]:
    """Seconds and peak memory of one way to read the files, in this process."""
    if what == "calcert":
        import calcert

        # As in a process that has counted before.
        calcert.summarize([0.5], [1])

        def run() -> int:
            return calcert.summarize(files, score="score", label="label").n
    else:
        import duckdb

        database = duckdb.connect()
        database.execute(f"SET threads = {THREADS}")

        def run() -> int:
            query = "SELECT floor(score * 16384), count(*) FROM read_parquet(?) GROUP BY 1"
            return int(database.execute(query, [files]).fetchnumpy()["count_star()"].sum())

    times = []
    repeats = 3 if len(files) == 1 else 1
    for _ in range(repeats):
        start = time.perf_counter()
        rows = run()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": min(times), "megabytes": peak, "rows": rows}


def elsewhere(what: str, files: list[str], rows: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--measure", what, *files]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found["rows"] == rows, (what, found["rows"], rows)
    return found


def compare(files: list[str], rows: int) -> tuple[float, float, float]:
    """Seconds of DuckDB and of calcert, the best of three turns each, and the peak memory of calcert."""
    turns = [(elsewhere("duckdb", files, rows), elsewhere("calcert", files, rows)) for _ in range(TURNS)]
    return (
        min(theirs["seconds"] for theirs, _ in turns),
        min(ours["seconds"] for _, ours in turns),
        max(ours["megabytes"] for _, ours in turns),
    )


def exponent(rows: list[int], seconds: list[float]) -> float:
    """The slope of the least-squares line through log(seconds) against log(rows)."""
    x, y = [math.log(n) for n in rows], [math.log(t) for t in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - mean_x) ** 2 for a in x)


def main() -> None:
    """Print the table as Markdown; exit with 1 if a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1_000_000_000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], options.measure[1:])))
        return
    missed = []
    sizes, times = [], []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        one = Path(folder) / "one.parquet"
        make_file(one, 1)
        _, start_up, _ = compare([str(one)], 1)
        print(f"start-up {start_up * 1e3:.0f} ms\n")
        print("| rows | calcert s | DuckDB histogram s | ratio | peak MB |\n|---:|---:|---:|---:|---:|")
        rows = 1_000_000
        while rows <= options.largest:
            path = Path(folder) / f"{min(rows, FULL)}.parquet"
            if not path.exists():
                make_file(path, min(rows, FULL))
            files = [str(path)]
            for number in range(1, rows // FULL):
                # The same file again would be refused.
                files.append(shutil.copy(path, Path(folder) / f"{number}-{path.name}"))
            yardstick, ours, megabytes = compare(files, rows)
            print(
                f"| {rows:,} | {ours:.3f} | {yardstick:.3f} | {ours / yardstick:.2f} | {megabytes:.0f} |",
                flush=True,
            )
            if rows >= FULL and ours > 2 * yardstick:
                missed.append(f"ratio at {rows:,} rows")
            if megabytes > 400:
                missed.append(f"memory at {rows:,} rows")
            sizes.append(rows)
            times.append(ours)
            rows *= 10
    slope, above = exponent(sizes, times), exponent(sizes, [seconds - start_up for seconds in times])
    costs = [(t - s) / (m - n) * 1e9 for n, m, s, t in zip(sizes, sizes[1:], times, times[1:], strict=False)]
    print(f"\ntime grows with rows to the power {slope:.3f}; above the start-up, to the power {above:.3f}")
    print(f"one more row costs {', '.join(f'{cost:.1f}' for cost in costs)} ns between neighbouring sizes")
    if abs(slope - 1) > 0.05:
        missed.append(f"exponent {slope:.3f}")
    print(f"MISSED: {', '.join(missed)}" if missed else "all figures held")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
