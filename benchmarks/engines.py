"""Every engine on the same rows: the same Summary, rows per second, ratio to the array kernel, peak memory.

python benchmarks/engines.py [--rows 10000000] [--folder /tmp]

Each engine runs in a process of its own, with two threads, and right after the array kernel on the same rows, to which
its time is compared. Timed is the second call, with everything compiled and connected; memory is the peak of the
process and its children, the rows included where the engine keeps them in memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import calcert

NAMES = {"score": "score", "label": "label"}
TESTS = Path(__file__).parents[1] / "tests" / "sources"


def make_files(folder: Path, rows: int) -> None:
    """Half of the scores uniform, half crowded at 0, labels calibrated; as Parquet, CSV and JSON lines."""
    import duckdb

    with duckdb.connect() as database:
        database.execute("SET threads = 2; SELECT setseed(0.5)")
        database.execute(
            f"""COPY (
              SELECT score, CAST(random() < score AS TINYINT) AS label
              FROM (SELECT CASE WHEN i % 2 = 0 THEN random() ELSE pow(random(), 9) END AS score FROM range({rows}) t(i))
            ) TO '{folder}/rows.parquet'"""
        )
        database.execute(f"COPY (FROM '{folder}/rows.parquet') TO '{folder}/rows.csv'")
        database.execute(f"COPY (FROM '{folder}/rows.parquet') TO '{folder}/rows.jsonl' (FORMAT json)")


def arrow(folder: Path) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder / "rows.parquet")


@contextmanager
def kernel(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    table = arrow(folder)
    scores, labels = table["score"].to_numpy(), table["label"].to_numpy()
    yield lambda: calcert.summarize(scores, labels)


@contextmanager
def parquet(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    yield lambda: calcert.summarize(folder / "rows.parquet", **NAMES)


@contextmanager
def csv(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    yield lambda: calcert.summarize(folder / "rows.csv", **NAMES)


@contextmanager
def jsonl(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    yield lambda: calcert.summarize(folder / "rows.jsonl", **NAMES)


@contextmanager
def pandas(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    frame = arrow(folder).to_pandas()
    yield lambda: calcert.summarize(frame, **NAMES)


@contextmanager
def pyarrow(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    table = arrow(folder)
    yield lambda: calcert.summarize(table, **NAMES)


@contextmanager
def polars(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    import polars

    frame = polars.read_parquet(folder / "rows.parquet")
    yield lambda: calcert.summarize(frame, **NAMES)


@contextmanager
def polars_lazy(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    import polars

    yield lambda: calcert.summarize(polars.scan_parquet(folder / "rows.parquet"), **NAMES)


@contextmanager
def duckdb_relation(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    import duckdb

    with duckdb.connect() as database:
        database.execute("SET threads = 2")
        yield lambda: calcert.summarize(database.read_parquet(str(folder / "rows.parquet")), **NAMES)


@contextmanager
def dask(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    import dask.dataframe

    with dask.config.set(num_workers=2):
        frame = dask.dataframe.read_parquet(folder / "rows.parquet", split_row_groups=True)
        yield lambda: calcert.summarize(frame, **NAMES)


@contextmanager
def spark(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    frame = session.read.parquet(str(folder / "rows.parquet"))
    yield lambda: calcert.summarize(frame, **NAMES)
    session.stop()


@contextmanager
def ibis_duckdb(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    import ibis

    database = ibis.duckdb.connect(threads=2)
    table = database.read_parquet(folder / "rows.parquet")
    yield lambda: calcert.summarize(table, **NAMES)


@contextmanager
def ibis_postgres(folder: Path) -> Iterator[Callable[[], calcert.Summary]]:
    import ibis

    sys.path.insert(0, str(TESTS))
    import throwaway_postgres

    programs = throwaway_postgres.programs()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed")
    with throwaway_postgres.server(programs) as connection:
        database = ibis.postgres.connect(**connection)
        with database.con.cursor() as cursor:
            cursor.execute("CREATE TABLE predictions (score float8, label smallint)")
            with (
                (folder / "rows.csv").open("rb") as rows,
                cursor.copy("COPY predictions FROM STDIN (FORMAT csv, HEADER)") as copy,
            ):
                while block := rows.read(1 << 20):
                    copy.write(block)
            cursor.execute("ANALYZE predictions")
        database.con.commit()
        yield lambda: calcert.summarize(database.table("predictions"), **NAMES)
        database.disconnect()


ENGINES = {
    "arrays (the kernel)": kernel,
    "Parquet file": parquet,
    "CSV file": csv,
    "JSON lines file": jsonl,
    "pandas": pandas,
    "pyarrow": pyarrow,
    "polars": polars,
    "polars lazy, Parquet": polars_lazy,
    "DuckDB relation, Parquet": duckdb_relation,
    "Ibis on DuckDB, Parquet": ibis_duckdb,
    "Dask, Parquet": dask,
    "PySpark local[2], Parquet": spark,
    "Ibis on PostgreSQL": ibis_postgres,
}


def peak_megabytes() -> float:
    """Peak of resident memory of this process and its living children, added up."""
    family = {os.getpid()}
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    total = 0
    for process in family:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                total += int(line.split()[1])
    return total / 1024


def measure(engine: str, folder: Path) -> dict[str, Any]:
    """Time, memory and a digest of the Summary, of one engine in this process."""
    with ENGINES[engine](folder) as summarize:
        summarize()
        times = []
        for _ in range(2):
            start = time.perf_counter()
            summary = summarize()
            times.append(time.perf_counter() - start)
        digest = hashlib.sha256(summary.to_bytes()).hexdigest()
        return {"seconds": min(times), "megabytes": peak_megabytes(), "digest": digest}


def in_process_of_its_own(engine: str, folder: Path) -> dict[str, Any]:
    """`measure` elsewhere."""
    command = [sys.executable, __file__, "--engine", engine, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{engine}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table as Markdown; exit with 1 if any Summary differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(measure(options.engine, Path(options.folder))))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        make_files(Path(name), options.rows)
        print(f"\n{options.rows:,} rows\n\n| engine | million rows/s | time / kernel | peak MB |\n|---|---:|---:|---:|")
        same = True
        for engine in ENGINES:
            yardstick = in_process_of_its_own("arrays (the kernel)", Path(name))
            found = in_process_of_its_own(engine, Path(name))
            same &= found["digest"] == yardstick["digest"]
            speed = options.rows / found["seconds"] / 1e6
            ratio = found["seconds"] / yardstick["seconds"]
            print(f"| {engine} | {speed:,.1f} | {ratio:,.1f} | {found['megabytes']:,.0f} |", flush=True)
    print("\nAll summaries are equal." if same else "\nSUMMARIES DIFFER")
    sys.exit(not same)


if __name__ == "__main__":
    main()
