"""What perturbation-aware training changes: AUROC, log loss and certified bounds, before and after perturbation.

    python -m experiments.training [--quick] [--task NAME] [--seeds 3] [--data FOLDER] [--out docs/figures]

The same networks as in experiments.auroc, from its cache where they are there: trained with the plain loss, and with
the aware one for each bandwidth. Values before and after perturbing with that bandwidth are exact for the test rows,
without draws.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from scipy.special import expit

import calcert
from calcert.bandwidths import ranking_and_log_loss
from experiments.auroc import TASKS, TRAINED_FOR, area
from experiments.datasets import data_option
from experiments.figure import save

MEASURES = ("AUROC", "log loss", "certified upper bound")
COLUMNS = ("task", "seed", "training", "bandwidth", "perturbed", "measure", "value")
STYLES = {
    ("plain", "no"): {"color": "#0072B2", "marker": "o", "ls": ":", "label": "plain, not perturbed"},
    ("plain", "yes"): {"color": "#0072B2", "marker": "o", "ls": "-", "label": "plain, perturbed"},
    ("aware", "no"): {"color": "#D55E00", "marker": "s", "ls": ":", "label": "aware, not perturbed"},
    ("aware", "yes"): {"color": "#D55E00", "marker": "s", "ls": "-", "label": "aware, perturbed"},
}


def measures(logits: np.ndarray, labels: np.ndarray, bandwidth: float) -> dict[tuple[str, str], float]:
    """(perturbed or not, measure) -> value."""
    scores, ones = expit(logits), labels == 1
    summary = calcert.summarize(scores, ones)
    ranking, loss = ranking_and_log_loss(summary, bandwidth)
    return {
        ("no", "AUROC"): area(scores, labels),
        ("yes", "AUROC"): ranking,
        ("no", "log loss"): float(np.logaddexp(0, np.where(ones, -logits, logits)).mean()),
        ("yes", "log loss"): loss,
        ("no", "certified upper bound"): calcert.bounded_variation(summary).upper,
        ("yes", "certified upper bound"): calcert.perturbed(summary, bandwidth=bandwidth).upper,
    }


def lines_of(task: str, seed: int, folder: Path, cache: Path, quick: bool) -> list[tuple[object, ...]]:
    """All measurements of one seed."""
    from experiments.networks import tested

    lines: list[tuple[object, ...]] = []
    bandwidths = [h for h in TRAINED_FOR if h is not None]
    for trained_for, logits, labels in tested(task, folder, cache, seed, TRAINED_FOR, quick):
        for bandwidth in bandwidths if trained_for is None else [trained_for]:
            training = "plain" if trained_for is None else "aware"
            for (perturbed, measure), value in measures(logits, labels, bandwidth).items():
                lines.append((task, seed, training, bandwidth, perturbed, measure, f"{value:.6f}"))
    return lines


def grouped(lines: list[dict[str, str]]) -> dict[tuple[str, str, str, str], dict[float, list[float]]]:
    """(task, measure, training, perturbed) -> bandwidth -> a value a seed."""
    found: dict[tuple[str, str, str, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        key = (line["task"], line["measure"], line["training"], line["perturbed"])
        found[key][float(line["bandwidth"])].append(float(line["value"]))
    return found


def draw(out: Path, lines: list[dict[str, str]]) -> None:
    """A row of panels for each measure, a column for each task."""
    from matplotlib.figure import Figure

    found = grouped(lines)
    tasks = [task for task in TASKS if any(key[0] == task for key in found)]
    figure = Figure(figsize=(4.4 * len(tasks), 3.0 * len(MEASURES)), layout="constrained")
    axes = figure.subplots(len(MEASURES), len(tasks), squeeze=False)
    for row, measure in zip(axes, MEASURES, strict=True):
        for ax, task in zip(row, tasks, strict=True):
            for (training, perturbed), style in STYLES.items():
                by_bandwidth = found[task, measure, training, perturbed]
                x = sorted(by_bandwidth)
                ax.plot(x, [np.mean(by_bandwidth[h]) for h in x], **style)
                low, high = ([f(by_bandwidth[h]) for h in x] for f in (min, max))
                ax.fill_between(x, low, high, color=style["color"], alpha=0.08, lw=0)
            ax.set_xscale("log", base=2)
            ax.grid(alpha=0.3, lw=0.4)
        row[0].set_ylabel(measure)
    for ax, task in zip(axes[0], tasks, strict=True):
        ax.set_title(task)
    for ax in axes[-1]:
        ax.set_xlabel("bandwidth of training and perturbation")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    save(figure, out / "training")


@click.command(help=__doc__)
@click.option("--quick", is_flag=True, help="Tiny training sets and one seed.")
@click.option("--task", "chosen", type=click.Choice(TASKS), multiple=True)
@click.option("--seeds", default=3, show_default=True)
@click.option("--threads", default=1, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), default=Path("build/experiments"), show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=Path("docs/figures"), show_default=True)
@data_option
def main(quick: bool, chosen: tuple[str, ...], seeds: int, threads: int, cache: Path, out: Path, data: Path) -> None:
    import torch

    torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "training.csv"
    jobs = [(task, seed) for seed in range(1 if quick else seeds) for task in chosen or TASKS]
    lines: list[tuple[object, ...]] = []
    with Progress() as progress:
        bar = progress.add_task("networks", total=len(jobs))
        for task, seed in jobs:
            progress.update(bar, description=f"{task}, seed {seed}")
            lines += lines_of(task, seed, data, cache, quick)
            progress.advance(bar)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *lines])
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    draw(out, found)
    table = Table(
        "task", "bandwidth", *(f"{m}, aware minus plain" for m in MEASURES), title="perturbed, mean over seeds"
    )
    for task in dict.fromkeys(line["task"] for line in found):
        values = grouped(found)
        for h in [h for h in TRAINED_FOR if h is not None]:
            plain, aware = (
                [np.mean(values[task, measure, training, "yes"][h]) for measure in MEASURES]
                for training in ("plain", "aware")
            )
            shown = [f"{after - before:+.4f}" for before, after in zip(plain, aware, strict=True)]
            table.add_row(task, f"2^{round(np.log2(h))}", *shown)
    Console().print(table)


if __name__ == "__main__":
    main()
