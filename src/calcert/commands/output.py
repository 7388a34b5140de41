"""Where commands write: results to standard output, remarks and signs of life to standard error, the rest to files."""

from __future__ import annotations

import glob
import os
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calcert.commands.options import gathered
from calcert.foundation.escaped_text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calcert.foundation.result import Result

STANDARD_OUTPUT = "-"
PICTURE_FORMATS = (".png", ".svg", ".pdf")


def show(result: Result, **options: Any) -> None:
    """Print a result: in colour and as wide as the terminal, or plain and 80 columns wide where there is none.

    NO_COLOR, FORCE_COLOR and COLUMNS are respected. It is written in one piece, so that a closed pipe is an error here
    and not inside rich, which would end the program with a code of its own.
    """
    from rich.console import Console

    from calcert.show import as_view
    from calcert.show.text import plain

    console, shown = Console(), as_view(result, **options)
    if not console.is_terminal:
        click.echo(plain(shown, console.width))
        return
    with console.capture() as captured:
        console.print(shown, highlight=False)
    click.echo(captured.get(), nl=False)


def note(words: str) -> None:
    """A remark for people that is no part of the result, in one line."""
    click.echo(visible(words), err=True)


def say(words: str, *, err: bool = False) -> None:
    """Lines for people in which names of files and the like may stand."""
    click.echo(visible(words, keep="\n"), err=err)


@contextmanager
def working(words: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes its time."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


def refuse_overwriting(read: Iterable[str], written: Mapping[str, str | None]) -> None:
    """What a command writes must not take the place of what it reads, nor of what else it writes."""
    named = [path for path in read if path != STANDARD_OUTPUT]
    sources = {os.path.realpath(found) for path in named for found in [path, *glob.glob(path)]}
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
        if value == STANDARD_OUTPUT and (param is None or param.name not in ("html", "prometheus")):
            self.fail("'-' must be the path of a file: only pages and metrics go to standard output.", param, ctx)
        folder = os.path.dirname(value) or "."
        if os.path.isdir(value):
            own = "" if param is None or param.name is None else os.path.join(value, NAMES_OF_FILES[param.name])
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

NAMES_OF_FILES = {"html": "report.html", "picture": "report.png", "junit": "outcome.xml", "prometheus": "calcert.prom"}
"""What files might be called, by the option that names them."""


def write_page(result: Result, path: str, command: str) -> bool:
    """Write it, and say where; True where it went to standard output, which then holds nothing else."""
    if path != STANDARD_OUTPUT:
        note(f"report written to {result.to_html(path, command=command)}")
        return False
    with tempfile.TemporaryDirectory(prefix="calcert-") as folder:
        click.echo(result.to_html(Path(folder, "report.html"), command=command).read_text("utf-8"), nl=False)
    return True


def write_picture(figure: Figure, path: Path) -> None:
    """Write it, and say where."""
    from calcert.foundation.whole_regular_file import replacing

    with replacing(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:].lower())
    note(f"picture written to {path}")


ABOUT_OUTPUT = ("--json", "--html", "--junit", "--plot", "--curve", "--workers", "--debug")
"""Options that leave the report as it is."""


def repeat(**unseen: str | None) -> str:
    """The command that gives the same report again, with every setting that was given.

    What click does not tell of itself is `unseen`, by name.
    """
    context = click.get_current_context()
    values = unseen | context.params
    words = ["calcert", str(context.info_name), *values["files"]]
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        name = option.opts[0]
        if given and name.startswith("--") and name not in ABOUT_OUTPUT:
            value = values[option.name or ""]
            for one in value if isinstance(value, tuple) else (value,):
                words += [name] if one is True else [name, str(one)]
    return shlex.join(words)


@dataclass(frozen=True)
class Shown:
    """Where a result goes: to standard output as a table or as JSON, and to the files that were named."""

    as_json: bool
    html: str | None = None
    picture: str | None = None

    def refuse(self, read: Iterable[str], **written: str | None) -> None:
        """Refuse what cannot be written, before anything is computed; `written` is what else is, by option."""
        beside = {f"--{name}": path for name, path in written.items()}
        json_too = {"--json": STANDARD_OUTPUT if self.as_json else None}
        refuse_overwriting(read, {**beside, "--html": self.html, "--plot": self.picture, **json_too})
        if self.picture is not None and Path(self.picture).suffix.lower() not in PICTURE_FORMATS:
            raise ValueError(f"--plot must end in .png, .svg or .pdf; got {self.picture!r}.")

    def deliver(self, result: Result, again: str = "", instead: str | None = None, **plot: Any) -> bool:
        """Write and print the result, or the text `instead`, if any; False where it was not printed as a table."""
        if self.picture is not None:
            write_picture(result.plot(**plot), Path(self.picture))
        # After the picture: a curve that was asked for is on the page as well.
        if self.html is not None and write_page(result, self.html, again):
            return False
        if instead is None and not self.as_json:
            show(result)
            return True
        if instead is None:
            import json

            instead = json.dumps(result.to_dict(), indent=2, allow_nan=False)
        if instead:
            click.echo(instead)
        return False


def shown(*, files: bool = True) -> Any:
    """``--json`` and, where `files` are written, ``--html`` and ``--plot``, as one :class:`Shown`."""
    names = ("as_json", "html", "picture") if files else ("as_json",)
    asked = [click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")]
    if files:
        page, drawn = "Also write a page; - is standard output.", "Also draw a figure (.png, .svg, .pdf)."
        asked.append(click.option("--html", metavar="PATH", type=Written(), help=page))
        asked.append(click.option("--plot", "picture", metavar="PATH", type=Written(), help=drawn))
    return gathered(lambda given: {"shown": Shown(**{name: given.pop(name) for name in names})}, asked)
