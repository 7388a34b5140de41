"""What noise costs networks and what perturbation-aware training changes: AUROC, log loss, certified bounds.

    python -m experiments.training [--quick] [--task NAME] [--seeds 10] [--rows N] [--data FOLDER] [--publish]

Networks on top of public encoders are trained with the plain loss and with the aware one for noise of either kind,
without and with its margin term, and measured on all rows that did not train them. Values after perturbing are exact
for these rows, without draws. What encoders and networks give is kept, and a run that was interrupted goes on where it
stopped.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.progress import Progress
from scipy.special import expit
from scipy.stats import rankdata, t

from calcert.certificates import bounded_variation, perturbed
from calcert.perturbation.noise import Noise
from calcert.reports.noise_costs import ranking_and_log_loss
from calcert.sources.arrays import summarize_arrays
from experiments.datasets import data_option, needed_files
from experiments.figure import save
from experiments.results import SCRATCH, Results, experiment, read

DELTA = 0.05
TASKS = ("IMDb", "Enron spam", "CIFAR transport")
SERVED = (
    None,
    *(Noise("additive", 2.0**-k) for k in range(8, 1, -1)),
    *(Noise("odds", 2.0**-k) for k in range(6, 0, -1)),
)
"""What the plain network is served with, None as it is."""

USUAL = (Noise("additive", 1 / 64), Noise("odds", 1 / 16))
OTHERS = (Noise("additive", 1 / 16), Noise("odds", 1 / 4), Noise("additive", 1 / 4), Noise("odds", 1 / 2))
"""What aware networks are trained for: the usual sizes first, so that a run cut short has all tasks and seeds."""

MEASURES = ("AUROC", "log loss", "certified upper bound")
TABLE, COLUMNS = "training.csv", ("task", "rows", "seeds", "training", "kind", "size", "seed", *MEASURES)
COLOURS = {"additive": "#D55E00", "odds": "#0072B2"}
NAMES = {"additive": "bandwidth", "odds": "odds"}
STYLES = {
    "plain": {"ls": "-", "marker": "o"},
    "aware": {"ls": "--", "marker": "s"},
    "aware, margin": {"ls": ":", "marker": "^"},
}
ASIDE = {"plain": 0.0, "aware": -0.1, "aware, margin": 0.1}

Values = dict[tuple[str, str, str, str], dict[float, dict[int, float]]]


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """AUROC of the scores, ties counting half."""
    ones = labels == 1
    ranks, n1, n0 = rankdata(scores), ones.sum(), (~ones).sum()
    return float((ranks[ones].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def measures(logits: np.ndarray, labels: np.ndarray, noise: Noise | None) -> tuple[float, float, float]:
    """AUROC, log loss and certified bound of what is served with the noise, or of the network as it is."""
    ones = labels == 1
    summary = summarize_arrays(expit(logits), ones)
    if noise is None:
        surprise = float(np.logaddexp(0, np.where(ones, -logits, logits)).mean())
        return area(logits, labels), surprise, sum(bounded_variation.upper_terms(summary, 1.0, DELTA).values())
    return *ranking_and_log_loss(summary, noise), sum(perturbed.upper_terms(summary, noise, DELTA).values())


def measure(
    out: Results, tasks: Sequence[str], seeds: int, rows: dict[str, int | None], sizes: Sequence[Noise], **where: Path
) -> list[dict[str, str]]:
    """Add to the table what it lacks, a training of all seeds at a time; all lines that were asked for."""
    from experiments.encoders import encoded
    from experiments.networks import TRAINING, Rows, Training, train

    trainings = [Training(), *(Training(noise, margin) for noise in sizes for margin in (False, True))]
    lines = [tuple(line.values()) for line in read(out / TABLE)]
    done, asked = {line[:6] for line in lines}, set()
    with Progress() as progress:
        bar = progress.add_task("encoding", total=len(tasks) * len(trainings))
        known = {
            task: Rows(
                *encoded(task, rows=rows[task], say=lambda text: progress.update(bar, description=text), **where),
                seeds,
                TRAINING[task],
            )
            for task in tasks
        }
        for training, (task, split) in product(trainings, known.items()):
            progress.update(bar, description=f"{task}, {training.name}", advance=1)
            about = (task, str(len(split.labels)), str(seeds), training.name)
            asked.add(about[:3])
            noises = SERVED if training.noise is None else (training.noise,)
            if (*about, *named(noises[-1])) in done:
                continue
            for seed, place, logits in train(split, training, noises):
                labels = split.labels[split.parts[seed][2]].numpy()
                values = measures(logits.double().numpy(), labels, noises[place])
                lines.append((*about, *named(noises[place]), str(seed), *(f"{value:.6f}" for value in values)))
            out.table(TABLE, COLUMNS, lines)
    return [line for line in read(out / TABLE) if (line["task"], line["rows"], line["seeds"]) in asked]


def named(noise: Noise | None) -> tuple[str, str]:
    """A noise as the table names it."""
    return ("none", "0") if noise is None else (noise.kind, repr(noise.size))


def grouped(lines: list[dict[str, str]]) -> Values:
    """(task, measure, training, kind) -> size -> seed -> value."""
    found: Values = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        for measure in MEASURES:
            key = (line["task"], measure, line["training"], line["kind"])
            found[key][float(line["size"])][int(line["seed"])] = float(line[measure])
    return found


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean over seeds, and a 95% confidence interval of it by Student's t; no interval from one seed."""
    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return mean, mean, mean
    half = float(t.isf(0.025, n - 1) * np.std(values, ddof=1) / n**0.5)
    return mean, mean - half, mean + half


