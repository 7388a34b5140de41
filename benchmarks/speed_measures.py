"""What `benchmarks/speed.py` measures, each in a process of its own: ratios, the shortest of several runs in turns."""

from __future__ import annotations

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

import numpy as np

import calcert
from calcert.reports.certify import certify_rows

HERE = Path(__file__).parent
BOUNDS = HERE / "bounds.json"
FRESH = 6
"""Different sets of rows that are certified in turns: nothing that was kept of the same ones may help."""

SIZES = {"classes": (1_000, 50_000), "100 classes": (100, 20_000)}
"""Numbers of classes and rows."""

Found = dict[str, float]


def best(function: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs in seconds: the one least disturbed by other processes."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def rows_of(size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated rows with uniform scores."""
    rng = np.random.default_rng(seed)
    scores = rng.random(size)
    return scores, rng.random(size) < scores


def curve(quick: bool) -> Found:
    """certify over calibration_curve on the same rows, in turns and on other rows every time."""
    from sklearn.calibration import calibration_curve

    found = {}
    calcert.certify(*rows_of(1_000))
    for name, rows in (("1e5", 100_000), ("1e6", 1_000_000), ("1e7", 10_000_000)):
        rows, times = rows // 1_000 if quick else rows, []
        scores, labels = rows_of(rows + FRESH)
        for first in range(FRESH):
            x, y = scores[first : first + rows], labels[first : first + rows]
            theirs = best(lambda x=x, y=y: calibration_curve(y, x, n_bins=15), 1)
            times.append((best(lambda x=x, y=y: calcert.certify(x, y), 1), theirs))
        found[f"certify {name}"] = min(ours for ours, _ in times) / min(theirs for _, theirs in times)
    return found


def groups(quick: bool) -> Found:
    """A thousand rows, and a thousand groups of them."""
    number, million = (4, 10_000) if quick else (1_000, 1_000_000)
    scores, labels = rows_of(1_000 * number)
    parts = [slice(k, k + 1_000) for k in range(0, 1_000 * number, 1_000)]
    every, sorting = np.random.default_rng(1).random(million), []
    site = np.repeat(np.arange(number), 1_000)
    runs: dict[str, Callable[[], object]] = {
        "each": lambda: [calcert.certify(scores[p], labels[p]) for p in parts],
        "one core": lambda: certify_rows(calcert.Rows(scores, labels, groups=site), calcert.Settings(), 1),
        "two cores": lambda: certify_rows(calcert.Rows(scores, labels, groups=site), calcert.Settings(), 2),
    }
    calcert.certify(scores[:1_000], labels[:1_000])
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(1 if quick else 5):
        for name, run in runs.items():
            times[name].append(best(run, 1))
        sorting += [best(lambda: np.sort(every), 1) for _ in range(5)]
    return {
        "certify 1e3": min(times["each"]) / number / min(sorting),
        "groups, one core": min(times["one core"]) / min(times["each"]),
        "groups, two cores": min(times["two cores"]) / min(times["one core"]),
    }


def classes(quick: bool) -> Found:
    """A thousand classes and a hundred, and calibration_curve on each of their columns."""
    sizes = {"classes": (4, 400), "100 classes": (3, 300)} if quick else SIZES
    return {name: _classes(*size) for name, size in sizes.items()}


def _classes(number: int, rows: int) -> float:
    from sklearn.calibration import calibration_curve

    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(number, 0.3), rows)
    parts = [(rng.random((part.shape[0], 1)) > part.cumsum(axis=1)).sum(axis=1) for part in np.array_split(p, 20)]
    right = np.minimum(np.concatenate(parts), number - 1)
    theirs = best(lambda: [calibration_curve(right == k, p[:, k], n_bins=15) for k in range(number)], 2)
    workers = len(os.sched_getaffinity(0))
    report: Any = None

    def ours() -> None:
        nonlocal report
        report = certify_rows(calcert.Rows(p, right), calcert.Settings(), workers)

    seconds = best(ours, 1)
    assert len(report.classes) == number
    return seconds / theirs


