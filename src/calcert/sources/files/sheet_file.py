"""One sheet of a workbook (.xlsx, by openpyxl), whose first row has the names of the columns.

Rows are those that the sheet has, whatever it says of its size, and their numbers must increase.
"""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

from calcert.foundation.refusal import Argument, WrongValue, reading
from calcert.sources.columns import TITLES, no_names, title_above
from calcert.sources.files.paths import RowsFile
from calcert.sources.parsed_values import Percentage, is_like_value

Rows = Iterator[tuple[int, list[Any]]]
"""Rows of a sheet with their numbers, up to the last cell that each has."""

MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14
"""What a sheet can have."""


LARGEST_GAP = 10_000
"""Rows of a sheet that may be empty between two others."""


class NotComputed:
    """In place of a formula."""


class SheetFile(RowsFile):
    """One of the sheets of a file; values are as the program that saved it computed them last."""

    where = "in row {} of {}"

    def __init__(self, path: str, sheet: str | None = None, skip: int = 0) -> None:
        super().__init__(path)
        self._sheet = sheet
        self._skip = skip

    def sample(self, rows: int) -> list[tuple[str, list[Any]]]:
        """The names of all columns, and what their first rows hold."""
        with self._opened() as found:
            names = self._names(found)
            values = [row for _, row in islice(filter(_is_filled, found), rows)]
        return [(name, [row[k] for row in values if k < len(row)]) for k, name in enumerate(names) if name]

    def rows(self, names: Sequence[str]) -> Generator[tuple[int, Sequence[Any]]]:
        """The number of each row that is not empty, and what it holds in columns of its own."""
        with self._opened() as found:
            known = self._names(found)
            own = self.own_columns(names, known)
            places = [known.index(name) for name in own]
            formulas: set[tuple[int, int]] | None = None
            for number, row in found:
                values = [row[k] if k < len(row) else None for k in places]
                if None in values:
                    # A cell looks empty also where nobody ever computed what it says.
                    formulas = self._formulas() if formulas is None else formulas
                    for name, k in zip(own, places, strict=True):
                        if (number, k) in formulas:
                            raise ValueError(
                                f"{name!r} must hold values; got a formula {self.place(number)} whose value is not "
                                "stored. Open the workbook in a spreadsheet program, which computes it, and save it; "
                                "or save the sheet as CSV UTF-8."
                            )
                if _is_filled((number, row)):
                    yield number, values

    def title_above(self) -> WrongValue | None:
        with self._opened() as found:
            rows = list(islice(found, TITLES))
        widest = max((len(row) for _, row in rows), default=0)
        rows = [(number, row + [None] * (widest - len(row))) for number, row in rows]
        number, names = next(filter(_is_filled, (row for row in rows if row[0] > self._skip)), (0, []))
        return title_above(names, number, rows, "row", self.name)

    def _names(self, found: Rows) -> list[str]:
        """What columns are called, in the first row that is not empty, which is taken."""
        for number, row in found:
            if number > self._skip and _is_filled((number, row)):
                filled = [value for value in row if value is not None]
                if all(map(is_like_value, filled)):
                    got = f"{str(filled[0])[:40]!r} in row {number}"
                    raise no_names(self.name, got, "Write the names above the values.", "row")
                return ["" if value is None else str(value).strip() for value in row]
        raise no_names(self.name, "an empty sheet", line="row")

    def _formulas(self) -> set[tuple[int, int]]:
        """Where formulas stand: the numbers of row and column."""
        with self._opened(computed=False) as found:
            return {(number, k) for number, row in found for k, value in enumerate(row) if value is NotComputed}

    @contextmanager
    def _opened(self, *, computed: bool = True) -> Iterator[Rows]:
        try:
            import openpyxl
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f'reading {self.name} needs openpyxl: pip install "calcert[excel]" (in a checkout: ".[excel]"). '
                "Or save the sheet as CSV UTF-8."
            ) from None
        try:
            with zipfile.ZipFile(self.path) as archive:
                damaged = archive.testzip()
            if damaged is not None:
                raise zipfile.BadZipFile(f"{damaged!r} does not have its checksum")
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=computed)
        except Exception as error:
            raise self._unreadable(error) from error
        try:
            # Rows hold the file open until they are closed themselves.
            with closing(self._rows(self._chosen(book))) as rows:
                yield rows
        finally:
            book.close()

    def _rows(self, sheet: Any) -> Generator[tuple[int, list[Any]]]:
        """Rows as the XML has them: those of openpyxl end where the sheet says it ends, and leave out numbers twice."""
        before = 0
        with closing(_parsed(sheet)) as parsed:
            while True:
                try:
                    number, row = next(parsed, (0, None))
                except Exception as error:  # openpyxl lets through whatever its parts raise.
                    raise self._unreadable(error) from error
                if row is None:
                    return
                if not before < number <= min(before + LARGEST_GAP, MOST_ROWS):
                    raise ValueError(
                        f"rows of {self.name} must have increasing numbers without large gaps; got {number:,} after "
                        f"{before:,}. Open it in a spreadsheet program and save it, or save the sheet as CSV UTF-8."
                    )
                before = number
                yield number, row

    def _unreadable(self, error: Exception) -> ValueError:
        return ValueError(
            f"{self.name} must be a workbook that can be read; {type(error).__name__}: {error}. "
            "Save the sheet as CSV UTF-8."
        )

    def _chosen(self, book: Any) -> Any:
        names = [sheet.title for sheet in book.worksheets]
        shown = ", ".join(map(repr, names[:20]))
        if self._sheet is None and len(names) != 1:
            one = f"must have one sheet, or one must be named; it has {shown}"
            raise WrongValue(self.name, one, None, "", ("Pass ", reading("sheet", names[0]), "."))
        if self._sheet is not None and self._sheet not in names:
            has = f"It has {shown}."
            raise WrongValue(Argument("sheet"), f"must be one of {self.name}", repr(self._sheet), "", has)
        return book[self._sheet or names[0]]


def _parsed(sheet: Any) -> Generator[tuple[int, list[Any]]]:
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.worksheet._reader import WorkSheetParser

    book = sheet.parent
    with sheet._get_source() as source:
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        for number, cells in parser.parse():
            row: list[Any] = []
            for cell in cells:
                column = cell["column"]
                if cell["row"] != number or not len(row) < column <= MOST_COLUMNS:
                    raise ValueError(f"row {number} holds a cell of row {cell['row']} and column {column} out of order")
                row += [None] * (column - 1 - len(row))
                row.append(_value(ReadOnlyCell(sheet, **cell)))
            yield number, row


def _is_filled(row: tuple[int, Any]) -> bool:
    return any(value is not None for value in row[1])


def _value(cell: Any) -> Any:
    """What a cell holds; a number that is shown as a percentage keeps its sign, so that nothing divides it again."""
    value = cell.value
    if cell.data_type == "f":
        return NotComputed
    if isinstance(value, (int, float)) and not isinstance(value, bool) and "%" in (cell.number_format or ""):
        return Percentage(value)
    return value
