"""What perturbation-aware training changes: AUROC, log loss and certified bounds, before and after perturbation.

    python -m experiments.training [--quick] [--task NAME] [--seeds 3] [--data FOLDER] [--publish]

The same networks as in experiments.auroc, from its cache where they are there: trained with the plain loss, and with
the aware one for each bandwidth. Values before and after perturbing with that bandwidth are exact for the test rows,
without draws.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import expit

import calcert
from calcert.reports.bandwidths import ranking_and_log_loss
from calcert.serving.noise import Noise
from experiments.auroc import NEEDS, QUICK, TASKS, area, network_options, power, tabulate
from experiments.figure import save
from experiments.results import Results, experiment, made

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
    ranking, loss = ranking_and_log_loss(summary, Noise("additive", bandwidth))
    return {
        ("no", "AUROC"): area(logits, labels),
        ("yes", "AUROC"): ranking,
        ("no", "log loss"): float(np.logaddexp(0, np.where(ones, -logits, logits)).mean()),
        ("yes", "log loss"): loss,
        ("no", "certified upper bound"): calcert.bounded_variation(summary).upper,
        ("yes", "certified upper bound"): calcert.perturbed(summary, bandwidth=bandwidth).upper,
    }


def grouped(lines: list[dict[str, str]]) -> dict[tuple[str, str, str, str], dict[float, dict[int, float]]]:
    """(task, measure, training, perturbed) -> bandwidth -> seed -> value."""
    found: dict[tuple[str, str, str, str], dict[float, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        key = (line["task"], line["measure"], line["training"], line["perturbed"])
        found[key][float(line["bandwidth"])][int(line["seed"])] = float(line["value"])
    return found


def draw(out: Results, lines: list[dict[str, str]]) -> None:
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
                values = [list(by_bandwidth[h].values()) for h in x]
                ax.plot(x, [np.mean(v) for v in values], ms=4, **style)
                low, high = ([end(v) for v in values] for end in (min, max))
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


@experiment(*made("training"), needs=NEEDS, quick=QUICK)
@network_options
def main(out: Results, **run: Any) -> None:
    def lines_of(logits: np.ndarray, labels: np.ndarray, bandwidth: float, seed: int) -> Iterator[tuple[str, ...]]:
        for names, value in measures(logits, labels, bandwidth).items():
            yield *names, f"{value:.6f}"

    start = time.perf_counter()
    lines = tabulate(out, "training.csv", COLUMNS, lines_of, **run)
    draw(out, lines)
    Console(width=120).print(differences(lines))
    click.echo(f"{time.perf_counter() - start:.0f} s; {out / 'training.csv'} and training.svg/png written.")


def differences(lines: list[dict[str, str]]) -> Table:
    """What the aware loss adds to each measure after perturbation: mean over seeds, and the range."""
    table = Table(
        "task", "bandwidth", *(f"{m}, aware - plain" for m in MEASURES), title="perturbed; mean over seeds (range)"
    )
    found = grouped(lines)
    for task in dict.fromkeys(line["task"] for line in lines):
        for h in sorted(found[task, MEASURES[0], "aware", "yes"]):
            shown = []
            for measure in MEASURES:
                plain, aware = (found[task, measure, training, "yes"][h] for training in ("plain", "aware"))
                change = [aware[seed] - plain[seed] for seed in aware]
                shown.append(f"{np.mean(change):+.4f} ({min(change):+.4f} to {max(change):+.4f})")
            table.add_row(task, power(h), *shown)
    return table


if __name__ == "__main__":
    main()
