"""Runs the examples of a Markdown page as a reader would: from the top, in an empty folder, comparing the output."""

from __future__ import annotations

import doctest
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

RULES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
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


def failures(page: Path, folder: Path) -> list[str]:
    """What a reader who follows the page would find wrong, with the page and the line. Run it inside folder."""
    # Pickling and dataclasses look a class's module up by its name.
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module
    found: list[str] = []
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


def _prompts(block: Block, page: Path, module: ModuleType) -> list[str]:
    # A name for each block: tracebacks look up the lines of functions that an earlier block defined by name and number.
    name = f"{page.name}, line {block.line}"
    test = doctest.DocTestParser().get_doctest(block.text, {}, name, str(page), block.line - 1)
    test.globs = module.__dict__
    words = io.StringIO()
    doctest.DocTestRunner(optionflags=RULES, verbose=False).run(test, out=words.write, clear_globs=False)
    return [words.getvalue()] if words.getvalue() else []


def _code(block: Block, page: Path, module: ModuleType) -> list[str]:
    try:
        # Empty lines first, so that a traceback names the lines of the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), module.__dict__)
    except Exception:
        return [f'File "{page}", line {block.line}, in a block of python:\n{traceback.format_exc()}']
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


def _console(block: Block, page: Path, folder: Path) -> list[str]:
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
            found.append(f"{where}bash gave up: {done.stderr}")
            break
        got, status, remark = printed[2 * i], int(printed[2 * i + 1]), remarks[2 * i]
        asked_for = i + 1 < len(listed) and "$?" in listed[i + 1].text
        if status and not asked_for:
            found.append(f"{where}ended with exit code {status}:\n{got}\n{remark}")
        elif not doctest.OutputChecker().check_output(command.expected, got + "\n" * bool(got), RULES):
            found.append(f"{where}Expected:\n{command.expected}\nGot:\n{got}\nStandard error:\n{remark}")
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
