"""One sheet of a workbook (.xlsx, by openpyxl), whose first row has the names of the columns."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from calcert.foundation.visible import visible
from calcert.sources.columns import Column, check_alone
from calcert.sources.paths import constant
from calcert.sources.spelling import Percentage
from calcert.sources.values_in_text import label_in_cell, score_in_cell


class SheetFile:
    """A file by its path, and one of its sheets; values are as the program that saved it computed them last."""

    def __init__(self, path: str, sheet: str | None = None) -> None:
        self.path = path
        self.name = visible(path)
        self._sheet = sheet

    score_reader, label_reader = staticmethod(score_in_cell), staticmethod(label_in_cell)

    def place(self, number: int) -> str:
        """Where a row stands, in words, counted as the sheet does."""
        return f"in row {number} of {self.name}"

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""
        with self._opened() as (names, found):
            values = [row for _, row in islice(found, rows)]
        return [(name, [row[k].value for row in values if k < len(row)]) for k, name in enumerate(names) if name]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The number of each row that is not empty, and what it holds in some columns."""
        with self._opened() as (known, found):
            own = [Column(name, "unknown", f"column {number}") for number, name in enumerate(known, 1)]
            for name in names:
                check_alone(own, "score, label and groups", name, self.name)
            given = [constant(self.path, name, known) for name in names]
            places = [
                known.index(name) if folder is None else len(known) for name, folder in zip(names, given, strict=True)
            ]
            for number, row in found:
                yield (
                    number,
                    [_value(row[k]) if k < len(row) else value for k, value in zip(places, given, strict=True)],
                )

    @contextmanager
    def _opened(self) -> Iterator[tuple[list[str], Iterator[tuple[int, Any]]]]:
        try:
            import openpyxl
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"reading {self.name} needs openpyxl: pip install calcert[excel]. Or save the sheet as CSV UTF-8."
            ) from None
        try:
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
        except Exception as error:  # openpyxl lets through whatever its parts raise.
            raise ValueError(
                f"{self.name} must be a workbook that can be read; {type(error).__name__}: {error}. "
                "Save the sheet as CSV UTF-8."
            ) from error
        try:
            rows = self._chosen(book).iter_rows()
            filled = ((k, row) for k, row in enumerate(rows, 1) if any(cell.value is not None for cell in row))
            first = next(filled, None)
            if first is None:
                raise ValueError(f"{self.name} must begin with a row of column names; got an empty sheet.")
            yield ["" if cell.value is None else str(cell.value).strip() for cell in first[1]], filled
        finally:
            book.close()

    def _chosen(self, book: Any) -> Any:
        names = [sheet.title for sheet in book.worksheets]
        shown = ", ".join(map(repr, names[:20]))
        if self._sheet is None and len(names) != 1:
            raise ValueError(f"{self.name} must have one sheet, or one must be named; it has {shown}. Pass --sheet.")
        if self._sheet is not None and self._sheet not in names:
            raise ValueError(f"sheet must be one of {self.name}; got {self._sheet!r}. It has {shown}.")
        return book[self._sheet or names[0]]


def _value(cell: Any) -> Any:
    """What a cell holds; a number that is shown as a percentage keeps its sign, so that nothing divides it again."""
    value = cell.value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and "%" in (cell.number_format or ""):
        return Percentage(value)
    return value
