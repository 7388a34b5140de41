"""Runs the examples of a Markdown page as a reader would: from the top, in an empty folder, comparing the output.

    python -m tests.executed_pages docs/start.md README.md src/calcert/metrics.py

writes what examples print now over what a page, or a docstring, says that they print. Look at every difference.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

RULES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
BLANK_LINE = "<BLANKLINE>"
"""A blank line that is printed, as doctest has it."""

END_OF_COMMAND = "end of command 5f0c1d"
"""A line that no command prints."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page on which the text begins."""

    language: str
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    opened: re.Match[str] | None = None
    inside: list[str] = []
    first = 0
    for number, line in enumerate(page.splitlines(), start=1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened, inside, first = fence, [], number + 1
        elif fence and not fence["info"].strip() and len(fence["ticks"]) >= len(opened["ticks"]):
            yield Block(opened["info"].strip(), "\n".join(inside) + "\n", first)
            opened = None
        else:
            inside.append(line.removeprefix(opened["indent"]))
    if opened is not None:
        raise ValueError(f"the fence before line {first} is never closed")


class Difference(NamedTuple):
    """What is wrong, in words; where it is printed otherwise, the line from which on, how many lines, and what now."""

    words: str
    line: int = 0
    number: int = 0
    printed: str = ""


def failures(page: Path, folder: Path) -> list[str]:
    """What a reader who follows the page would find wrong, with the page and the line. Run it inside folder."""
    return [found.words for found in differences(page, folder)]


def differences(page: Path, folder: Path) -> list[Difference]:
    """The same, with what is printed."""
    # Pickling and dataclasses look a class's module up by its name.
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module
    found: list[Difference] = []
    try:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "python" and ">>> " in block.text:
                found += _prompts(block, page, module)
            elif block.language == "python":
                wrong = _code(block, page, module)
                if wrong:
                    # What follows builds upon what did not run.
                    return [*found, *wrong]
            elif block.language == "console":
                found += _console(block, page, folder)
    finally:
        del sys.modules[module.__name__]
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    return found


class Printed(doctest.DocTestRunner):
    """Keeps what examples print that is not what they say."""

    def __init__(self, rules: int, blank_line: str) -> None:
        super().__init__(optionflags=rules, verbose=False)
        self.found: list[Difference] = []
        self.blank_line = blank_line

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """An example that prints something else."""
        words = io.StringIO()
        super().report_failure(words.write, test, example, got)
        line = (test.lineno or 0) + example.lineno + example.source.count("\n") + 1
        # Where an error was raised is nobody's business.
        shown = re.sub(r"(?s)(\ATraceback \(most recent call last\):\n).*?(?=^\S)", r"\1    ...\n", got, flags=re.M)
        printed = re.sub(r"(?m)^[ ]*$(?=\n)", self.blank_line, shown)
        self.found.append(Difference(words.getvalue(), line, example.want.count("\n"), printed))

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """An example that fails."""
        words = io.StringIO()
        super().report_unexpected_exception(words.write, test, example, exc_info)
        self.found.append(Difference(words.getvalue()))


def _prompts(block: Block, page: Path, module: ModuleType) -> list[Difference]:
    # A name for each block: tracebacks look up the lines of functions that an earlier block defined by name and number.
    name = f"{page.name}, line {block.line}"
    # A blank line before more that is printed is printed, too: readers of pages know no word for it.
    text = re.sub(r"(?m)^[ ]*\n(?=(?:[ ]*\n)*(?!>>> )[ ]*\S)", f"{BLANK_LINE}\n", block.text)
    test = doctest.DocTestParser().get_doctest(text, {}, name, str(page), block.line - 1)
    test.globs = module.__dict__
    runner = Printed(RULES, "")
    runner.run(test, out=lambda _: None, clear_globs=False)
    return runner.found


def _code(block: Block, page: Path, module: ModuleType) -> list[Difference]:
    try:
        # Empty lines first, so that a traceback names the lines of the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), module.__dict__)
    except Exception:
        return [Difference(f'File "{page}", line {block.line}, in a block of python:\n{traceback.format_exc()}')]
    return []


@dataclass
class Command:
    """A command of a console block, the line it stands on, and what the page says it prints."""

    text: str
    line: int
    expected: str = ""


def commands(block: Block) -> list[Command]:
    """The commands of a block. One goes on in lines that begin with "> ", or that follow a backslash."""
    found: list[Command] = []
    going_on = False
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if line.startswith("$ "):
            found.append(Command(line[2:], number))
            going_on = True
        elif not found:
            raise ValueError(f"line {number}: a block of console begins with a command, as in '$ calcert demo'")
        elif going_on and (line.startswith("> ") or found[-1].text.endswith("\\")):
            found[-1].text += "\n" + line.removeprefix("> ")
        else:
            going_on = False
            found[-1].expected += line + "\n"
    return found


def _console(block: Block, page: Path, folder: Path) -> list[Difference]:
    listed = commands(block)
    ending = f"status=$?; printf '\\n%s %s\\n' '{END_OF_COMMAND}' $status | tee /dev/stderr; (exit $status)"
    done = subprocess.run(
        ["bash", "-c", "".join(f"{command.text}\n{ending}\n" for command in listed)],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    printed, remarks = (re.split(rf"\n{END_OF_COMMAND} (\d+)\n", text) for text in (done.stdout, done.stderr))
    found = []
    for i, command in enumerate(listed):
        where = f'File "{page}", line {command.line}, in a block of console:\n    $ {command.text}\n'
        if 2 * i + 1 >= len(printed):
            found.append(Difference(f"{where}bash gave up: {done.stderr}"))
            break
        got, status, remark = printed[2 * i], int(printed[2 * i + 1]), remarks[2 * i]
        asked_for = i + 1 < len(listed) and "$?" in listed[i + 1].text
        if status and not asked_for:
            found.append(Difference(f"{where}ended with exit code {status}:\n{got}\n{remark}"))
        elif not doctest.OutputChecker().check_output(command.expected, got + "\n" * bool(got), RULES):
            words = f"{where}Expected:\n{command.expected}\nGot:\n{got}\nStandard error:\n{remark}"
            line = command.line + command.text.count("\n") + 1
            found.append(Difference(words, line, command.expected.count("\n"), got))
    return found


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    beside_python = os.path.dirname(sys.executable)
    return kept | {
        "PATH": beside_python + os.pathsep + kept.get("PATH", os.defpath),
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "MPLBACKEND": "Agg",
    }


def of_docstrings(path: Path) -> list[Difference]:
    """What the examples of a module print otherwise."""
    import numpy as np

    import calcert

    parts = path.resolve().with_suffix("").parts
    module = importlib.import_module(".".join(parts[parts.index("calcert", parts.index("src")) :]))
    runner = Printed(doctest.NORMALIZE_WHITESPACE, BLANK_LINE)
    for test in doctest.DocTestFinder().find(module, extraglobs={"np": np, "calcert": calcert}):
        runner.run(test, out=lambda _: None)
    return runner.found


def rewritten(text: str, found: list[Difference]) -> str:
    """The text with what is printed now."""
    lines = text.splitlines()
    for difference in sorted(found, key=lambda d: -d.line):
        if difference.line:
            begin = difference.line - 1
            before = lines[begin - 1]
            indent = before[: len(before) - len(before.lstrip())]
            printed = [f"{indent}{line}".rstrip() for line in difference.printed.splitlines()]
            lines[begin : begin + difference.number] = printed
    return "\n".join(lines) + "\n"


def main(paths: list[str]) -> None:
    """Write what examples print now, and say what else is wrong."""
    for path in map(Path, paths):
        page = path.resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            found = differences(page, Path(folder)) if page.suffix == ".md" else of_docstrings(page)
        page.write_text(rewritten(page.read_text(encoding="utf-8"), found), encoding="utf-8")
        print(f"{path}: {sum(d.line > 0 for d in found)} written")
        for difference in found:
            if not difference.line:
                print(difference.words)


if __name__ == "__main__":
    main(sys.argv[1:])
