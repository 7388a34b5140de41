"""Help is complete, its examples are commands that exist, and it loads nothing heavy."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import calcert
from calcert.cli import COMMANDS, main
from tests.executed_pages import blocks

from .conftest import Spawn, plain_environment

CALL = re.compile(r" *(- |entry: )?(\S+ .*\| )?calcert [a-z]+ ")


def commands() -> dict[str, click.Command]:
    context = click.Context(main)
    found: dict[str, click.Command] = {}
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        found[name] = command
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_that_parse(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "calibration.toml").write_text(
        'version = "1"\nstatement = "distance"\nmax = 0.05\n'
    )  # A policy is read at once.
    monkeypatch.chdir(tmp_path)
    command = commands()[name]
    text = CliRunner().invoke(main, [name, "--help"]).output
    assert text.startswith(f"Usage: main {name} ")
    assert command.epilog is not None
    assert "Examples:\n" in command.epilog
    examples = [line.strip() for line in command.epilog.splitlines() if "calcert " in line]
    assert any(line.startswith(f"calcert {name}") for line in examples)
    for line in examples:
        assert_it_parses(line)


def assert_it_parses(line: str) -> None:
    """All calls of calcert in a line of shell have the options and arguments that they need."""
    for part in line.split("|"):
        words = shlex.split(part.partition(">")[0])
        if words[0] != "calcert":
            continue
        shown, rest = commands()[words[1]], words[2:]
        if isinstance(shown, click.Group):
            shown, rest = shown.commands[rest[0]], rest[1:]
        shown.make_context(words[1], rest)


def test_commands_that_the_guides_only_show_parse() -> None:
    """Those in blocks of console are run, mistakes included; these are not."""
    found: list[str] = []
    for page in sorted((Path(__file__).parents[2] / "docs" / "guides").glob("*.md")):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language in ("sh", "yaml"):
                # A command may go on in the next line.
                lines = re.sub(r"\n +(?=--)", " ", block.text).splitlines()
                found += [line.strip().removeprefix("- ") for line in lines if CALL.match(line)]
    assert len(found) >= 5
    for line in found:
        hook = line.removeprefix("entry: ")
        # A hook gets its files from pre-commit.
        assert_it_parses(line if hook == line else f"{hook} rows.csv")


def test_help_lists_the_commands_and_the_first_steps() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert "calcert demo --save demo.csv" in text
    assert "_CALCERT_COMPLETE=bash_source" in text
    assert max(map(len, text.splitlines())) <= 90


def test_version_help_and_an_unknown_command(spawn: Spawn) -> None:
    assert spawn("--version").stdout == f"calcert, version {calcert.__version__}\n"
    wrong = spawn("certfy")
    assert wrong.returncode == 2
    assert "No such command 'certfy'. Did you mean 'certify'?" in wrong.stderr
    assert wrong.stdout == ""


def test_help_loads_no_engine_and_no_terminal_library() -> None:
    code = (
        "import sys; from calcert.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'duckdb', 'pyarrow', 'scipy', 'pandas', 'rich', 'narwhals', 'matplotlib', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=plain_environment(), timeout=60, check=True
    )
    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("res", "plain,research"),
        *((f"{words} ro", "file,ro") for words in ("certify", "check", "perturb", "perturb a.csv", "choose", "plan")),
        ("certify rows.csv --html ro", "file,ro"),
    ],
)
def test_the_shell_completes_commands_and_leaves_names_of_files_to_itself(words: str, found: str) -> None:
    line = {"COMP_WORDS": f"calcert {words}", "COMP_CWORD": str(len(words.split()))}
    done = subprocess.run(
        [sys.executable, "-m", "calcert"],
        env=plain_environment() | {"_CALCERT_COMPLETE": "bash_complete"} | line,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == f"{found}\n"
