"""Recalibrating for the certificate: does fitting the certified error itself beat temperature and isotonic regression?

    python -m experiments.recalibration [--quick] [--seeds 3] [--data FOLDER] [--publish]

The confidences of fourteen ImageNet networks are recalibrated with some rows and certified with fresh ones. One family
of maps, increasing and piecewise linear in log-odds, is fitted to log loss alone, and to log loss and the plug-in of
the perturbed error, which is differentiable. Temperature scaling and isotonic regression are compared with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import numpy as np
from rich.progress import Progress
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit

from calcert.certificates import distance, perturbed
from calcert.perturbation.noise import DEFAULT
from calcert.sources.arrays import summarize_arrays
from experiments.datasets import data_option, load, needed_files, split
from experiments.figure import save
from experiments.results import Results, experiment, made, read

DELTA = 0.05
SIZES = (1_000, 10_000)
KNOTS = 8
GROUPS = 250
"""Rows of like score go together while a map is fitted."""

Map = Callable[[np.ndarray], np.ndarray]


def softplus_mean(z: np.ndarray, share: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """Log loss of log-odds with a share of ones in each, and its gradient."""
    loss = np.logaddexp(0, z) - share * z
    return float(weight @ loss), weight * (expit(z) - share)


def plug_in(z: np.ndarray, share: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """The integral of |m|, m(t) = mean of (t - y) k(t - z), of what noise on the odds makes of z; and its gradient."""
    b = DEFAULT.size
    # A step of the search may try any log-odds. Beyond 40 the score is 0 or 1 to the last bit, and nothing changes.
    inside, z = np.abs(z) < 40, np.clip(z, -40, 40)
    at = b * np.arange(np.floor(z.min() / b) - 8, np.ceil(z.max() / b) + 9)
    u = np.clip((at[:, None] - z) / b, -30, 30)
    kernel = 1 / (np.pi * np.cosh(u))
    gap = expit(at)[:, None] - share
    m = (gap * kernel) @ weight
    return float(np.abs(m).sum()), weight * inside * (np.sign(m) @ (gap * kernel * np.tanh(u))) / b


def increasing(z: np.ndarray, y: np.ndarray, price: float) -> Map:
    """The map that minimises log loss and `price` times the plug-in, increasing and piecewise linear in log-odds."""
    knots = np.unique(np.quantile(z, np.linspace(0, 1, KNOTS + 1)))
    order = np.array_split(np.argsort(z, kind="stable"), min(GROUPS, z.size))
    middle, share = (np.array([values[part].mean() for part in order]) for values in (z, y))
    # Half a row of the other label, and no odds beyond those of half a row: no score goes to 0 or 1.
    share += (1 / 2 - share) / z.size
    most = np.log(2 * z.size)
    weight = np.array([part.size for part in order]) / z.size
    hats = np.array([np.interp(middle, knots, row) for row in np.eye(knots.size)])

    def values(parameters: np.ndarray) -> np.ndarray:
        return np.cumsum(np.append(parameters[0], np.exp(parameters[1:])))

    def cost(parameters: np.ndarray, price: float) -> tuple[float, np.ndarray]:
        moved = values(parameters) @ hats
        total, slope = softplus_mean(moved, share, weight)
        if price:
            more, steeper = plug_in(moved, share, weight)
            total, slope = total + price * more, slope + price * steeper
        by_value = hats @ slope
        after = np.cumsum(by_value[::-1])[::-1]
        return total, np.append(after[0], after[1:] * np.exp(parameters[1:]))

    best = np.append(knots[0], np.log(np.diff(knots)))
    for added in dict.fromkeys((0.0, price)):  # From the map that log loss alone would choose.
        best = minimize(cost, best, args=(added,), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    found = values(best)
    return lambda z: expit(np.clip(np.interp(z, knots, found), -most, most))


def temperature(z: np.ndarray, y: np.ndarray) -> Map:
    """Log-odds divided by the number that minimises log loss."""
    ones, each = np.ones(z.size) / z.size, y.astype(float)
    power = minimize_scalar(lambda a: softplus_mean(np.exp(a) * z, each, ones)[0], bounds=(-3, 3), method="bounded").x
    return lambda z: expit(np.exp(power) * z)


def isotonic(z: np.ndarray, y: np.ndarray) -> Map:
    """Isotonic regression as scikit-learn fits it."""
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(z, y)
    return lambda z: fitted.predict(z)


def platt(z: np.ndarray, y: np.ndarray) -> Map:
    """A straight line in log-odds that minimises log loss."""
    each, ones = y.astype(float), np.ones(z.size) / z.size

    def cost(line: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = softplus_mean(line[0] * z + line[1], each, ones)
        return total, np.array([slope @ z, slope.sum()])

    best = minimize(cost, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
    return lambda z: expit(best[0] * z + best[1])


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], Map]] = {
    "not recalibrated": lambda z, y: expit,
    "temperature": temperature,
    "Platt": platt,
    "isotonic": isotonic,
    "map: log loss": lambda z, y: increasing(z, y, 0.0),
    "map: log loss + plug-in": lambda z, y: increasing(z, y, 1.0),
    "map: log loss + 30 plug-in": lambda z, y: increasing(z, y, 30.0),
}
USUAL = "map: log loss"
MEASURES = ("perturbed", "distance", "log loss", "Brier score")
COLUMNS = ("network", "rows", "seed", "method", *MEASURES)


def measures(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float, float, float]:
    """Of fresh rows: both certified bounds, log loss (a wrong score of 0 or 1 makes it infinite), and Brier score."""
    summary = summarize_arrays(scores, labels)
    with np.errstate(divide="ignore"):
        surprise = -np.log(np.where(labels == 1, scores, 1 - scores))
    brier = float(((scores - labels) ** 2).mean())
    l1 = sum(perturbed.upper_terms(summary, DEFAULT, DELTA).values())
    return l1, sum(distance.upper_terms(summary, DELTA).values()), float(surprise.mean()), brier


def lines_of(scores: np.ndarray, labels: np.ndarray, rows: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Every method, fitted to some rows and measured on the others."""
    z = logit(np.clip(scores, 2.0**-25, 1 - 2.0**-25))  # What single precision makes 0 or 1 of.
    fitted, fresh = split(z.size, (rows, -1), seed)
    for name, fit in METHODS.items():
        recalibrated = np.clip(fit(z[fitted], labels[fitted])(z[fresh]), 0, 1)
        yield name, *(f"{value:.6f}" for value in measures(recalibrated, labels[fresh]))


