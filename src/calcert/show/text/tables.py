"""Tables of all texts in one look, those of certified intervals among them; and text without colour."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calcert.certificates.certificate import Certificate
from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import at_least, at_most
from calcert.show.blocks import block as blocks
from calcert.show.blocks.block import Block
from calcert.show.certificate_words import STATEMENTS
from calcert.show.interval_lines import Line

WIDTH = 80
"""Of a terminal that nobody made wider."""


def table() -> Table:
    """An empty table."""
    return Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)


def view_of(said: Iterable[Block]) -> RenderableType:
    """Blocks for a rich console, an empty line before every table."""
    return Group(*(shown for block in said for shown in _rendered(block)))


def _rendered(block: Block) -> list[RenderableType]:
    if isinstance(block, blocks.Verdict):
        return [_verdict(block)]
    if isinstance(block, blocks.Warned):
        return [Text(f"Warning: {block.words}", style="yellow")]
    if isinstance(block, blocks.Paragraph):
        return [Text(block.words)]
    named = any(column.name for column in block.columns)
    shown = table() if named else Table.grid(padding=(0, 2, 0, 0))
    for column in block.columns:
        unbroken = not (column.of_words or column.wraps)
        shown.add_column(column.name, justify="left" if column.of_words else "right", no_wrap=unbroken, overflow="fold")
    for row in block.rows:
        if row.begins:
            shown.add_section()
        shown.add_row(*map(Text, row.cells), style=row.style)
    return [Text(""), shown] if named else [Padding(shown, (0, 0, 0, 2))]


def _verdict(block: blocks.Verdict) -> RenderableType:
    """The sentence, and what it is from at the right edge where there is room for it, else below."""
    words, aside = Text(block.words, style="bold"), Text(block.aside, style="dim")
    if not block.aside:
        return words
    if len(block.words) + len(block.aside) + 2 > WIDTH:
        return Group(words, Padding(aside, (0, 0, 0, 2)))
    return Text.assemble(words, " " * (WIDTH - len(block.words) - len(block.aside)), aside)


def interval_table(first: str, statements: Iterable[str], lines: Iterable[Line]) -> Table:
    """A table with a column for each statement; of a line that says nothing, that is said."""
    shown = table()
    lines = list(lines)
    # Where there is no room for all of it, intervals are broken between their ends; names of up to 16 letters are not.
    longest = max((len(visible(line.name)) for line in lines), default=0)
    shown.add_column(first, overflow="fold", no_wrap=longest <= 16)
    shown.add_column("rows", justify="right", no_wrap=True)
    for statement in statements:
        shown.add_column(STATEMENTS[statement].short, justify="right")
    for line in lines:
        # As Text: rich would read a name such as "[/]" as markup.
        name, rows = Text(visible(line.name)), f"{line.rows:,}"
        if line.nothing:
            shown.add_row(name, rows, "too few rows", style="dim")
        else:
            shown.add_row(name, rows, *map(_interval_cell, line.certificates))
    return shown


def _interval_cell(c: Certificate) -> str:
    least = at_least(c.lower)
    return f"at least {least}" if c.upper >= 1 else f"{least} to {at_most(c.upper)}"


def plain(view: RenderableType, width: int = WIDTH) -> str:
    """A view without colour, lines ending where their text ends."""
    # Inside a notebook rich would display the view, and the text would be empty.
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        legacy_windows=False,
        force_terminal=False,
        force_jupyter=False,
    )
    console.print(view)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())
