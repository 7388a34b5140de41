"""The page: the numbers of the report, nothing from elsewhere, and clear words where something is missing."""

from __future__ import annotations

import html
import itertools
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.foundation.number_text import at_least, at_most, number, short_at_most
from calcert.reports.estimates import log_loss
from calcert.reports.groups import GroupRows
from calcert.reports.report import Report
from calcert.reports.statements import columns
from calcert.show import as_page as page
from calcert.show.many import limits
from calcert.show.report_details import call
from tests.show.sample_pages import DAY, HOSTILE, KINDS, NAMES, page_of, result


class Elements(HTMLParser):
    """Tags with their attributes, and the text of elements that have an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def report() -> Report:
    found: Report = result("report")
    return found


@pytest.fixture(scope="module")
def text() -> str:
    return page_of("report")


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_numbers_are_those_of_the_json(report: Report, text: str) -> None:
    stored = json.loads(json.dumps(report.to_dict()))
    cells = set(re.findall(r"<td[^>]*>([^<]*)</td>", text))
    for name in ("perturbed", "l1", "distance"):
        assert {at_least(stored[name]["lower"]), at_most(stored[name]["upper"])} <= cells
        assert {number(value) for value in stored[name]["terms"].values()} <= cells
    assert {number(value) for value in stored["estimates"].values()} <= cells
    embedded = re.search(r'<script type="application/json" id="report">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded.group(1)) == stored


def test_facts_of_the_rows_are_on_the_page_as_estimates(report: Report, text: str) -> None:
    assert report.summary is not None
    assert "estimate, without guarantee" in text
    for name in ("base rate", "mean score", "Brier score", "ECE (15 bins)", "AUROC", "log loss"):
        assert f'<th scope="row" class="name">{name}</th>' in text
    assert f">{number(log_loss(report.summary))}</td>" in text
    assert "50% of scores at most" in text
    assert report.fingerprint is not None
    assert report.fingerprint in text


def test_page_says_how_it_was_made(report: Report, text: str) -> None:
    assert '<time datetime="2026-03-14">2026-03-14</time>' in text
    assert f"calcert {calcert.__version__}" in text
    assert "calcert a&amp;b.csv --confidence 0.95" in text
    assert f"report = {call(report.settings)}" in text
    assert report.verdict.next in text.replace("&#39;", "'")
    assert report.verdict.sentence in text


def test_page_loads_nothing(kind: str) -> None:
    text = page_of(kind)
    for tag, attributes in Elements(text).tags:
        assert tag not in ("iframe", "object", "embed", "img", "base")
        for name in ("src", "href", "xlink:href", "data", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
    assert not re.search(r"@import|url\((?!#)", text)


def test_ids_are_unique_and_references_lead_somewhere(kind: str) -> None:
    text = page_of(kind)
    ids = [a["id"] for _, a in Elements(text).tags if "id" in a]
    assert len(ids) == len(set(ids))
    for reference in re.findall(r"url\(#([^)]*)\)", text) + re.findall(r'href="#([^"]*)"', text):
        assert reference in ids
    for _, attributes in Elements(text).tags:
        for reference in (attributes.get("aria-labelledby") or "").split():
            assert reference in ids


def test_headings_go_down_one_step_at_a_time(kind: str) -> None:
    text = page_of(kind)
    levels = [int(tag[1]) for tag, _ in Elements(text).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_words_inside_pictures_keep_their_digits(report: Report, text: str) -> None:
    assert f"certified between {at_least(report.perturbed.lower)} and {at_most(report.perturbed.upper)}</text>" in text
    assert text.count('role="img"') == 2
    assert text.count("<desc ") == 2


def test_title_is_escaped(report: Report) -> None:
    shown = page(report, title="<script>alert(1)</script>")
    assert "<script>alert" not in shown
    assert "<title>&lt;script&gt;" in shown


def test_to_html_writes_whole_files_and_returns_the_path(report: Report, tmp_path: Path) -> None:
    target = report.to_html(str(tmp_path / "report.html"), title="Model 7", command="make report")
    assert target == tmp_path / "report.html"
    assert "<h1>Model 7</h1>" in target.read_text(encoding="utf-8")
    assert "make report" in target.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(FileNotFoundError, match="folder that exists"):
        report.to_html(tmp_path / "nowhere" / "report.html")


def test_report_from_json_makes_a_page_without_the_picture_of_rows(report: Report) -> None:
    text = page(Report.from_dict(json.loads(json.dumps(report.to_dict()))))
    assert "which a report read from JSON does not hold" in text
    assert text.count('role="img"') == 0
    assert "of scores at most" not in text


def test_the_json_of_every_result_is_in_its_page(kind: str) -> None:
    embedded = re.search(r'<script type="application/json" id="report">(.*?)</script>', page_of(kind), re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded.group(1)) == json.loads(json.dumps(result(kind).to_dict()))


def test_the_same_result_makes_the_same_page(kind: str) -> None:
    again = page(result(kind), command="calcert a&b.csv --confidence 0.95", date=DAY)
    assert again == page_of(kind)


def test_every_result_writes_its_page_and_shows_itself_in_a_notebook(kind: str, tmp_path: Path) -> None:
    target = result(kind).to_html(tmp_path / "page.html", title="Model 7", command="make page")
    written = target.read_text(encoding="utf-8")
    assert "<h1>Model 7</h1>" in written
    assert "make page" in written
    assert list(tmp_path.iterdir()) == [target]
    shown = result(kind)._repr_html_()
    assert "<svg" in shown
    assert "<style" not in shown
    assert "<script" not in shown


def test_names_of_groups_batches_and_windows_cannot_break_out() -> None:
    for kind in ("groups", "monitor"):
        text = page_of(kind)
        assert HOSTILE not in text
        # As a name in tables and cards, in a picture, and in what tells a screen reader of it.
        assert "&lt;script&gt;alert(&#39;x&#39;)" in text
        assert "&lt;/td&gt;&lt;/svg&gt;&lt;script&gt;" in text
        assert [tag for tag, _ in Elements(text).tags].count("script") == 1


def test_every_group_is_on_the_page_with_its_bounds_and_small_ones_say_so() -> None:
    report, text = result("groups"), page_of("groups")
    for name in NAMES[:-1]:
        assert html.escape(name, quote=True).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in text
        for certificate in (report.groups[name].statement(column) for column in columns()):
            assert f">{limits(certificate)}</td>" in text
    assert text.count("too few rows</td>") >= 3
    names = [text.index(f'class="name">{start}') for start in ("&lt;/td&gt;", "tiny")]
    assert names == sorted(names)


def test_a_page_of_groups_has_one_bound_for_the_worst() -> None:
    found = result("groups")
    named = [name for name in found.groups if name != "tiny"]
    again = GroupRows({name: found.groups[name].summary for name in named}, found.n)
    settings = found.groups[named[0]].settings
    report = again.certify(settings)
    upper, largest = report.worst["perturbed"].upper, max(g.perturbed.upper for g in report.groups.values())
    assert short_at_most(upper) != short_at_most(largest)
    text = page(report)
    assert text.count(f"No group has a larger L1 calibration error than {short_at_most(upper)}") == 1
    assert text.count("No group has a larger") == 1
    assert "nothing is certified: one of them has too few rows" in page(found)
    assert "No group has a larger" not in page(found)


@pytest.mark.parametrize("direction", [None, "too high", "too low", "overconfident", "mixed"])
def test_every_line_says_which_way_scores_err(direction: str | None) -> None:
    found = result("groups")
    name = found.worst_first()[-2]
    group = replace(found.groups[name], summary=None)
    vars(group)["verdict"] = replace(found.groups[name].verdict, direction=direction)
    report = replace(found, groups={"other": found.groups[name], "this": group})
    shown = {None: "not proven", "mixed": "miscalibrated"}.get(direction, direction)
    (line,) = [line for line in str(report).splitlines() if line.startswith("this")]
    assert f" {shown} " in line
    (row,) = re.findall(r'<th scope="row" class="name">this</th>.*</tr>', page(report))[:1]
    assert f'<td class="fixed">{shown}</td>' in row
    frame = report.to_frame("polars")
    assert set(frame.filter(frame["group"] == "this")["direction"]) == {direction}
    assert report.to_dict()["groups"]["this"]["direction"] == direction
    assert report.worst_first()[0] == ("other" if direction is None else "this")


def test_fingerprints_of_rows_are_on_pages_of_groups_and_comparisons() -> None:
    for group in result("groups").groups.values():
        assert f">{group.fingerprint}</td>" in page_of("groups")
    for report in result("comparison").models.values():
        assert str(report.fingerprint) in page_of("comparison")


def test_the_fingerprint_of_a_state_is_on_its_page() -> None:
    fingerprint = result("monitor").state_fingerprint
    assert len(fingerprint) == 16
    assert f"Fingerprint of the state: {fingerprint}." in page_of("monitor")


def test_notebooks_say_what_columns_assume() -> None:
    for kind in ("groups", "classes", "comparison"):
        shown = " ".join(result(kind)._repr_html_().split())
        if kind == "comparison":
            assert "Distance: from calibration, assumes nothing." in shown
            assert (
                "L1: calibration error, assumes the true curve changes sides of the diagonal at most 3 times" in shown
            )


def test_what_was_certain_after_a_batch_stays_so_after_the_next() -> None:
    status = result("monitor")
    last = replace(status.history[-1], lower=0.0, batch_id="unlucky")
    text = page(replace(status, history=(*status.history[:-1], last)))
    row = text[text.index('class="name">unlucky') :]
    assert f">{at_least(max(point.lower for point in status.history[:-1]))}</td>" in row[: row.index("</tr>")]


def test_many_groups_are_folded_and_none_is_left_out() -> None:
    few = result("groups")
    reports = itertools.cycle(few.groups.values())
    text = page(replace(few, groups={f"group {i}": next(reports) for i in range(60)}))
    assert text.count("<summary>50 more groups</summary>") == 1
    assert "It shows the first 10 of 60 groups." in text
    assert text.count('<th scope="row" class="name">group ') == 2 * 60, "in the table and in that of all statements"


def test_the_page_of_a_monitor_tells_alarm_change_windows_and_batches() -> None:
    status, text = result("monitor"), page_of("monitor")
    assert '<h2 class="verdict beyond">ALARM since 2026-03-0' in text
    assert text.count('<p class="warning"><strong>Warning:</strong> Calibration has changed') == 1
    for lower in itertools.accumulate((point.lower for point in status.history), max):
        assert f">{at_least(lower)}</td>" in text
    for window in status.windows:
        assert f">{limits(window.distance)}</td>" in text
    assert "status = calcert.Monitor(STATE).status(alarm=0.02)" in text


def test_a_monitor_without_windows_or_limit_has_a_page_too(tmp_path: Path) -> None:
    monitor = calcert.Monitor(tmp_path / "state")
    monitor.add([0.2], [0], batch_id="first")
    text = page(monitor.status())
    assert "1 row in 1 batch, " in text
    assert "batches" not in str(monitor.status()), "one batch is no batches"
    assert "ALARM" not in text
    assert "No change between windows" not in text
    assert "<table" not in (monitor.status()._repr_html_() or "")


def test_the_page_of_classes_is_that_of_the_prediction_and_more() -> None:
    report, text = result("classes"), page_of("classes")
    for certificate in report.certificates.values():
        assert {f">{at_least(certificate.lower)}</td>", f">{at_most(certificate.upper)}</td>"} <= set(
            re.findall(">[^<]*</td>", text)
        )
    for entry in report.classes.values():
        assert f">{limits(entry.l1)}</td>" in text
        assert f">{limits(entry.perturbed)}</td>" in text
    assert "calcert.certify(probabilities, labels, settings=calcert.Settings(confidence=0.95" in text
    assert f"distance {at_least(report.mean['distance'].lower)} to {at_most(report.mean['distance'].upper)}." in text


def test_warnings_and_awkward_rows_are_shown() -> None:
    rare = calcert.certify(np.full(500, 0.002), np.arange(500) < 1, settings=calcert.Settings(bandwidth=1 / 64))
    assert rare.warnings
    assert '<p class="warning"><strong>Warning:</strong> bandwidth 0.015625 is large' in page(rare)
    assert ".warning { border-left" in page(rare), "a warning stands out"
    certain = page(calcert.certify([0.0, 0.5], [1, 0]))
    assert ">infinite</td>" in certain
    assert "There are too few rows (2) to certify anything yet." in certain
    one_label = page(calcert.certify([0.2, 0.3], [0, 0]))
    assert 'class="name">AUROC</th>' not in one_label


def test_notebook_shows_statements_and_pictures(report: Report) -> None:
    shown = report._repr_html_()
    assert shown is not None
    assert report.verdict.sentence in shown
    assert shown.count("<svg") == 1
    assert "<style" not in shown
    assert "<script" not in shown


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_missing_libraries_are_named_with_the_way_out(
    report: Report, missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import calcert.show

    for name in [name for name in sys.modules if name.startswith(("calcert.show.", missing))]:
        monkeypatch.delitem(sys.modules, name)
        if name.startswith("calcert.show."):
            # Both ways to a module lead to the same one again afterwards.
            monkeypatch.delattr(calcert.show, name.removeprefix("calcert.show."))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError, match=rf'need {missing}, .* pip install "calcert\[report\]"'):
        report.to_html(tmp_path / "report.html")
    assert report._repr_html_() is None
    if missing == "matplotlib":
        with pytest.raises(ModuleNotFoundError, match=r'pip install "calcert\[report\]"'):
            report.plot()
    assert list(tmp_path.iterdir()) == []


def test_plain_text_in_a_notebook_is_what_is_printed(report: Report) -> None:
    assert report._repr_mimebundle_() == {"text/plain": str(report)}


def test_a_page_on_clusters_speaks_of_clusters_and_shows_the_call_that_names_them() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(4_000)
    report = calcert.certify(x, rng.random(4_000) < x, clusters=np.repeat(np.arange(1_000), 4))
    shown = " ".join(page(report).split())
    assert "4,000 rows in 1,000 clusters" in shown
    assert "independent rows that were" not in shown
    assert "rows of independent clusters" in shown
    assert (
        "calcert.certify(calcert.Rows(scores, labels, clusters=clusters), settings=calcert.Settings(confidence=0.95"
        in shown
    )
    plain = " ".join(page(calcert.certify(x, rng.random(4_000) < x)).split())
    assert "It needs independent rows that were" in plain
    assert "calcert.certify(scores, labels, settings=calcert.Settings(confidence=0.95" in plain


def test_the_page_of_a_plan_has_its_sentences_and_a_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(1_000)
    plan = calcert.plan(calcert.summarize(x, rng.random(1_000) < x), 0.05)
    text = plan.to_html(tmp_path / "plan.html").read_text()
    cells = re.findall("<td class=.number.>([^<]*)</td>", text)
    shown = [line.split() for line in str(plan).splitlines() if re.match(r"[ \d,]+ +0\.", line)]
    assert cells == list(itertools.chain.from_iterable(shown))
    assert len(shown) == len(plan.sizes)
    assert f"<p>{str(plan).splitlines()[0]}" in text


@pytest.mark.parametrize(("power", "order"), [(1.0, "most rows first"), (3.0, "proven and large errors first")])
def test_classes_are_worst_first_only_where_something_is_proven(power: float, order: str) -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(2_000)
    labels = rng.random(2_000) < scores**power
    probabilities = np.stack([scores / 2, scores / 2, 1 - scores], axis=1)
    classes = calcert.certify(probabilities, np.where(labels, rng.integers(0, 2, 2_000), 2))
    for text in (str(classes), page(classes)):
        assert f"against the rest, {order}" in text
