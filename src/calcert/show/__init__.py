"""The door: the text, picture, page and notebook view of any result, by its kind. Nothing here computes a bound."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from calcert.foundation.result import Readable, Result
    from calcert.reports.gate import Outcome
    from calcert.show.block import Block


def as_view(result: Readable, **options: Any) -> RenderableType:
    """The result for a rich console."""
    from rich.console import Group

    from calcert.show.kinds import KINDS
    from calcert.show.text import filed_lines, view_of

    view = view_of(KINDS[result.kind].blocks(result, **options))
    facts, mark = getattr(result, "facts", None), getattr(result, "fingerprint", None)
    return view if facts is None else Group(view, *filed_lines(facts, mark))


def as_text(result: Readable) -> str:
    """The result as plain text; lines of a gate stay whole, as it is logs that show them."""
    if result.kind == "check":
        from calcert.show.outcome import outcome_words

        return outcome_words(cast("Outcome", result))
    from calcert.show.text import plain

    return plain(as_view(result))


def details(result: Result) -> str:
    """What the text of a result leaves out, as plain text; all of it where it leaves out nothing."""
    from calcert.show.kinds import KINDS
    from calcert.show.text import plain, view_of

    return plain(view_of(KINDS[result.kind].blocks(result), behind=True)).strip("\n") or as_text(result)


def as_picture(result: Result, ax: Any = None, **options: Any) -> Figure:
    """The result drawn with matplotlib, on `ax` or a figure of its own."""
    from calcert.show.kinds import KINDS

    draw: Any = KINDS[result.kind].picture
    figure: Figure = draw(result, ax, **options)
    return figure


def as_page(result: Result, *, title: str | None = None, command: str | None = None, **options: Any) -> str:
    """The result as a page in HTML; `command` is shown as the exact command that made it."""
    from calcert.show.html import page
    from calcert.show.kinds import KINDS

    filed = None if result.facts is None else result.facts.said.get("title")
    heading = title or filed or KINDS[result.kind].title
    return page(result, _drawn_blocks(result), title=heading, command=command, **options)


def write_page(
    result: Result, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None
) -> Path:
    """Write the page to a file, whole or not at all, and return its path."""
    from calcert.foundation.whole_regular_file import replacing

    content, target = as_page(result, title=title, command=command), Path(path)
    with replacing(target) as unfinished:
        unfinished.write_text(content, encoding="utf-8")
    return target


def as_notebook(result: Readable) -> str:
    """The result as part of a page that takes on the colours of the notebook around it."""
    from calcert.show.html import notebook_view

    return notebook_view(_drawn_blocks(result))


def _drawn_blocks(result: Readable) -> list[Block]:
    """The blocks of a result and, where they have no picture, the picture of its kind, if any."""
    from calcert.show.block import Figure
    from calcert.show.kinds import KINDS

    _, blocks_of, draw = KINDS[result.kind]
    blocks = blocks_of(result)
    if draw is None or any(isinstance(block, Figure) for block in blocks):
        return blocks
    name = result.kind.replace(" ", "-")
    return [*blocks, Figure(name, f"The {result.kind}, drawn", lambda: (draw(result, None), as_text(result)))]
