"""``calcert demo``: a simulated overconfident classifier whose true errors are known, and rows to try commands on."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from calcert.commands import options
from calcert.commands.input_and_output import note, show

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calcert.foundation.array_types import Floats


OVERCONFIDENCE = 1.3
"""The simulated classifier multiplies the true log-odds by this."""

SPREAD = 1.5
"""Standard deviation of the true log-odds."""

POPULATION = 1 << 32
"""Rows that stand for all there are."""


@options.command(
    "Certify a simulated classifier whose errors are known.",
    """
  calcert demo
  calcert demo --rows 1000000 --seed 7
  calcert demo --save demo.csv
  calcert certify demo.csv --score score --label label
""",
)
@click.option("--rows", default=100_000, show_default=True, type=click.IntRange(min=1), help="Rows to simulate.")
@options.option("seed", help="Seed of the simulation.")
@click.option(
    "--save",
    metavar="PATH",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the rows to a .csv or .parquet file.",
)
def command(rows: int, seed: int, save: Path | None) -> None:
    """Certify a simulated overconfident classifier, and show its true errors beside the bounds."""
    from calcert.foundation.number_text import number
    from calcert.reports.certify import certify
    from calcert.show.report import statement_lines

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


def simulate(n: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores and labels of n simulated rows.

    Examples
    --------
    >>> scores, labels = simulate(1000, seed=0)
    >>> float(labels.mean())
    0.5
    """
    rng = np.random.default_rng(seed)
    true_log_odds = SPREAD * rng.standard_normal(n)
    return _expit(OVERCONFIDENCE * true_log_odds), rng.random(n) < _expit(true_log_odds)


def truth(points: int = 2_000) -> dict[str, float]:
    """The truth about the simulated classifier, by statement; that in the large is observed over expected.

    Its distribution is symmetric about 1/2: as many positives as expected, and half of the L1 error above 1/2, where
    every score is too high. The distance is that of the distribution on so many scores, solved exactly.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in truth().items()}
    {'in_the_large': 1.0, 'l1': 0.04, 'cutoff': 0.02, 'distance': 0.015}
    """
    from calcert.reports.report import certify_summary
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows

    # The middle of each of so many equal parts of the normal distribution.
    true_log_odds = SPREAD * np.array([NormalDist().inv_cdf((place + 0.5) / points) for place in range(points)])
    score, probability = _expit(OVERCONFIDENCE * true_log_odds), _expit(true_log_odds)
    counts = np.round(POPULATION / points * np.concatenate([1 - probability, probability])).astype(np.int64)
    rows = Rows(np.tile(score, 2), np.repeat([0, 1], points), counts=counts)
    distance = certify_summary(rows.summary(), Settings(statements="distance")).distance.terms["plug-in"]
    error = float(np.abs(score - probability).mean())
    return {"in_the_large": 1.0, "l1": error, "cutoff": error / 2, "distance": distance}


def _expit(log_odds: Floats) -> Floats:
    return 1 / (1 + np.exp(-log_odds))
