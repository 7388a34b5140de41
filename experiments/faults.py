"""How often the published perturbation bound fails on two laws with an atom, exactly and by simulation, and served.

    python -m experiments.faults [--quick] [--publish]

On all laws every score is the same number s and labels are fair coins. As they are, the smoother is the mean training
label and the error bound its standard deviation; the printed bound misses whenever that mean falls far enough towards
s. Served, scores are perturbed with bandwidth 1/64 first, and have no atom. Nominal probability of failure: 0.05. Our
certificate, Theorem 4 or Theorem 1, sees the same rows, training and validation together.
"""

from __future__ import annotations

from dataclasses import dataclass

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import binom

from calcert.certificates import finite, perturbed
from calcert.published.bound import bernstein
from calcert.published.folded_rows import single_split
from calcert.published.perturb_and_smooth import derivative_bounds, smoothed
from calcert.serving.noise import Noise, perturb
from calcert.serving.sech_kernel import mean
from calcert.sources.arrays import summarize_arrays
from experiments.results import Results, experiment

BANDWIDTH, DELTA = 1 / 64, 0.05
NOISE = Noise("additive", BANDWIDTH)


@dataclass(frozen=True)
class Case:
    """All scores equal s; labels fair coins; derivative bounds zero, as a constant calibration function has.

    Served, scores are perturbed, and derivative bounds are those that perturbing guarantees.
    """

    s: float
    training: int
    validation: int
    served: bool = False

    @property
    def truth(self) -> float:
        """The L1 calibration error; served scores are on one side of 1/2 but for 1e-10 of them."""
        return abs((float(mean(self.s, BANDWIDTH)) if self.served else self.s) - 0.5)

    def exact(self) -> float:
        """The probability that the printed bound is below the truth, summed over the number of positive labels."""
        slack = 0.5 / np.sqrt(self.training)
        slack += bernstein(self.validation, DELTA / 2, 0.0) + 0.5 * bernstein(self.validation, DELTA / 2, 0.0)
        positive = np.arange(self.training + 1)
        misses = np.abs(positive / self.training - self.s) + slack < self.truth
        return float(binom.pmf(positive[misses], self.training, 0.5).sum())

    def simulate(self, runs: int, seed: int) -> tuple[int, int]:
        """Misses of the published bound and of our certificate over simulated data sets."""
        rng = np.random.default_rng(seed)
        total = self.training + self.validation
        scores = np.full(total, self.s)
        held_out = np.arange(total) >= self.training
        published = ours = 0
        slopes = derivative_bounds(BANDWIDTH) if self.served else (0.0, 0.0)
        for _ in range(runs):
            labels = rng.integers(0, 2, total, dtype=np.int8)
            shown = perturb(scores, bandwidth=BANDWIDTH, rng=rng) if self.served else scores
            rows = single_split(shown, labels, held_out)
            published += smoothed(rows, slopes=slopes, delta=DELTA, per_fold=False).value < self.truth
            summary = summarize_arrays(scores, labels)
            terms = perturbed.upper_terms(summary, NOISE, DELTA) if self.served else finite.upper_terms(summary, DELTA)
            ours += sum(terms.values()) < self.truth
        return published, ours


CASES = (
    Case(1.0, 2, 150),
    Case(0.9, 100_000, 100_000),
    Case(0.9, 1_000, 1_000, served=True),
    Case(0.9, 10_000, 10_000, served=True),
)


@experiment("faults.csv", quick="100 simulated data sets instead of 2,000.")
def main(quick: bool, out: Results) -> None:
    runs = 100 if quick else 2_000
    header = [
        "score",
        "served",
        "training rows",
        "validation rows",
        "published, exact",
        f"published, {runs} runs",
        "ours",
    ]
    table = Table(*header)
    rows = []
    for case in CASES:
        published, ours = case.simulate(runs, seed=0)
        exact = "" if case.served else f"{case.exact():.4f}"
        how = "perturbed" if case.served else "as it is"
        shares = [exact, f"{published / runs:.4f}", f"{ours / runs:.4f}"]
        rows.append([f"{case.s:g}", how, str(case.training), str(case.validation), *shares])
        table.add_row(*rows[-1])
    out.table("faults.csv", header, rows)
    Console(width=110).print(table)
    click.echo("Nominal probability of failure: 0.05.")


if __name__ == "__main__":
    main()
