"""Upper bounds against the number of rows on real tasks, and certified intervals for 14 ImageNet networks.

    python -m experiments.real [--quick] [--task NAME] [--repeats 64] [--data FOLDER] [--fresh] [--publish]

Published methods and ours on random subsets of the rows that a classifier was not trained on. The true error is not
known: the bounds themselves are drawn. Methods marked "perturbed error" bound that of the classifier perturbed
with bandwidth 1/64, the others that of the unmodified one. A run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from calcert.certificates import bounded_variation, distance, lipschitz, perturbed, squared
from calcert.perturbation.noise import Noise, perturb
from calcert.published.buckets import binned, bucketed, cuts_of
from calcert.published.folded_rows import fold_rows
from calcert.published.perturb_and_smooth import derivative_bounds, smoothed
from calcert.published.total_variation import denoised
from calcert.sources.arrays import summarize_arrays
from experiments.classifiers import STANDS_FOR, TASKS, scores
from experiments.datasets import data_option, load, needed_files
from experiments.figure import STYLES, save
from experiments.results import SCRATCH, Results, experiment, made, read

BANDWIDTH, DELTA, VARIATION = 1 / 64, 0.05, 1.0
NOISE = Noise("additive", BANDWIDTH)
SIZES = [1_000, 3_162, 10_000, 31_623, 100_000, 316_228]
COLUMNS = ("task", "n", "repeat", "method", "value")
METHODS = 9
"""Lines of one subset."""
BUCKETS = "Lip+Bkt (described; bound ours)"
PERTURBED = ("NW (published)", BUCKETS, "perturbed (ours)", "Lipschitz (ours)", "squared (ours)")
ROWS_OF_A_NETWORK = 50_000


def measure(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """All methods on the same rows."""
    seen = perturb(x, bandwidth=BANDWIDTH, rng=rng)
    slopes = derivative_bounds(BANDWIDTH)
    rows = fold_rows(seen, y, rng=rng)
    summary = summarize_arrays(x, y)
    return {
        "NW (published)": smoothed(rows, slopes=slopes, delta=DELTA, per_fold=False).value,
        BUCKETS: bucketed(rows, constant=slopes[0], cuts=cuts_of(), delta=DELTA, per_fold=False).value,
        "TV (published)": denoised(fold_rows(x, y, rng=rng), variation=VARIATION, delta=DELTA, per_fold=False).value,
        "ECE, 15 bins (heuristic)": binned(x, y, np.arange(15) / 15).value,
        "perturbed (ours)": sum(perturbed.upper_terms(summary, NOISE, DELTA).values()),
        "Lipschitz (ours)": sum(lipschitz.upper_terms(summarize_arrays(seen, y), slopes[0], DELTA).values()),
        "bounded variation (ours)": sum(bounded_variation.upper_terms(summary, VARIATION, DELTA).values()),
        "squared (ours)": sum(squared.upper_terms(summary, NOISE, DELTA).values()),
        "distance (ours)": sum(distance.upper_terms(summary, DELTA).values()),
    }


def sizes_of(rows: int, quick: bool) -> list[int]:
    """Sizes of subsets, the last of them all rows."""
    return [n for n in SIZES[:3] if n < rows] if quick else [*(n for n in SIZES if n < 0.9 * rows), rows]


def means(lines: list[dict[str, str]]) -> dict[str, dict[str, dict[int, float]]]:
    """task -> method -> n -> mean bound."""
    found: dict[str, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for line in lines:
        found[line["task"]][line["method"]][int(line["n"])].append(float(line["value"]))
    return {
        task: {m: {n: float(np.mean(v)) for n, v in sorted(by_n.items())} for m, by_n in by_method.items()}
        for task, by_method in found.items()
    }


def draw(out: Results, lines: list[dict[str, str]]) -> None:
    """One panel a task: mean upper bound against rows, log-log."""
    from matplotlib.figure import Figure

    found = means(lines)
    tasks = [task for task in TASKS if task in found]
    across = min(len(tasks), 3)
    down = -(-len(tasks) // across)
    figure = Figure(figsize=(4.4 * across, 3.6 * down + 0.8), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True)
    for ax in axes.flat[len(tasks) :]:
        ax.set_axis_off()
    for ax, task in zip(axes.flat, tasks, strict=False):
        for method, by_n in found[task].items():
            label = f"{method}, perturbed error" if method in PERTURBED else method
            ax.loglog(list(by_n), list(by_n.values()), label=label, ms=5, **STYLES[method])
        ax.set(title=f"{task} ({STANDS_FOR[task]})", xlabel="rows", ylim=(3e-4, 1.3))
        ax.grid(alpha=0.3, which="both", lw=0.4)
    for row in axes:
        row[0].set_ylabel("upper bound (mean over subsets)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    save(figure, out / "real")


def networks(out: Results, folder: Path) -> None:
    """Certified intervals of all ImageNet networks with all rows, together at 95%, and the ranks that they allow."""
    table = load("ImageNet networks", folder)
    sizes = table["model"].value_counts()
    names = sorted(sizes[sizes == ROWS_OF_A_NETWORK].index)
    each = DELTA / (2 * len(names))
    found = []
    for name in names:
        rows = table[table["model"] == name]
        certificate = perturbed.perturbed(
            summarize_arrays(rows["score"].to_numpy(), rows["label"].to_numpy()), bandwidth=BANDWIDTH, delta=each
        )
        found.append((name.split("/")[-1], rows["label"].mean(), certificate.lower, certificate.upper))
    found.sort(key=lambda line: line[2] + line[3])
    best, worst = ranks(*(np.array([line[k] for line in found]) for k in (2, 3)))
    shown = Table("network", "accuracy", "at least", "at most", "rank")
    lines = []
    for (name, accuracy, low, high), first, last in zip(found, best, worst, strict=True):
        lines.append((name, f"{accuracy:.5f}", f"{low:.6f}", f"{high:.6f}", first, last))
        rank = str(first) if first == last else f"{first}-{last}"
        shown.add_row(name, f"{accuracy:.3f}", f"{low:.4f}", f"{high:.4f}", rank)
    out.table("real_networks.csv", ("network", "accuracy", "lower", "upper", "best rank", "worst rank"), lines)
    Console().print(shown)
    draw_networks(out, read(out / "real_networks.csv"))


def ranks(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best and the worst place that each may have while all truths lie in their intervals; 1 is the least error."""
    best = 1 + (upper[None] < lower[:, None]).sum(axis=1)
    worst = len(lower) - (lower[None] > upper[:, None]).sum(axis=1)
    return best, worst


