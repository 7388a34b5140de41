"""``calcert bandwidth``: what each bandwidth costs and buys, and the largest that is worth its price."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from calcert.commands import options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from calcert.reports.bandwidths import BandwidthCosts


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
    show(view(costs, max_auroc_loss))


def view(costs: BandwidthCosts, max_auroc_loss: float) -> RenderableType:
    """A line a bandwidth, then the recommendation in words."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from calcert.show.text.report import number

    best = costs.recommended(max_auroc_loss)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("bandwidth", "AUROC", "lost", "log loss", "mean shift", "certified at most"):
        table.add_column(name, justify="right", no_wrap=name != "certified at most")
    table.add_column("")
    table.add_row("none", _digits(costs.auroc), "", _digits(costs.log_loss), "", "", "as it is")
    for row in costs.rows:
        remark = "recommended" if row is best else "" if row.fits_rare_events else "too large"
        table.add_row(
            shown(row.bandwidth),
            _digits(row.auroc),
            "" if math.isnan(row.auroc_loss) else f"{max(row.auroc_loss, 0.0):.2g}",
            _digits(row.log_loss),
            f"{row.mean_shift:.2g}",
            number(row.upper),
            remark,
            style="bold" if row is best else "",
        )
    lines: list[RenderableType] = [
        Text(f"{costs.n:,} rows, mean score {costs.mean_score:.4g}"),
        Text(""),
        table,
        Text(f"All certified bounds hold together with probability {1 - costs.delta:.4g}; the rest are estimates."),
    ]
    if not all(row.fits_rare_events for row in costs.rows):
        lines.append(
            Text("Too large: above an eighth of the mean score of the rarer outcome, which perturbing would drown.")
        )
    return Group(*lines, Text(advice(costs, max_auroc_loss), style="bold"))


def advice(costs: BandwidthCosts, max_auroc_loss: float) -> str:
    """The recommendation, or why there is none."""
    best = costs.recommended(max_auroc_loss)
    rare = [row for row in costs.rows if not row.fits_rare_events]
    if best is not None:
        words = f"Recommended: {shown(best.bandwidth)}, the largest that costs at most {max_auroc_loss:g} of AUROC."
    elif len(rare) == len(costs.rows):
        words = "None can be recommended: the rarer outcome is too rare for all of these. Try smaller ones with --try."
    else:
        words = (
            f"None can be recommended: each costs more than {max_auroc_loss:g} of AUROC. Try smaller ones with --try."
        )
    if best is not None and any(row.bandwidth > best.bandwidth and not row.auroc_loss > max_auroc_loss for row in rare):
        words += " Larger ones would rank about as well, but the rarer outcome is too rare for them."
    if best is not None:
        words += (
            " You chose it by looking at these rows, so certify it with fresh ones, or with these and "
            f"--delta {costs.each:.2g}."
        )
    return words


def shown(bandwidth: float) -> str:
    """1/64 where it is one over a whole number, which people remember."""
    whole = round(1 / bandwidth)
    return f"1/{whole}" if bandwidth < 1 and abs(1 / bandwidth - whole) < 1e-9 * whole else f"{bandwidth:.4g}"


def _digits(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
