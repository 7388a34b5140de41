"""Options that say how files write their values, as one ``calcert.Reading``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import rows_text

if TYPE_CHECKING:
    from calcert.sources.parsed_values import Reading


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """How text writes its values, as one ``calcert.Reading``."""

    @wraps(command)
    def with_reading(**options: Any) -> None:
        how = reading_of(options)
        command(reading=how, **options)

    for option in reversed([*READING, encoding]):
        with_reading = option(with_reading)
    return with_reading


def copying(column: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What a copy of a file with one more column is told, as ``wanted``; OUT must be new, or may be replaced."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_copy(target: str, score: str | None, column: str, overwrite: bool, **said: Any) -> None:
            from calcert.perturbation.copies.appended_column import Wanted
            from calcert.sources.parsed_values import Reading

            if target != "-" and os.path.exists(target) and not overwrite:
                way = "Choose another name, or pass --overwrite."
                raise FileExistsError(f"OUT must not exist; got {visible(target)}. {way}")
            how = Reading(skip_lines=said.pop("skip_lines"), encoding=said.pop("encoding"))
            command(target=target, wanted=Wanted(score, column, how), **said)

        added = "Name of the column that is added."
        asked = [
            click.option("--score", metavar="COLUMN", help="Column of scores in [0, 1]."),
            click.option("--column", metavar="NAME", default=column, show_default=True, help=added),
            skip_lines,
            encoding,
            click.option("--overwrite", is_flag=True, help="Replace OUT where it exists."),
        ]
        for option in reversed(asked):
            with_copy = option(with_copy)
        return with_copy

    return decorate


def copy_and_say(source: str, target: str, how: Any, what: str) -> None:
    """Make the copy, and say what is in its new column."""
    from calcert.commands.output import say
    from calcert.perturbation.copies.file_copy import copy_file

    done, place = copy_file(source, target, how), "standard output" if target == "-" else visible(target)
    words = f"{rows_text(done.rows)} in {place}; column {how.wanted.column!r} is {done.score!r} {what}"
    say(words, err=target == "-")


READ_ALIKE = ("decimal", "percent", "mixed_percent", "filter", "drop_missing", "skip_lines", "sheet", "encoding")


def reading_of(options: dict[str, Any]) -> Reading:
    """How files write their values, taken out of the options."""
    from calcert.sources.parsed_values import Reading

    missing, positive = options.pop("missing"), options.pop("positive")
    if missing and not options["drop_missing"]:
        raise click.UsageError(f"--missing must come with --drop-missing; got --missing {missing[0]!r} alone.")
    return Reading(
        positive=positive if positive is None else positive.strip(),
        missing=tuple(text.strip() for text in missing),
        **{name: options.pop(name) for name in READ_ALIKE if name in options},
    )


lines = click.IntRange(min=0)
skip_lines = click.option(
    "--skip-lines",
    metavar="N",
    type=lines,
    default=0,
    help="Number of lines, such as titles, to skip above the column names.",
)
sheet = click.option("--sheet", metavar="NAME", help="The sheet of an .xlsx workbook that has several.")
encoding = click.option(
    "--encoding", metavar="NAME", default="utf-8", help="Text encoding of the file, such as cp1252 or utf-16."
)
log_filter = click.option(
    "--filter", metavar="NAME", help="The filter of a log of lm-evaluation-harness that has several."
)
READING = (
    click.option(
        "--decimal", type=click.Choice([".", ","]), default=".", help="Decimal separator of the file.  [default: .]"
    ),
    click.option("--percent", is_flag=True, help="Scores are percentages, written 7.56 or 7.56%."),
    click.option(
        "--mixed-percent", is_flag=True, help="Scores are percentages and shares in one column: 95%, 95 and 0.95."
    ),
    click.option("--positive", metavar="LABEL", help="The label that means 1, such as J; all others mean 0."),
    click.option(
        "--drop-missing",
        is_flag=True,
        help="Leave out, and count, rows without a score or a label: empty, NA, N/A, #N/A, NaN, null or None.",
    ),
    click.option(
        "--missing", metavar="TEXT", multiple=True, help="Another text that means a missing value; may be repeated."
    ),
    skip_lines,
)
"""Options for files as people keep them."""

ALL = (*READING, log_filter, sheet, encoding)
