"""Rows in clusters against the same rows without: time of certify, and peak memory.

python benchmarks/clusters.py [--largest 100000000] [--folder /tmp]

A tenth as many clusters as rows, their rows scattered over the whole table. Every measurement is a process of its own,
with clusters and without by turns, and the shortest time counts. Held to: four times the time without clusters, and
2 GB at the peak, for Parquet.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

THREADS = 2
TURNS = 2
MOST_TIMES, MOST_MEGABYTES = 4.0, 2000


def make_file(path: Path, rows: int) -> None:
    """Half of the scores uniform, half crowded at 0, labels calibrated; identifiers as integers and as text."""
    import duckdb

    with duckdb.connect() as database:
        database.execute(f"SET threads = {THREADS}; SET memory_limit = '1GB'; SET preserve_insertion_order = false")
        database.execute(
            f"""COPY (
              SELECT score, CAST(random() < score AS TINYINT) AS label, number * 1000003 AS user, 'u' || number AS name
              FROM (
                SELECT
                  CASE WHEN i % 2 = 0 THEN random() ELSE pow(random(), 9) END AS score,
                  CAST(floor(random() * {rows // 10}) AS BIGINT) AS number
                FROM range({rows}) t(i)
              )
            ) TO '{path}'"""
        )


def source(what: str, path: str) -> tuple[Any, dict[str, Any]]:
    """What to certify, and how."""
    clusters = {"plain": None, "integers": "user", "text": "name"}[what.split()[-1]]
    named = {"score": "score", "label": "label", "clusters": clusters}
    if what.startswith("file"):
        return path, named
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, columns=["score", "label", *([clusters] if clusters else [])])
    return table, named


def measure(what: str, path: str) -> dict[str, Any]:
    """Seconds and peak memory of one way, in this process."""
    import logging

    import calcert

    logging.disable()
    rows, options = source(what, path)
    calcert.certify([0.5], [1], clusters=[1] if options["clusters"] else None)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        report = calcert.certify(rows, **options)
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": min(times), "megabytes": peak, "rows": report.n}


def elsewhere(what: str, path: Path) -> dict[str, Any]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--measure", what, str(path)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    """Print the table as Markdown; exit with 1 if a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=100_000_000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    missed = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        print(
            "| rows | from | identifiers | s | s without clusters | ratio | peak MB |",
            "|---:|---|---|---:|---:|---:|---:|",
            sep="\n",
        )
        rows = 10_000_000
        while rows <= options.largest:
            path = Path(folder) / f"{rows}.parquet"
            make_file(path, rows)
            ways = [("file", "integers"), ("file", "text")]
            if rows == 10_000_000:
                ways += [("arrays", "integers"), ("arrays", "text")]
            for place, ids in ways:
                turns = [(elsewhere(f"{place} plain", path), elsewhere(f"{place} {ids}", path)) for _ in range(TURNS)]
                plain, ours = (min(turn[which]["seconds"] for turn in turns) for which in (0, 1))
                peak = max(turn[1]["megabytes"] for turn in turns)
                print(
                    f"| {rows:,} | {place} | {ids} | {ours:.2f} | {plain:.2f} | {ours / plain:.1f} | {peak:,.0f} |",
                    flush=True,
                )
                if ids == "integers" and (ours > MOST_TIMES * plain or (place == "file" and peak > MOST_MEGABYTES)):
                    missed.append(f"{rows:,} rows from {place}")
            rows *= 10
    print(f"\nMISSED: {', '.join(missed)}" if missed else "\nall figures held")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
