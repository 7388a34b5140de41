"""``calcert research published``: the paper's numbers beside our certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options
from calcert.commands.options_given_once import Once

if TYPE_CHECKING:
    from calcert.sources.rows import Rows


@click.command(
    cls=Once,
    short_help="Compare the paper's numbers with our certificates.",
    epilog="""\b
Examples:
  calcert research published predictions.parquet --score p --label y
  calcert research published predictions.csv --per-fold --json
""",
)
@options.rows()
@options.confidence
@click.option(
    "--bandwidth",
    type=options.Ratio(),
    default="1/64",
    show_default=True,
    help="How strongly scores are perturbed: 1/64, 2^-6, 2**-6 or a decimal. Fix it before you see the rows.",
)
@options.crossings
@click.option(
    "--variation", type=options.Ratio(), default="1", show_default=True, help="Assumed bound on a total variation."
)
@click.option(
    "--per-fold",
    is_flag=True,
    help="Published methods: one bound per fold, the smallest of them. For total variation the proof covers it.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Draws the perturbation, the folds of the published methods and the random splits of our lower bounds.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")
@options.debug.option
def command(
    rows: Rows,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compare the paper's four numbers with our certificates, on your own rows.

    The methods of "Measuring Uncertainty Calibration" (ICLR 2026) as we read them, with a line on what each number
    promises and what is not proved of it. They need all rows in memory.
    """
    from calcert.commands.output import show, working
    from calcert.published.compare import compare
    from calcert.sources.file_summaries import read_rows

    if rows.sampling.given:
        raise click.UsageError("published must have independent rows; got clusters. Keep one row of each.")
    scores, labels = read_rows(rows.source.value, rows.score, rows.label)
    with working("computing the published bounds"):
        found = compare(scores, labels, **settings)
    if as_json:
        import json

        click.echo(json.dumps(found.to_dict(), indent=2, allow_nan=False))
    else:
        show(found)
