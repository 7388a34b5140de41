"""The documentation knows every command and option, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from calcert.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
REFERENCE = (DOCS / "api" / "commands.md").read_text(encoding="utf-8")
GUIDE = (DOCS / "guides" / "command-line.md").read_text(encoding="utf-8")


def commands(command: click.Command = main, words: str = "calcert") -> Iterator[tuple[str, click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, f"{words} {name}")


COMMANDS = dict(commands())


def options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("-")} | {"--help", "-h"}


def test_the_reference_asks_every_command_for_help() -> None:
    # What it answers is compared by tests/test_documentation.py.
    asked = re.findall(r"^\$ (.*) --help$", REFERENCE, re.MULTILINE)
    assert sorted(asked) == sorted(COMMANDS)


@pytest.mark.parametrize("words", [words for words in COMMANDS if words.count(" ") == 1])
def test_the_guide_names_every_command(words: str) -> None:
    assert f"`{words} " in GUIDE or f"`{words}`" in GUIDE


def unknown_options(text: str) -> list[str]:
    """Options of calls of calcert that no such command has."""
    found = []
    for call in re.findall(r"calcert (?!--)[^`|>;\n]*", re.sub(r"\\\n *>? *", " ", text)):
        called = [words for words in COMMANDS if f"{call.rstrip()} ".startswith(f"{words} ")]
        known = options(COMMANDS[max(called, key=len)]) if called else set()
        found += [
            f"{option} in {call!r}" for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", call) if option not in known
        ]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_options_on_a_page_exist(page: Path) -> None:
    assert unknown_options(page.read_text(encoding="utf-8")) == []


def test_an_option_that_does_not_exist_would_be_noticed() -> None:
    text = "    calcert check rows.csv \\\n      --maximum 0.1 --score p\n`calcert monitor add STATE --json`"
    assert [line.split()[0] for line in unknown_options(text)] == ["--maximum", "--json"]
