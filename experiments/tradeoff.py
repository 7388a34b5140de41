"""AUROC that perturbing costs against the error that it certifies, for noise on the odds and for additive noise.

    python -m experiments.tradeoff [--quick] [--rows NAME] [--data FOLDER] [--fresh] [--publish]

Rows of six real classifiers and of two distributions. Each point of a line is one size of the noise: what it costs in
ranking, exactly for these rows, and the upper bound that it certifies, alone at delta = 0.05. To pick a point by
looking at a line is to choose the noise by the rows: lines compare kinds of noise, and certify nothing by themselves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
from rich.progress import Progress

from calcert.certificates import perturbed
from calcert.perturbation.noise import Noise
from calcert.reports.estimates import auroc, log_loss
from calcert.reports.noise_costs import ranking_and_log_loss
from calcert.sources.arrays import summarize_arrays
from calcert.summary.summary import Summary
from experiments.classifiers import scores
from experiments.datasets import FILES, data_option, load, needed_files
from experiments.figure import save
from experiments.results import SCRATCH, Results, experiment, made, read

DELTA = 0.05
ODDS = [2.0**-k for k in range(8, 0, -1)]
BANDWIDTHS = [2.0**-k for k in range(14, 2, -1)]
USUAL = {"odds": 1 / 16, "additive": 1 / 64}
AFFORDABLE = 0.001
"""The loss of AUROC at which kinds are compared."""

FREE = 1e-6
"""Smaller losses are drawn as this one."""

COLUMNS = ("rows", "n", "kind", "size", "AUROC lost", "log loss added", "upper", "discretisation")
STYLES = {
    "odds": {"color": "#0072B2", "marker": "o", "ls": "-", "label": "odds"},
    "additive": {"color": "#D55E00", "marker": "s", "ls": "--", "label": "bandwidth"},
}

NETWORKS = "ImageNet networks"

Rows = tuple[np.ndarray, np.ndarray]


def calibrated(draw: Callable[[np.random.Generator], np.ndarray]) -> Rows:
    """Scores from a distribution, and labels that have them as probabilities."""
    rng = np.random.default_rng(0)
    x = draw(rng)
    return x, (rng.random(x.size) < x).astype(np.int8)


def network(name: str, data: Path) -> Rows:
    """Confidence in the prediction of an ImageNet network, and whether it is right."""
    table = load(NETWORKS, data)
    rows = table[table["model"] == name]
    return rows["score"].to_numpy(np.float64), rows["label"].to_numpy(np.int8)


def games(data: Path) -> Rows:
    """Elo's probability that the home team wins an NBA game, and whether it did."""
    table = load("NBA Elo", data)
    return table["score"].to_numpy(np.float64), table["label"].to_numpy(np.int8)


NAMES = {
    "NBA Elo": lambda data, cache: games(data),
    "densenetblur121d": lambda data, cache: network("pytorch-image-models/densenetblur121d", data),
    "resnext101": lambda data, cache: network("torchvision/resnext101_32x8d", data),
    "Enron spam": lambda data, cache: scores("Enron spam", data, cache),
    "phishing domains": lambda data, cache: scores("phishing domains", data, cache),
    "flights": lambda data, cache: scores("flights", data, cache),
    "uniform": lambda data, cache: calibrated(lambda rng: rng.random(100_000)),
    "Beta(1/2, 500)": lambda data, cache: calibrated(lambda rng: rng.beta(0.5, 500, 1_000_000)),
}
"""Rows by name; the last two are distributions, calibrated."""


def measure(name: str, summary: Summary, noise: Noise) -> tuple[str, ...]:
    """A line of the table."""
    ranking, loss = ranking_and_log_loss(summary, noise)
    terms = perturbed.upper_terms(summary, noise, DELTA)
    values = (
        auroc(summary) - ranking,
        loss - log_loss(summary),
        min(sum(terms.values()), 1.0),
        terms["discretisation"],
    )
    return name, str(summary.n), noise.kind, repr(noise.size), *(f"{value:.6g}" for value in values)


def curve(lines: list[dict[str, str]]) -> tuple[list[float], list[float]]:
    """AUROC lost, at least FREE, and the certified bound, from little noise to much."""
    ordered = sorted(lines, key=lambda line: float(line["size"]))
    return [max(float(line["AUROC lost"]), FREE) for line in ordered], [float(line["upper"]) for line in ordered]


def at_the_price(lines: list[dict[str, str]]) -> float:
    """The bound at a loss of AFFORDABLE, between neighbouring sizes by a straight line in logarithms; NaN outside."""
    lost, upper = curve(lines)
    if not lost[0] <= AFFORDABLE <= lost[-1]:
        return math.nan
    return math.exp(float(np.interp(math.log(AFFORDABLE), np.log(lost), np.log(upper))))


