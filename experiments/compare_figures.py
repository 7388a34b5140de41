"""Whether the tables and pictures of the documentation are those that their commands make now.

    python -m experiments.compare_figures [FOLDER] [--quick]

Run the experiments first; FOLDER, build/experiments if left out, is where they wrote. Tables that were measured again
are compared line by line and number by number, as far as FOLDER has them: so a run with few repeats is a sample.
Tables and pictures that follow from other tables are made from the published ones once more, and must have the same
bits; pictures that the code of pages draws must have the same pixels. Ends with status 1 if anything differs.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

import click
import numpy as np

from experiments import pages, rates, real, recalibration, samples, synthetic, tradeoff, training
from experiments.results import PUBLISHED, SCRATCH, Results, read

TOLERANCE = 2e-6
"""Numbers this close are the same: tables have six to eight digits."""

MEASURED = {
    "faults.csv": 7,
    "faults_one_label.csv": 1,
    "few_values.csv": 2,
    "fix.csv": 2,
    "gate.csv": 2,
    "real.csv": 4,
    "real_networks.csv": 1,
    "recalibration.csv": 4,
    "reconstruction.csv": 2,
    "synthetic.csv": 4,
    "tradeoff.csv": 4,
    "training.csv": 7,
}
"""Tables of measurements, and how many columns say what was measured."""

PAGES = (*pages.READING, "monitoring.png", "hero.png", "hero.svg")
BY_HAND = ("house.svg",)


def follow(out: Results) -> None:
    """Everything that follows from tables alone."""
    lines = {name: read(out / name) for name in MEASURED}
    synthetic.draw(out, lines["synthetic.csv"])
    for command in (rates.main, samples.main):
        command(["--out", str(out.folder)], standalone_mode=False)
    real.draw(out, lines["real.csv"])
    real.draw_networks(out, lines["real_networks.csv"])
    recalibration.follow(out, lines["recalibration.csv"])
    tradeoff.follow(out, lines["tradeoff.csv"])
    training.follow(out, lines["training.csv"])


def number(text: str) -> float | None:
    """A number, or None where a cell holds words."""
    try:
        return float(text)
    except ValueError:
        return None


def same(here: str, there: str) -> bool:
    """Whether two cells say the same."""
    a, b = number(here), number(there)
    return here == there if a is None or b is None else bool(np.isclose(a, b, 0, TOLERANCE, equal_nan=True))


def compared(published: Path, again: Path, about: int) -> tuple[bool, str]:
    """Two tables, line by line: whether all lines of the second say the same, and a sentence."""
    known = {tuple(line.values())[:about]: line for line in read(published)}
    lines = read(again)
    strange = sum(tuple(line.values())[:about] not in known for line in lines)
    apart: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        other = known.get(tuple(line.values())[:about], line)
        for column in list(line)[about:]:
            if not same(line[column], other.get(column, "")):
                name = f"{line['method']}, {column}" if "method" in line else column
                apart[name].append(abs((number(line[column]) or 0.0) - (number(other.get(column, "")) or 0.0)))
    parts = [f"{name}: {len(found)} lines, by {max(found):.2g} at most" for name, found in apart.items()]
    if strange:
        parts.append(f"{strange} lines are not published")
    if parts:
        return False, "DIFFERS. " + "; ".join(parts)
    return True, f"same numbers, {len(lines):,} of {len(known):,} lines"


def pictured(published: Path, again: Path) -> tuple[bool, str]:
    """Two files, bit by bit, and pictures pixel by pixel."""
    if published.read_bytes() == again.read_bytes():
        return True, "same bits"
    if published.suffix != ".png":
        return False, "DIFFERS"
    from matplotlib.image import imread

    a, b = imread(published), imread(again)
    if a.shape != b.shape:
        return False, f"DIFFERS in size: {a.shape[:2]}, and {b.shape[:2]} now"
    share = float((a != b).any(axis=2).mean())
    return share == 0, f"DIFFERS in {share:.2%} of its pixels" if share else "same pixels"


def verdict(name: str, again: Path, derived: Path | None) -> tuple[bool, str]:
    """What is to be said of one published file."""
    published = PUBLISHED / name
    if name in MEASURED:
        found = again / name
        return compared(published, found, MEASURED[name]) if found.exists() else (True, "not measured again")
    if name in BY_HAND:
        return True, "drawn by hand"
    if name == pages.SEEN:
        return True, "has the time of its writing in it: look at it"
    if name in PAGES or name.startswith("reconstruction"):
        found = again / name
        return pictured(published, found) if found.exists() else (True, "not drawn again")
    if derived is None:
        return True, "not made again"
    return pictured(published, derived / name) if (derived / name).exists() else (False, "DIFFERS: no command makes it")


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=SCRATCH)
@click.option("--quick", is_flag=True, help="Make nothing again that follows from tables.")
def main(folder: Path, quick: bool) -> None:
    alike = True
    with tempfile.TemporaryDirectory() as scratch:
        derived = None if quick else Path(scratch)
        if derived is not None:
            for name in MEASURED:
                shutil.copyfile(PUBLISHED / name, derived / name)
            with contextlib.redirect_stdout(io.StringIO()):
                follow(Results(derived))
        for path in sorted(PUBLISHED.iterdir()):
            right, words = verdict(path.name, folder, derived)
            alike &= right
            click.echo(f"{path.name}: {words}")
    if not alike:
        raise click.exceptions.Exit(1)


if __name__ == "__main__":
    main()
