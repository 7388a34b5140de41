"""``calcert choose``: a copy of some rows of a file, with what each stands for in a column of its own."""

from __future__ import annotations

import logging
import os
import shlex
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import click

from calcert.commands import options, reading_options
from calcert.commands.options_given_once import Once
from calcert.foundation.number_text import fraction

if TYPE_CHECKING:
    from calcert.reports.rows_to_label import Choice
    from calcert.sources.parsed_values import Reading

LOG = logging.getLogger("calcert")


@click.command(
    cls=Once,
    short_help="Choose which rows to label, or to keep, and weight them.",
    epilog="""\b
Examples:
  calcert choose predictions.parquet --score p --budget 5000
  calcert choose predictions.csv to-label.csv --budget 5000 --seed 7
  calcert choose clicks.parquet kept.parquet --score p --label clicked --budget 20000
  calcert choose loans.csv --score PD --label Ausfall --positive J --percent --decimal , --budget 2000
""",
)
@click.argument("source", metavar="FILE", type=click.Path(readable=False))
@click.argument("target", metavar="[OUT]", required=False, type=click.Path(readable=False))
@click.option("--budget", metavar="ROWS", type=int, required=True, help="About how many rows to choose.")
@click.option("--score", metavar="COLUMN", help="Column of scores in [0, 1].")
@click.option(
    "--label", metavar="COLUMN", help="Column of labels, if all of them are known: probabilities then use them."
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Makes the choice repeatable; a fresh one is drawn and printed."
)
@click.option("--column", metavar="NAME", default="weight", show_default=True, help="Name of the column of weights.")
@click.option("--overwrite", is_flag=True, help="Replace OUT where it exists.")
@reading_options.reading
@options.debug.option
def command(
    source: str,
    target: str | None,
    budget: int,
    score: str | None,
    label: str | None,
    seed: int | None,
    column: str,
    overwrite: bool,
    reading: Reading,
) -> None:
    """Choose rows of FILE at random, and copy them to OUT with their weights.

    FILE is Parquet, CSV, TSV or JSON lines (text also as .gz), and OUT has the same format; left out, it is FILE with
    .chosen in its name. OUT appears when it is complete, or not at all. All other columns are copied unchanged.

    Without --label, rows whose labels are in doubt are chosen more often, where that pays: label every row of OUT. With
    --label, rows that are far from their score are. The command that certifies OUT is printed, with what it must
    declare.
    """
    import numpy as np

    from calcert.commands.output import say
    from calcert.foundation.escaped_text import visible
    from calcert.perturbation.copies.appended_column import Wanted
    from calcert.perturbation.copies.appended_text_column import STREAM
    from calcert.perturbation.copies.file_copy import Selection, copy_file, format_of, read_scores
    from calcert.reports.rows_to_label import sample_for_labelling

    if label is None and reading.positive is not None:
        raise click.UsageError(f"--positive must come with --label; got {reading.positive!r} alone.")
    if STREAM in (source, target):
        raise ValueError("FILE and OUT must be files with names, as FILE is read twice; got -.")
    if not os.path.lexists(source):
        raise FileNotFoundError(f"FILE must be a file; there is no {source!r} (seen from {visible(os.getcwd())}).")
    if format_of(source) == "parquet" and (given := said(replace(reading, positive=None))):
        raise ValueError(f"{' '.join(given)} must come with text; got {visible(source)}. Write scores in [0, 1] to it.")
    out = target or _beside(source)
    if os.path.exists(out) and os.path.samefile(source, out):
        raise ValueError(f"OUT must not be FILE, whose other rows would be lost; got {visible(out)}.")
    if os.path.exists(out) and not overwrite:
        raise FileExistsError(f"OUT must not exist; got {visible(out)}. Choose another name, or pass --overwrite.")
    wanted = Wanted(score, column, reading, label)
    scores, name = read_scores(source, wanted)
    labels = None
    if label is not None:
        from calcert.sources.file_summaries import read_rows
        from calcert.sources.files.reading_account import Files

        labels = read_rows(Files([source], reading), name, label)[1]
    elif wanted.account.dropped:
        wanted.account.rows[source] = scores.size
        LOG.warning("%s: %s", visible(source), wanted.account.left_out)
    chosen = sample_for_labelling(scores, budget, labels=labels, seed=seed)
    weights = np.zeros(scores.size)
    weights[chosen.rows] = chosen.weights
    copy_file(source, out, Selection(Wanted(name, column, reading, label), scores, weights))
    # Nothing is missing there, and a row that is to be labelled must not be left out.
    first = "Certify them" if label else "Label all of them, then certify them"
    say(f"{chosen}\nThey are in {visible(out)}, seed {chosen.seed}. {first}:")
    say(f"  {certifying(out, name, label, column, chosen, replace(reading, drop_missing=False, missing=()))}")


def certifying(file: str, score: str, label: str | None, column: str, chosen: Choice, reading: Reading) -> str:
    """The command that reads the chosen rows back."""
    words = ["calcert", "certify", file, "--score", score, "--label", label or "LABEL", *said(reading)]
    if chosen.rule is not None:
        words += ["--weights", column]
        for argument, value in chosen.declared.items():
            words += [f"--{argument.replace('_', '-')}", fraction(value) if value < 1 else repr(value)]
    return shlex.join(words)


def said(reading: Reading) -> list[str]:
    """How values are written, as it was said on the command line."""
    words = []
    for option in fields(reading):
        value = getattr(reading, option.name)
        if value != option.default:
            for each in value if isinstance(value, tuple) else (value,):
                words += [f"--{option.name.replace('_', '-')}"] + ([] if each is True else [str(each)])
    return words


def _beside(source: str) -> str:
    """The name with .chosen before its format."""
    folder, name = os.path.split(source)
    stem = name[:-3] if name.lower().endswith(".gz") else name
    before, form = os.path.splitext(stem)
    return os.path.join(folder, f"{before}.chosen{form}{name[len(stem) :]}")
