"""The site builds without a warning, its links lead somewhere, and it reads on a phone without a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
LOOKED_AT = ("index", "start", "choosing", "interpreting", "theory/index", "api/certify", "contributing")


@dataclass
class Page(HTMLParser):
    """What a page holds and where it leads."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    formulas: int = 0
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.anchors.add(named.get("id", ""))
        self.formulas += tag == "math"
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if tag in ("img", "script") and named.get("src"):
            self.fetched.append(named["src"])
        if tag == "link" and named.get("rel") in ("stylesheet", "preload", "icon"):
            self.fetched.append(named["href"])

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # -W, warnings are errors, and -n, every reference to a name must be found.
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-n", "-q"]
    built = subprocess.run([*command, str(ROOT / "docs"), str(folder)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    assert len(found) > 20
    return found


def broken(page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    for link in page.links:
        if re.match(r"[a-z]+:", link):
            if not re.fullmatch(r"https?://[\w-]+(\.[\w-]+)+(/\S*)?", link):
                yield link
            continue
        file, _, anchor = link.partition("#")
        target = (page.path.parent / unquote(file)).resolve() if file else page.path
        if not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].anchors):
            yield link


def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    assert {page.path.name: list(broken(page, pages)) for page in pages.values() if list(broken(page, pages))} == {}


def test_a_broken_link_would_be_noticed(pages: dict[Path, Page], site: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    links = ["nowhere.html", "#nothing", f"{site}/index.html#nothing", "https://no host/", f"{site}/index.html"]
    bad.write_text("".join(f'<a href="{link}">x</a>' for link in links))
    page = Page(bad)
    assert list(broken(page, {**pages, bad: page})) == links[:-1]


def test_pages_fetch_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    for page in pages.values():
        for address in page.fetched:
            assert not re.match(r"[a-z]+:|//", address), (page.path.name, address)
            assert (page.path.parent / address.partition("?")[0]).exists(), (page.path.name, address)


def test_formulas_are_part_of_the_pages(pages: dict[Path, Page]) -> None:
    assert sum(page.formulas for page in pages.values()) > 300
    for page in pages.values():
        assert not re.search(r"\\(frac|le|sum|eta|delta|mathrm)\b", page.text), page.path.name


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"the browser tests need {CHROMIUM}")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(
            executable_path=CHROMIUM,
            args=["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"],
        )
        yield running
        running.close()


CUT_OFF = """() => [...document.querySelectorAll('article *')]
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .filter(e => { for (let p = e.parentElement; p; p = p.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX)) return false; return true; })
  .map(e => e.outerHTML.slice(0, 80))"""
"""What reaches beyond the screen and cannot be scrolled to."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_screen(browser: Browser, site: Path, pages: dict[Path, Page], width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    # All of them on a phone, where it is narrowest.
    paths = list(pages) if (width, scheme) == (390, "light") else [site / f"{name}.html" for name in LOOKED_AT]
    for path in paths:
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path.name
        assert page.evaluate(CUT_OFF) == [], path.name
        assert page.evaluate("document.documentElement.dataset.theme") == scheme, path.name
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    assert errors == []
    context.close()