def draw_networks(out: Results, lines: list[dict[str, str]]) -> None:
    """An interval for each network, best first."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 0.32 * len(lines) + 1.2), layout="constrained")
    ax = figure.subplots()
    for place, line in enumerate(lines):
        ends = [float(line["lower"]), float(line["upper"])]
        ax.plot(ends, [place, place], color="#0072B2", lw=5, solid_capstyle="butt")
    ax.set_yticks(range(len(lines)), [f"{line['network']} ({float(line['accuracy']):.1%})" for line in lines])
    ax.invert_yaxis()
    ax.set(xlabel="certified L1 calibration error, perturbed with bandwidth 1/64", xlim=(0, None))
    ax.grid(alpha=0.3, axis="x", lw=0.4)
    save(figure, out / "real_networks")


def needed(chosen: tuple[str, ...], data: Path, **_: object) -> None:
    """The files of the tasks, and of the networks."""
    needed_files((*(chosen or TASKS), "ImageNet networks"), data)


@experiment(
    *made("real"),
    *made("real_networks"),
    needs=("matplotlib", "pandas", "sklearn"),
    before=needed,
    quick="Sizes to 10,000 and 2 subsets.",
)
@click.option("--task", "chosen", type=click.Choice(TASKS), multiple=True)
@click.option("--repeats", default=64, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), default=SCRATCH, show_default=True)
@data_option
def main(quick: bool, chosen: tuple[str, ...], repeats: int, cache: Path, out: Results, data: Path) -> None:
    path = out / "real.csv"
    repeats = min(repeats, 2) if quick else repeats
    start = time.perf_counter()
    done = {(task, int(n), int(repeat)) for task, n, repeat in out.jobs(path.name, COLUMNS, METHODS)}
    with path.open("a", newline="") as file, Progress() as progress:
        writer = csv.writer(file)
        held_out = {task: scores(task, data, cache) for task in chosen or TASKS}
        sizes = {task: sizes_of(x.size, quick) for task, (x, _) in held_out.items()}
        # Repeat by repeat, so that a run cut short has all tasks and sizes.
        jobs = [(task, n, r) for r in range(repeats) for task in held_out for n in sizes[task]]
        jobs = [job for job in jobs if job not in done]
        bar = progress.add_task("subsets", total=len(jobs))
        for task, n, repeat in jobs:
            x, y = held_out[task]
            rng = np.random.default_rng([TASKS.index(task), n, repeat])
            rows = rng.choice(x.size, n, replace=False)
            values = measure(x[rows], y[rows], rng)
            writer.writerows((task, n, repeat, m, f"{min(v, 1.0):.8g}") for m, v in values.items())
            file.flush()
            progress.advance(bar)
    draw(out, read(path))
    networks(out, data)
    click.echo(f"{len(jobs)} subsets in {time.perf_counter() - start:.0f} s; {path} and the figures written.")


if __name__ == "__main__":
    main()
