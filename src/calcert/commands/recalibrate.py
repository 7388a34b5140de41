"""``calcert recalibrate``: a map that is fitted on one half of the rows and certified on the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calcert.commands import options
from calcert.commands.input_and_output import Shown, note, repeat, working
from calcert.commands.option_values import Written
from calcert.reports.fitted_maps import CURVES

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows


@options.command(
    "Recalibrate scores, and certify the result.",
    """
  calcert recalibrate predictions.parquet --score p --label y --out map.json
  calcert apply map.json new.parquet --score p --out scored.parquet
  calcert recalibrate predictions.csv --clusters user_id --out map.json --plot curves.png
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
@options.shown()
def command(
    rows: Rows,
    settings: Settings,
    curve: str | None,
    levels: int | None,
    out: str | None,
    column: str | None,
    shown: Shown,
) -> None:
    """Fit a map on a random half of the rows, and certify the recalibrated scores on the other half.

    The map has few values, so that its L1 error is certified without any assumption. Rows of one cluster stay in one
    half. The certificate applies to the map that is written, not to one that is fitted again on all rows.
    """
    import json

    from calcert.foundation.whole_regular_file import replacing
    from calcert.reports.recalibrate import recalibrate

    shown.refuse(rows.source.value, out=out)
    with working("recalibrating"):
        fixed = recalibrate(rows, curve=curve, levels=levels, settings=settings)
    if out is not None:
        with replacing(Path(out)) as unfinished:
            content = json.dumps(fixed.to_dict(), indent=2, allow_nan=False)
            unfinished.write_text(content + "\n", encoding="utf-8")
        note(f"map written to {out}")
    shown.deliver(fixed, repeat(), None if column is None else fixed.sql(column))