@contextmanager
def engine(name: str, table: Any) -> Iterator[Any]:
    """The rows in an engine."""
    if name == "duckdb":
        import duckdb

        yield duckdb.connect().from_arrow(table)
    elif name == "spark":
        import pyarrow.parquet
        from pyspark.sql import SparkSession

        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        with tempfile.TemporaryDirectory() as folder:
            pyarrow.parquet.write_table(table, f"{folder}/rows.parquet")
            yield session.read.parquet(f"{folder}/rows.parquet")
    else:
        import ibis

        sys.path.insert(0, str(HERE.parent))
        from tests.sources import throwaway_postgres

        programs = throwaway_postgres.programs()
        if programs is None:
            raise SystemExit("PostgreSQL is not installed")
        with throwaway_postgres.server(programs) as connection:
            database = ibis.postgres.connect(**connection)
            database.create_table("predictions", table)
            yield database.table("predictions")
            database.disconnect()


def queries(name: str, quick: bool) -> Found:
    """How many queries an engine is asked for the groups of 20,000 rows."""
    import narwhals as nw
    import pyarrow as pa

    from calcert.sources.groups.grouped import summarize_groups

    asked, collect, found = [], nw.LazyFrame.collect, {}
    nw.LazyFrame.collect = lambda frame, *given, **named: asked.append(1) or collect(frame, *given, **named)
    for number in (20,) if quick else (20, 1_000):
        scores, labels = rows_of(20_000)
        site = [f"site {k % number}" for k in range(scores.size)]
        table = pa.table({"p": scores, "y": labels.astype(np.int16), "g": site})
        with engine(name, table) as source:
            asked.clear()
            summaries = summarize_groups(source, None, "g", score="p", label="y")
            found[f"queries, {number}"] = len(asked)
        assert len(summaries) == number
        assert summaries["site 7"] == calcert.summarize(scores[7::number], labels[7::number])
    return found


def summarising(quick: bool) -> Found:
    """summarize over np.histogram with 15 bins; on two cores over one."""
    rng = np.random.default_rng(0)
    rows, found = 100_000 if quick else 10_000_000, {}
    for name, scores in (("uniform", rng.random(rows)), ("beta", rng.beta(0.3, 0.3, rows))):
        labels = rng.random(rows) < scores
        assert calcert.summarize(scores, labels).positives == labels.sum()
        times = [
            (best(lambda s=scores, y=labels: calcert.summarize(s, y), 1), best(lambda s=scores: np.histogram(s, 15), 1))
            for _ in range(3 if quick else 8)
        ]
        found[name] = min(ours for ours, _ in times) / min(theirs for _, theirs in times)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        scores, labels = rows_of(rows * (1 if quick else 10))
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(4):
            for number, took in seconds.items():
                os.sched_setaffinity(0, cores[:number])
                took.append(best(lambda: calcert.summarize(scores, labels), 1))
        os.sched_setaffinity(0, cores)
        found["two cores"] = min(seconds[2]) / min(seconds[1])
    return found


def cold(quick: bool) -> Found:
    """`calcert certify` on a million rows of Parquet in a new process over DuckDB's average in another."""
    import cold_start

    with tempfile.TemporaryDirectory() as folder:
        cold_start.write_rows(folder)
        cold_start.check_answers(folder)
        theirs, alone, mine = cold_start.shortest(cold_start.in_turns(folder, 1 if quick else 9), 0)
        some, few = cold_start.first_verdicts(folder, 1 if quick else 9)
    return {"cold start": mine / theirs, "libraries alone": alone / theirs, "first verdict": some, "small check": few}


def smece(quick: bool) -> Found:
    """The smooth calibration error of relplot over certify."""
    import relplot

    scores, labels = rows_of((10_000 if quick else 1_000_000) + FRESH)
    rows, times = scores.size - FRESH, []
    calcert.certify(*rows_of(1_000))
    for first in range(2 if quick else 3):
        x, y = scores[first : first + rows], labels[first : first + rows].astype(int)
        ours = best(lambda x=x, y=y: calcert.certify(x, y), 1)
        times.append((ours, best(lambda x=x, y=y: relplot.smECE(x, y), 1)))
    return {"smECE": min(theirs for _, theirs in times) / min(ours for ours, _ in times)}


