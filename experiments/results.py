"""Where results go: to a scratch folder, and to the documentation only when asked, whole or not at all.

Every command writes to ``build/experiments``; with ``--quick`` to a folder of its own inside it, so that a quick run
neither reads nor overwrites what a full one measured. ``--publish`` copies the results of a full run to
``docs/figures`` when all of them are there, and no part of one. ``--fresh`` forgets what was measured before, once
nothing is missing.
"""

from __future__ import annotations

import csv
import functools
import io
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from calcert.foundation.whole_regular_file import replacing

SCRATCH = Path("build/experiments")
PUBLISHED = Path("docs/figures")
PARTS = ("chosen", "repeats", "seeds")
"""Options that ask for a part of an experiment, or for another number of repeats."""

Command = Callable[..., None]


@dataclass(frozen=True)
class Results:
    """The folder that a run writes to."""

    folder: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def table(self, name: str, header: Sequence[str], lines: Iterable[Sequence[Any]]) -> Path:
        """Write a table, whole or not at all."""
        path = self / name
        with replacing(path) as unfinished, unfinished.open("w", newline="") as file:
            csv.writer(file).writerows([header, *lines])
        return path

    def jobs(self, name: str, header: Sequence[str], each: int) -> set[tuple[str, ...]]:
        """The jobs of a table that is added to, by their first three columns; `each` lines are one.

        What an interrupted run left of a job is taken out, and a table begun where there is none.
        """
        path = self / name
        text = path.read_bytes().decode() if path.exists() else ""
        lines = list(csv.reader(io.StringIO(text[: text.rfind("\n") + 1], newline="")))[1:]
        count = Counter(tuple(line[:3]) for line in lines)
        done = {job for job, found in count.items() if found == each}
        if not text or len(done) < len(count) or not text.endswith("\n"):
            self.table(name, header, (line for line in lines if tuple(line[:3]) in done))
        return done


def made(name: str) -> tuple[str, str, str]:
    """The files of an experiment with a table and a picture."""
    return f"{name}.csv", f"{name}.svg", f"{name}.png"


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a table; none where there is none."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def experiment(
    *made: str, needs: tuple[str, ...] = (), extra: str = "experiments", before: Command | None = None, quick: str
) -> Callable[[Command], click.Command]:
    """A command that makes the files `made` and needs modules, from an `extra`, that the package itself does not.

    `before` is given the options, and refuses where something else is missing, before anything is done. The function
    under it takes ``out``, a :class:`Results`, ``quick``, and the options of its own.
    """

    def wrap(function: Command) -> click.Command:
        @functools.wraps(function)
        def run(out: Path | None, publish: bool, fresh: bool, quick: bool, **options: Any) -> None:
            if publish and quick:
                raise click.UsageError("--publish is for results at full size: leave out --quick.")
            context = click.get_current_context()
            part = [name for name in options if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
            if publish and set(part) & set(PARTS):
                raise click.UsageError("--publish is for all of an experiment: leave out what chooses a part of it.")
            if out is not None and out.resolve() == PUBLISHED.resolve():
                raise click.UsageError(f"--out is not for {PUBLISHED}: --publish is, at the end of a full run.")
            missing = [name for name in needs if find_spec(name) is None]
            if missing:
                raise click.ClickException(
                    f"this experiment needs {', '.join(missing)}, which cannot be imported. "
                    f'Install what it needs: pip install -e ".[{extra}]"'
                )
            if before is not None:
                before(quick=quick, **options)
            folder = out or (SCRATCH / "quick" if quick else SCRATCH)
            folder.mkdir(parents=True, exist_ok=True)
            if fresh:
                for name in made:
                    (folder / name).unlink(missing_ok=True)
            function(out=Results(folder), quick=quick, **options)
            if publish:
                copy(folder, made)
                click.echo(f"Published in {PUBLISHED}: {', '.join(made)}.")

        command: Any = run
        for option in (
            click.option("--publish", is_flag=True, help=f"Copy the results to {PUBLISHED} at the end."),
            click.option("--fresh", is_flag=True, help="Forget what earlier runs measured."),
            click.option("--quick", is_flag=True, help=quick),
            click.option(
                "--out",
                type=click.Path(path_type=Path),
                help=f"Where results go; {SCRATCH} if left out, quick ones in a folder there.",
            ),
        ):
            command = option(command)
        return click.command(help=function.__globals__["__doc__"])(command)

    return wrap


def copy(folder: Path, names: Iterable[str]) -> None:
    """Copy results to the documentation, each whole or not at all; none of them if one is missing."""
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise click.ClickException(f"{folder} lacks {', '.join(missing)}; nothing was published.")
    PUBLISHED.mkdir(parents=True, exist_ok=True)
    for name in names:
        with replacing(PUBLISHED / name) as unfinished:
            shutil.copyfile(folder / name, unfinished)
