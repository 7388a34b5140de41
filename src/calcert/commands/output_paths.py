"""Paths that commands write to, checked before anything is read or computed; and pictures, written there."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calcert.commands.terminal import note
from calcert.foundation.escaped_text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")


def refuse_overwriting(read: Iterable[str], written: Mapping[str, str | None]) -> None:
    """What a command writes must not take the place of what it reads, nor of what else it writes."""
    sources = {os.path.realpath(found) for path in read for found in [path, *glob.glob(path)]}
    for option, path in written.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in sources or (
            os.path.exists(place) and any(place.startswith(f"{folder}{os.sep}") for folder in sources)
        ):
            raise ValueError(f"{option} must name a file that is neither read nor written otherwise; got {path!r}.")
        sources.add(place)


class Written(click.Path):
    """A file to be written: in a folder that is there, and no folder itself."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = os.path.dirname(value) or "."
        if os.path.isdir(value):
            own = "" if param is None or param.name is None else os.path.join(value, ENDINGS[param.name])
            self.fail(f"{value!r} is a folder. Name a file in it{own and f', such as {visible(own)}'}.", param, ctx)
        if not os.path.isdir(folder):
            self.fail(f"{value!r} must lie in a folder that exists; there is no {visible(folder)}.", param, ctx)
        for library in NEEDS.get(param.name or "" if param else "", ()):
            if find_spec(library) is None:
                from calcert.foundation.requirements import needed_for_reports

                with needed_for_reports():
                    import_module(library)
        return super().convert(value, param, ctx)


NEEDS = {"html": ("jinja2", "matplotlib"), "picture": ("matplotlib",)}
"""What is asked for before rows are read, which may take long, by the option that needs it."""

ENDINGS = {"html": "report.html", "picture": "report.png", "junit": "outcome.xml"}
"""What files might be called, by the option that names them."""


def picture_path(name: str, argument: str) -> Path:
    """The path of a picture, checked before anything is computed."""
    path = Path(name)
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"{argument} must end in .png, .svg or .pdf; got {name!r}.")
    return path


def write_picture(figure: Figure, path: Path) -> None:
    """Write it, and say where."""
    from calcert.foundation.whole_regular_file import replacing

    with replacing(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:].lower())
    note(f"picture written to {path}")
