"""``calcert certify``: rows in files become certified statements."""

from __future__ import annotations

import textwrap
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options
from calcert.commands.input_and_output import Shown, filed, repeat, working
from calcert.reports.statements import STATEMENTS
from calcert.show import certificate_words as words

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows


def statement_lines() -> str:
    """What each statement bounds and assumes, as a paragraph that click leaves as it is."""
    widest = max(map(len, STATEMENTS)) + 2
    wrapped = [
        textwrap.fill(f"{name:{widest}}{words.STATEMENTS[name].line}", 75, subsequent_indent=" " * widest)
        for name in STATEMENTS
    ]
    return "\n".join(["\b", *wrapped])


@click.command(
    cls=options.Command,
    help=f"""Certify how well calibrated a classifier is.

FILE is Parquet, CSV, TSV (.txt too), JSON lines or .xlsx; a glob; a folder; several files; - for CSV or JSON
lines on standard input; or the CSV that the query of `calcert sql` returned. Columns that are not named are found
if only one pair is plausible.

{statement_lines()}

Rows must be independent, or come in independent clusters that --clusters names, from the target population, and not
used to train or recalibrate the classifier.
""",
    epilog="""\b
Examples:
  calcert certify predictions.parquet --score p --label y
  calcert certify 'day-*.csv.gz' --odds 1/32 --confidence 0.99
  calcert certify predictions.csv --statement distance --json
  calcert certify predictions.parquet --score p --label y --groups region
  calcert certify predictions.parquet --class-columns 'p_*' --label animal
  calcert certify predictions.parquet --score p --label y --clusters user_id
  calcert certify predictions.csv --html report.html --fact model='PD 7' --fact owner=Risk
  calcert certify portfolio.csv --score PD --label Ausfall --decimal , --percent --positive J --drop-missing
  head -5000 predictions.csv | calcert certify -
""",
)
@options.rows(sampling=True, groups="Certify every group that this column names, all together.", classes=True)
@options.settings
@options.statements("Certify")
@options.option("workers")
@options.shown()
@click.option("--details", is_flag=True, help="Also print all statements, their terms and evidence, and estimates.")
@click.option(
    "--curve",
    type=click.Choice(["current", "perturbed"]),
    help="Of which scores --plot draws the curve; perturbed ones by default where noise is asked for.",
)
@options.facts
def command(
    rows: Rows,
    settings: Settings,
    statements: tuple[str, ...],
    workers: int | None,
    shown: Shown,
    details: bool,
    curve: str | None,
    said: dict[str, str],
) -> None:
    """Rows in files become a report."""
    from calcert.reports.certify import certify_rows

    shown.refuse(rows.source.value)
    if curve is not None and (shown.picture is None or rows.groups is not None):
        raise ValueError("--curve says what --plot draws of a report without groups; got --curve without it.")
    if curve == "perturbed" and statements and "perturbed" not in statements:
        raise ValueError(
            f"--curve perturbed draws the statement perturbed; got --statement {statements[0]} alone. Add --statement "
            "perturbed, or draw --curve current."
        )
    again, settings = repeat(), replace(settings, statements=statements)
    many = rows.has_classes or rows.groups is not None
    if not many:
        options.refuse_of_many(workers)
    with nullcontext() if many else working("certifying"):
        report = filed(certify_rows(rows, settings, workers), said, rows)
    drawn: dict[str, Any] = {} if curve is None else {"curve": curve}
    if shown.deliver(report, again, **drawn) and details:
        click.echo(f"\n{report.details()}")
