"""``calcert research``: what noise costs and buys, and the paper's numbers beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options
from calcert.commands.input_and_output import Shown, show, working
from calcert.commands.option_values import Ratio

if TYPE_CHECKING:
    from calcert.sources.rows import Rows


@click.group(
    short_help="Research: what noise costs, and the paper's numbers.",
    epilog="""\b
Examples:
  calcert research noise-costs predictions.parquet --score p --label y
  calcert research published predictions.parquet --score p --label y
""",
)
def command() -> None:
    """For research: what noise of each size costs and buys, and what the paper's methods say of your rows."""


command.command_class = options.Command


@command.command(
    "noise-costs",
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
@click.option("--try-odds", type=Ratio(), multiple=True, help="Noise on the odds to try; may be repeated.")
@click.option("--try", "tried", type=Ratio(), multiple=True, help="A bandwidth to try; may be repeated.")
@options.option("confidence")
def noise_costs(
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
    from calcert.reports.noise_costs import noise_costs as costs_of

    summary = rows.summary()
    with working("trying noise of several sizes"):
        costs = costs_of(summary, bandwidths=tried or None, odds=try_odds or None, confidence=confidence)
    show(costs, max_auroc_loss=max_auroc_loss)


@command.command(
    short_help="Compare the paper's numbers with our certificates.",
    epilog="""\b
Examples:
  calcert research published predictions.parquet --score p --label y
  calcert research published predictions.csv --per-fold --json
""",
)
@options.rows()
@options.option("confidence")
@options.option(
    "bandwidth",
    default="1/64",
    show_default=True,
    help="How strongly scores are perturbed: 1/64, 2^-6, 2**-6 or a decimal. Fix it before you see the rows.",
)
@options.option("crossings")
@options.option("variation", default="1", show_default=True, help="Assumed bound on a total variation.")
@click.option(
    "--per-fold",
    is_flag=True,
    help="Methods for perturbed scores: one bound per fold, the smallest of them. Total variation has a line for each.",
)
@options.option(
    "seed",
    help="Draws the perturbation, the folds of the published methods and the random splits of our lower bounds.",
)
@options.shown(files=False)
def published(rows: Rows, shown: Shown, **settings: Any) -> None:
    """Compare the paper's four numbers with our certificates, on your own rows.

    The methods of "Measuring Uncertainty Calibration" (ICLR 2026) as we read them, with a line on what each number
    promises and what is not proved of it. They need all rows in memory.
    """
    from calcert.published.compare import compare
    from calcert.sources.rows_in_memory import read_rows

    if rows.sampling.given:
        raise click.UsageError("published must have independent rows; got clusters. Keep one row of each.")
    scores, labels = read_rows(rows.source.value, rows.score, rows.label)
    with working("computing the published bounds"):
        found = compare(scores, labels, **settings)
    shown.deliver(found)
