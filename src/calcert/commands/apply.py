"""``calcert apply``: a copy of a file with the recalibrated scores in a column of their own."""

from __future__ import annotations

import click

from calcert.commands import options, reading_options
from calcert.commands.options_given_once import Once
from calcert.foundation.number_text import rows_text


@click.command(
    cls=Once,
    short_help="Copy a file, with recalibrated scores in a new column.",
    epilog="""\b
Examples:
  calcert apply map.json new.parquet --score p --out scored.parquet
  generate-scores | calcert apply map.json - --score p --out - > scored.csv
""",
)
@click.argument("map_file", metavar="MAP", type=click.Path(readable=False))
@click.argument("source", metavar="IN", type=click.Path(readable=False))
@click.option("--out", "target", metavar="OUT", required=True, type=click.Path(readable=False), help="The copy.")
@click.option("--score", metavar="COLUMN", help="Column of scores in [0, 1].")
@click.option(
    "--column", metavar="NAME", default="recalibrated", show_default=True, help="Name of the column that is added."
)
@reading_options.skip_lines
@reading_options.encoding
@click.option("--overwrite", is_flag=True, help="Replace OUT where it exists.")
@options.debug.option
def command(
    map_file: str,
    source: str,
    target: str,
    score: str | None,
    column: str,
    skip_lines: int,
    encoding: str,
    overwrite: bool,
) -> None:
    """Copy IN to OUT with one more column: the scores that the map of `calcert recalibrate` makes of them.

    Both are Parquet, CSV, TSV or JSON lines (text also as .gz), of the same format; - is text on standard input or
    output. All other columns are copied unchanged. OUT appears when it is complete, or not at all.
    """
    import json
    import os

    from calcert.commands.output import refuse_overwriting, say
    from calcert.foundation.escaped_text import visible
    from calcert.perturbation.copies.appended_column import Wanted
    from calcert.perturbation.copies.appended_text_column import STREAM
    from calcert.perturbation.copies.file_copy import Recalibrating, copy_file
    from calcert.reports.recalibrate import Recalibration
    from calcert.sources.parsed_values import Reading

    refuse_overwriting([map_file], {"--out": target})
    if target != STREAM and os.path.exists(target) and not overwrite:
        raise FileExistsError(f"OUT must not exist; got {visible(target)}. Choose another name, or pass --overwrite.")
    try:
        with open(map_file, encoding="utf-8") as file:
            found = Recalibration.from_dict(json.load(file))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"MAP must be what calcert recalibrate --out wrote; {visible(map_file)}: {error}") from error
    how = Recalibrating(Wanted(score, column, Reading(skip_lines=skip_lines, encoding=encoding)), found.map)
    done = copy_file(source, target, how)
    place = "standard output" if target == STREAM else visible(target)
    say(f"{rows_text(done.rows)} in {place}; column {column!r} is {done.score!r} recalibrated", err=target == STREAM)
