"""How many rows each method needs for a gap of 0.05, 0.02, 0.01 and 0.005.

    python -m experiments.samples [--quick] [--publish]

Reads synthetic.csv; run experiments.synthetic first. Between measured sizes the mean gap is interpolated on logarithmic
axes; beyond the largest size it is extrapolated along the last slope and marked with ~. The true error, of the
unmodified or the perturbed classifier, whichever the method bounds, is in the table too.
"""

from __future__ import annotations

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.gaps import NO_GAP, gaps
from experiments.results import Results, experiment, read

TARGETS = (0.05, 0.02, 0.01, 0.005)


def needed(by_n: dict[int, np.ndarray], target: float) -> tuple[float, bool]:
    """Rows at which the mean gap falls to the target, and whether that is beyond what was measured."""
    n = np.log10(np.array(list(by_n), float))
    gap = np.log10(np.maximum([v.mean() for v in by_n.values()], 1e-9))
    aim = np.log10(target)
    if gap[0] <= aim:
        return float(10 ** n[0]), False
    below = np.flatnonzero(gap <= aim)
    if below.size:
        i = int(below[0])
        share = (gap[i - 1] - aim) / (gap[i - 1] - gap[i])
        return float(10 ** (n[i - 1] + share * (n[i] - n[i - 1]))), False
    slope = (gap[-1] - gap[-3]) / (n[-1] - n[-3])
    return (float(10 ** (n[-1] + (aim - gap[-1]) / slope)), True) if slope < 0 else (float("inf"), True)


@experiment("samples.csv", quick="Read what a quick run of synthetic measured.")
def main(out: Results, quick: bool) -> None:
    lines = read(out / "synthetic.csv")
    if not lines:
        first = f"python -m experiments.synthetic{' --quick' if quick else ''}"
        raise click.ClickException(f"{out / 'synthetic.csv'} has no lines; run {first} first.")
    truth = {(line["distribution"], line["method"]): float(line["truth"]) for line in lines}
    header = ["distribution", "method", "true error", *(f"gap {t:g}" for t in TARGETS)]
    table = Table(*header)
    found = []
    for distribution, by_method in gaps(lines).items():
        for method, by_n in by_method.items():
            if method.startswith(NO_GAP):
                continue
            cells = []
            for target in TARGETS:
                rows, beyond = needed(by_n, target)
                smallest = "<= " if rows <= min(by_n) and not beyond else ""
                cells.append(f"{'~' if beyond else smallest}{rows:.2g}")
            found.append([distribution, method, f"{truth[distribution, method]:.4f}", *cells])
            table.add_row(*found[-1])
    out.table("samples.csv", header, found)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
