"""Make the pictures of docs/reading.md with the code that the page shows.

    python docs/figures/make_reading.py
"""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    page = (HERE.parent / "reading.md").read_text(encoding="utf-8")
    os.chdir(HERE)
    names: dict[str, object] = {}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", page):
        for example in doctest.DocTestParser().get_examples(block):
            exec(example.source, names)


if __name__ == "__main__":
    main()
