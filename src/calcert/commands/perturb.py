"""``calcert perturb``: a copy of a file with the perturbed scores in a column of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from calcert.commands import options, reading_options
from calcert.commands.options_given_once import Once
from calcert.perturbation.noise import Noise

if TYPE_CHECKING:
    from calcert.perturbation.copies.appended_column import Wanted


@click.command(
    cls=Once,
    short_help="Copy a file, with perturbed scores in a new column.",
    epilog="""\b
Examples:
  calcert perturb predictions.parquet perturbed.parquet --score p --odds 1/16
  calcert perturb predictions.csv.gz perturbed.csv.gz --score p --seed 7
  generate-scores | calcert perturb - - --score p > perturbed.csv
""",
)
@click.argument("source", metavar="IN", type=click.Path(readable=False))
@click.argument("target", metavar="OUT", type=click.Path(readable=False))
@options.noise
@click.option(
    "--seed", type=click.IntRange(min=0), help="Makes the draws repeatable; a fresh one is drawn and printed."
)
@reading_options.copying("perturbed")
@options.debug.option
def command(source: str, target: str, noise: Noise, seed: int | None, wanted: Wanted) -> None:
    """Copy IN to OUT with one more column: perturbed scores.

    Both are Parquet, CSV, TSV or JSON lines (text also as .gz), of the same format; - is text on standard input or
    output. All other columns are copied unchanged. OUT appears when it is complete, or not at all.

    Deploy the new column, and use each value once. To certify, use the original column with the same
    noise (`calcert certify --odds 1/16`): the bound averages over all draws.
    """
    import secrets

    import numpy as np

    from calcert.perturbation.copies.file_copy import Perturbation

    drawn = secrets.randbits(128) if seed is None else seed
    how = Perturbation(wanted, noise, np.random.default_rng(drawn))
    what = f"perturbed with {noise.keyword} {noise.size!r}, seed {drawn}"
    reading_options.copy_and_say(source, target, how, what)
