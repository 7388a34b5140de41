"""How long `calcert certify` takes on a million rows from a cold start, as a ratio to DuckDB's own average of a column.

    python benchmarks/cold_start.py [--rounds 7]

All are new processes, taken in turns; between the two stands one that imports the libraries which the command is made
of, and does nothing. Wall-clock time is what people wait for; processor time is what a busy machine cannot distort. The
shortest of all rounds counts. Then: where the time goes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

ROWS = 1_000_000
HELD_TO = 2.5

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""As people have it: Python keeps what it made of source, of a checkout as of installed packages."""

STAGES = """
import resource
last = 0.0
def mark(name):
    global last
    used = resource.getrusage(resource.RUSAGE_SELF)
    now = used.ru_utime + used.ru_stime
    print(f"{name}|{now - last:.4f}")
    last = now
mark("Python")
import numpy, numpy.random, numpy.fft; mark("import numpy")
import click, rich.console, rich.table, rich.text; mark("import click and rich")
import pyarrow.parquet; mark("import pyarrow")
import calcert.cli; mark("import calcert")
from calcert import summarize
from calcert.certificates import distance
from calcert.certificates import perturbed
from calcert.certificates.l1 import l1
from calcert.reports.certify import certify
from calcert.certificates.witnesses.random_splits import splits
summary = summarize("rows.parquet", score="score", label="label"); mark("read the file")
splits(summary.cell_points, 0); mark("split rows into batches")
from calcert.perturbation.noise import Noise
perturbed.upper_terms(summary, Noise("additive", 1/64), 0.05); mark("perturbed, upper")
from calcert.certificates.perturbed import perturbed_lower
perturbed_lower(summary, Noise("additive", 1/64), 0.05, 0); mark("perturbed, lower")
l1(summary); mark("l1")
from calcert.certificates.distance import distance_lower; mark("import distance")
distance_lower(summary, 0.05, 0); mark("distance, lower")
distance.distance(summary); mark("distance, upper (and lower again)")
"""


def seconds(command: list[str], folder: str) -> tuple[float, float, str]:
    """Wall-clock and processor seconds of a new process, and what it printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return elapsed, used, done.stdout


YARDSTICK = [
    sys.executable,
    "-c",
    "import duckdb; print(duckdb.sql(\"select avg(score) from 'rows.parquet'\").fetchall()[0][0])",
]


LIBRARIES = [sys.executable, "-c", "import numpy, pyarrow.parquet, click, rich.console, rich.table"]
"""What the command is made of: arrays, files, options and tables."""

IMPORTS = [sys.executable, "-c", "import numpy, pyarrow.parquet"]


def ours() -> list[str]:
    """The command as people type it."""
    script = Path(sys.executable).with_name("calcert")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "calcert"]
    return [*command, "certify", "rows.parquet", "--score", "score", "--label", "label"]


def write_rows(folder: str) -> None:
    """Calibrated rows, in `rows.parquet`."""
    duckdb.sql(
        "COPY (SELECT (hash(i) % 1000003) / 1000003 AS score, (hash(i + 1e9::BIGINT) % 1000003 "
        f"< hash(i) % 1000003)::TINYINT AS label FROM range({ROWS}) t(i)) TO '{folder}/rows.parquet'"
    )


def first_verdicts(folder: str, rounds: int) -> tuple[float, float]:
    """`calcert check` of 100,000 rows of Parquet, and of 1,000 rows of CSV, over importing NumPy and pyarrow."""
    chosen = f"FROM '{folder}/rows.parquet' LIMIT"
    duckdb.sql(f"COPY (SELECT * {chosen} 100000) TO '{folder}/some.parquet'")
    duckdb.sql(f"COPY (SELECT * {chosen} 1000) TO '{folder}/few.csv'")
    judged = ["--score", "score", "--label", "label", "--max", "0.5"]
    checks = [[*ours()[:-6], "check", name, *judged] for name in ("some.parquet", "few.csv")]
    commands = [IMPORTS, *checks]
    times = [[seconds(command, folder)[0] for command in commands] for _ in range(rounds)]
    alone, some, few = (min(turn[side] for turn in times) for side in range(3))
    return some / alone, few / alone


def check_answers(folder: str) -> None:
    """Both commands must say what is true; it also warms what the system keeps of files."""
    report = json.loads(seconds([*ours(), "--json"], folder)[2])
    assert report["l1"]["n"] == ROWS
    assert abs(report["estimates"]["mean score"] - float(seconds(YARDSTICK, folder)[2])) < 1e-9
    # The rows are calibrated by construction, and every true error is 0.
    assert all(report[name]["lower"] == 0 for name in ("l1", "distance"))


Times = list[list[tuple[float, float, str]]]


def in_turns(folder: str, rounds: int) -> Times:
    """What the average, the libraries alone and the command took, in each round."""
    return [[seconds(command, folder) for command in (YARDSTICK, LIBRARIES, ours())] for _ in range(rounds)]


def shortest(times: Times, which: int) -> list[float]:
    """The shortest of all rounds for each of the three: by the clock (0) or by the processor (1)."""
    return [min(turn[side][which] for turn in times) for side in range(3)]


def main() -> None:
    """Print the ratios and the stages; exit with 1 if the ratio of wall-clock times is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        write_rows(folder)
        check_answers(folder)
        times = in_turns(folder, rounds)
        stages = seconds([sys.executable, "-c", STAGES], folder)[2]
    table = Table(
        "a million rows of Parquet", "duckdb avg", "libraries", "ratio", "calcert certify", "ratio", "held to"
    )
    ratios = []
    for name, which in (("wall-clock seconds", 0), ("processor seconds", 1)):
        theirs, alone, mine = shortest(times, which)
        ratios.append(mine / theirs)
        held = f"<= {HELD_TO:g}" + (" MISSED" if ratios[-1] > HELD_TO else "") if which == 0 else ""
        ratio = f"{alone / theirs:.2f}"
        table.add_row(name, f"{theirs:.3f}", f"{alone:.3f}", ratio, f"{mine:.3f}", f"{ratios[-1]:.2f}", held)
    parts = Table("where the processor time goes", "milliseconds")
    for line in stages.splitlines():
        name, used = line.split("|")
        parts.add_row(name, f"{1000 * float(used):.0f}")
    console = Console()
    console.print(table, parts)
    load = os.getloadavg()[0]
    if load > 1:
        console.print(f"Other work kept the machine busy (load {load:.1f}): trust the ratio of processor seconds.")
    sys.exit(ratios[0] > HELD_TO)


if __name__ == "__main__":
    main()
