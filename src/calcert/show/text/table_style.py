"""What all texts share: one look of tables, and text without colour."""

from __future__ import annotations

import io

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table

WIDTH = 80
"""Of a terminal that nobody made wider."""


def table() -> Table:
    """An empty table."""
    return Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)


def columns(*names: str) -> Table:
    """An empty table of numbers with these headings."""
    shown = table()
    for name in names:
        shown.add_column(name, justify="right", no_wrap=True)
    return shown


def plain(view: RenderableType, width: int = WIDTH) -> str:
    """A view without colour, lines ending where their text ends."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(view)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())
