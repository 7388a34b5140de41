"""``calcert research``: what noise costs and buys, and the paper's numbers beside ours."""

from __future__ import annotations

import click

from calcert.commands import noise_costs, published


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


command.add_command(noise_costs.command, "noise-costs")
command.add_command(published.command, "published")
