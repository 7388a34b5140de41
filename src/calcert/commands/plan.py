"""``calcert plan``: about how many rows would certify a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from calcert.commands import options
from calcert.commands.input_and_output import show, working
from calcert.commands.option_values import Probability
from calcert.reports.gate import USUAL

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows


@options.command(
    "Estimate how many rows would certify a target.",
    """
  calcert plan pilot.parquet --score p --label y --target 0.02
  calcert plan pilot.csv --target 0.05 --statement distance
  calcert plan pilot.parquet --score p --label y --clusters user_id --target 0.02
  calcert plan pilot.csv --class-columns 'p_*' --label animal --target 0.02 --statement distance
""",
)
@options.rows(sampling=True, classes=True)
@click.option("--target", type=Probability(), required=True, help="The upper bound wanted, such as 0.02.")
@options.option("statement")
@options.settings
def command(rows: Rows, target: float, statement: str | None, settings: Settings) -> None:
    """Estimate how many rows would certify a target, from rows that you have.

    An estimate, not a certificate: a distribution is fitted to the rows, and samples from it are certified. Certify
    fresh rows in the end, without those that you planned with. With --class-columns it plans for the prediction.
    """
    from calcert.reports.classes import certify_of, read_classes
    from calcert.reports.plan import plan

    classes = read_classes(rows, settings, statement) if rows.has_classes else None
    summary = rows.summary() if classes is None else classes.prediction
    with working("estimating"):
        found = plan(summary, target, statement=statement, settings=settings)
        if classes is not None:
            found = replace(found, now=certify_of(classes, USUAL, found.statement, settings)[0])
    show(found)