def curve(ax: Any, by_size: dict[float, list[float]], aside: float, **style: Any) -> None:
    """A line of means with confidence intervals, a little aside so that others can be seen."""
    x = sorted(by_size)
    mean, low, high = np.array([interval(by_size[size]) for size in x]).T
    ax.errorbar([size * 2**aside for size in x], mean, yerr=[mean - low, high - mean], ms=4, lw=1.2, capsize=2, **style)


def lost(found: Values, task: str, training: str, kind: str) -> dict[float, list[float]]:
    """AUROC that is lost by each size of noise, next to the plain network that is not perturbed, a value a seed."""
    before = found[task, "AUROC", "plain", "none"][0.0]
    after = found[task, "AUROC", training, kind]
    return {size: [before[seed] - value for seed, value in by_seed.items()] for size, by_seed in after.items()}


def changes(found: Values, task: str, measure: str, training: str, kind: str) -> dict[float, list[float]]:
    """What the training adds to a measure of what is served, next to the plain one, a value a seed."""
    aware, plain = (found[task, measure, name, kind] for name in (training, "plain"))
    return {size: [value - plain[size][seed] for seed, value in by_seed.items()] for size, by_seed in aware.items()}


def draw_auroc(out: Results, found: Values, tasks: Sequence[str]) -> None:
    """For each task AUROC after perturbing, and what it loses next to the plain network that is not perturbed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.9 * len(tasks) + 0.6, 6.8), layout="constrained")
    above, below = figure.subplots(2, len(tasks), squeeze=False, sharex=True)
    for top, bottom, task in zip(above, below, tasks, strict=True):
        for kind, colour in COLOURS.items():
            for training in STYLES:
                if not found[task, "AUROC", training, kind]:
                    continue
                style = {"color": colour, "label": f"{NAMES[kind]}, {training}", **STYLES[training]}
                if training != "plain":
                    style["ls"] = "none"  # Between the few sizes that networks were trained for nothing was measured.
                after, aside = found[task, "AUROC", training, kind], ASIDE[training]
                curve(top, {size: list(by_seed.values()) for size, by_seed in after.items()}, aside, **style)
                curve(bottom, lost(found, task, training, kind), aside, **style)
        before = interval(list(found[task, "AUROC", "plain", "none"][0.0].values()))[0]
        top.axhline(before, color="#777777", lw=1, ls=":", label="plain, not perturbed")
        bottom.axhline(0.001, color="#777777", lw=1, ls=":")
        bottom.set_yscale("symlog", linthresh=1e-3)
        bottom.set_ylim(-5e-4, 0.3)
        bottom.set_xscale("log", base=2)
        bottom.set(xlabel="size of the noise: bandwidth, or b of the odds")
        top.set(title=task)
        for ax in (top, bottom):
            ax.grid(alpha=0.3, lw=0.4)
    above[0].set_ylabel("AUROC after perturbing")
    below[0].set_ylabel("AUROC lost")
    figure.legend(
        *above[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4 if len(tasks) > 1 else 2,
        frameon=False,
    )
    save(figure, out / "auroc")


def draw_training(out: Results, found: Values, tasks: Sequence[str]) -> None:
    """A row of panels for each measure, a column for each task: what the aware loss adds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.9 * len(tasks) + 0.6, 2.7 * len(MEASURES) + 0.6), layout="constrained")
    axes = figure.subplots(len(MEASURES), len(tasks), squeeze=False, sharex=True)
    for row, measure in zip(axes, MEASURES, strict=True):
        for ax, task in zip(row, tasks, strict=True):
            ax.axhline(0, color="#777777", lw=0.8)
            for kind, colour in COLOURS.items():
                for training in ("aware", "aware, margin"):
                    by_size = changes(found, task, measure, training, kind)
                    if by_size:
                        style = {"color": colour, "label": f"{NAMES[kind]}, {training}", **STYLES[training]}
                        curve(ax, by_size, ASIDE[training] - (0.05 if kind == "odds" else 0), **style)
            ax.set_xscale("log", base=2)
            ax.grid(alpha=0.3, lw=0.4)
        row[0].set_ylabel(f"{measure}: aware - plain")
    for ax, task in zip(axes[0], tasks, strict=True):
        ax.set_title(task)
    for ax in axes[-1]:
        ax.set_xlabel("size of the noise: bandwidth, or b of the odds")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4 if len(tasks) > 1 else 2,
        frameon=False,
    )
    save(figure, out / "training")


