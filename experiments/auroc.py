"""AUROC against the bandwidth of the perturbation, with plain and with perturbation-aware training.

    python -m experiments.auroc [--quick] [--task NAME] [--seeds 3] [--data FOLDER] [--out docs/figures]

Plain networks are trained once a seed and perturbed with each bandwidth; aware ones are trained for the bandwidth that
they are perturbed with. AUROC after perturbation is computed twice: as the mean over draws, and exactly. Trained
networks' outputs are cached, and a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import click
import numpy as np
from rich.progress import Progress
from scipy.special import expit
from scipy.stats import rankdata

from calcert.bandwidths import ranking_and_log_loss
from calcert.perturbation import perturb
from calcert.sources.arrays import summarize_arrays
from experiments.datasets import data_option
from experiments.figure import save

TASKS = ("IMDb", "Enron spam", "CIFAR transport")
BANDWIDTHS = [2.0**-k for k in range(10, 1, -1)]
TRAINED_FOR: list[float | None] = [None, *BANDWIDTHS[::2]]
DRAWS = 50
COLUMNS = ("task", "seed", "training", "bandwidth", "unperturbed", "sampled", "exact")
STYLES = {
    "plain": {"color": "#0072B2", "marker": "o", "ls": "-"},
    "aware": {"color": "#D55E00", "marker": "s", "ls": "--"},
}


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """AUROC of the scores, ties counting half."""
    ones = labels == 1
    ranks, n1, n0 = rankdata(scores), ones.sum(), (~ones).sum()
    return float((ranks[ones].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def measure(logits: np.ndarray, labels: np.ndarray, bandwidth: float, seed: int) -> tuple[float, float, float]:
    """AUROC of the scores as they are, and perturbed: by sampling and exactly."""
    scores = expit(logits)
    rng = np.random.default_rng([seed, round(1 / bandwidth)])
    sampled = np.mean([area(perturb(scores, bandwidth, rng), labels) for _ in range(DRAWS)])
    exact = ranking_and_log_loss(summarize_arrays(scores, labels == 1), bandwidth)[0]
    return area(scores, labels), float(sampled), exact


def lines_of(task: str, seed: int, folder: Path, cache: Path, quick: bool) -> list[tuple[object, ...]]:
    """All measurements of one seed."""
    from experiments.networks import tested

    lines: list[tuple[object, ...]] = []
    for trained_for, logits, labels in tested(task, folder, cache, seed, TRAINED_FOR, quick):
        for bandwidth in BANDWIDTHS if trained_for is None else [trained_for]:
            values = measure(logits, labels, bandwidth, seed)
            training = "plain" if trained_for is None else "aware"
            lines.append((task, seed, training, bandwidth, *(f"{value:.6f}" for value in values)))
    return lines


def largest_free(lines: list[dict[str, str]], task: str, training: str, allowed: float = 0.001) -> float | None:
    """The largest bandwidth up to which perturbing costs at most `allowed` of AUROC, on average over seeds."""
    losses = defaultdict(list)
    for line in lines:
        if line["task"] == task and line["training"] == training:
            losses[float(line["bandwidth"])].append(float(line["unperturbed"]) - float(line["exact"]))
    free = None
    for bandwidth in sorted(losses):
        if np.mean(losses[bandwidth]) > allowed:
            break
        free = bandwidth
    return free


def draw(out: Path, lines: list[dict[str, str]]) -> None:
    """One panel a task: exact AUROC after perturbation, mean and spread over seeds."""
    from matplotlib.figure import Figure

    tasks = [task for task in TASKS if any(line["task"] == task for line in lines)]
    figure = Figure(figsize=(4.6 * len(tasks), 3.9), layout="constrained")
    axes = figure.subplots(1, len(tasks), squeeze=False)[0]
    for ax, task in zip(axes, tasks, strict=True):
        for training, style in STYLES.items():
            found = defaultdict(list)
            before = []
            for line in lines:
                if line["task"] == task and line["training"] == training:
                    found[float(line["bandwidth"])].append(float(line["exact"]))
                    before.append(float(line["unperturbed"]))
            if not found:
                continue
            x = sorted(found)
            values = [np.array(found[h]) for h in x]
            ax.plot(x, [v.mean() for v in values], label=f"{training} training, perturbed", **style)
            ax.fill_between(
                x, [v.min() for v in values], [v.max() for v in values], color=style["color"], alpha=0.15, lw=0
            )
            if training == "plain":
                ax.axhline(np.mean(before), color="#777777", lw=1, ls=":", label="plain training, not perturbed")
        ax.axvline(1 / 64, color="#777777", lw=0.6)
        ax.set_xscale("log", base=2)
        ax.set(title=task, xlabel="bandwidth")
        ax.grid(alpha=0.3, lw=0.4)
    axes[0].set_ylabel("AUROC (mean and range over seeds)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, out / "auroc")


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
    path = out / "auroc.csv"
    jobs = [(task, seed) for seed in range(1 if quick else seeds) for task in chosen or TASKS]
    lines: list[tuple[object, ...]] = []
    with Progress() as progress:
        bar = progress.add_task("networks", total=len(jobs) * len(TRAINED_FOR))
        for task, seed in jobs:
            progress.update(bar, description=f"{task}, seed {seed}")
            lines += lines_of(task, seed, data, cache, quick)
            progress.advance(bar, len(TRAINED_FOR))
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([COLUMNS, *lines])
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    draw(out, found)
    for task in dict.fromkeys(line["task"] for line in found):
        free = {training: largest_free(found, task, training) for training in STYLES}
        click.echo(f"{task}: largest bandwidth with AUROC loss < 0.001: " + ", ".join(
            f"{training} {'none' if h is None else f'2^{round(np.log2(h))}'}" for training, h in free.items()
        ))  # fmt: skip


if __name__ == "__main__":
    main()
