"""What there is to run: ``python -m experiments`` lists every command with what it is about."""

from __future__ import annotations

import ast
import re
from pathlib import Path

USAGE = re.compile(r"python -m (experiments\.\w+)(.*)")


def commands() -> dict[str, tuple[str, str]]:
    """Command -> its options and the first sentence of its help, read without importing it."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        usage = USAGE.search(words)
        if usage and usage[1] == f"experiments.{path.stem}":
            first = " ".join(words.partition("\n\n")[0].split())
            found[usage[1]] = usage[2].strip(), first
    return found


if __name__ == "__main__":
    for name, (options, about) in commands().items():
        print(f"python -m {name} {options}\n    {about}")
    print('\nEach says more with --help. They need pip install -e ".[experiments]"; training needs ".[training]".')
