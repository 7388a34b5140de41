"""The command line: read, summarise, certify, show."""

from __future__ import annotations

import click
from rich.console import Console

import calcert


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(calcert.__version__, prog_name="calcert")
def main() -> None:
    """Certificates for the calibration error of a classifier."""


@main.command()
@click.option("--rows", default=100_000, show_default=True, type=click.IntRange(min=1), help="Rows to simulate.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the simulation.")
def demo(rows: int, seed: int) -> None:
    """Certify a simulated overconfident classifier, and show its true errors beside the bounds."""
    from calcert.demo import simulate, truth
    from calcert.show.text import number, report_view

    scores, labels = simulate(rows, seed)
    report = calcert.certify(scores, labels)
    console = Console()
    console.print(report_view(report))
    known = truth(report.perturbed.parameters["bandwidth"])
    console.print("\nThe truth, which only a simulation knows:")
    for name, value in (("served with perturbed scores", known.perturbed), ("as it is", known.unmodified)):
        console.print(f"  L1 calibration error, {name}: {number(value)}", highlight=False)
    console.print(
        f"  distance from calibration: at most {number(known.unmodified)}, as it never exceeds the L1 error",
        highlight=False,
    )
