"""Every figure of speed that calcert is held to, measured in one run and written to its page.

    python benchmarks/speed.py [--quick] [--only curve] [--page docs/benchmarks.md]

Every measurement is a process of its own, because what one leaves behind must not help or hinder the next; one that
takes too long or lacks something is said to be not measured. Figures are ratios to a yardstick in the same process, the
shortest of several runs. Tables are put between two marks of the page; the rest of it is left alone. With --quick, few
rows and nothing written: to see that everything runs. Exit code 1 where a figure is missed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from speed_measures import MEASURES

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- what benchmarks/speed.py measures begins here -->", "<!-- and ends here -->"
LIMIT = 240.0
"""Seconds for one measurement."""

IMPORTS = "importing NumPy and pyarrow"
SORT, CURVE, AVERAGE = "`np.sort` of 1,000,000", "`calibration_curve(n_bins=15)`", "DuckDB's average of a column"


class Figure(NamedTuple):
    """What is asked: `key` is what `measure` calls it; `most` is false where it is to be at least the limit.

    Without a limit nothing is asked: it says where the one before comes from.
    """

    measure: str
    key: str
    what: str
    limit: float | None
    most: bool = True
    unit: str = ""


FIGURES = (
    Figure("curve", "certify 1e5", f"`certify`, all statements, 100,000 rows / {CURVE}", 3),
    Figure("curve", "certify 1e6", "the same, 1,000,000 rows", 1),
    Figure("curve", "certify 1e7", "the same, 10,000,000 rows", 0.25),
    Figure("groups", "certify 1e3", f"`certify`, 1,000 rows / {SORT}", 0.2),
    Figure("groups", "groups, one core", "1,000 groups of 1,000 rows, one core / `certify` of each", 1),
    Figure("groups", "groups, two cores", "the same on two cores / on one", 0.6),
    Figure("classes", "classes", f"1,000 classes, 50,000 rows, all cores / {CURVE} on each of 1,000 columns", 5),
    Figure("classes", "100 classes", f"100 classes, 20,000 rows / {CURVE} on each of 100 columns", 8),
    *(
        Figure(f"queries of {name}", f"queries, {number}", f"queries for {number:,} groups, {name}", 3)
        for name in ("DuckDB", "Spark", "PostgreSQL")
        for number in (20, 1_000)
    ),
    Figure("summarising", "two cores", "`summarize`, 100,000,000 rows, two cores / one", 0.6),
    Figure("summarising", "uniform", "`summarize`, 10,000,000 uniform scores / `np.histogram(15)`", 0.45),
    Figure("summarising", "beta", "the same, Beta(0.3, 0.3)", 0.8),
    Figure("cold", "cold start", f"`calcert certify`, 1,000,000 rows of Parquet, new process / {AVERAGE}", 2.5),
    Figure("cold", "libraries alone", "of that, importing NumPy, pyarrow, click and Rich", None),
    Figure("cold", "first verdict", f"`calcert check`, 100,000 rows of Parquet, new process / {IMPORTS}", 3),
    Figure("cold", "small check", "the same, 1,000 rows of CSV", 2),
    Figure("smECE", "smECE", "smECE of relplot / `certify`, 1,000,000 rows", 6, most=False),
    Figure("tightness", "wider", "bounds wider than they were, by at most", 1, unit="%"),
    *(
        Figure("monitor", what, f"monitor, 5,000 batches / 50: {what}", 2)
        for what in ("add", "status with a new look", "status again", "status without a new look", "a new process")
    ),
    Figure("rest", "memory", "extra memory of `certify`, 10,000,000 rows", 120, unit=" MB"),
    Figure("rest", "imports", "heavy libraries loaded by `import calcert`", 0),
    Figure("rest", "odds", "`certify` with noise on the odds / with a bandwidth, 10,000,000 rows summarised", 1.2),
    *(
        Figure("rest", name, f"`{name}` alone, 10,000,000 rows summarised / `np.sort` of 2,000,000", 1)
        for name in ("distance", "cutoff", "crossings")
    ),
)


def measured(name: str, quick: bool) -> dict[str, Any]:
    """What a process of its own finds; why not, under the key "reason", where it finds nothing."""
    command = [sys.executable, __file__, "--measure", name, *(["--quick"] if quick else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"reason": f"took more than {LIMIT:g} s"}
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"reason": re.sub(r"\(?/\S+", "", said)[:120].strip()}  # Paths are nobody's business.
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Line(NamedTuple):
    """A figure, what was measured, and whether it is met; None where it was not measured."""

    figure: Figure
    said: str
    met: bool | None

    @property
    def cells(self) -> list[str]:
        sign, unit, limit = "≤" if self.figure.most else "≥", self.figure.unit, self.figure.limit
        return [
            self.figure.what,
            "" if limit is None else f"{sign} {limit:g}{unit}",
            self.said,
            {None: "", True: "yes", False: "no"}[self.met],
        ]


def judged(figure: Figure, found: dict[str, Any]) -> Line:
    """A figure next to what its measurement found."""
    if figure.key not in found:
        return Line(figure, f"not measured: {found.get('reason', 'not asked for')}", None)
    value = float(found[figure.key])
    met = None if figure.limit is None else value <= figure.limit if figure.most else value >= figure.limit
    shown = f"{value:.0f}" if value == int(value) else f"{value:.2g}" if abs(value) < 0.1 else f"{value:.2f}"
    return Line(figure, shown + figure.unit, met)


def table(lines: list[Line]) -> str:
    """The lines as Markdown."""
    rows = [["what", "asked", "measured", "met"], ["---", "---:", "---:", "---"], *(line.cells for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def machine(minutes: float) -> str:
    """Where and when, in a sentence without names of machines."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", info.read_text() if info.exists() else "")
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scikit-learn", "duckdb"))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({model[1].strip() if model else platform.machine()}), "
        f"{size:.0f} GB, {platform.system()}, Python {platform.python_version()}, {versions}; {minutes:.0f} minutes, "
        f"load {load:.1f} at the end."
    )


def written(page: str, content: str) -> str:
    """The page with the content between the two marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise SystemExit(f"the page must have the lines {BEGIN!r} and {END!r}, once and in this order.")
    before, after = page.partition(BEGIN)[0], page.partition(END)[2]
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def main() -> None:
    """Measure, show, write; exit with 1 if any figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows; nothing is written")
    parser.add_argument("--only", choices=MEASURES, action="append", help="nothing else, and nothing is written")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(MEASURES[asked.measure](asked.quick)))
        return
    start, found = time.monotonic(), {}
    for name in asked.only or MEASURES:
        begun = time.monotonic()
        found[name] = measured(name, asked.quick)
        print(f"{name}, {time.monotonic() - begun:.0f} s: {found[name]}", file=sys.stderr, flush=True)
    lines = [judged(figure, found.get(figure.measure, {})) for figure in FIGURES]
    content = f"{machine((time.monotonic() - start) / 60)}\n\n{table(lines)}"
    print(content)
    if not asked.quick and not asked.only:
        asked.page.write_text(written(asked.page.read_text(encoding="utf-8"), content), encoding="utf-8")
    sys.exit(any(line.met is False for line in lines) and not asked.quick)


if __name__ == "__main__":
    main()
