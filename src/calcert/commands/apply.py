"""``calcert apply``: a copy of a file with the recalibrated scores in a column of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from calcert.commands import options, reading_options
from calcert.commands.options_given_once import Once
from calcert.foundation.escaped_text import visible

if TYPE_CHECKING:
    from calcert.perturbation.copies.appended_column import Wanted


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
@reading_options.copying("recalibrated")
@options.debug.option
def command(map_file: str, source: str, target: str, wanted: Wanted) -> None:
    """Copy IN to OUT with one more column: the scores that the map of `calcert recalibrate` makes of them.

    Both are Parquet, CSV, TSV or JSON lines (text also as .gz), of the same format; - is text on standard input or
    output. All other columns are copied unchanged. OUT appears when it is complete, or not at all.
    """
    import json

    from calcert.commands.output import refuse_overwriting
    from calcert.perturbation.copies.file_copy import Recalibrating
    from calcert.reports.recalibrate import Recalibration

    refuse_overwriting([map_file], {"--out": target})
    try:
        with open(map_file, encoding="utf-8") as file:
            found = Recalibration.from_dict(json.load(file))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"MAP must be what calcert recalibrate --out wrote; {visible(map_file)}: {error}") from error
    reading_options.copy_and_say(source, target, Recalibrating(wanted, found.map), "recalibrated")
