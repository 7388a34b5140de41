"""Forty test sets of each of two classifiers: ECE as a dot, the certified interval as a bar, the true error as a line.

    python -m experiments.hero [--quick] [--publish]

Left, scores of a perfectly calibrated model, 1,000 rows; right, scores that are three points too high, 20,000 rows. A
bar that misses the truth is red. Each end of a bar is right with 95% confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import calcert
from experiments.figure import save
from experiments.results import Results, experiment

SETS = 40
HIT, MISS, DOT = "#6BAED6", "#E98B76", "#D55E00"


@dataclass(frozen=True)
class Model:
    """Beta(2, 3) scores whose label is 1 with probability score ** power."""

    title: str
    power: float
    rows: int

    @property
    def truth(self) -> float:
        """The L1 error: the mean of x - x ** power, from the moments of the scores."""
        from math import gamma

        return 0.4 - gamma(2 + self.power) * gamma(5) / (gamma(2) * gamma(5 + self.power))


MODELS = (
    Model("A perfectly calibrated model\n1,000 test rows", 1.0, 1_000),
    Model("A model whose scores are 3 points too high\n20,000 test rows", 1.1, 20_000),
)


@experiment("hero.png", "hero.svg", needs=("matplotlib",), quick="Eight test sets.")
def main(quick: bool, out: Results) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.8, 4.9), layout="constrained")
    for axes, model in zip(figure.subplots(1, 2), MODELS, strict=True):
        misses = draw(axes, model, 8 if quick else SETS)
        print(f"{model.rows:,} rows, true error {model.truth:.4f}: {misses} intervals miss it")
    shown = figure.axes[0].get_legend_handles_labels()
    figure.legend(*shown, loc="outside lower center", ncols=4, frameon=False)
    save(figure, out / "hero")


def draw(axes: Any, model: Model, sets: int) -> int:
    """One line for each test set; returns how many intervals miss the truth."""
    rng, misses = np.random.default_rng(1), 0
    settings = calcert.Settings(statements=("l1",))
    for line in range(sets):
        x = rng.beta(2, 3, model.rows)
        y = rng.random(model.rows) < x**model.power
        found = calcert.certify(x, y, settings=settings)
        missed = not found.l1.lower <= model.truth <= found.l1.upper
        misses += missed
        bar = "certified interval (95% each end)" if line == 0 else None
        axes.plot([found.l1.lower, found.l1.upper], [line] * 2, color=MISS if missed else HIT, lw=3.2, label=bar)
        dot = "ECE, 15 bins" if line == 0 else None
        axes.plot(found.estimates["ECE (15 bins)"], line, "o", color=DOT, ms=5, label=dot, ls="")
    axes.axvline(model.truth, color="black", lw=1.6, label="true error")
    axes.set_title(model.title, loc="left", fontweight="bold")
    axes.set_xlabel("L1 calibration error")
    axes.set_ylabel(f"{sets} independent test sets")
    axes.set_yticks([])
    axes.set_xlim(left=0)
    axes.spines[["left", "right", "top"]].set_visible(False)
    return misses


if __name__ == "__main__":
    main()
