"""The pictures of pages, drawn by the code of the pages themselves.

    python -m experiments.pages [--quick] [--publish]

docs/reference/figures.md draws what it explains, and its HTML page is looked at in Chromium; docs/interpreting.md draws
its report; the commands of docs/guides/monitoring.md draw a monitor.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from tests.executed_pages import blocks, failures

from experiments.results import Results, experiment

DRAWN = ("transport_plan", "groups", "classes", "monitor", "plan", "bandwidth")
READING = ("interpreting_report.png", *(f"reading_{name}.png" for name in DRAWN))
SEEN = "reading_page.png"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def needed(quick: bool) -> None:
    """A browser, and a way to talk to it."""
    if not quick and (CHROMIUM is None or find_spec("playwright") is None):
        raise click.ClickException("the page is looked at in Chromium, with playwright; --quick does without both.")


def followed(page: Path) -> dict[str, Any]:
    """The names that a reader has who types all of a page's Python."""
    names: dict[str, Any] = {}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            for example in doctest.DocTestParser().get_examples(block.text):
                exec(compile(example.source, str(page), "single"), names)
    return names


def look_at(page: Path, picture: Path) -> None:
    """The top of a page, as somebody who opens it sees it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        view = browser.new_page(viewport={"width": 900, "height": 860}, device_scale_factor=1.5)
        view.goto(page.as_uri())
        view.screenshot(path=picture)
        browser.close()


@experiment(
    *READING,
    SEEN,
    "monitoring.png",
    needs=("matplotlib", "pandas"),
    before=needed,
    quick="Without the page that a browser shows.",
)
def main(out: Results, quick: bool) -> None:
    root, drawn = Path.cwd(), Path(tempfile.mkdtemp())
    with contextlib.chdir(drawn), contextlib.redirect_stdout(io.StringIO()):
        names = followed(root / "docs/reference/figures.md")
        if not quick:
            look_at(Path(str(names["page"])), Path(SEEN))
        wrong = failures(root / "docs/guides/monitoring.md", drawn)
        if not Path("churn.png").exists():
            raise click.ClickException("docs/guides/monitoring.md draws no churn.png:\n" + "\n".join(wrong))
        Path("churn.png").rename("monitoring.png")
        followed(root / "docs/interpreting.md")
    for path in sorted(drawn.glob("*.png")):
        if path.name in (*READING, SEEN, "monitoring.png"):
            shutil.copyfile(path, out / path.name)
    shutil.rmtree(drawn)
    for found in wrong:
        click.echo(found, err=True)
    click.echo(f"pictures written to {out.folder}.")


if __name__ == "__main__":
    main()
