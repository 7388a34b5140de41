"""Pages that users read first, and what commands print, use the field's words and not a private dialect."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import calcert
from calcert.cli import main
from tests.executed_pages import blocks

ROOT = Path(__file__).parents[2]
DIALECT = re.compile(
    r"\b(as it is|thrown?|throws|laws? of interest|gamblers?|stakes?|bends?|timid|miscount|group bias"
    r"|everywhere at once|speaks? of|a row of all rows|odds moved|so many rows show|the house)\b",
    re.IGNORECASE,
)
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "start.md", "choosing.md", "interpreting.md", "research.md")),
    *sorted((ROOT / "docs/guides").glob("*.md")),
    *sorted((ROOT / "docs/reference").glob("*.md")),
]


def prose(page: Path) -> str:
    """A page without its blocks of code and what they print."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(text):
        text = text.replace(block.text, "")
    return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_the_words_of_the_field(page: Path) -> None:
    assert [found.group() for found in DIALECT.finditer(prose(page))] == []


def test_reports_use_the_words_of_the_field() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    for settings in (calcert.Settings(), calcert.Settings(odds=1 / 16)):
        found = calcert.certify(x, rng.random(2_000) < x**1.5, settings=settings)
        for text in (str(found), str(found.details()), *map(str, found.certificates.values())):
            assert [word.group() for word in DIALECT.finditer(text)] == []


@pytest.mark.parametrize("command", sorted(main.commands))
def test_help_uses_the_words_of_the_field(command: str) -> None:
    shown = CliRunner().invoke(main, [command, "--help"]).output
    assert [found.group() for found in DIALECT.finditer(shown)] == []


def test_negative_control_the_old_dialect_would_be_found() -> None:
    assert DIALECT.search("Of the classifier as it is, this speaks of a row of all rows.")
