"""``calcert plan``: about how many rows would certify a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.spelling import Files


@click.command(
    short_help="Estimate how many rows would certify a target.",
    epilog="""\b
Examples:
  calcert plan pilot.parquet --score p --label y --target 0.02
  calcert plan pilot.csv --target 0.05 --statement unmodified
  calcert plan pilot.parquet --score p --label y --cluster user_id --target 0.02
""",
)
@options.rows
@options.weighing
@click.option("--target", type=options.Probability(), required=True, help="The upper bound wanted, such as 0.02.")
@click.option(
    "--statement",
    type=options.statement,
    default="perturbed",
    show_default=True,
    help="Which statement to certify.",
)
@options.settings
@options.debug.option
def command(
    files: Files,
    score: str | None,
    label: str | None,
    weighing: dict[str, Any],
    target: float,
    statement: str,
    settings: Settings,
) -> None:
    """Estimate how many rows would certify a target, from rows that you have.

    An estimate, not a certificate: a law is fitted to the rows and rows drawn from it are certified. Certify with fresh
    rows and not with those that you planned with: they have chosen how many there are.
    """
    from calcert.commands.reading import summarize
    from calcert.commands.screen import show, working
    from calcert.reports.plan import plan

    summary = summarize(files, score, label, **weighing)
    with working("estimating"):
        found = plan(summary, target, statement=statement, **settings.to_dict())
    show(found)
