"""The pages on theory name only files, functions and tests that exist, and every certificate names a theorem proved."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THEORY = ROOT / "docs" / "theory"
PAGES = sorted(THEORY.glob("*.md"))
KINDS = ("exact", "Monte Carlo", "negative control")
NO_CERTIFICATES = (
    "band.py",
    "betting.py",
    "monotone_band.py",
    "calibration_test.py",
    "score_table.py",
    "decision_curve.py",
)
"""Modules of theorems whose result is not a Certificate."""

PROVED = tuple(f"Theorem {number}" for number in range(1, 19))
ON_ODDS = ("Theorem 1L", "Theorem 7L")


def found(match: re.Match[str] | None) -> re.Match[str]:
    assert match is not None
    return match


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def table(heading: str) -> list[list[str]]:
    """The cells of the rows of the table under a heading of the index."""
    (part,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", text(THEORY / "index.md"), re.DOTALL | re.MULTILINE)
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def listed_tests() -> list[tuple[str, str, str]]:
    """Each statement with the kind and the name of a test."""
    listed = []
    for name, tests in re.findall(r"^\*\*(.+)\*\*\n\n((?:\* .+\n)+)", text(THEORY / "tests.md"), re.MULTILINE):
        listed += [(name, kind, test) for kind, test in re.findall(r"^\* (.+?): (.+)$", tests, re.MULTILINE)]
    return listed


def statements() -> list[str]:
    return [row[0] for row in table("Statements")]


@cache
def defined(path: Path) -> frozenset[str]:
    """The names that a file defines at its top level, and the methods of its classes."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names.update(member.name for member in node.body if isinstance(member, ast.FunctionDef))
    return frozenset(names)


def strings_given_as(keyword: str) -> set[str]:
    """All constant strings that are passed under a keyword anywhere in the package, also as one of two."""
    return {
        value.value
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == keyword
        for value in ([word.value.body, word.value.orelse] if isinstance(word.value, ast.IfExp) else [word.value])
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def test_every_statement_is_listed_once_and_stands_on_its_page() -> None:
    names = statements()
    assert len(set(names)) == len(names)
    assert set(PROVED) <= set(names)
    for name, _, proof, _ in table("Statements"):
        page = THEORY / found(re.fullmatch(r"\[.+\]\((.+\.md)\)", proof))[1]
        title = found(re.fullmatch(r"\[(.+)\]\(.+\)", proof))[1]
        assert text(page).startswith(f"# {title}"), proof
        stated = rf"\*\*(Lemma )?{re.escape(name)}[ ,.(*]|^## {re.escape(name)}\b"
        assert re.search(stated, text(page), re.MULTILINE), name


def test_every_statement_names_code_that_exists() -> None:
    for name, _, _, code in table("Statements"):
        path, names = found(re.fullmatch(r"`(src/[\w/]+\.py)` \((`\w+`(?:, `\w+`)*)\)", code)).groups()
        assert set(re.findall(r"`(\w+)`", names)) <= defined(ROOT / path), name


def test_every_statement_has_tests_and_every_theorem_all_kinds() -> None:
    kinds: dict[str, set[str]] = {name: set() for name in statements()}
    for name, kind, test in listed_tests():
        assert kind in KINDS
        kinds[name].add(kind)
        assert re.fullmatch(r"`tests/[\w/]+\.py::test_\w+`", test)
    assert all(kinds.values())
    assert all(kinds[name] == set(KINDS) for name in PROVED + ON_ODDS)


def test_the_tests_of_the_table_stand_on_the_page_of_the_statement_too() -> None:
    page_of = {row[0]: THEORY / found(re.search(r"\((.+\.md)\)", row[2]))[1] for row in table("Statements")}
    for name, _, test in listed_tests():
        assert test in text(page_of[name]), (name, test)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_functions_and_tests_that_a_page_names_exist(page: Path) -> None:
    for path in re.findall(r"`((?:src|tests|docs)/[\w/.-]+)`", text(page)):
        assert (ROOT / path).exists(), path
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text(page))
    for path, test in named:
        assert test in defined(ROOT / path), f"{path}::{test}"
    for path, names in re.findall(r"`(src/[\w/]+\.py)`: ((?:`\w+`(?: \([\w ,.-]+\))?(?:, | and )?)+)", text(page)):
        assert set(re.findall(r"`(\w+)`", names)) <= defined(ROOT / path), (path, names)
    if page.name != "index.md":
        assert re.findall(r"^## (.+)$", text(page), re.MULTILINE)[-2:] == ["In the code", "Tests"]
        assert named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+\.md)\)", text(page)):
        assert (page.parent / target).exists(), target


def test_the_index_has_every_page() -> None:
    listed = found(re.search(r"```\{toctree\}\n.*?\n\n(.*?)```", text(THEORY / "index.md"), re.DOTALL))[1].split()
    assert sorted(listed) == sorted(page.stem for page in PAGES if page.name != "index.md")


def test_every_certificate_module_cites_a_theorem_of_the_table() -> None:
    cited = set()
    for path in (ROOT / "src/calcert/certificates").rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        if 'theorem="Theorem' not in code and path.name not in NO_CERTIFICATES:
            continue  # lemmas and searches that several theorems stand on
        words = ast.get_docstring(ast.parse(code)) or ""
        named = set(re.findall(r"Theorem (?:\d+|W)", words))
        assert named, path.name
        assert named <= set(statements()), path.name
        cited |= named
    assert cited == {*PROVED, "Theorem W"}


def test_the_theorems_that_certificates_name_are_those_of_the_table() -> None:
    named = strings_given_as("theorem")
    assert named
    assert named <= set(statements())
    # Theorem 5 is the lower bound of the others; the rest are pictures, tables, intervals and a test.
    others = {"Theorem 5", "Theorem 8", "Theorem 9, meaning", "Theorem 11, ratio", "Theorem 11, direction"}
    others |= {
        "Theorem 11, ratio in clusters",
        "Theorem 13",
        "Theorem 14",
        "Theorem 15",
        "Theorem 17",
        "Theorem W",
        "Theorem W, means",
    }
    others |= {"Theorem 6, duality", "Theorem 6, any plan", "Theorem 6, constants"}
    others |= {
        "Theorem U1",
        "Theorem U2",
        "Theorem U3",
        "Theorem WU",
        "Theorem LU",
        "Theorem LUP",
        "Theorem PU",
        "Theorem 8U",
    }
    assert {name for name in statements() if name.startswith("Theorem")} - named == others
