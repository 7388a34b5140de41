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
from calcert.foundation.number_text import at_least, at_most
from calcert.reports.estimates import log_loss
from calcert.reports.groups import GroupRows
from calcert.reports.report import Report
from calcert.reports.statements import columns
from calcert.show.certificate_words import STATEMENTS, between
from calcert.show.pages.layout import code
from calcert.show.pages.report import page
from calcert.show.text.classes import means
from tests.show.sample_pages import DAY, HOSTILE, KINDS, NAMES, page_of, result


class Elements(HTMLParser):
    """Tags with their attributes, and the text of elements that have an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def value(self, identity: str) -> float:
        return float(next(a["value"] or "" for _, a in self.tags if a.get("id") == identity))


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
    elements = Elements(text)
    for name in ("perturbed", "l1", "distance"):
        assert elements.value(f"upper-{name}") == stored[name]["upper"]
        assert elements.value(f"lower-{name}") == stored[name]["lower"]
    shown = {float(a["value"] or "") for tag, a in elements.tags if tag == "data"}
    for name in ("perturbed", "l1", "distance"):
        assert set(stored[name]["terms"].values()) <= shown
    assert set(stored["estimates"].values()) <= shown
    embedded = re.search(r'<script type="application/json" id="report">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded.group(1)) == stored


def test_facts_of_the_rows_are_on_the_page_as_estimates(report: Report, text: str) -> None:
    assert report.summary is not None
    assert "Estimates, without guarantee" in text
    for name in ("base rate", "mean score", "Brier score", "ECE (15 bins)", "AUROC", "log loss"):
        assert f'<th scope="row">{name}</th>' in text
    assert f'value="{log_loss(report.summary)!r}"' in text
    assert "50% of scores at most" in text
    assert report.fingerprint is not None
    assert report.fingerprint in text


def test_page_says_how_it_was_made(report: Report, text: str) -> None:
    assert '<time datetime="2026-03-14">2026-03-14</time>' in text
    assert f"calcert {calcert.__version__}" in text
    assert "calcert a&amp;b.csv --confidence 0.95" in text
    assert f"report = {code(report.settings)}" in text
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
    again = KINDS[kind].page(result(kind), command="calcert a&b.csv --confidence 0.95", date=DAY)
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


def test_every_group_is_on_the_page_with_its_exact_bounds_and_small_ones_say_so() -> None:
    report, text = result("groups"), page_of("groups")
    values = {float(a["value"] or "") for tag, a in Elements(text).tags if tag == "data"}
    for name in NAMES[:-1]:
        assert html.escape(name, quote=True).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in text
        for certificate in (report.groups[name].statement(column) for column in columns()):
            assert {certificate.lower, certificate.upper} <= values
    assert "Too few rows to say anything of 1 of 5 groups: tiny (2)." in text
    assert text.count("too few rows") >= 3
    assert "the upper bounds of all 5 groups hold together with probability at least 95%" in text
    names = [text.index(f'class="name">{start}') for start in ("&lt;/td&gt;", "tiny")]
    assert names == sorted(names)


def test_the_headline_of_groups_bounds_the_worst_whichever_it_is() -> None:
    report, text = result("groups"), page_of("groups")
    for column in columns():
        found = [group.statement(column) for group in report.groups.values()]
        upper = max(certificate.upper for certificate in found if certificate.telling)
        lower = max(certificate.lower for certificate in found)
        assert f"worst with enough rows: {between(lower, upper)}<" in text


def test_a_page_of_groups_has_one_bound_for_the_worst() -> None:
    found = result("groups")
    named = [name for name in found.groups if name != "tiny"]
    again = GroupRows({name: found.groups[name].summary for name in named}, found.n)
    report = again.certify(found.groups[named[0]].settings)
    text = KINDS["groups"].page(report)
    for column in columns():
        upper, lower = report.worst[column].upper, max(g.statement(column).lower for g in report.groups.values())
        assert upper < max(group.statement(column).upper for group in report.groups.values())
        assert f">worst: {between(lower, upper)}<" in text
        assert f"For every group it is at most {at_most(upper)}." in text
        proven = report.worst_first(column)[0]
        assert f"the group {html.escape(proven)}: at least {at_least(lower)}.".replace("&#x27;", "&#39;") in text
        assert f"{STATEMENTS[column].short} {at_most(upper)}" in text, "the paragraph on the worst says the same"


def test_fingerprints_of_rows_are_on_pages_of_groups_and_comparisons() -> None:
    for group in result("groups").groups.values():
        assert f"rows, fingerprint {group.fingerprint}</p>" in page_of("groups")
    for report in result("comparison").models.values():
        assert str(report.fingerprint) in page_of("comparison")


def test_the_fingerprint_of_a_state_is_on_its_page() -> None:
    fingerprint = result("monitor").state_fingerprint
    assert len(fingerprint) == 16
    assert f"Fingerprint of the state: {fingerprint}." in page_of("monitor")


def test_notebooks_say_what_columns_assume() -> None:
    for kind in ("groups", "classes", "comparison"):
        shown = " ".join(result(kind)._repr_html_().split())
        assert "Distance: from calibration, assumes nothing." in shown
        assert "L1: calibration error, assumes the true curve changes sides of the diagonal at most 3 times" in shown


def test_what_was_certain_after_a_batch_stays_so_after_the_next() -> None:
    status = result("monitor")
    last = replace(status.history[-1], lower=0.0, batch_id="unlucky")
    text = KINDS["monitor"].page(replace(status, history=(*status.history[:-1], last)))
    row = text[text.index('class="name">unlucky') :]
    assert f'value="{max(point.lower for point in status.history[:-1])!r}"' in row[: row.index("</tr>")]


def test_many_groups_are_folded_and_none_is_left_out() -> None:
    few = result("groups")
    reports = itertools.cycle(few.groups.values())
    text = KINDS["groups"].page(replace(few, groups={f"group {i}": next(reports) for i in range(60)}))
    assert "<summary>10 more groups</summary>" in text
    assert "The pictures show the worst 30 of 60 groups." in text
    assert text.count('<th scope="row" class="name">') == 60


def test_the_page_of_a_monitor_tells_alarm_change_windows_and_batches() -> None:
    status, text = result("monitor"), page_of("monitor")
    assert '<p class="alarm">ALARM since 2026-03-0' in text
    assert text.count('<p class="warning">Calibration has changed') == 1
    values = {float(a["value"] or "") for tag, a in Elements(text).tags if tag == "data"}
    assert set(itertools.accumulate((point.lower for point in status.history), max)) <= values
    for window in status.windows:
        assert {window.distance.lower, window.distance.upper} <= values
    assert "status = calcert.Monitor(STATE).status(alarm=0.02)" in text


def test_a_monitor_without_windows_or_limit_has_a_page_too(tmp_path: Path) -> None:
    monitor = calcert.Monitor(tmp_path / "state")
    monitor.add([0.2], [0], batch_id="first")
    text = KINDS["monitor"].page(monitor.status())
    assert "nothing yet: too few rows" in text
    assert 'class="alarm"' not in text
    assert 'id="windows"' not in text
    assert "<table" not in (monitor.status()._repr_html_() or "")


def test_the_page_of_classes_is_that_of_the_prediction_and_more() -> None:
    report, text = result("classes"), page_of("classes")
    values = {float(a["value"] or "") for tag, a in Elements(text).tags if tag == "data"}
    for certificate in report.certificates.values():
        assert {certificate.lower, certificate.upper} <= values
    for entry in report.classes:
        assert {entry.l1.lower, entry.l1.upper, entry.perturbed.upper} <= values
    assert "calcert.certify(probabilities, labels, settings=calcert.Settings(confidence=0.95" in text
    assert f"Mean over classes: {means(report, columns())};" in text


def test_warnings_and_awkward_rows_are_shown() -> None:
    rare = calcert.certify(np.full(500, 0.002), np.arange(500) < 1, settings=calcert.Settings(bandwidth=1 / 64))
    assert rare.warnings
    assert '<p class="warning"><strong>Warning:</strong> bandwidth 0.015625 is large' in page(rare)
    certain = page(calcert.certify([0.0, 0.5], [1, 0]))
    assert ">infinite</data>" in certain
    assert "There are too few rows (2) to certify anything yet." in certain
    one_label = page(calcert.certify([0.2, 0.3], [0, 0]))
    assert '<th scope="row">AUROC</th>' not in one_label


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
    for name in [name for name in sys.modules if name.startswith(("calcert.show.", missing))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    import calcert.show

    for name in ("html", "plot", "canvas", "inline_svg"):
        monkeypatch.delattr(calcert.show, name, raising=False)
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


@pytest.mark.parametrize(("power", "order"), [(1.0, "most rows first"), (3.0, "worst first")])
def test_groups_and_classes_are_worst_first_only_where_something_is_proven(power: float, order: str) -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(2_000)
    labels, names = rng.random(2_000) < scores**power, np.where(np.arange(2_000) % 3, "a", "b")
    groups = calcert.certify(scores, labels, groups=names)
    probabilities = np.stack([scores / 2, scores / 2, 1 - scores], axis=1)
    classes = calcert.certify(probabilities, np.where(labels, rng.integers(0, 2, 2_000), 2))
    other = ({"worst first", "most rows first"} - {order}).pop()
    for text in (str(groups), str(classes), KINDS["groups"].page(groups), KINDS["classes"].page(classes)):
        assert order in text
        assert other not in text


def test_the_card_of_groups_claims_no_upper_bound_of_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(1_000)
    found = calcert.certify(x**2, rng.random(1_000) < x, groups=np.arange(1_000) % 2)
    assert "For every group it is at most 0." in KINDS["groups"].page(found)
    proven = {
        name: replace(group, certificates={k: replace(c, upper=1.0) for k, c in group.certificates.items()})
        for name, group in found.groups.items()
    }
    worst = {name: replace(c, upper=1.0) for name, c in found.worst.items()}
    of_nothing = KINDS["groups"].page(replace(found, groups=proven, worst=worst))
    assert re.search(r"The worst proven is the group [01]: at least 0\.\d", of_nothing)
    assert "For every group" not in of_nothing