def draw(out: Results, lines: list[dict[str, str]]) -> None:
    """A panel for each rows: the certified bound against the AUROC lost, both logarithmic."""
    from matplotlib.figure import Figure

    names = [name for name in NAMES if any(line["rows"] == name for line in lines)]
    down = -(-len(names) // 2)
    figure = Figure(figsize=(8.6, 2.9 * down + 0.6), layout="constrained")
    axes = figure.subplots(down, 2, squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    for ax, name in zip(axes.flat, names, strict=False):
        for kind, style in STYLES.items():
            mine = [line for line in lines if line["rows"] == name and line["kind"] == kind]
            lost, upper = curve(mine)
            ax.loglog(lost, upper, ms=4, lw=1.4, **style)
            at = [float(line["size"]) == USUAL[kind] for line in mine].index(True)
            ax.plot(lost[at], upper[at], style["marker"], ms=10, mfc="none", mec=style["color"])
        ax.axvline(AFFORDABLE, color="#777777", lw=0.8, ls=":")
        rows = next(line["n"] for line in lines if line["rows"] == name)
        ax.set(title=f"{name}, {int(rows):,} rows", xlabel="AUROC lost", ylabel="certified at most")
        ax.grid(alpha=0.3, which="both", lw=0.4)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    save(figure, out / "tradeoff")


def digest(lines: list[dict[str, str]]) -> list[tuple[str, ...]]:
    """For each rows and kind: the usual size, and the bound at one and the same loss of ranking."""
    found = []
    for name in NAMES:
        for kind in STYLES:
            mine = [line for line in lines if line["rows"] == name and line["kind"] == kind]
            if not mine:
                continue
            usual = next(line for line in mine if float(line["size"]) == USUAL[kind])
            shown = [float(usual[column]) for column in ("upper", "AUROC lost", "log loss added")]
            shown.append(at_the_price(mine))
            found.append((name, STYLES[kind]["label"], *(f"{v:.3g}" if math.isfinite(v) else "none" for v in shown)))
    return found


def follow(out: Results, lines: list[dict[str, str]]) -> None:
    """What follows from the table: the digest and the picture."""
    header = ("rows", "noise", "at most", "AUROC lost", "log loss added", "at most where 0.001 of AUROC is lost")
    out.table("tradeoff_digest.csv", header, digest(lines))
    draw(out, lines)


def asked(chosen: tuple[str, ...], quick: bool) -> tuple[str, ...]:
    """Names of the rows to measure."""
    return chosen or (tuple(NAMES)[-2:] if quick else tuple(NAMES))


def needed(chosen: tuple[str, ...], quick: bool, data: Path, **_: object) -> None:
    """The files that rows come from; distributions need none."""
    tasks = (NETWORKS if name in ("densenetblur121d", "resnext101") else name for name in asked(chosen, quick))
    needed_files((task for task in tasks if task in FILES), data)


@experiment(
    *made("tradeoff"),
    "tradeoff_digest.csv",
    needs=("matplotlib", "pandas", "sklearn"),
    before=needed,
    quick="Two distributions, and every third size.",
)
@click.option("--rows", "chosen", type=click.Choice(tuple(NAMES)), multiple=True)
@click.option("--cache", type=click.Path(path_type=Path), default=SCRATCH, show_default=True)
@data_option
def main(quick: bool, chosen: tuple[str, ...], cache: Path, out: Results, data: Path) -> None:
    start, path = time.perf_counter(), out / "tradeoff.csv"
    names = asked(chosen, quick)
    tried = [Noise("odds", b) for b in ODDS] + [Noise("additive", h) for h in BANDWIDTHS]
    if quick:
        tried = [noise for noise in tried if noise.size in (1 / 256, 1 / 64, 1 / 16, 1 / 4, 2.0**-13)]
    lines = [tuple(line.values()) for line in read(path)]
    done = {line[:4] for line in lines}
    with Progress() as progress:
        bar = progress.add_task("sizes of noise", total=len(names) * len(tried))
        for name in names:
            summary = summarize_arrays(*NAMES[name](data, cache))
            for noise in tried:
                if (name, str(summary.n), noise.kind, repr(noise.size)) not in done:
                    lines.append(measure(name, summary, noise))
                progress.advance(bar)
            out.table("tradeoff.csv", COLUMNS, lines)
    found = read(path)
    follow(out, found)
    click.echo(f"{len(found)} sizes of noise in {time.perf_counter() - start:.0f} s; {path} and the figure written.")


if __name__ == "__main__":
    main()
