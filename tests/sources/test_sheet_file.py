"""Workbooks: the rows that a sheet has are read, or it is refused in words."""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import calcert
from tests.sources.test_parsed_values import read, refusal


def workbook(path: Path, sheets: dict[str, list[list[Any]]], formats: dict[str, str] | None = None) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for cell, shown in (formats or {}).items():
            sheet[cell].number_format = shown
    book.save(path)
    return path


def test_a_sheet_is_read_as_it_is_stored(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["PD", "Ausfall"], [0.075, True], [0.5, 0], [None, None], ["0.25", "1"]]
    path = workbook(tmp_path / "a.xlsx", {"Daten": rows})
    assert calcert.summarize(path, score="PD", label="Ausfall") == calcert.summarize([0.075, 0.5, 0.25], [1, 0, 1])
    bad = workbook(tmp_path / "b.xlsx", {"Daten": [*rows, [1.5, 0]]})
    with pytest.raises(ValueError, match=r"got 1\.5 in row 6 of "):
        calcert.summarize(bad, score="PD", label="Ausfall")


def test_sheets_must_be_named_where_there_are_several(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["PD", "Ausfall"], [0.5, 1]]
    path = workbook(tmp_path / "a.xlsx", {"Daten": rows, "Notizen": [["nichts"]]})
    assert "it has 'Daten', 'Notizen'. Pass Reading(sheet='Daten')." in refusal(path)
    assert "sheet must be one of" in refusal(path, sheet="Data")
    assert read(path, sheet="Daten") == calcert.summarize([0.5], [1])


def test_a_share_that_a_sheet_shows_as_percentage_is_not_divided_again(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"Daten": [["PD", "Ausfall"], [0.075, 1]]}, {"A2": "0.00%"})
    assert read(path) == calcert.summarize([0.075], [1])
    words = refusal(path, percent=True)
    assert "the sheet shows this as one, so that Reading(percent=...) must be left out; got 0.075 in row 2" in words


def test_a_title_in_a_sheet_is_refused_and_passed_over_when_told_so(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"Daten": [["Report"], [], ["PD", "Ausfall"], [0.5, 1], [1.5, 1]]})
    assert "got 'Report' on row 1, and row 3 looks like them: 'PD, Ausfall'." in refusal(path)
    assert "got 1.5 in row 5" in refusal(path, skip_lines=2)


@pytest.mark.parametrize("row", [["=1/4", 1], [0.25, "=1"], ["=1/4", "=1"]])
def test_a_formula_without_a_stored_value_is_not_a_gap(tmp_path: Path, row: list[Any]) -> None:
    path = workbook(tmp_path / "a.xlsx", {"Daten": [["PD", "Ausfall"], [0.5, 1], [None, None], [None, 0], row]})
    words = refusal(path, drop_missing=True)
    assert "must hold values; got a formula in row 5 of" in words
    assert "which computes it, and save it; or save the sheet as CSV UTF-8" in words
    beside = workbook(tmp_path / "b.xlsx", {"Daten": [["PD", "Ausfall", "x"], [0.5, 1, "=1"], [None, 0, "=1"]]})
    assert read(beside, drop_missing=True) == calcert.summarize([0.5], [1])


def test_what_is_no_workbook_gets_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 nothing")
    assert "must be a workbook that can be read" in refusal(tmp_path / "a.xlsx")


def rewritten(path: Path, change: Callable[[str], str]) -> Path:
    """The workbook with another text of its first sheet, and sound checksums."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = change(parts[sheet].decode()).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def ten_rows(path: Path) -> Path:
    return workbook(path, {"Daten": [["PD", "Ausfall"], *([k / 16, k % 2] for k in range(10))]})


ALL = calcert.summarize([k / 16 for k in range(10)], [k % 2 for k in range(10)])


@pytest.mark.parametrize("stale", ["A1:B6", "A1:A11", "A1", "A1:B99"])
def test_rows_and_columns_beyond_a_stale_dimension_are_read(tmp_path: Path, stale: str) -> None:
    path = rewritten(ten_rows(tmp_path / "a.xlsx"), lambda xml: xml.replace('ref="A1:B11"', f'ref="{stale}"'))
    assert read(path) == ALL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<row r="6"', '<row r="5"'),
        ('<row r="6"', '<row r="11"'),
        ('<row r="6"', '<row r="600000000"'),
        ('<row r="6"', '<row r="-1"'),
        ('<row r="6"', '<row r="one"'),
        ('r="A6"', 'r="A5"'),
        ('r="B6"', 'r="A6"'),
        ('r="B6"', 'r="ZZZ6"'),
        ("</row>", "<row>"),
    ],
)
def test_rows_and_cells_out_of_order_are_refused(tmp_path: Path, old: str, new: str) -> None:
    def change(xml: str) -> str:
        assert old in xml
        return re.sub(r' r="[AB]6"', "", xml.replace(old, new, 1)) if "row" in old else xml.replace(old, new, 1)

    words = refusal(rewritten(ten_rows(tmp_path / "a.xlsx"), change))
    assert "a.xlsx must" in words


def test_rows_that_a_sheet_leaves_out_are_empty(tmp_path: Path) -> None:
    path = rewritten(ten_rows(tmp_path / "a.xlsx"), lambda xml: re.sub('<row r="6".*?</row>', "", xml))
    assert read(path).n == 9


def test_a_workbook_with_flipped_bits_is_read_as_it_was_or_refused_in_words(tmp_path: Path) -> None:
    chance, path, refused = random.Random(0), tmp_path / "a.xlsx", 0
    rows = [[chance.randrange(4097) / 4096, k % 2] for k in range(2000)]
    content = workbook(path, {"Daten": [["PD", "Ausfall"], *rows]}).read_bytes()
    truth = calcert.summarize(*map(list, zip(*rows, strict=True)))
    for _ in range(40):
        flipped = bytearray(content)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            found: object = read(path)
        except ValueError as error:
            found, refused = str(error), refused + 1
        assert found == truth or f"{path} must be a workbook that can be read" in str(found)
    assert refused > 20