def values(lines: list[dict[str, str]], rows: int, method: str, measure: str) -> np.ndarray:
    """A value for each network and seed, in one order for all methods."""
    mine = [line for line in lines if line["method"] == method and line["rows"] == str(rows)]
    mine.sort(key=lambda line: (line["network"], int(line["seed"])))
    return np.array([float(line[measure]) for line in mine])


def draw(out: Results, lines: list[dict[str, str]], sizes: Sequence[int]) -> None:
    """Certified bounds of all networks, a line for each method, and the mean over networks and seeds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.4, 0.6 + 2.9 * len(sizes)), layout="constrained")
    axes = figure.subplots(len(sizes), 2, squeeze=False, sharey=True, sharex="col")
    for row, rows in zip(axes, sizes, strict=True):
        for ax, (measure, words) in zip(
            row, (("perturbed", "L1 error, perturbed"), ("distance", "distance")), strict=True
        ):
            for place, method in enumerate(METHODS):
                found = values(lines, rows, method, measure)
                colour = "#D55E00" if "plug-in" in method else "#0072B2"
                ax.plot(found, np.full(found.size, place), "|", ms=9, color=colour, alpha=0.5)
                ax.plot(found.mean(), place, "D", ms=6, color=colour)
            ax.set(xscale="log", title=f"recalibrated on {rows:,} rows: {words}", yticks=range(len(METHODS)))
            ax.set_yticklabels(METHODS)
            ax.grid(alpha=0.3, which="both", axis="x", lw=0.4)
    axes[0, 0].invert_yaxis()
    for ax in axes[-1]:
        ax.set_xlabel("certified at most, fresh rows")
    save(figure, out / "recalibration")


def digest(lines: list[dict[str, str]], sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Means over networks and seeds, and how often a bound is below that of the map that log loss alone chose."""
    for rows in sizes:
        usual = {measure: values(lines, rows, USUAL, measure) for measure in MEASURES}
        for method in METHODS:
            found = {measure: values(lines, rows, method, measure) for measure in MEASURES}
            infinite = int(np.isinf(found["log loss"]).sum())
            loss = f"infinite in {infinite}" if infinite else f"{(found['log loss'] - usual['log loss']).mean():+.5f}"
            less = [str(int((found[measure] < usual[measure]).sum())) for measure in ("perturbed", "distance")]
            yield (
                f"{rows:,}",
                method,
                *(f"{found[measure].mean():.4f}" for measure in ("perturbed", "distance")),
                loss,
                f"{(found['Brier score'] - usual['Brier score']).mean():+.5f}",
                *(less if method != USUAL else ("", "")),
            )


def follow(out: Results, lines: list[dict[str, str]], sizes: Sequence[int] = SIZES) -> None:
    """What follows from the table: the digest and the picture."""
    header = ("rows", "method", "perturbed at most", "distance at most", "log loss added", "Brier score added")
    out.table("recalibration_digest.csv", (*header, "perturbed: lower in", "distance: lower in"), digest(lines, sizes))
    draw(out, lines, sizes)


@experiment(
    *made("recalibration"),
    "recalibration_digest.csv",
    needs=("matplotlib", "pandas", "sklearn"),
    before=lambda data, **_: needed_files(["ImageNet networks"], data),
    quick="Two networks, one seed and 1,000 rows.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True)
@data_option
def main(out: Results, quick: bool, seeds: int, data: Path) -> None:
    start, path = time.perf_counter(), out / "recalibration.csv"
    table = load("ImageNet networks", data)
    counts = table["model"].value_counts()
    names = sorted(counts[counts == counts.max()].index)[: 2 if quick else None]
    sizes = SIZES[:1] if quick else SIZES
    lines = [tuple(line.values()) for line in read(path)]
    done = {line[:3] for line in lines}
    with Progress() as progress:
        bar = progress.add_task("networks", total=len(names) * (1 if quick else seeds) * len(sizes))
        for seed in range(1 if quick else seeds):
            for name in names:
                rows = table[table["model"] == name]
                for size in sizes:
                    about = (name.split("/")[-1], str(size), str(seed))
                    if about not in done:
                        found = lines_of(rows["score"].to_numpy(np.float64), rows["label"].to_numpy(), size, seed)
                        lines += [(*about, *line) for line in found]
                        out.table(path.name, COLUMNS, lines)
                    progress.advance(bar)
    kept = read(path)
    follow(out, kept, sizes)
    click.echo(f"{len(kept)} recalibrations in {time.perf_counter() - start:.0f} s; {path} and the figure written.")


if __name__ == "__main__":
    main()
