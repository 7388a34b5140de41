"""Where commands write: results to standard output, remarks and signs of life to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from calcert.foundation.escaped_text import visible

if TYPE_CHECKING:
    from calcert.foundation.result import Result


def show(result: Result, **options: Any) -> None:
    """Print a result: in colour and as wide as the terminal, or plain and 80 columns wide where there is none.

    NO_COLOR, FORCE_COLOR and COLUMNS are respected. It is written in one piece, so that a closed pipe is an error here
    and not inside rich, which would end the program with a code of its own.
    """
    from rich.console import Console

    from calcert.show import as_view
    from calcert.show.text.tables import plain

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