def digest(found: Values, tasks: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What the aware loss adds to what is served, next to the plain one."""
    for task, noise, training in product(tasks, USUAL + OTHERS, ("aware", "aware, margin")):
        added = [changes(found, task, measure, training, noise.kind).get(noise.size) for measure in MEASURES]
        if all(added):
            yield task, noise.shown, training, *map(shown, added)


def shown(values: Sequence[float]) -> str:
    """A mean and its interval."""
    return "{:+.4f} ({:+.4f} to {:+.4f})".format(*interval(values))


def follow(out: Results, lines: list[dict[str, str]], tasks: Sequence[str] = TASKS) -> None:
    """What follows from the table: the digest and both pictures."""
    found = grouped(lines)
    header = ("task", "noise", "loss", *(f"{name} added" for name in MEASURES))
    out.table("training_digest.csv", header, digest(found, tasks))
    draw_auroc(out, found, tasks)
    draw_training(out, found, tasks)


def needed(chosen: tuple[str, ...], data: Path, **_: object) -> None:
    """The files of the tasks, and the weights of their encoders."""
    from experiments.encoders import needed_modules

    needed_files(chosen or TASKS, data)
    needed_modules(chosen or TASKS)


@experiment(
    TABLE,
    "training_digest.csv",
    *(f"{name}.{kind}" for name in ("auroc", "training") for kind in ("svg", "png")),
    needs=("matplotlib", "pandas", "PIL", "torch"),
    extra="training",
    before=needed,
    quick="500 rows more of each task than train, two seeds and the usual sizes.",
)
@click.option("--cache", type=click.Path(path_type=Path), default=SCRATCH, show_default=True)
@click.option("--seeds", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--rows", type=click.IntRange(min=3_000), help="Rows of each task to encode, by chance; all if left out.")
@click.option("--task", "chosen", type=click.Choice(TASKS), multiple=True)
@data_option
def main(
    out: Results, quick: bool, chosen: tuple[str, ...], seeds: int, rows: int | None, data: Path, cache: Path
) -> None:
    import torch

    from experiments.networks import TRAINING

    start, tasks = time.perf_counter(), chosen or TASKS
    torch.set_num_threads(1)
    seeds, sizes = (2, USUAL) if quick else (seeds, USUAL + OTHERS)
    encoded = {task: TRAINING[task] + 500 if quick else rows for task in tasks}
    lines = measure(out, tasks, seeds, encoded, sizes, folder=data, cache=cache)
    follow(out, lines, tasks)
    click.echo(f"{len(lines)} networks in {time.perf_counter() - start:.0f} s; {out / TABLE} and the figures written.")


if __name__ == "__main__":
    main()
