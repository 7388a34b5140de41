"""Writing a picture to a file, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calcert.commands.terminal import note
from calcert.foundation.whole_file import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")


def picture_path(name: str, argument: str) -> Path:
    """The path of a picture, checked before anything is computed."""
    path = Path(name)
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"{argument} must end in .png, .svg or .pdf; got {name!r}.")
    return path


def write_picture(figure: Figure, path: Path) -> None:
    """Write it, and say where."""
    with replacing(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:].lower())
    note(f"picture written to {path}")
