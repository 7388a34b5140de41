"""Blocks: what a result says, apart from where. Text, page and notebook each render a list of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

UNBROKEN = 16
"""Words of up to so many letters are not broken into lines."""


@dataclass(frozen=True)
class Verdict:
    """The answer, in a sentence or two: what a reader in a hurry is to see.

    `aside` says how many rows it is from; `kind` is that of a verdict of a report, which a page colours.
    """

    words: str
    aside: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Warned:
    """Something that looks wrong."""

    words: str


@dataclass(frozen=True)
class Paragraph:
    """A line or more of text."""

    words: str


@dataclass(frozen=True)
class Bullets:
    """Sentences, one below the other."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Code:
    """What to type."""

    words: str


@dataclass(frozen=True)
class Figure:
    """A picture, which text leaves out.

    `draw` returns it and the same in words, or None and why there is none; `name` tells it from others of a page, and
    `reading` says how to read it.
    """

    name: str
    title: str
    draw: Callable[[], tuple[Any, str]]
    reading: str = ""


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
    """A table, to be filled row by row; one whose columns have no names is a list of lines.

    Where it has more than `most` rows, text leaves out the rest, of so `many`, and a page folds it.
    """

    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)
    most: int | None = None
    many: str = "rows"

    def add(self, *cells: str, style: str = "", begins: bool = False) -> None:
        """One more row; cells that are missing are empty."""
        filled = (*cells, *[""] * (len(self.columns) - len(cells)))
        self.rows.append(Row(filled, style, begins and bool(self.rows)))

    @property
    def first(self) -> list[Row]:
        """The rows that are seen at once."""
        return self.rows[: self.most]

    @property
    def rest(self) -> list[Row]:
        """The rows that are not."""
        return self.rows[self.most :] if self.most is not None else []

    def unbroken(self, place: int) -> bool:
        """True where what a column holds stays on one line: numbers, and short words under a heading."""
        column = self.columns[place]
        longest = max((len(row.cells[place]) for row in self.first), default=0)
        return not column.wraps and (not column.of_words or (self.named and longest <= UNBROKEN))

    @property
    def named(self) -> bool:
        """True where it has a line of headings."""
        return any(column.name for column in self.columns)


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Behind:
    """What is behind the answer, made when it is asked for: folded on a page, left out of text and notebook."""

    title: str
    make: Callable[[], Sequence[Block]]


Block = Verdict | Warned | Paragraph | Bullets | Code | Figure | Table | Section | Behind


def numbers(*names: str, most: int | None = None, many: str = "rows") -> Table:
    """An empty table of numbers with these headings."""
    return Table([Column(name) for name in names], most=most, many=many)


def words_and_numbers(first: str, *names: str, last: str = "", most: int | None = None, many: str = "rows") -> Table:
    """An empty table with a column of words, some of numbers and, where it has a name, a last one of words."""
    columns = [Column(first, of_words=True), *map(Column, names), *([Column(last, of_words=True)] if last else [])]
    return Table(columns, most=most, many=many)
