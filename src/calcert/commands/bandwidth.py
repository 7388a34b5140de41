"""``calcert bandwidth``: what each bandwidth costs and buys, and the largest that is worth its price."""

from __future__ import annotations

import click

from calcert.commands import options


@click.command(
    short_help="Show what each bandwidth costs and buys.",
    epilog="""\b
Examples:
  calcert bandwidth predictions.parquet --score p --label y
  calcert bandwidth predictions.csv --max-auroc-loss 0.0005
  calcert bandwidth predictions.csv --try 1/32 --try 1/48 --try 1/64
""",
)
@options.rows
@click.option(
    "--max-auroc-loss",
    type=click.FloatRange(min=0, max=1),
    default=0.001,
    show_default=True,
    help="The AUROC that you are willing to give up.",
)
@click.option("--try", "tried", type=options.Ratio(), multiple=True, help="A bandwidth to try; may be repeated.")
@options.delta
@options.debug.option
def command(
    files: tuple[str, ...],
    score: str | None,
    label: str | None,
    max_auroc_loss: float,
    tried: tuple[float, ...],
    delta: float,
) -> None:
    """Show what each bandwidth costs and buys, and recommend one.

    Costs are exact for the rows at hand, with no perturbation drawn: AUROC and log loss of the perturbed scores, and
    how far a score moves on average. The last column is certified, for all bandwidths together, so that you may choose
    among them after looking. A larger bandwidth certifies more but ranks worse, and is no good for rare events: it must
    be small next to the mean score of the rarer outcome.
    """
    from calcert.commands.reading import summarize
    from calcert.commands.screen import show, working
    from calcert.reports.bandwidths import bandwidth_costs

    summary = summarize(files, score, label)
    with working("trying bandwidths"):
        costs = bandwidth_costs(summary, tried or None, delta=delta)
    show(costs, max_auroc_loss=max_auroc_loss)
