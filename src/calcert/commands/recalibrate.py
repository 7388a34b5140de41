"""``calcert recalibrate``: a map that is fitted on one half of the rows and certified on the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calcert.commands import options
from calcert.commands.options_given_once import Once
from calcert.commands.output import Written
from calcert.reports.fitted_maps import CURVES

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows


@click.command(
    cls=Once,
    short_help="Recalibrate scores, and certify the result.",
    epilog="""\b
Examples:
  calcert recalibrate predictions.parquet --score p --label y --out map.json
  calcert apply map.json new.parquet --score p --out scored.parquet
  calcert recalibrate predictions.csv --cluster user_id --out map.json --plot curves.png
  calcert recalibrate predictions.csv --sql p
""",
)
@options.rows(sampling=True)
@options.settings
@click.option(
    "--curve", type=click.Choice(CURVES), help="How the map is fitted. [default: the one with the smallest log loss]"
)
@click.option(
    "--levels",
    metavar="K",
    type=click.IntRange(0, 4096),
    help="Values of the map, at most; 0 for a smooth one. [default: about the cube root of the rows]",
)
@click.option("--out", metavar="PATH", type=Written(), help="Write the map, and its certificates, as JSON.")
@click.option("--sql", "column", metavar="COLUMN", help="Print the map as a SQL expression of this column instead.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")
@click.option("--html", metavar="PATH", type=Written(), help="Also write a page; - is standard output.")
@click.option("--plot", "picture", metavar="PATH", type=Written(), help="Also draw both curves (.png, .svg, .pdf).")
@options.debug.option
def command(
    rows: Rows,
    settings: Settings,
    curve: str | None,
    levels: int | None,
    out: str | None,
    column: str | None,
    as_json: bool,
    html: str | None,
    picture: str | None,
) -> None:
    """Fit a map on a random half of the rows, and certify the recalibrated scores on the other half.

    The map has few values, so that its L1 error is certified without any assumption. Rows of one cluster stay in one
    half. The certificate applies to the map that is written, not to one that is fitted again on all rows.
    """
    import json

    from calcert.commands.output import note, picture_path, refuse_overwriting, show, working, write_page, write_picture
    from calcert.commands.repeated_command import repeat
    from calcert.foundation.whole_regular_file import replacing
    from calcert.reports.recalibrate import recalibrate

    refuse_overwriting(rows.source.value, {"--out": out, "--html": html, "--plot": picture})
    drawn = None if picture is None else picture_path(picture, "--plot")
    with working("recalibrating"):
        fixed = recalibrate(rows, curve=curve, levels=levels, settings=settings)
    content = json.dumps(fixed.to_dict(), indent=2, allow_nan=False)
    if out is not None:
        with replacing(Path(out)) as unfinished:
            unfinished.write_text(content + "\n", encoding="utf-8")
        note(f"map written to {out}")
    if drawn is not None:
        write_picture(fixed.plot(), drawn)
    if html is not None and write_page(fixed, html, repeat()):
        return
    if column is not None:
        click.echo(fixed.sql(column))
    elif as_json:
        click.echo(content)
    else:
        show(fixed)
