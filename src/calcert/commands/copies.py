"""``calcert perturb``, ``apply`` and ``choose``: copies of a file, or of some of its rows, with one more column."""

from __future__ import annotations

import logging
import os
import shlex
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import click

from calcert.commands import options
from calcert.commands.input_and_output import refuse_overwriting, say
from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import fraction, rows_text

if TYPE_CHECKING:
    from calcert.perturbation.appended_column import Wanted
    from calcert.perturbation.file_copy import Added
    from calcert.perturbation.noise import Noise
    from calcert.reports.rows_to_label import Choice
    from calcert.sources.parsed_values import Reading

LOG = logging.getLogger("calcert")

path = click.Path(readable=False)


def copying(column: str) -> options.Decorator:
    """What a copy of a file with one more column is told, as ``wanted``; OUT must be new, or may be replaced."""

    def wanted(given: options.Given) -> options.Given:
        from calcert.perturbation.appended_column import Wanted

        if given["target"] != "-" and os.path.exists(given["target"]) and not given["overwrite"]:
            way = "Choose another name, or pass --overwrite."
            raise FileExistsError(f"OUT must not exist; got {visible(given['target'])}. {way}")
        del given["overwrite"]
        return {"wanted": Wanted(given.pop("score"), given.pop("column"), options.reading_of(given))}

    added = options.option("column", default=column, help="Name of the column that is added.")
    return options.gathered(
        wanted, [options.option("score"), added, *map(options.option, ["skip_lines", "encoding", "overwrite"])]
    )


def copy_and_say(source: str, target: str, wanted: Wanted, doing: str, added: Added, what: str) -> None:
    """Make the copy, and say what is in its new column."""
    from calcert.perturbation.file_copy import copy_file

    done = copy_file(source, target, wanted, doing, added)
    place = "standard output" if target == "-" else visible(target)
    words = f"{rows_text(done.rows)} in {place}; column {wanted.column!r} is {done.score!r} {what}"
    say(words, err=target == "-")


def drawn(what: str) -> options.Decorator:
    """``--seed`` of a command that draws a fresh one where none is given."""
    return options.option(
        "seed", default=None, show_default=False, help=f"Makes the {what} repeatable; a fresh one is drawn and printed."
    )


@options.command(
    "Copy a file, with perturbed scores in a new column.",
    """
  calcert perturb predictions.parquet perturbed.parquet --score p --odds 1/16
  calcert perturb predictions.csv.gz perturbed.csv.gz --score p --seed 7
  generate-scores | calcert perturb - - --score p > perturbed.csv
""",
)
@click.argument("source", metavar="IN", type=path)
@click.argument("target", metavar="OUT", type=path)
@options.noise
@drawn("draws")
@copying("perturbed")
def perturb(source: str, target: str, noise: Noise, seed: int | None, wanted: Wanted) -> None:
    """Copy IN to OUT with one more column: perturbed scores.

    Both are Parquet, CSV, TSV or JSON lines (text also as .gz), of the same format; - is text on standard input or
    output. All other columns are copied unchanged. OUT appears when it is complete, or not at all.

    Deploy the new column, and use each value once. To certify, use the original column with the same
    noise (`calcert certify --odds 1/16`): the bound averages over all draws.
    """
    import secrets

    import numpy as np

    number = secrets.randbits(128) if seed is None else seed
    rng = np.random.default_rng(number)
    what = f"perturbed with {noise.keyword} {noise.size!r}, seed {number}"
    copy_and_say(
        source, target, wanted, "perturbing", lambda scores, *_: noise.sample(scores, rng.random(scores.shape)), what
    )


@options.command(
    "Copy a file, with recalibrated scores in a new column.",
    """
  calcert apply map.json new.parquet --score p --out scored.parquet
  generate-scores | calcert apply map.json - --score p --out - > scored.csv
""",
)
@click.argument("map_file", metavar="MAP", type=path)
@click.argument("source", metavar="IN", type=path)
@click.option("--out", "target", metavar="OUT", required=True, type=path, help="The copy.")
@copying("recalibrated")
def apply(map_file: str, source: str, target: str, wanted: Wanted) -> None:
    """Copy IN to OUT with one more column: the scores that the map of `calcert recalibrate` makes of them.

    Both are Parquet, CSV, TSV or JSON lines (text also as .gz), of the same format; - is text on standard input or
    output. All other columns are copied unchanged. OUT appears when it is complete, or not at all.
    """
    import json

    from calcert.reports.recalibrate import Recalibration

    refuse_overwriting([map_file], {"--out": target})
    try:
        with open(map_file, encoding="utf-8") as file:
            found = Recalibration.from_dict(json.load(file))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"MAP must be what calcert recalibrate --out wrote; {visible(map_file)}: {error}") from error
    copy_and_say(source, target, wanted, "recalibrating", lambda scores, *_: found.map.mapped(scores), "recalibrated")


@options.command(
    "Choose which rows to label, or to keep, and weight them.",
    """
  calcert choose predictions.parquet --score p --budget 5000
  calcert choose predictions.csv to-label.csv --budget 5000 --seed 7
  calcert choose clicks.parquet kept.parquet --score p --label clicked --budget 20000
  calcert choose loans.csv --score PD --label Ausfall --positive J --percent --decimal , --budget 2000
""",
)
@click.argument("source", metavar="FILE", type=path)
@click.argument("target", metavar="[OUT]", required=False, type=path)
@click.option("--budget", metavar="ROWS", type=int, required=True, help="About how many rows to choose.")
@options.option("score")
@options.option("label", help="Column of labels, if all of them are known: probabilities then use them.")
@drawn("choice")
@options.option("column", default="weight", help="Name of the column of weights.")
@options.option("overwrite")
@options.reading
def choose(
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

    from calcert.perturbation.appended_column import STREAM, Wanted
    from calcert.perturbation.file_copy import copy_file, format_of, read_scores, selection
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
        from calcert.sources.rows_in_memory import read_rows
        from calcert.sources.source_argument import Files

        labels = read_rows(Files([source], reading), name, label)[1]
    elif wanted.account.dropped:
        wanted.account.rows[source] = scores.size
        LOG.warning("%s: %s", visible(source), wanted.account.left_out)
    chosen = sample_for_labelling(scores, budget, labels=labels, seed=seed)
    weights = np.zeros(scores.size)
    weights[chosen.rows] = chosen.weights
    again = Wanted(name, column, reading, label)
    copy_file(source, out, again, "copying", selection(scores, weights), total=scores.size)
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
