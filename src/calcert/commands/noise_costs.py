"""``calcert research noise-costs``: what noise costs and buys, and the largest that is worth its price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from calcert.commands import options
from calcert.commands.options_given_once import Once

if TYPE_CHECKING:
    from calcert.sources.rows import Rows


@click.command(
    cls=Once,
    short_help="Show what noise of each size costs and buys.",
    epilog="""\b
Examples:
  calcert research noise-costs predictions.parquet --score p --label y
  calcert research noise-costs predictions.csv --max-auroc-loss 0.0005
  calcert research noise-costs predictions.csv --try-odds 1/12 --try-odds 1/16 --try 1/64
""",
)
@options.rows()
@click.option(
    "--max-auroc-loss",
    type=click.FloatRange(min=0, max=1),
    default=0.001,
    show_default=True,
    help="The AUROC that you are willing to give up.",
)
@click.option("--try-odds", type=options.Ratio(), multiple=True, help="Noise on the odds to try; may be repeated.")
@click.option("--try", "tried", type=options.Ratio(), multiple=True, help="A bandwidth to try; may be repeated.")
@options.confidence
@options.debug.option
def command(
    rows: Rows,
    max_auroc_loss: float,
    try_odds: tuple[float, ...],
    tried: tuple[float, ...],
    confidence: float,
) -> None:
    """Show what noise of each size costs and buys, on the odds and as a bandwidth, and recommend one.

    Costs are computed for the rows at hand, with no perturbation drawn: AUROC and log loss of the perturbed scores, and
    how far a score moves on average. The last column is certified, for all noise of one kind together, so that you may
    choose among them after looking. More noise certifies more, up to a point, but ranks worse. Noise on the odds fits
    every base rate; a bandwidth must be small next to the mean score of the rarer outcome.
    """
    from calcert.commands.output import show, working
    from calcert.reports.noise_costs import noise_costs

    summary = rows.summary()
    with working("trying noise of several sizes"):
        costs = noise_costs(summary, bandwidths=tried or None, odds=try_odds or None, confidence=confidence)
    show(costs, max_auroc_loss=max_auroc_loss)
