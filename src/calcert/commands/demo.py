"""``calcert demo``: a simulated classifier whose true errors are known, and rows to try the other commands on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options
from calcert.commands.options_given_once import Once

if TYPE_CHECKING:
    from numpy.typing import NDArray


@click.command(
    cls=Once,
    short_help="Certify a simulated classifier whose errors are known.",
    epilog="""\b
Examples:
  calcert demo
  calcert demo --rows 1000000 --seed 7
  calcert demo --save demo.csv
  calcert certify demo.csv --score score --label label
""",
)
@click.option("--rows", default=100_000, show_default=True, type=click.IntRange(min=1), help="Rows to simulate.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the simulation.")
@click.option(
    "--save",
    metavar="PATH",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the rows to a .csv or .parquet file.",
)
@options.debug.option
def command(rows: int, seed: int, save: Path | None) -> None:
    """Certify a simulated overconfident classifier, and show its true errors beside the bounds."""
    from calcert.commands.output import show
    from calcert.commands.simulated_rows import simulate, truth
    from calcert.foundation.number_text import number
    from calcert.reports.certify import certify
    from calcert.show.blocks.report import statement_lines

    scores, labels = simulate(rows, seed)
    if save is not None:
        write(save, scores, labels)
    report = certify(scores, labels)
    show(report)
    click.echo("\nThe truth beside the bounds, which only a simulation knows:")
    for (name, value), (title, bounds, _) in zip(truth().items(), statement_lines(report), strict=True):
        shown = "exactly 1" if name == "in_the_large" else number(value)
        click.echo(f"  {title:<21}{shown:<11}{bounds}")


def write(path: Path, scores: NDArray[Any], labels: NDArray[Any]) -> None:
    """The simulated rows as columns score and label."""
    from calcert.commands.output import note
    from calcert.foundation.whole_regular_file import replacing

    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"--save must name a .csv or .parquet file; got {path}.")
    with replacing(path) as unfinished:
        if path.suffix == ".parquet":
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.table({"score": scores, "label": labels.astype("int8")}), unfinished)
        else:
            lines = (f"{x!r},{y:d}\n" for x, y in zip(scores.tolist(), labels.tolist(), strict=True))
            with unfinished.open("w", encoding="utf-8") as file:
                file.write("score,label\n")
                file.writelines(lines)
    note(f"{scores.size:,} rows written to {path}")
