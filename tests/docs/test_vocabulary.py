"""Pages that users read first, and what commands print, use the field's words and not a private dialect."""

from __future__ import annotations

import io
import re
import tokenize
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
OF_SOURCES = re.compile(
    r"\b(throws?|thrown|coins?|toss(es)?|gamblers?|stakes?|owned|chances?|laws?|served|serving|timid|miscount"
    r"|group bias|everywhere at once|speaks? of|a row of all rows|odds moved)\b",
    re.IGNORECASE,
)
"""Beside dialect of pages: in comments and strings of the sources "as it is" may be plain English."""
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


def written(source: str) -> list[str]:
    """The comments, docstrings and other strings of a module."""
    kinds = (tokenize.COMMENT, tokenize.STRING)
    return [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type in kinds]


SOURCES = list((ROOT / "src/calcert").rglob("*.py"))


@pytest.mark.parametrize("package", sorted({path.relative_to(ROOT / "src/calcert").parts[0] for path in SOURCES}))
def test_comments_and_strings_of_sources_use_the_words_of_the_field(package: str) -> None:
    for path in SOURCES:
        if path.relative_to(ROOT / "src/calcert").parts[0] == package:
            texts = written(path.read_text(encoding="utf-8"))
            assert [(path.name, word.group()) for text in texts for word in OF_SOURCES.finditer(text)] == []


def test_negative_control_the_old_dialect_would_be_found_in_sources() -> None:
    (text,) = written('def f(throws):\n    """Of the law."""\n')
    assert OF_SOURCES.search(text)


def test_negative_control_the_old_dialect_would_be_found() -> None:
    assert DIALECT.search("Of the classifier as it is, this speaks of a row of all rows.")
