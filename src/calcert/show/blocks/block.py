"""Blocks: what a result says, apart from where. Text, page and notebook each render a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Verdict:
    """The answer, in a sentence or two: what a reader in a hurry is to see; `aside`, how many rows it is from."""

    words: str
    aside: str = ""


@dataclass(frozen=True)
class Warned:
    """Something that looks wrong."""

    words: str


@dataclass(frozen=True)
class Paragraph:
    """A line or more of text."""

    words: str


@dataclass(frozen=True)
class Column:
    """A column of a table: of numbers, or of words, and whether what it holds may be broken into lines."""

    name: str
    of_words: bool = False
    wraps: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table; `style` is "bold", "italic" or nothing, and a section begins with it or not."""

    cells: tuple[str, ...]
    style: str = ""
    begins: bool = False


@dataclass(frozen=True)
class Table:
    """A table, to be filled row by row; one whose columns have no names is a list of lines."""

    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)

    def add(self, *cells: str, style: str = "", begins: bool = False) -> None:
        """One more row; cells that are missing are empty."""
        filled = (*cells, *[""] * (len(self.columns) - len(cells)))
        self.rows.append(Row(filled, style, begins and bool(self.rows)))


Block = Verdict | Warned | Paragraph | Table


def numbers(*names: str) -> Table:
    """An empty table of numbers with these headings."""
    return Table([Column(name) for name in names])
