"""``calcert compare``: which of several models are proven to be no worse calibrated than which others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options
from calcert.commands.input_and_output import Shown, filed, repeat, working

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows


@options.command(
    "Certify which of several models is better calibrated.",
    """
  calcert compare predictions.parquet --scores p_forest,p_logistic,p_old --label y
  calcert compare forest.csv logistic.csv --score p --label y
  calcert compare answers.csv --scores conf_a,conf_b --label right_a,right_b --own-labels
  calcert compare predictions.parquet --scores new,old --label y --clusters user_id --html comparison.html
""",
)
@options.rows(sampling=True)
@click.option("--scores", metavar="COLUMNS", help="A column of scores for each model, with commas between them.")
@click.option(
    "--own-labels",
    is_flag=True,
    help="Each model is judged by labels of its own; with --scores, --label lists a column for each.",
)
@options.settings
@options.statements("Compare")
@options.shown()
@options.facts
def command(
    rows: Rows,
    scores: str | None,
    own_labels: bool,
    settings: Settings,
    statements: tuple[str, ...],
    shown: Shown,
    said: dict[str, str],
) -> None:
    """Certify which of several models is better calibrated, on the same rows.

    Models are columns of FILE that --scores lists, or else each FILE is a model, called like the file. What is proven
    is "no worse than"; for each statement all of it holds at once with the confidence that is asked for.
    """
    from calcert.reports.comparison import compare

    shown.refuse(rows.source.value)
    again, settings = repeat(), replace(settings, statements=statements)
    if scores is not None:
        click.get_current_context().meta[options.OPTIONS]["score"] = "--scores"
    models = _files(rows) if scores is None else _columns(rows, scores.split(","), own_labels)
    with working("comparing"):
        # A Summary brings the labels that all share; Rows may bring labels of their own.
        found = compare(models if own_labels else {m: one.summary() for m, one in models.items()}, settings=settings)
    shown.deliver(filed(found, said, rows), again)


def _columns(rows: Rows, scores: list[str], own_labels: bool) -> dict[str, Rows]:
    """A model for each column of scores."""
    if rows.score is not None:
        raise click.UsageError(f"--scores must not come with --score; got both, --score {rows.score!r}.")
    names = [name.strip() for name in scores]
    if len({*names}) < len(names) or len(names) < 2:
        got, way = ",".join(scores), "Write them with commas between: --scores new,old."
        raise click.UsageError(f"--scores must list two columns or more, each once; got {got!r}. {way}")
    labels = [rows.label] * len(names)
    if own_labels:
        labels = [label.strip() for label in (rows.label or "").split(",")]
        if len(labels) != len(names):
            raise click.UsageError(
                f"--own-labels must come with a column of --label for each of --scores; got {rows.label!r} for "
                f"{len(names)} models."
            )
    return {name: replace(rows, score=name, label=label) for name, label in zip(names, labels, strict=True)}


def _files(rows: Rows) -> dict[str, Rows]:
    """A model for each file."""
    paths = [str(path) for path in rows.scores]
    if len(paths) < 2:
        raise click.UsageError(
            "models must be two files or more, or columns of one; got one file. List its columns of scores: "
            "--scores new,old."
        )
    stems = Counter(Path(path).stem for path in paths)
    called = {path: Path(path).stem if stems[Path(path).stem] == 1 else path for path in paths}
    if len(called) < len(paths):
        raise click.UsageError(f"models must be different files; got {', '.join(paths)}.")
    # Each log says for itself what nobody said of all.
    left_out: dict[str, Any] = dict.fromkeys(rows.source.value.from_logs)
    return {name: replace(rows, scores=[path], **left_out) for path, name in called.items()}
