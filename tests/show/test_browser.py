"""The page in a real browser, from disk: nothing is fetched, nothing complains, everything can be read."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import calcert
from calcert.commands.demo import simulate
from calcert.foundation.number_text import at_least, at_most
from calcert.reports.report import Report
from calcert.show.certificate_words import STATEMENTS
from tests.show.sample_pages import KINDS, page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"the browser tests need {CHROMIUM}")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"desktop": 1280, "phone": 360, "small phone": 320}

CONTRASTS = """() => {
  const channels = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll('main *')) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || ['title', 'desc', 'style'].includes(element.tagName.toLowerCase())) continue;
    const style = getComputedStyle(element);
    const ink = channels(element.tagName === 'text' ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.textContent.trim().slice(0, 40)]);
  }
  return found;
}"""

LEGENDS = """() => [...document.querySelectorAll('[id^=perturbed-legend] > [id*=patch]:first-child path')]
  .map(box => getComputedStyle(box).fill)"""
"""What is behind the words of the legends of the reliability picture."""

OVERLAPS = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  return boxes.flatMap(([first, a], i) => boxes.slice(i + 1)
    .filter(([_, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([second]) => [first, second]));
})"""


@pytest.fixture(scope="module")
def report() -> Report:
    return calcert.certify(*simulate(20_000, seed=0), settings=calcert.Settings(odds=1 / 16))


@pytest.fixture(scope="module")
def address(report: Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = report.to_html(tmp_path_factory.mktemp("page") / "report.html", command="calcert certify rows.parquet")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=list(WIDTHS))
def opened(request: pytest.FixtureRequest, browser: Browser, address: str, scheme: str) -> Iterator[Page]:
    """The page at one width and in one colour scheme; requests and complaints are collected on the way."""
    context = browser.new_context(viewport={"width": WIDTHS[request.param], "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda sent: requests.append(sent.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    assert not page.locator("#what-is-certified").is_visible(), "details are folded until they are asked for"
    page.locator("#details > summary").click()
    yield page
    assert requests == [address]
    assert complaints == []
    context.close()


def test_nothing_is_cut_off_at_the_side(opened: Page) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    wide = opened.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
        ".filter(e => !e.closest('.scroll')).map(e => e.tagName)"
    )
    assert wide == []


def test_all_words_stand_out_from_what_is_behind_them(opened: Page, scheme: str) -> None:
    found: list[tuple[float, str]] = opened.evaluate(CONTRASTS)
    assert len(found) > 80
    assert min(found)[0] >= 4.5, min(found)
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark == (scheme == "dark")
    paper = "rgb(20, 23, 27)" if dark else "rgb(254, 254, 254)"
    assert opened.evaluate(LEGENDS) == [paper] * 2


def test_words_in_pictures_do_not_lie_on_each_other(opened: Page) -> None:
    assert opened.evaluate(OVERLAPS) == []


def test_numbers_equal_the_json(opened: Page, report: Report) -> None:
    stored: dict[str, Any] = json.loads(json.dumps(report.to_dict()))
    rows = opened.locator("section[aria-labelledby=what-is-certified] tbody tr").all_inner_texts()
    shown = {row.split("\t")[0]: row.split("\t")[1:3] for row in rows}
    for name in ("perturbed", "l1", "distance"):
        bounds = [at_least(stored[name]["lower"]), at_most(stored[name]["upper"])]
        assert [bound.strip() for bound in shown[STATEMENTS[name].title]] == bounds
    assert opened.evaluate("JSON.parse(document.getElementById('report').textContent)") == stored


def test_pictures_have_a_name_and_a_size(opened: Page) -> None:
    pictures = opened.locator("svg[role=img]")
    assert pictures.count() == 2
    for i in range(2):
        box = pictures.nth(i).bounding_box()
        assert box is not None
        assert box["width"] > 280
        assert box["height"] > 120
    names = opened.evaluate(
        "[...document.querySelectorAll('svg')].map(s => s.getAttribute('aria-labelledby').split(' ')"
        ".map(id => document.getElementById(id).textContent))"
    )
    assert [name for name, _ in names] == [
        "Reliability of perturbed scores",
        "Reliability diagram",
    ]
    assert all(len(description) > 50 for _, description in names)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "report"])
def test_other_pages_are_as_readable_and_run_nothing(kind: str, browser: Browser, scheme: str, tmp_path: Path) -> None:
    """Names on these pages try to run a script, to leave their element, and to be formulas."""
    target = tmp_path / "page.html"
    target.write_text(page_of(kind), encoding="utf-8")
    for width in (1280, 390, 320):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        requests: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda sent, seen=requests: seen.append(sent.url))  # type: ignore[call-overload]
        page.on("console", lambda message, seen=complaints: seen.append(message.text))  # type: ignore[call-overload]
        page.on("pageerror", lambda error, seen=complaints: seen.append(str(error)))  # type: ignore[call-overload]
        page.on("dialog", lambda dialog, seen=complaints: seen.append(dialog.message))  # type: ignore[call-overload]
        page.goto(target.as_uri())
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        found = page.evaluate(CONTRASTS)
        assert len(found) > 40
        assert min(found)[0] >= 4.5, min(found)
        assert page.evaluate(OVERLAPS) == []
        assert page.locator("script").count() == 1
        assert (requests, complaints) == ([target.as_uri()], [])
        context.close()


def test_print_is_short_and_light(browser: Browser, address: str, tmp_path: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(address)
    printed = page.pdf(path=tmp_path / "report.pdf", format="A4")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 4
    page.close()


def test_a_plain_report_fills_two_sheets_of_paper(browser: Browser, tmp_path: Path) -> None:
    plain = calcert.certify(*simulate(2_000, seed=0)).to_html(tmp_path / "plain.html")
    page = browser.new_page()
    page.goto(plain.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 2, "a long narrow table had left a third"
    page.close()


def test_notebook_view_is_readable_on_light_and_dark(browser: Browser, report: Report, tmp_path: Path) -> None:
    for ink, paper in (("black", "white"), ("#eee", "#111")):
        view = f'<body style="color: {ink}; background: {paper}"><main>{report._repr_html_()}</main>'
        target = tmp_path / "notebook.html"
        target.write_text(view, encoding="utf-8")
        page = browser.new_page()
        page.goto(target.as_uri())
        found = page.evaluate(CONTRASTS)
        assert len(found) > 30
        assert min(found)[0] >= 4.5, min(found)
        assert page.evaluate(LEGENDS) == ["rgba(0, 0, 0, 0)"] * 2
        page.close()


@pytest.mark.parametrize("width", [1280, 320])
def test_a_long_name_of_a_group_stays_in_its_cell(browser: Browser, tmp_path: Path, width: int) -> None:
    scores, labels = simulate(4_000, seed=0)
    names = np.where(np.arange(4_000) % 2, "short", "organisation/network_of_forty_layers_for_a_hundred_classes")
    target = calcert.certify(scores, labels, groups=names, settings=calcert.Settings(odds=1 / 16)).to_html(
        tmp_path / "groups.html"
    )
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(target.as_uri())
    leaving = "[...document.querySelectorAll('th.name')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.evaluate("document.querySelectorAll('th.name').length") >= 4
    assert page.evaluate(leaving) == 0
    page.close()
