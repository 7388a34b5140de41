"""Groups: every one certified, all together, from every kind of source."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import calcert
from calcert.cli import main
from calcert.foundation.number_text import at_most, short_at_most, span
from calcert.foundation.plain_types import plain
from calcert.reports.groups import GroupReport
from calcert.reports.many import WITH_RANGES
from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.groups.grouped import summarize_groups, summarize_listed
from tests.shared_data import real_data

RNG = np.random.default_rng(0)
SCORES = RNG.random(3_000).round(3)
LABELS = (RNG.random(3_000) < SCORES**1.5).astype(np.int8)
SITES = RNG.choice(["north", "south", "west"], 3_000, p=[0.6, 0.39, 0.01])


@pytest.fixture(scope="module")
def report() -> GroupReport:
    return calcert.certify(SCORES, LABELS, groups=SITES)


def test_each_of_m_groups_is_certified_at_delta_over_m(report: GroupReport) -> None:
    assert set(report.groups) == {"north", "south", "west"}
    for name, group in report.groups.items():
        rows = calcert.summarize(SCORES[name == SITES], LABELS[name == SITES])
        assert group == calcert.certify(rows, settings=calcert.Settings().shared(3))


def test_the_worst_group_has_the_largest_bound_at_full_delta_and_the_largest_lower_bound(report: GroupReport) -> None:
    alone = [calcert.certify(SCORES[name == SITES], LABELS[name == SITES]) for name in report.groups]
    for name, worst in report.worst.items():
        assert worst.upper == max(found.statement(name).upper for found in alone)
        assert worst.lower == max(group.statement(name).lower for group in report.groups.values())
        # Their number costs nothing: below the largest of the bounds that hold together.
        assert worst.upper < max(group.statement(name).upper for group in report.groups.values())
        assert (worst.n, worst.delta, worst.theorem) == (3_000, 0.05, "Theorem W, worst")
        assert worst.quantity.endswith(", worst of 3 groups")
    text = " ".join(str(report).split())
    printed = re.findall(r"No group has a larger L1 calibration error than (\S+) \(95% confidence\)", text)
    assert printed == [short_at_most(report.worst["l1"].upper)]
    frame = report.to_frame("polars")
    assert frame.filter(frame["group"].is_null())["upper"].to_list() == [c.upper for c in report.worst.values()]


def test_groups_that_are_too_small_to_count_do_not_decide_what_the_worst_is(report: GroupReport) -> None:
    large = calcert.certify(calcert.Rows(SCORES, LABELS, groups=SITES, smallest_group=100))
    rows = {name: int(np.sum(name == SITES)) for name in report.groups}
    assert rows["west"] < 100 < rows["south"]
    assert large.groups == report.groups
    alone = [calcert.certify(SCORES[site == SITES], LABELS[site == SITES]) for site in ("north", "south")]
    for name, worst in large.worst.items():
        assert worst.upper == max(found.statement(name).upper for found in alone)
        assert worst.n == rows["north"] + rows["south"]
    assert "No group of at least 100 rows has a larger L1 calibration error than" in str(large)
    with pytest.raises(ValueError, match=r"must leave at least one group; got 5,000, and no group has more than"):
        calcert.certify(calcert.Rows(SCORES, LABELS, groups=SITES, smallest_group=5_000))
    with pytest.raises(ValueError, match=r"smallest_group must be a whole number between 1 and .*; got 0"):
        calcert.certify(calcert.Rows(SCORES, LABELS, groups=SITES, smallest_group=0))
    with pytest.raises(TypeError, match="smallest_group must come with groups; got 5, and none"):
        calcert.certify(calcert.Rows(SCORES, LABELS, smallest_group=5))


def test_groups_may_overlap_if_they_are_listed() -> None:
    listed = {"north": SITES == "north", "low": SCORES < 0.5, "all": [1] * 3_000}
    report = calcert.certify(SCORES, LABELS, groups=listed)
    assert report.n == 3_000
    assert report.groups["north"] == calcert.certify(
        SCORES[SITES == "north"], LABELS[SITES == "north"], settings=calcert.Settings().shared(3)
    )
    full = calcert.certify(SCORES[SCORES < 0.5], LABELS[SCORES < 0.5]), calcert.certify(SCORES, LABELS)
    assert report.worst["cutoff"].upper >= max(found.cutoff.upper for found in full)
    assert GroupReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_a_listed_group_without_rows_may_be_as_bad_as_can_be() -> None:
    report = calcert.certify(SCORES, LABELS, groups={"all": SCORES >= 0, "none": SCORES > 1})
    assert report.empty == ("none",)
    assert all(worst.upper == 1.0 for worst in report.worst.values())
    assert report.groups["all"] == calcert.certify(SCORES, LABELS, settings=calcert.Settings().shared(2))
    assert "Of the worst group nothing is certified: no row is of none." in str(report)
    with pytest.raises(ValueError, match="smallest_group must be left out for a list of groups that may overlap"):
        calcert.certify(calcert.Rows(SCORES, LABELS, groups={"all": SCORES >= 0}, smallest_group=10))


def test_listed_groups_come_with_tables_in_memory_too() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame({"p": SCORES, "y": LABELS, "low": SCORES < 0.5})
    expected = summarize_listed(SCORES, LABELS, {"low": SCORES < 0.5})
    assert summarize_listed(frame, None, {"low": frame["low"]}, score="p", label="y") == expected
    other = polars.from_pandas(frame)
    assert summarize_listed(other, None, {"low": other["low"]}, score="p", label="y") == expected
    with pytest.raises(TypeError, match="a mapping of groups must come with rows in memory; got LazyFrame"):
        calcert.certify(other.lazy(), score="p", label="y", groups={"low": other["low"]})
    for wrong, words in (
        ({}, "groups must name at least one group; got none"),
        ({"low": [True]}, r"group 'low' must say of each of 3000 rows whether it belongs; got shape \(1,\)"),
        ({"site": SITES}, f"group 'site' must be True or False for every row; got .*{SITES[0]}.* at row 0"),
        ({"part": [*[True] * 2_999, None]}, "got None at row 2999"),
        ({"part": np.zeros(3_000)}, "groups must have rows; got 1 groups without any"),
        ({1: SCORES < 0.5, "1": SCORES < 0.5}, "every group must have a name of its own"),
        ({"low": frame["low"].iloc[::-1]}, "must have the same index"),
    ):
        with pytest.raises(ValueError, match=words):
            calcert.certify(frame["p"], frame["y"], groups=wrong)


def test_groups_add_up_to_all_rows() -> None:
    parts = summarize_groups(SCORES, LABELS, SITES)
    assert sum(parts.values()) == calcert.summarize(SCORES, LABELS)


def test_worst_groups_come_first(report: GroupReport) -> None:
    lowers = [report.groups[name].l1.lower for name in report.worst_first()]
    assert lowers == sorted(lowers, reverse=True)
    with pytest.raises(ValueError, match="statement must be one of"):
        report.worst_first("squared")


def test_of_groups_of_which_nothing_is_proven_the_largest_come_first() -> None:
    sizes = {"small": 40, "large": 2000, "middle": 400}
    rng = np.random.default_rng(0)
    groups = np.repeat([*sizes, "off"], [*sizes.values(), 500])
    x = rng.random(groups.size)
    found = calcert.certify(x, np.where(groups == "off", x < 0.5, rng.random(groups.size) < x), groups=groups)
    assert found.worst_first() == ["off", "large", "middle", "small"]


def test_json_and_page_keep_no_bands_and_compute_few(monkeypatch: pytest.MonkeyPatch) -> None:
    from calcert.certificates import band

    computed = []
    whole = band.perturbed_band

    def counted(*given: Any) -> Any:
        computed.append(given)
        return whole(*given)

    monkeypatch.setattr(band, "perturbed_band", counted)
    rng = np.random.default_rng(0)
    x, groups = rng.random(3000), np.arange(3000) % 30
    found = calcert.certify(x, rng.random(3000) < x**2, groups=groups, settings=calcert.Settings(odds=1 / 16))
    told = found.to_dict()["groups"]
    assert len(computed) == WITH_RANGES < 30
    assert not any("band" in vars(group) for group in found.groups.values())
    first, last = (found.worst_first()[place] for place in (0, -1))
    assert told[first]["miscalibrated_ranges"] == json.loads(
        json.dumps(plain(found.groups[first].miscalibrated_ranges))
    )
    assert told[last]["miscalibrated_ranges"] is None
    assert {told[name]["fingerprint"] for name in told} == {group.fingerprint for group in found.groups.values()}
    assert found.groups[last].miscalibrated_ranges is not None, "whoever asks gets them"
    assert found.to_dict()["groups"][last]["miscalibrated_ranges"] is not None


def test_the_report_survives_json(report: GroupReport) -> None:
    assert GroupReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    with pytest.raises(ValueError, match="schema 9"):
        GroupReport.from_dict({"schema": 9})


def test_a_group_too_small_to_say_anything_is_shown_as_such() -> None:
    few = calcert.certify([0.5, *SCORES[:800]], [1, *LABELS[:800]], groups=["tiny"] + ["usual"] * 800)
    assert not few.groups["tiny"].l1.telling
    (line,) = [line for line in str(few).splitlines() if line.startswith("tiny")]
    assert line.split() == ["tiny", "1", "at", "least", "0", "not", "proven", "too", "few", "rows"]
    assert few.worst_first()[-1] == "tiny"


def test_the_picture_has_a_bar_a_group_worst_first(report: GroupReport) -> None:
    pytest.importorskip("matplotlib")
    (axes,) = report.plot(statement="cutoff").axes
    names = report.worst_first("cutoff")
    assert [label.get_text().split(" (")[0] for label in axes.get_yticklabels()] == names
    bars = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    expected = [report.groups[name].cutoff for name in names]
    assert [list(bar) for bar in bars] == [[c.lower, c.upper] for c in expected]


def test_a_group_that_is_certain_to_be_worse_than_most_is_in_the_picture(report: GroupReport) -> None:
    pytest.importorskip("matplotlib")
    name = next(iter(report.groups))
    usual = replace(report.groups[name].l1, lower=0.0, upper=0.04)
    groups = {f"group {place}": report.groups[name] for place in range(4)}
    for far, end in ((replace(usual, lower=0.11, upper=0.16), 1.15 * 0.16), (replace(usual, upper=0.9), 1.15 * 0.04)):
        found = [*[usual] * 3, far]
        several = {
            key: replace(one, certificates={**one.certificates, "l1": c})
            for (key, one), c in zip(groups.items(), found, strict=True)
        }
        (axes,) = replace(report, groups=several).plot().axes
        assert axes.get_xlim()[1] == pytest.approx(end)


def test_what_holds_together_is_one_side_of_a_column(report: GroupReport) -> None:
    words = " ".join(str(report).split())
    assert "In the table, all bounds of one side hold at once with 95% confidence." in words


def test_every_source_gives_the_same_groups(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame({"p": SCORES, "y": LABELS, "site": SITES})
    path, text = tmp_path / "rows.parquet", tmp_path / "rows.csv"
    frame.to_parquet(path)
    frame.to_csv(text, index=False)
    expected = summarize_groups(SCORES, LABELS, SITES)
    lazy = polars.from_pandas(frame).lazy()
    assert summarize_groups(SCORES, LABELS, frame["site"]) == expected
    assert summarize_groups(SCORES, LABELS, SITES.tolist()) == expected
    for source in (frame, frame.astype({"site": "category"}), lazy, lazy.collect(), path, str(text), [path]):
        assert summarize_groups(source, None, "site", score="p", label="y") == expected


def test_clusters_are_cut_to_the_rows_that_they_have_in_a_group_in_every_source(tmp_path: Path) -> None:
    import polars

    user, weight = np.arange(SCORES.size) % 97, np.arange(SCORES.size) % 3
    frame = polars.DataFrame({"p": SCORES, "y": LABELS.astype(int), "site": SITES, "user": user, "w": weight})
    path, text = tmp_path / "rows.parquet", tmp_path / "rows.csv"
    frame.write_parquet(path)
    frame.write_csv(text)
    expected = {
        site: calcert.summarize(SCORES[here], LABELS[here], clusters=user[here], weights=weight[here])
        for site in np.unique(SITES)
        for here in (site == SITES,)
    }
    arrays = Weighing(clusters=user, weights=weight)
    assert summarize_groups(SCORES, LABELS, SITES, weighing=arrays) == expected
    for source in (frame, frame.lazy(), frame.to_pandas(), path, text):
        found = summarize_groups(source, None, "site", score="p", label="y", weighing=Weighing("user", "w"))
        assert found == expected
    report = calcert.certify(calcert.Rows(frame, score="p", label="y", groups="site", clusters="user", weights="w"))
    for site, summary in expected.items():
        assert report.groups[site].summary == summary
        assert report.groups[site].n == (site == SITES).sum()
    assert report.worst["distance"].upper == max(
        calcert.bounds.distance(summary, confidence=1 - report.delta).upper for summary in expected.values()
    )
    assert "All bounds are for a row drawn by weight from clusters of these sizes." in " ".join(str(report).split())
    listed = {"all": np.ones(SCORES.size, bool), "odd": user % 2 == 1}
    overlapping = calcert.certify(SCORES, LABELS, groups=listed, clusters=user)
    assert overlapping.groups["all"].summary == calcert.summarize(SCORES, LABELS, clusters=user)
    assert overlapping.n == SCORES.size


def test_what_is_wrong_with_clusters_of_groups_is_said_with_the_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("p,y,site,user,w\n0.5,1,a,1,1\n0.5,1,b,1,-2\n0.5,1,a,,1\n")
    with pytest.raises(ValueError, match=r"weights must be finite and not negative; got -2 on line 3 of .*rows.csv"):
        summarize_groups(path, None, "site", score="p", label="y", weighing=Weighing(weights="w"))
    with pytest.raises(ValueError, match=r"clusters must have no missing values; got one on line 4 of .*rows.csv"):
        summarize_groups(path, None, "site", score="p", label="y", weighing=Weighing(clusters="user"))
    with pytest.raises(ValueError, match="got -2 at row 1"):
        calcert.certify(calcert.Rows([0.5, 0.5], [1, 0], groups=["a", "b"], weights=[1, -2]))
    with pytest.raises(ValueError, match="must not all be zero in any group; got nothing else in 'b'"):
        calcert.certify(calcert.Rows([0.5, 0.5], [1, 0], groups=["a", "b"], weights=[1, 0]))
    with pytest.raises(ValueError, match="groups must be another column than clusters; got 'site' for both"):
        calcert.certify(path, score="p", label="y", groups="site", clusters="site")


@pytest.mark.parametrize("lazily", [False, True])
def test_rows_without_a_group_are_a_group_of_their_own(lazily: bool) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"p": [0.1, 0.2, 0.3, 0.4], "y": [0, 1, 0, 1], "site": ["a", None, "a", None]})
    found = summarize_groups(frame.lazy() if lazily else frame, None, "site", score="p", label="y")
    assert {name: rows.n for name, rows in found.items()} == {"a": 2, "missing": 2}
    numbers = summarize_groups([0.1, 0.2, 0.3], [0, 1, 0], np.array([1.0, np.nan, 1.0]))
    assert {name: rows.n for name, rows in numbers.items()} == {"1.0": 2, "missing": 1}


def test_numbers_and_booleans_are_groups_too() -> None:
    for groups in (np.array([0, 1, 1]), np.array([False, True, True]), [0, 1, 1]):
        assert [rows.n for rows in summarize_groups([0.1, 0.2, 0.3], [0, 1, 0], groups).values()] == [1, 2]


def test_bad_groups_are_refused_in_words(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"p": [0.5, 0.6], "y": [0, 1]})
    with pytest.raises(ValueError, match="groups must be as long as scores; got 1 groups and 2 scores"):
        calcert.certify([0.5, 0.6], [0, 1], groups=["a"])
    with pytest.raises(TypeError, match="as there is no table; got 'site'"):
        calcert.certify([0.5, 0.6], [0, 1], groups="site")
    with pytest.raises(ValueError, match=r"groups must be a column of the table; got 'site'\. It has the columns 'p'"):
        calcert.certify(frame, groups="site")
    with pytest.raises(ValueError, match="groups must be another column than label; got 'y' for both"):
        calcert.certify(frame, score="p", label="y", groups="y")
    with pytest.raises(TypeError, match="groups must name a column"):
        calcert.certify(frame, groups=[1, 2])
    with pytest.raises(ValueError, match="at most 1,000 distinct values"):
        calcert.certify(np.full(2_000, 0.5), np.zeros(2_000), groups=np.arange(2_000))
    with pytest.raises(ValueError, match="one-dimensional"):
        calcert.certify([0.5, 0.6], [0, 1], groups=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"got 1\.73 at row 1"):
        calcert.certify([0.5, 1.73], [0, 1], groups=["b", "a"])


def test_compas_by_race_and_by_sex() -> None:
    rows = real_data("tab_compas_deciles")
    rows["score"] = rows["decile_score"] / 10 - 0.05
    races = calcert.certify(rows[["score", "label", "race"]], score="score", label="label", groups="race")
    assert len(races.groups) == 6
    assert sum(group.l1.n for group in races.groups.values()) == 7_214
    # Deciles are a finite score set: nothing is assumed. Two groups of 18 and 32 rows can prove nothing.
    assert {group.l1.assumption for group in races.groups.values()} == {"none"}
    assert races.groups["African-American"].l1.lower > 0.03
    for small in ("Native American", "Asian"):
        assert races.groups[small].l1.lower == 0
        assert races.groups[small].l1.upper > 0.35
    by_sex = calcert.certify(rows["score"], rows["label"], groups=rows["sex"])
    assert {name: group.l1.n for name, group in by_sex.groups.items()} == {"Female": 1_395, "Male": 5_819}


def test_the_command_line_certifies_groups(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"{x},{y},{site}" for x, y, site in zip(SCORES, LABELS, SITES, strict=True)]
    path.write_text("\n".join(["p,y,site", *lines]))
    command = ["certify", str(path), "--score", "p", "--label", "y", "--groups", "site"]

    def run(*more: str) -> Result:
        return CliRunner().invoke(main, [*command, *more], prog_name="calcert")

    shown = run("--statement", "l1")
    assert shown.exit_code == 0, shown.stderr
    assert "3,000 rows in 3 groups" in shown.stdout
    assert "distance" not in shown.stdout.lower()
    assert "perturb" not in shown.stdout.lower()
    assert "L1: calibration error, assumes the true curve changes sides" in " ".join(shown.stdout.split())
    values = json.loads(run("--json").stdout)
    assert {name: group["l1"]["n"] for name, group in values["groups"].items()} == {
        str(name): int((name == SITES).sum()) for name in np.unique(SITES)
    }
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    assert run("--html", str(page)).stderr == f"report written to {page}\n"
    text = page.read_text(encoding="utf-8")
    assert f"calcert certify {path} --score p --label y --groups site" in text
    assert all(f"{at_most(group['l1']['upper'])}" in text for group in values["groups"].values())
    command[-1] = "region"
    assert "; got 'region'. It has the columns 'p'" in run().stderr


def test_names_and_bounds_are_whole_at_eighty_columns() -> None:
    from calcert.show import as_view
    from calcert.show.text import plain

    rng = np.random.default_rng(0)
    x = rng.random(4_000)
    report = calcert.certify(
        x, rng.random(4_000) < x**2, groups=np.array(["Nord", "Süd-West-Region"])[np.arange(4_000) % 2]
    )
    text = plain(as_view(report), 80)
    assert "…" not in text
    assert "Süd-West-Region" in text
    for group in report.groups.values():
        assert f" {span(group.l1.lower, group.l1.upper)}" in text


def test_groups_that_lack_a_statement_of_the_worst_are_refused() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(600)
    told = calcert.certify(x, rng.random(600) < x, groups=np.repeat(["a", "b"], 300)).to_dict()
    del told["groups"]["a"]["l1"]
    with pytest.raises(ValueError, match=r"the statement 'l1' must be certified; got in_the_large"):
        GroupReport.from_dict(told)
