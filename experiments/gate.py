"""How often a gate on a few hundred answers passes a language model that did not change.

    python -m experiments.gate [--quick] [--publish]

The model says 60, 70, 80, 90, 95 or 99% and is right as often as it says, or by 0.05 or 0.1 less often. Each run draws
fresh answers and certifies the distance from calibration, as ``calcert check --statement distance`` does: once, or at
looks of 300, 600 and 1,200 answers that a policy fixed beforehand, each at a third of delta. Counted is how often the
upper bound is within the tolerance, p; two independent runs of the same model then differ with probability 2 p (1 - p).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.sources.arrays import summarize_arrays
from experiments.results import Results, experiment

SAID = np.array([0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
SHARES = (0.1, 0.1, 0.2, 0.3, 0.2, 0.1)
EXCESS = (0.0, 0.05, 0.1)
"""How much less often than it says the model is right."""

PLANS = ((100,), (300,), (1200,), (300, 600, 1200))
"""Numbers of answers at which the gate looks."""

TOLERANCES = (0.05, 0.1, 0.15, 0.2)
STATEMENT = "distance"
HEADER = (
    "answers",
    "true error",
    *(f"passes at {most:g}" for most in TOLERANCES),
    "two runs differ at 0.1",
    "passes 9 of 10",
)


def upper_bounds(excess: float, plan: tuple[int, ...], runs: int, seed: int) -> NDArray[np.float64]:
    """The smallest upper bound over the looks of each run."""
    rng = np.random.default_rng(seed)
    settings = Settings(confidence=1 - 0.05 / len(plan), statements=(STATEMENT,))
    found = np.empty(runs)
    for run in track(range(runs), f"{plan}, {excess:g}", transient=True):
        x = rng.choice(SAID, plan[-1], p=SHARES)
        y = rng.random(plan[-1]) < x - excess
        rows = [summarize_arrays(x[:n], y[:n]) for n in plan]
        found[run] = min(STATEMENTS[STATEMENT].certify(summary, settings).upper for summary in rows)
    return found


@experiment("gate.csv", quick="100 runs of each kind.")
def main(quick: bool, out: Results) -> None:
    table, lines = Table(*HEADER), []
    for plan in PLANS:
        for excess in EXCESS:
            upper = upper_bounds(excess, plan, 100 if quick else 2_000, seed=0)
            passes = [float(np.mean(upper <= most)) for most in TOLERANCES]
            differ = 2 * passes[1] * (1 - passes[1])
            # A tolerance that nine of ten runs pass, rounded up.
            usual = np.ceil(np.quantile(upper, 0.9, method="higher") * 100) / 100
            looks = ", then ".join(f"{n:,}" for n in plan)
            lines.append([looks, f"{excess:g}", *(f"{share:.1%}" for share in passes), f"{differ:.1%}", f"{usual:.2f}"])
            table.add_row(*lines[-1])
    out.table("gate.csv", HEADER, lines)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
