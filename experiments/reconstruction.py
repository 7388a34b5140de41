"""What the methods see: the true calibration function, the two published surrogates and our perturbed curve.

    python -m experiments.reconstruction [--quick] [--publish]

The parabola at three data sizes. NW and our curve estimate the calibration function of the perturbed classifier (drawn
as the solid truth); TV estimates that of the unmodified one, which differs from it only near the ends. Each is
measured against the curve that it estimates.
"""

from __future__ import annotations

import click
import numpy as np

from calcert import published
from calcert.perturbation.grids.grid import Grid
from calcert.sources.arrays import summarize_arrays
from experiments.distributions import BANDWIDTH, DISTRIBUTIONS
from experiments.figure import save
from experiments.results import Results, experiment, made

COLOURS = {"NW (published)": "#56B4E9", "TV (published)": "#D55E00", "perturbed (ours)": "#004B87"}
SIZES = (10**4, 10**5, 10**6)


@experiment(
    *made("reconstruction"),
    needs=("matplotlib",),
    quick="Sizes 1e3, 1e4 and 1e5.",
)
def main(quick: bool, out: Results) -> None:
    from matplotlib.figure import Figure

    distribution = next(distribution for distribution in DISTRIBUTIONS if distribution.name == "parabola")
    at = np.linspace(0, 1, 501)
    t, _, truth = distribution.perturbed
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    lines = []
    for ax, n in zip(axes, [n // 10 if quick else n for n in SIZES], strict=True):
        scores, labels = distribution.rows(n, np.random.default_rng([3, n]))
        smoother = published.perturb_and_smooth(scores, labels, bandwidth=BANDWIDTH, rng=0).curve(at)
        denoised = published.total_variation(scores, labels, variation=distribution.variation, rng=0).curve(at)
        points = summarize_arrays(scores, labels).points
        grid = Grid(BANDWIDTH, 512)
        ((place, density, positive, _),) = grid.densities(grid.place(points).masses(points.count))
        ours = np.interp(at, place, positive / density)
        ax.plot(at, np.interp(at, t, truth), color="black", lw=3.5, alpha=0.4, label="truth")
        for name, curve in (("NW (published)", smoother), ("TV (published)", denoised), ("perturbed (ours)", ours)):
            ours_or_not = {"lw": 1.8} if name.endswith("(ours)") else {"lw": 1.1, "alpha": 0.75}
            ax.plot(at, curve, label=name, color=COLOURS[name], **ours_or_not)
            own = distribution.eta(at) if name.startswith("TV") else np.interp(at, t, truth)
            error = float(np.abs(curve - own).mean())
            lines.append((n, name, f"{error:.5f}"))
        ax.set(title=f"{n:,} rows", xlabel="score", xlim=(0, 1), ylim=(0, 1))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("probability of label 1")
    axes[0].legend(frameon=False)
    save(figure, out / "reconstruction")
    out.table("reconstruction.csv", ("n", "method", "mean distance to its own truth"), lines)
    for n, name, error in lines:
        click.echo(f"{n:>9,}  {name:<18} mean distance to its own truth {error}")


if __name__ == "__main__":
    main()
