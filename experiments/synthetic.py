"""Gap between upper bound and truth against the number of rows, for the published methods and ours.

    python -m experiments.synthetic [--quick] [--distribution NAME] [--repeats 64] [--fresh] [--publish]

Every (distribution, n, repeat) is a line of synthetic.csv; a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import csv
import math
import multiprocessing
import time

import click
import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from calcert.certificates import bounded_variation, distance, lipschitz, perturbed, squared
from calcert.perturbation.noise import Noise
from calcert.published.buckets import binned, bucketed, cuts_of
from calcert.published.folded_rows import deal_rows
from calcert.published.perturb_and_smooth import derivative_bounds, smoothed
from calcert.published.total_variation import denoised
from calcert.sources.arrays import summarize_arrays
from experiments.distributions import BANDWIDTH, DISTRIBUTIONS, NAMES, Distribution, Floats
from experiments.figure import STYLES, save
from experiments.gaps import gaps, slopes
from experiments.results import Results, experiment, made, read

Rows = tuple[Floats, NDArray[np.int8]]
Values = dict[str, tuple[float, float]]

DELTA = 0.05
NOISE = Noise("additive", BANDWIDTH)
SIZES = [10**3, 3_162, 10**4, 31_623, 10**5, 316_228, 10**6, 3_162_278, 10**7]
COLUMNS = ("distribution", "n", "repeat", "method", "value", "truth")
METHODS = 9
"""Lines of one data set."""

GIVEN = {
    "NW (published)": "perturbed scores",
    "Lip+Bkt (described; bound ours)": "perturbed scores, L = 32",
    "Lipschitz (ours)": "perturbed scores, L = 32",
    "perturbed (ours)": "original scores and kernel",
}
"""What methods for the perturbed classifier are given; L = 1/(2h) is what the perturbation guarantees."""


def measure(job: tuple[str, int, int]) -> list[tuple[str, int, int, str, float, float]]:
    """All methods on one data set; the seed is fixed by distribution, size and repeat."""
    name, n, repeat = job
    distribution = next(distribution for distribution in DISTRIBUTIONS if distribution.name == name)
    rng = np.random.default_rng([DISTRIBUTIONS.index(distribution), n, repeat])
    values, seen, rows = published_values(distribution, n, rng)
    summary, truth = summarize_arrays(*rows), distribution.perturbed_error
    values["perturbed (ours)"] = sum(perturbed.upper_terms(summary, NOISE, DELTA).values()), truth
    variation = bounded_variation.upper_terms(summary, distribution.variation, DELTA)
    values["bounded variation (ours)"] = sum(variation.values()), distribution.error
    values["Lipschitz (ours)"] = from_perturbed_scores(*seen), truth
    squares = squared.upper_terms(summary, NOISE, DELTA)
    values["squared (ours)"] = sum(squares.values()), distribution.perturbed_squared_error
    # The true distance is not known in closed form; the L1 error is above it.
    values["distance (ours)"] = sum(distance.upper_terms(summary, DELTA).values()), math.nan
    return [(name, n, repeat, method, min(value, 1.0), truth) for method, (value, truth) in values.items()]


def published_values(distribution: Distribution, n: int, rng: np.random.Generator) -> tuple[Values, Rows, Rows]:
    """What the published methods say, each beside the true error; and the rows, perturbed and unmodified."""
    seen = distribution.perturbed_rows(n, rng)
    folds = deal_rows(*seen, rng=rng)
    slopes, cuts = derivative_bounds(BANDWIDTH), cuts_of()
    smoothing = smoothed(folds, slopes=slopes, delta=DELTA, per_fold=False)
    buckets = bucketed(folds, constant=slopes[0], cuts=cuts, delta=DELTA, per_fold=False)
    rows = distribution.rows(n, rng)
    denoising = denoised(deal_rows(*rows, rng=rng), variation=distribution.variation, delta=DELTA, per_fold=False)
    values = {
        "NW (published)": (smoothing.value, distribution.perturbed_error),
        "Lip+Bkt (described; bound ours)": (buckets.value, distribution.perturbed_error),
        "TV (published)": (denoising.value, distribution.error),
        "ECE, 15 bins (heuristic)": (binned(*rows, np.arange(15) / 15).value, distribution.error),
    }
    return values, seen, rows


def from_perturbed_scores(scores: Floats, labels: NDArray[np.int8]) -> float:
    """Theorem 3 with the information that NW and Lip+Bkt have: perturbed scores, and the slope that is guaranteed."""
    constant = derivative_bounds(BANDWIDTH)[0]
    return sum(lipschitz.upper_terms(summarize_arrays(scores, labels), constant, DELTA).values())


def draw(out: Results, lines: list[dict[str, str]]) -> None:
    """One panel a distribution: mean gap against rows, log-log, with the slope of each line in the panel's legend."""
    from matplotlib.figure import Figure

    found, falls = gaps(lines), slopes(lines)
    distributions = [distribution for distribution in DISTRIBUTIONS if distribution.name in found]
    across = min(len(distributions), 2)
    figure = Figure(figsize=(5.4 * across, 5.6 * -(-len(distributions) // across)), layout="constrained")
    axes = figure.subplots(-(-len(distributions) // across), across, squeeze=False).ravel()
    for ax, distribution in zip(axes, distributions, strict=False):
        for method, by_n in found[distribution.name].items():
            if method.startswith("distance"):
                continue  # the truth is not known
            mean = [max(float(v.mean()), 1e-6) for v in by_n.values()]
            fall = falls[distribution.name].get(method)
            told = f"\n({GIVEN[method]})" if method in GIVEN else ""
            label = method + ("" if fall is None else f", slope {fall:.2f}") + told
            ax.loglog(list(by_n), mean, label=label, **STYLES[method])
        ax.set(title=f"η(x) = {distribution.formula}", xlabel="rows", ylim=(1e-4, 1.2))
        ax.set_ylabel("upper bound − true error")
        ax.grid(alpha=0.3, which="both", lw=0.4)
        ax.legend(
            fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, columnspacing=1, frameon=False
        )
    for ax in axes[len(distributions) :]:
        ax.set_axis_off()
    save(figure, out / "synthetic")


@experiment(*made("synthetic"), needs=("matplotlib",), quick="Sizes to 1e5 and 4 repeats.")
@click.option("--distribution", "chosen", type=click.Choice(NAMES), multiple=True)
@click.option("--repeats", default=64, show_default=True)
@click.option("--workers", default=2, show_default=True)
def main(quick: bool, chosen: tuple[str, ...], repeats: int, workers: int, out: Results) -> None:
    path = out / "synthetic.csv"
    sizes = SIZES[:5] if quick else SIZES
    repeats = min(repeats, 4) if quick else repeats
    done = {(name, int(n), int(repeat)) for name, n, repeat in out.jobs(path.name, COLUMNS, METHODS)}
    names = chosen or NAMES
    # Repeat by repeat, so that a run cut short has all distributions and sizes.
    jobs = [(name, n, r) for r in range(repeats) for name in names for n in reversed(sizes) if (name, n, r) not in done]
    start = time.perf_counter()
    with path.open("a", newline="") as file, multiprocessing.Pool(workers) as pool, Progress() as progress:
        writer = csv.writer(file)
        bar = progress.add_task("rows measured", total=sum(n for _, n, _ in jobs))
        for lines in pool.imap_unordered(measure, jobs):
            writer.writerows((name, n, r, method, f"{v:.8g}", f"{t:.8g}") for name, n, r, method, v, t in lines)
            file.flush()
            progress.advance(bar, lines[0][1])
    draw(out, read(path))
    click.echo(f"{len(jobs)} data sets in {time.perf_counter() - start:.0f} s; {path} and synthetic.svg/png written.")


if __name__ == "__main__":
    main()
