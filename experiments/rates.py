"""Empirical rates: slopes of log gap against log n, over the distributions, beside the published intervals.

    python -m experiments.rates [--quick] [--publish]

Reads synthetic.csv; run experiments.synthetic first. A slope uses the sizes at which the bound says something (mean
below 1) and is a least-squares line through log10 of the mean gaps. The rates expected of our bounds come from a
heuristic count of bias and noise.
"""

from __future__ import annotations

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.gaps import slopes
from experiments.results import Results, experiment, read

PUBLISHED = {
    "NW (published)": ((-0.406, -0.213), "-1/3"),
    "TV (published)": ((-0.423, -0.164), "-1/4"),
    "Lip+Bkt (described; bound ours)": ((-0.574, -0.346), "-1/3"),
}
EXPECTED = {
    "perturbed (ours)": "-1/2",
    "bounded variation (ours)": "-1/3",
    "Lipschitz (ours)": "-1/3",
    "squared (ours)": "-1/2 (-1 if calibrated)",
}


@experiment("rates.csv", quick="Read what a quick run of synthetic measured.")
def main(out: Results, quick: bool) -> None:
    lines = read(out / "synthetic.csv")
    if not lines:
        first = f"python -m experiments.synthetic{' --quick' if quick else ''}"
        raise click.ClickException(f"{out / 'synthetic.csv'} has no lines; run {first} first.")
    found = slopes(lines)
    distributions = list(found)
    header = ["method", *distributions, "interval", "published interval", "published rate", "expected, not proved"]
    table = Table(*header)
    rows = []
    for method in (*PUBLISHED, *EXPECTED):
        values = np.array([found[distribution][method] for distribution in distributions])
        own = f"[{np.nanmin(values):.3f}, {np.nanmax(values):.3f}]"
        interval, rate = PUBLISHED.get(method, ("", ""))
        said = [str(list(interval)) if interval else "", rate, EXPECTED.get(method, "")]
        rows.append([method, *(f"{v:.3f}" for v in values), own, *said])
        table.add_row(*rows[-1])
    out.table("rates.csv", header, rows)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