def bounds() -> dict[str, list[float]]:
    """Upper bounds of all statements on laws that are fixed, and lower ones where there is an error."""
    rng, found = np.random.default_rng(7), {}
    for name, scores in (("uniform", rng.random), ("beta", lambda size: rng.beta(0.5, 50.0, size))):
        for rows in (1_000, 100_000):
            x, tossed = scores(rows), rng.random(rows)
            for law, chance in (("calibrated", x), ("squared", x**2)):
                report = calcert.certify(x, tossed < chance, settings=calcert.Settings(odds=1 / 16, variation=1))
                crossings = calcert.bounds.crossings(report.summary)
                each = (report.distance, report.cutoff, crossings, report.l1, report.perturbed)
                values = [end for c in each for end in (c.upper, c.lower)]
                found[f"{name}, {law}, {rows:,} rows"] = values
    return found


def tightness(quick: bool) -> Found:
    """How much wider bounds are than they were written down, in parts of the upper one.

    Of upper bounds the one that moved farthest counts. Lower ones come from a throw of the rows, and another throw
    moves each of them both ways: of them the mean counts.
    """
    kept, now = json.loads(BOUNDS.read_text()), bounds()
    moved = np.array(
        [
            [(now[law][place] - upper) / upper, (kept[law][place + 1] - now[law][place + 1]) / upper]
            for law in kept
            for place, upper in enumerate(kept[law])
            if place % 2 == 0
        ]
    )
    return {"wider": 100 * max(moved[:, 0].max(), moved[:, 1].mean())}


def monitor(quick: bool) -> Found:
    """add and status of a state with 5,000 batches over one with 50."""
    import monitor as of_monitor

    if quick:
        of_monitor.REPEATS = 1
    with tempfile.TemporaryDirectory() as folder:
        ages = of_monitor.age(Path(folder), 60 if quick else 5_000)
    return {what: old / young for what, (young, old) in ages.items()}


def rest(quick: bool) -> Found:
    """What was asked for before: memory, imports, noise on the odds, certificates by themselves."""
    rows = 100_000 if quick else 10_000_000
    script = (
        "import numpy as np, calcert, tracemalloc\n"
        "calcert.certify([0.5], [1])\n"
        f"x = np.random.default_rng(0).random({rows}); y = np.zeros({rows}, bool); y[::2] = True\n"
        "tracemalloc.start()\ncalcert.certify(x, y)\nprint(tracemalloc.get_traced_memory()[1])"
    )
    heavy = ("pandas", "polars", "torch", "sklearn", "matplotlib", "pyspark", "duckdb")
    loaded = f"import sys, calcert; print(sum(m in sys.modules for m in {heavy!r}))"
    memory, imports = (
        int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for code in (script, loaded)
    )
    summaries = [calcert.summarize(*rows_of(rows, seed)) for seed in range(3)]
    calcert.certify(summaries[0])
    odds = min(best(lambda s=s: calcert.certify(s, settings=calcert.Settings(odds=1 / 16)), 1) for s in summaries)
    additive = min(
        best(lambda s=s: calcert.certify(s, settings=calcert.Settings(bandwidth=1 / 64)), 1) for s in summaries
    )
    every, found = np.random.default_rng(1).random(2_000_000), {}
    sorting = best(lambda: np.sort(every), 5)
    for certify in (calcert.bounds.distance, calcert.bounds.cutoff, calcert.bounds.crossings):
        found[certify.__name__] = min(best(lambda s=s, f=certify: f(s), 1) for s in summaries) / sorting
    return found | {"memory": memory / 1e6, "imports": imports, "odds": odds / additive}


MEASURES: dict[str, Callable[[bool], Found]] = {
    "curve": curve,
    "groups": groups,
    "classes": classes,
    "queries of DuckDB": lambda quick: queries("duckdb", quick),
    "queries of Spark": lambda quick: queries("spark", quick),
    "queries of PostgreSQL": lambda quick: queries("postgres", quick),
    "summarising": summarising,
    "cold": cold,
    "smECE": smece,
    "tightness": tightness,
    "monitor": monitor,
    "rest": rest,
}
