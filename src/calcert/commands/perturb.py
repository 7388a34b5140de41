"""``calcert perturb``: a copy of a file with the perturbed scores in a column of their own."""

from __future__ import annotations

import os

import click

from calcert.commands import options, reading_options
from calcert.commands.options_given_once import Once
from calcert.foundation.number_text import rows_text
from calcert.perturbation.noise import Noise


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
@click.option("--score", metavar="COLUMN", help="Column of scores in [0, 1].")
@options.noise
@click.option(
    "--seed", type=click.IntRange(min=0), help="Makes the draws repeatable; a fresh one is drawn and printed."
)
@click.option(
    "--column", metavar="NAME", default="perturbed", show_default=True, help="Name of the column of perturbed scores."
)
@reading_options.skip_lines
@reading_options.encoding
@click.option("--overwrite", is_flag=True, help="Replace OUT where it exists.")
@options.debug.option
def command(
    source: str,
    target: str,
    score: str | None,
    noise: Noise,
    seed: int | None,
    column: str,
    skip_lines: int,
    encoding: str,
    overwrite: bool,
) -> None:
    """Copy IN to OUT with one more column: perturbed scores.

    Both are Parquet, CSV, TSV or JSON lines (text also as .gz), of the same format; - is text on standard input or
    output. All other columns are copied unchanged. OUT appears when it is complete, or not at all.

    Deploy the new column, and use each value once. To certify, use the original column: `calcert certify`
    averages over all draws.
    """
    import secrets

    import numpy as np

    from calcert.commands.output import say
    from calcert.foundation.escaped_text import visible
    from calcert.perturbation.copies.appended_column import Wanted
    from calcert.perturbation.copies.appended_text_column import STREAM
    from calcert.perturbation.copies.file_copy import Perturbation, copy_file
    from calcert.sources.parsed_values import Reading

    if target != STREAM and os.path.exists(target) and not overwrite:
        raise FileExistsError(f"OUT must not exist; got {visible(target)}. Choose another name, or pass --overwrite.")
    drawn = secrets.randbits(128) if seed is None else seed
    reading = Reading(skip_lines=skip_lines, encoding=encoding)
    how = Perturbation(Wanted(score, column, reading), noise, np.random.default_rng(drawn))
    done = copy_file(source, target, how)
    place = "standard output" if target == STREAM else visible(target)
    say(
        f"{rows_text(done.rows)} in {place}; column {column!r} is {done.score!r} perturbed with {noise.keyword} "
        f"{noise.size!r}, seed {drawn}",
        err=target == STREAM,
    )
