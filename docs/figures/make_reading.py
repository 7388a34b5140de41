"""Make the pictures of docs/reading.md with the code that the page shows, and look at its HTML page in Chromium.

python docs/figures/make_reading.py
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"


def main() -> None:
    page = (HERE.parent / "reading.md").read_text(encoding="utf-8")
    os.chdir(HERE)
    names: dict[str, object] = {}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", page):
        for example in doctest.DocTestParser().get_examples(block):
            exec(example.source, names)
    look_at(Path(str(names["page"])), HERE / "reading_page.png")


def look_at(page: Path, picture: Path) -> None:
    """The top of a page, as somebody who opens it sees it."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        view = browser.new_page(viewport={"width": 900, "height": 860}, device_scale_factor=1.5)
        view.goto(page.as_uri())
        view.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
