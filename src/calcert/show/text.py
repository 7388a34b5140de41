"""Blocks as text: a view for a rich console, and text without colour."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import rows_text
from calcert.show import block as blocks
from calcert.show.block import Block

if TYPE_CHECKING:
    from calcert.foundation.facts import Facts

WIDTH = 80
"""Of a terminal that nobody made wider."""


def view_of(said: Iterable[Block], *, behind: bool = False) -> RenderableType:
    """Blocks for a rich console, an empty line before every table; or, in their place, those `behind` the answer."""
    if behind:
        said = [inner for block in said if isinstance(block, blocks.Behind) for inner in block.make()]
    return Group(*(shown for block in said for shown in _rendered(block)))


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


def filed_lines(facts: Facts, fingerprint: str | None) -> list[Text]:
    """What is filed beside a result: what people said of it, what was read, and the fingerprint of the rows."""
    lines = [f"{name[:1].upper()}{name[1:]}: {said}" for name, said in facts.said.items()]
    shown = [
        f"{file.name} ({'' if file.rows is None else f'{rows_text(file.rows)}, '}SHA-256 {file.sha256[:16]}...)"
        for file in facts.files[:3]
    ]
    if len(facts.files) > 3:
        shown.append(f"{len(facts.files) - 3:,} more files")
    if shown:
        lines.append(f"Read from {', '.join(shown)}" + "".join(f"; {n} {c}" for n, c in facts.columns.items()) + ".")
    lines += [*facts.reading, *([facts.left_out] if facts.left_out else [])]
    if fingerprint is not None:
        lines.append(f"Fingerprint of the rows: {fingerprint}.")
    return [Text(visible(line), style="dim") for line in lines]


def _rendered(block: Block) -> list[RenderableType]:
    match block:
        case blocks.Verdict():
            return [_verdict(block)]
        case blocks.Warned():
            return [Text(f"Warning: {visible(block.words)}", style="yellow")]
        case blocks.Paragraph() | blocks.Code():
            return [Text(visible(block.words, keep="\n"))]
        case blocks.Bullets():
            return [Padding(Text(visible(line)), (0, 0, 0, 2)) for line in block.lines]
        case blocks.Section():
            heading = Text(visible(block.title), style="italic")
            return [Text(""), heading, *(shown for inner in block.blocks for shown in _rendered(inner))]
        case blocks.Table():
            return _table(block)
    return []


def _verdict(block: blocks.Verdict) -> RenderableType:
    """The sentence, and what it is from at the right edge where there is room for it, else below."""
    words, aside = Text(visible(block.words), style="bold"), Text(visible(block.aside), style="dim")
    if not block.aside:
        return words
    if len(words) + len(aside) + 2 > WIDTH:
        return Group(words, Padding(aside, (0, 0, 0, 2)))
    return Text.assemble(words, " " * (WIDTH - len(words) - len(aside)), aside)


def _table(block: blocks.Table) -> list[RenderableType]:
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False) if block.named else Table.grid(padding=(0, 2, 0, 0))
    for place, column in enumerate(block.columns):
        unbroken = block.unbroken(place)
        shown.add_column(column.name, justify="left" if column.of_words else "right", no_wrap=unbroken, overflow="fold")
    for row in block.first:
        if row.begins:
            shown.add_section()
        # As Text: rich would read a name such as "[/]" as markup.
        shown.add_row(*(Text(visible(cell)) for cell in row.cells), style=row.style)
    if not block.named:
        return [Padding(shown, (0, 0, 0, 2))]
    left = len(block.rest)
    more = [Text(f"{left:,} more {block.many} are in the frame and the JSON.", style="dim")] if left else []
    return [Text(""), shown, *more]
