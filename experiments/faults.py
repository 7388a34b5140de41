"""How often the published perturbation bound (Proposition 2) falls below the true error, where that can be known.

    python -m experiments.faults [--quick] [--publish]

All scores are one number s, and labels are Bernoulli variables with one probability. Unmodified scores: the smoother is
the mean training label and its error bound a standard deviation, so that the bound misses whenever the mean falls far
enough towards s; the probability of that is a binomial sum. Perturbed scores have a density: there misses are counted
in simulated data sets, with a 99.9% confidence interval (Clopper and Pearson). One split into training and validation
rows, as in the paper's proof. Our certificate, Theorem 4 or Theorem 1, gets the same rows, all of them. A second table
is about one training set: 64 labels that are all 1, at scores that are perturbed 20 times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.integrate import quad
from scipy.stats import binom, binomtest

from calcert.certificates import finite, perturbed
from calcert.foundation.number_text import fraction
from calcert.perturbation.noise import Noise, perturb
from calcert.perturbation.sech_kernel import density
from calcert.published.bound import bernstein
from calcert.published.folded_rows import single_split
from calcert.published.perturb_and_smooth import derivative_bounds, smoothed
from calcert.sources.arrays import summarize_arrays
from experiments.results import Results, experiment


@dataclass(frozen=True)
class Case:
    """Every score is s, every label 1 with the same probability.

    Derivative bounds are zero without a bandwidth, as a constant calibration function has. With one they are those of
    the paper's lemma, or the sharper ones of its appendix, a factor of tanh(1/h) or its square smaller.
    """

    s: float
    training: int
    validation: int
    bandwidth: float | None = None
    probability: float = 0.5
    delta: float = 0.05
    runs: int = 2_000
    bounds: Literal["lemma", "appendix"] = "lemma"

    @property
    def truth(self) -> float:
        """The L1 calibration error."""
        if self.bandwidth is None:
            return abs(self.s - self.probability)
        # The kernel has its peak at s and is negligible 40 bandwidths away.
        low, high = max(self.s - 40 * self.bandwidth, 0.0), min(self.s + 40 * self.bandwidth, 1.0)
        breaks = [t for t in (self.s, self.probability) if low < t < high]
        error = quad(
            lambda t: abs(t - self.probability) * float(density(t, self.s, self.bandwidth)),  # type: ignore[arg-type]
            low,
            high,
            points=breaks or None,
        )
        return float(error[0])

    def exact(self) -> float:
        """The probability that the printed bound is below the truth, summed over the number of positive labels."""
        slack = 0.5 / np.sqrt(self.training)
        slack += 1.5 * bernstein(self.validation, self.delta / 2, 0.0)
        positive = np.arange(self.training + 1)
        misses = np.abs(positive / self.training - self.s) + slack < self.truth
        return float(binom.pmf(positive[misses], self.training, self.probability).sum())

    def simulate(self, runs: int, seed: int) -> tuple[int, int]:
        """Misses of the published bound and of our certificate over simulated data sets."""
        rng = np.random.default_rng(seed)
        total, h, truth = self.training + self.validation, self.bandwidth, self.truth
        scores = np.full(total, self.s)
        held_out = np.arange(total) >= self.training
        slopes = self.slopes
        published = ours = 0
        for _ in track(range(runs), f"score {self.s:g}, {self.noise}, delta {self.delta:g}", transient=True):
            labels = (rng.random(total) < self.probability).astype(np.int8)
            shown = scores if h is None else perturb(scores, bandwidth=h, rng=rng)
            rows = single_split(shown, labels, held_out)
            published += smoothed(rows, slopes=slopes, delta=self.delta, per_fold=False).value < truth
            summary = summarize_arrays(scores, labels)
            terms = (
                finite.upper_terms(summary, self.delta)
                if h is None
                else perturbed.upper_terms(summary, Noise("additive", h), self.delta)
            )
            ours += sum(terms.values()) < truth
        return published, ours

    @property
    def slopes(self) -> tuple[float, float]:
        """Bounds on the first and second derivative of the calibration function."""
        if self.bandwidth is None:
            return 0.0, 0.0
        first, second = derivative_bounds(self.bandwidth)
        factor = math.tanh(1 / self.bandwidth) if self.bounds == "appendix" else 1.0
        return first * factor, second * factor**2

    @property
    def noise(self) -> str:
        """As the table names it."""
        return "none" if self.bandwidth is None else f"bandwidth {fraction(self.bandwidth)}"


@dataclass(frozen=True)
class OneLabel:
    """The printed bound given 64 training labels that are all 1; original scores are 1, labels 1 with probability 1/2.

    `given` is the bound without its Bernstein terms, which vanish as validation rows are added, whatever delta is.
    """

    seed: int
    bound: float
    given: float
    truth: float

    @classmethod
    def draw(cls, seed: int, training: int = 64, validation: int = 20_000) -> OneLabel:
        """One draw of the perturbed scores. Validation labels do not enter the bound."""
        case = Case(1.0, training, validation, 1 / 64)
        total = training + validation
        scores = perturb(np.ones(total), bandwidth=1 / 64, rng=seed)
        rows = single_split(scores, np.ones(total, np.int8), np.arange(total) >= training)
        found = smoothed(rows, slopes=case.slopes, delta=case.delta, per_fold=False)
        given = found.terms["gap to the curve"] + found.terms["error of the curve"]
        return cls(seed, found.value, given, case.truth)


DRAWS = 20
CASES = (
    Case(1.0, 2, 150),
    Case(0.9, 100_000, 100_000),
    Case(0.9, 1_000, 1_000, 1 / 64),
    Case(0.9, 10_000, 10_000, 1 / 64),
    *(Case(0.5, 100, 50_000, h, 0.7, 0.001, 8_000) for h in (10, 2, 1 / 2)),
    Case(0.5, 100, 50_000, 10, 0.7, 0.05, 8_000),
    *(Case(0.5, 100, 50_000, h, 0.7, 0.001, 8_000, "appendix") for h in (10, 2)),
)
HEADER = (
    "score",
    "noise",
    "probability of label 1",
    "training rows",
    "validation rows",
    "delta",
    "derivative bounds",
    "published, exact",
    "published, simulated",
    "99.9% interval",
    "ours, simulated",
    "data sets",
)


@experiment("faults.csv", "faults_one_label.csv", quick="100 simulated data sets of each kind.")
def main(quick: bool, out: Results) -> None:
    table, lines = Table(*HEADER), []
    for case in CASES:
        runs = 100 if quick else case.runs
        published, ours = case.simulate(runs, seed=0)
        interval = binomtest(published, runs).proportion_ci(0.999)
        lines.append(
            [
                f"{case.s:g}",
                case.noise,
                f"{case.probability:g}",
                str(case.training),
                str(case.validation),
                f"{case.delta:g}",
                "zero" if case.bandwidth is None else case.bounds,
                "" if case.bandwidth is not None else f"{case.exact():.4f}",
                f"{published / runs:.4f}",
                f"{interval.low:.4f} to {interval.high:.4f}",
                f"{ours / runs:.4f}",
                str(runs),
            ]
        )
        table.add_row(*lines[-1])
    out.table("faults.csv", HEADER, lines)
    drawn = [OneLabel.draw(seed) for seed in range(DRAWS)]
    found = [[f"{d.seed}", f"{d.bound:.4f}", f"{d.given:.4f}", f"{d.truth:.4f}"] for d in drawn]
    out.table("faults_one_label.csv", ("seed", "published", "without Bernstein terms", "true error"), found)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
