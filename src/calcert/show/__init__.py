"""The door: the text, picture, page and notebook view of any result, by its kind. Nothing here computes a bound."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from calcert.foundation.result import Result


def as_view(result: Result, **options: Any) -> RenderableType:
    """The result for a rich console."""
    from calcert.show.blocks import BLOCKS
    from calcert.show.text import VIEWS
    from calcert.show.text.tables import view_of

    known = result.kind in BLOCKS
    view = view_of(BLOCKS[result.kind](result, **options)) if known else VIEWS[result.kind](result, **options)
    if result.facts is None:
        return view
    from rich.console import Group

    from calcert.show.text.facts import filed_lines

    return Group(view, *filed_lines(result.facts, getattr(result, "fingerprint", None)))


def as_text(result: Result) -> str:
    """The result as plain text."""
    from calcert.show.text.tables import plain

    return plain(as_view(result))


def details(result: Result) -> str:
    """What the text of a result leaves out, as plain text; all of it where it leaves out nothing."""
    from calcert.show.blocks import DETAILS
    from calcert.show.text.tables import plain, view_of

    return plain(view_of(DETAILS[result.kind](result))) if result.kind in DETAILS else as_text(result)


def as_picture(result: Result, ax: Any = None, **options: Any) -> Figure:
    """The result drawn with matplotlib, on `ax` or a figure of its own."""
    from calcert.show.pictures import PICTURES

    return PICTURES[result.kind](result, ax, **options)


def as_page(result: Result, *, title: str | None = None, command: str | None = None, **options: Any) -> str:
    """The result as a page in HTML; `command` is shown as the exact command that made it."""
    from calcert.show.pages import PAGES

    filed = None if result.facts is None else result.facts.said.get("title")
    return str(PAGES[result.kind].page(result, title=title or filed, command=command, **options))


def write_page(
    result: Result, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None
) -> Path:
    """Write the page to a file, whole or not at all, and return its path."""
    from calcert.foundation.whole_regular_file import replacing

    content, target = as_page(result, title=title, command=command), Path(path)
    with replacing(target) as unfinished:
        unfinished.write_text(content, encoding="utf-8")
    return target


def as_notebook(result: Result) -> str:
    """The result as part of a page that takes on the colours of the notebook around it."""
    from calcert.show.pages import PAGES

    return str(PAGES[result.kind].notebook_view(result))
