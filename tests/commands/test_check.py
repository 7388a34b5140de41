"""``calcert check``: a gate with three outcomes, each with its exit code and its reason."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.optimize import isotonic_regression

import calcert
from calcert.cli import main
from calcert.foundation.number_text import given
from calcert.reports.classes import ClassReport

from .conftest import Run


@pytest.fixture
def balanced(tmp_path: Path) -> str:
    """Two thousand rows of score 1/2, half of them positive: perfectly calibrated."""
    path = tmp_path / "balanced.csv"
    path.write_text("p,y\n" + "0.5,1\n0.5,0\n" * 1000)
    return str(path)


@pytest.fixture
def overconfident(tmp_path: Path) -> str:
    """Two thousand rows of score 0.9, half of them positive: off by 0.4."""
    path = tmp_path / "overconfident.csv"
    path.write_text("p,y\n" + "0.9,1\n0.9,0\n" * 1000)
    return str(path)


@pytest.mark.parametrize("statement", ["perturbed", "l1", "distance"])
def test_a_small_error_is_certified_with_code_0(run: Run, balanced: str, statement: str) -> None:
    done = run("check", balanced, "--max", "0.1", "--statement", statement)
    assert done.exit_code == 0
    assert done.stdout.startswith("Within 0.1 (95% confidence): the error is at most 0.0")
    assert "2,000 rows, confidence 0.95" in done.stdout


@pytest.mark.parametrize("statement", ["perturbed", "l1", "distance"])
def test_the_bound_is_the_one_of_the_report(
    run: Run, rows: tuple[Any, Any], statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The estimate of rows takes seconds and is no matter here.
    monkeypatch.setattr("calcert.reports.verdict._plan", lambda *arguments: None)
    upper = calcert.certify(*rows, settings=calcert.Settings(statements=statement)).certificates[statement].upper
    above, below = (f"{upper * factor:.9f}" for factor in (1.000001, 0.999999))
    assert run("check", "rows.csv", "--max", above, "--statement", statement).exit_code == 0
    assert run("check", "rows.csv", "--max", below, "--statement", statement).exit_code == 1


def test_a_large_error_is_told_that_rows_cannot_help(run: Run, overconfident: str) -> None:
    done = run("check", overconfident, "--max", "0.3", "--statement", "l1")
    assert done.exit_code == 1
    assert done.stdout.startswith("Beyond 0.3 (95% confidence): the error is at least 0.3")
    assert "\nNext: recalibrate on held-out rows (calcert recalibrate); more rows cannot bring" in done.stdout


def test_an_error_that_is_only_estimated_to_be_large_is_not_called_certain(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("p,y\n" + "0.2,0\n0.4,1\n0.6,1\n0.8,1\n" * 8)
    done = run("check", str(path), "--score", "p", "--label", "y", "--max", "0.05", "--statement", "distance")
    assert done.exit_code == 1
    assert (
        "Next: recalibrate on held-out rows (calcert recalibrate). Estimate: probably no number of rows" in done.stdout
    )
    assert "would do: the error is estimated at 0.2" in done.stdout
    assert "fresh rows" not in done.stdout
    assert "proven to be at least 0.00" in done.stdout
    assert "Recalibrate" not in done.stdout


def test_check_and_certify_give_the_same_advice(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "off.csv"
    path.write_text("p,y\n" + "0.9,1\n0.9,0\n" * 2000)
    asked = (str(path), "--score", "p", "--label", "y")
    for largest, kind in ((0.3, "beyond"), (0.4, "cannot tell"), (0.5, "within")):
        checked = json.loads(run("check", *asked, "--max", str(largest), "--json").stdout)["verdict"]
        report = calcert.certify(calcert.Rows(str(path), score="p", label="y"), tolerance=largest)
        assert checked["kind"] == report.verdict.kind == kind
        assert checked["next"] == report.verdict.next
        said = checked["sentence"].removesuffix(".")
        assert report.verdict.sentence.startswith(said), "which adds the direction"


def test_predicted_classes_are_told_to_ask_for_probabilities(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "decided.csv"
    path.write_text("p,y\n" + "1,1\n1,0\n0,1\n0,0\n" * 50)
    result = run("check", str(path), "--score", "p", "--label", "y", "--max", "0.05", "--statement", "distance")
    assert result.exit_code == 1
    assert "Next: certify probabilities, such as predict_proba returns" in result.stdout
    assert "recalibrate" not in result.stdout


def test_too_few_rows_are_told_about_how_many_would_do(run: Run, balanced: str) -> None:
    upper = calcert.certify(calcert.summarize([0.5] * 2000, [0, 1] * 1000)).l1.upper
    done = run("check", balanced, "--max", f"{upper / 2:.4f}", "--statement", "l1")
    assert done.exit_code == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Next: label fresh rows. Estimate: about ")
    # Half the bound takes about four times the rows.
    assert 4000 <= int(last.split()[6].replace(",", "")) <= 16_000
    assert f"about {last.split()[6]} fresh rows should be enough" in done.stdout


@pytest.fixture
def grouped(tmp_path: Path) -> str:
    """Three groups of one score, calibrated in a and b; c has ten rows."""
    rows = ["0.5,1,a\n0.5,0,a\n"] * 1000 + ["0.5,1,b\n0.5,0,b\n"] * 500 + ["0.5,1,c\n0.5,0,c\n"] * 5
    path = tmp_path / "grouped.csv"
    path.write_text("p,y,site\n" + "".join(rows))
    return str(path)


def test_the_worst_group_must_pass(run: Run, grouped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calcert.reports.verdict._plan", lambda *arguments: None)
    uppers = [calcert.certify([0.5] * 2 * k, [0, 1] * k).distance.upper for k in (1000, 500, 5)]
    assert uppers[0] < uppers[1] < 0.1 < uppers[2]
    arguments = ("check", grouped, "--statement", "distance", "--groups", "site", "--score", "p", "--label", "y")
    assert json.loads(run(*arguments, "--max", "0.1", "--json").stdout)["group"] == "c"
    within = ("--smallest-group", "100", "--junit", str(tmp_path / "out.xml"), "--max")
    above, below = (f"{uppers[1] * factor:.9f}" for factor in (1.000001, 0.999999))
    assert run(*arguments, *within, above, "--workers", "2").exit_code == 0
    done = run(*arguments, *within, below)
    assert done.exit_code == 1
    assert (
        "of the classifier with its current scores, worst of 2 groups (100 rows or more).\n3,000 rows"
        in done.stdout
        in done.stdout
    )
    case = ElementTree.parse(tmp_path / "out.xml").getroot().find("testsuite/testcase")
    assert case is not None
    assert case.get("name") == f"distance of every group by site at most {given(float(below))}"
    wrong = run("check", grouped, "--statement", "distance", "--max", "0.1", "--smallest-group", "9")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "--smallest-group must come with --groups" in wrong.stderr
    assert run(*arguments[:-5], "region", *arguments[-4:], "--max", "0.1").exit_code == 2


def test_what_the_worst_group_lacks_is_said_of_that_group(run: Run, grouped: str) -> None:
    done = run("check", grouped, "--max", "0.2", "--statement", "l1", "--groups", "site")
    assert "rows of the group c (the largest bound)" in done.stdout


@pytest.fixture
def three(tmp_path: Path) -> str:
    """Three classes: b, stated as 0.25, is never right, and c, stated as 0.25, every other time, which varies more."""
    path = tmp_path / "three.csv"
    path.write_text("p_a,p_b,p_c,animal\n" + "0.5,0.25,0.25,a\n0.5,0.25,0.25,c\n" * 1000)
    return str(path)


WHOSE = {"prediction": "among", "worst": "of", "mean": "over"}


@pytest.mark.parametrize("of", WHOSE)
def test_of_classes_the_bound_is_that_of_the_report(
    run: Run, three: str, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calcert.reports.verdict._plan", lambda *arguments: None)
    report = calcert.certify(calcert.Rows(three, label="animal", class_columns="p_*"), confidence=0.9)
    upper = report.cutoff.upper if of == "prediction" else getattr(report, of)["cutoff"].upper
    arguments = ("check", three, "--class-columns", "p_*", "--label", "animal", "--statement", "cutoff", "--of", of)
    for factor, code in ((1.000001, 0), (0.999999, 1)):
        done = run(*arguments, "--confidence", "0.9", "--max", f"{upper * factor:.9f}", "--json")
        found = json.loads(done.stdout)
        assert (done.exit_code, found["certificate"]["upper"]) == (code, upper)
        assert found["class"] == ("c" if of == "worst" else None)
    assert f"of the classifier with its current scores, {of} {WHOSE[of]} 3 classes." in found["words"][1]


def test_what_a_class_lacks_is_said_of_that_class(run: Run, three: str) -> None:
    arguments = ("check", three, "--class-columns", "p_a,p_b,p_c", "--class-names", "a,b,c", "--label", "animal")
    done = run(*arguments, "--statement", "distance", "--max", "0.2505", "--of", "worst")
    assert "rows for the class c (the largest bound)" in done.stdout
    done = run(*arguments, "--statement", "distance", "--max", "0.02")
    assert "prediction among 3 classes" in done.stdout, "unless it is said whose error, it is that of the prediction"
    assert "Estimate: about" in done.stdout
    done = run(*arguments, "--statement", "distance", "--max", "0.1", "--of", "mean")
    assert "Beyond 0.1 (95% confidence): the error is at least 0.1" in done.stdout
    alone = run("check", "rows.csv", "--max", "0.1", "--statement", "distance", "--of", "worst")
    assert (alone.exit_code, "--of must come with probabilities of many classes" in alone.stderr) == (2, True)


def test_the_page_of_a_check_has_verdict_policy_and_the_whole_report(run: Run, three: str, tmp_path: Path) -> None:
    policy, page = tmp_path / "policy.toml", tmp_path / "page.html"
    policy.write_text('version = "7"\nmax = 0.1\nlooks = [2000, 4000]\nstatement = "distance"\nclass_columns = "p_*"\n')
    done = run("check", three, "--policy", str(policy), "--label", "animal", "--html", str(page))
    assert done.exit_code == 0
    written = page.read_text()
    assert done.stdout.splitlines()[0] in written
    assert f"calcert check {three} --label animal --policy {policy}" in written
    assert "Policy" in written
    report = calcert.certify(calcert.Rows(three, label="animal", class_columns="p_*"), confidence=0.975)
    assert isinstance(report, ClassReport)
    assert f'"upper": {report.worst["cutoff"].upper!r}' in written


def test_junit_of_each_outcome(run: Run, balanced: str, tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    cases = {
        "system-out": (balanced, "0.1", 0),
        "failure": (balanced, "0.001", 1),
        "error": ("gone.csv", "0.1", 2),
    }
    for element, (file, largest, code) in cases.items():
        done = run("check", file, "--max", largest, "--statement", "l1", "--junit", str(path))
        assert done.exit_code == code
        suite = ElementTree.parse(path).getroot().find("testsuite")
        assert suite is not None
        counts = (suite.get("tests"), suite.get("failures"), suite.get("errors"))
        assert counts == ("1", str(int(code == 1)), str(int(code == 2)))
        case = suite.find("testcase")
        assert case is not None
        assert case.get("name") == f"l1 at most {largest}"
        assert [child.tag for child in case] == [element]
        words = case[0].text or ""
        assert words in (done.stdout.strip() if code < 2 else done.stderr)
        facts = {item.get("name"): item.get("value") for item in suite.iter("property")}
        assert facts["max"] == largest
        if code < 2:
            assert float(facts["upper"] or 0) == calcert.certify([0.5] * 2000, [0, 1] * 1000).l1.upper
            assert facts["rows"] == "2000"
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rows.csv", "--max", "3", "--statement", "perturbed"], "For 3% write 0.03"),
        (["rows.csv", "--statement", "perturbed"], "--max-ratio and --max-observed must be given; got none"),
        (["rows.csv", "--max", "0.1", "--max-ratio", "2"], "--max-ratio and --max-observed must be given; got both"),
        (["rows.csv", "--statement", "l1", "--max-ratio", "2"], "--statement must be in_the_large with --max-ratio"),
        (["rows.csv", "--statement", "cutoff", "--max-observed", "1"], "got 'cutoff'. Leave it out, or demand --max."),
        (["rows.csv", "--max-observed", "1", "--of", "worst"], "--of must come with probabilities of many classes"),
        (["rows.csv", "--max-ratio", "1"], "1.0 is not in the range x>1.0"),
        (["none.csv", "--max", "0.1", "--statement", "distance"], "must hold at least one row"),
        (["logits.csv", "--max", "0.1", "--statement", "distance"], "got 1.75 on line 3"),
    ],
)
def test_bad_input_has_code_2_and_never_1(run: Run, arguments: list[str], said: str) -> None:
    done = run("check", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_bug_is_never_mistaken_for_an_outcome(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("calcert.show.outcome.outcome_words", broken)
    done = run("check", "rows.csv", "--max", "0.1", "--statement", "distance")
    assert done.exit_code == 70
    assert "This is a bug in calcert" in done.stderr


def test_rows_in_clusters_are_checked_as_such(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "clusters.csv"
    lines = [f"0.5,{number % 2},user {number // 10}" for number in range(2000)]
    path.write_text("\n".join(["p,y,user", *lines]))
    alone = run("check", str(path), "--score", "p", "--label", "y", "--max", "0.05", "--statement", "distance")
    together = run(
        *("check", str(path), "--score", "p", "--label", "y"),
        *("--max", "0.05", "--statement", "distance", "--clusters", "user"),
    )
    assert alone.exit_code == 0
    assert together.exit_code == 1
    assert "for a row drawn at random from clusters of these sizes" in together.stdout
    assert "such clusters" in together.stdout


def test_the_result_of_a_query_with_clusters_is_checked_as_the_rows_are(run: Run, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    database.execute("CREATE TABLE t AS SELECT 0.5 AS p, i % 2 AS y, i // 10 AS u FROM range(2000) AS r(i)")
    text = run("sql", "t", "--score", "p", "--label", "y", "--clusters", "u", "--dialect", "duckdb").stdout
    database.execute(f"COPY ({text}) TO '{tmp_path / 'cells.csv'}' (HEADER)")
    database.execute(f"COPY t TO '{tmp_path / 'rows.csv'}' (HEADER)")
    named = ("--score", "p", "--label", "y", "--clusters", "u")
    judged = ("--max", "0.2", "--statement", "cutoff")
    cells = run("check", str(tmp_path / "cells.csv"), *judged)
    assert cells.exit_code == 0
    assert cells.stdout == run("check", str(tmp_path / "rows.csv"), *named, *judged).stdout


@pytest.fixture
def refitted(run: Run, folder: Path, rows: tuple[Any, Any]) -> str:
    """The rows with scores that isotonic regression was fitted to on the same rows, and a group for every row."""
    order = np.argsort(rows[0])
    fitted = np.clip(isotonic_regression(rows[1][order].astype(float)).x, 0, 1)
    lines = zip(fitted.tolist(), rows[1][order].tolist(), itertools.cycle("ab"), strict=False)
    (folder / "refitted.csv").write_text("p,y,group\n" + "".join(f"{x!r},{y},{group}\n" for x, y, group in lines))
    return "refitted.csv"


@pytest.mark.parametrize("groups", [(), ("--groups", "group")])
def test_rows_that_the_scores_were_fitted_on_do_not_pass(run: Run, refitted: str, groups: tuple[str, ...]) -> None:
    asked = ("check", refitted, "--score", "p", "--label", "y", "--max", "0.3", "--statement", "distance", *groups)
    done = run(*asked)
    assert done.exit_code == 1
    assert done.stdout.startswith("Not certified: these rows agree with the scores better than fresh rows can")
    assert "pass --fitted-on-other-rows" in done.stdout
    found = json.loads(run(*asked, "--json").stdout)
    assert found["passed"] is False
    assert len(found["warnings"]) == 1
    said = run(*asked, "--fitted-on-other-rows")
    assert said.exit_code == 0
    assert "overrules a warning" in said.stdout
    told = run("certify", refitted, "--score", "p", "--label", "y", *groups).stdout
    assert "\nWarning: these rows agree with the scores" in f"\n{told}"
    assert groups or told.startswith("Cannot tell: the scores look fitted on these rows")


def test_a_policy_may_say_that_scores_were_fitted_on_other_rows(run: Run, refitted: str, folder: Path) -> None:
    (folder / "refitted.toml").write_text(
        'version = "1"\nmax = 0.3\nstatement = "distance"\nfitted_on_other_rows = true\n'
    )
    asked = ("check", refitted, "--score", "p", "--label", "y", "--policy", "refitted.toml")
    assert run(*asked).exit_code == 0


def test_a_bound_that_is_too_large_is_told_beside_the_warning(run: Run, refitted: str) -> None:
    done = run("check", refitted, "--score", "p", "--label", "y", "--max", "0.001", "--statement", "distance")
    assert done.exit_code == 1
    assert done.stdout.startswith("Cannot tell yet whether the error is within 0.001")
    assert "\nWarning: these rows agree" in done.stdout


def test_rare_events_are_limited_by_observed_over_expected(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "fraud.csv"
    rng = np.random.default_rng(0)
    x = rng.beta(0.5, 50, 30_000)
    lines = [f"{p!r},{int(y)}" for p, y in zip(x.tolist(), (rng.random(x.size) < x / 3).tolist(), strict=True)]
    path.write_text("\n".join(["p,y", *lines]))
    asked = ("check", str(path), "--score", "p", "--label", "y")
    assert run(*asked, "--max", "0.03").exit_code == 0, "as every model that says 0 would"
    done = run(*asked, "--max-ratio", "1.25", "--junit", str(tmp_path / "out.xml"))
    assert done.exit_code == 1
    assert done.stdout.startswith("Beyond 1/1.25 to 1.25 (95% confidence): observed / expected is 0.")
    assert "scores are too high" in done.stdout
    assert "observed / expected at most 1.25" in (tmp_path / "out.xml").read_text()
    report = calcert.certify(calcert.Rows(str(path), score="p", label="y"))
    assert report.observed_over_expected is not None
    within = 1.000001 / report.observed_over_expected.lower
    passed = run(*asked, "--max-ratio", f"{within:.9f}", "--json")
    assert (passed.exit_code, json.loads(passed.stdout)["verdict"]["kind"]) == (0, "within")
    named = run(*asked, "--max-ratio", f"{within:.9f}", "--statement", "in_the_large", "--json")
    assert (named.exit_code, json.loads(named.stdout)["words"]) == (0, json.loads(passed.stdout)["words"])
    unsure = run(*asked, "--max-ratio", f"{0.999 * within:.9f}")
    assert (unsure.exit_code, unsure.stdout.partition(" whether")[0]) == (1, "Cannot tell yet")
    assert "observed / expected 0." in report.verdict.sentence
    gate = calcert.certify(calcert.Rows(str(path), score="p", label="y"), tolerance=0.03)
    assert any("a model that always says 0 passes" in warning for warning in gate.warnings)
    assert not any("always says" in warning for warning in report.warnings)


def test_prudence_is_one_sided_and_every_grade_must_pass(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    grade = rng.integers(0, 3, 20_000)
    score = np.array([0.01, 0.03, 0.1])[grade]
    chance = score * np.array([0.5, 0.7, 0.9])[grade]
    rows = pd.DataFrame({"pd": score, "y": (rng.random(20_000) < chance).astype(int), "grade": grade})
    path = str(tmp_path / "loans.csv")
    rows.to_csv(path, index=False)
    asked = ["check", path, "--score", "pd", "--label", "y"]
    done = CliRunner().invoke(main, [*asked, "--max-observed", "1"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Prudent (95% confidence): observed is at most 0.")
    # Two-sided, scores that are so high do not pass.
    assert CliRunner().invoke(main, [*asked, "--max-ratio", "1.05"]).exit_code == 1
    named = CliRunner().invoke(main, [*asked, "--max-observed", "1", "--statement", "in_the_large"])
    assert (named.exit_code, named.output) == (0, done.output)
    by_grade = CliRunner().invoke(main, [*asked, "--max-observed", "1", "--groups", "grade", "--json"])
    found = json.loads(by_grade.output)
    alone = {
        str(g): calcert.bounds.observed_over_expected(part["pd"], part["y"], side="at most").upper
        for g, part in rows.groupby("grade")
    }
    worst = max(alone, key=lambda g: alone[g])
    assert (found["group"], found["max_observed"]) == (worst, 1.0)
    assert found["certificate"]["upper"] == alone[worst]
    assert found["passed"] == (alone[worst] <= 1) == (by_grade.exit_code == 0)
    strict = CliRunner().invoke(main, [*asked, "--max-observed", "0.5", "--groups", "grade"])
    assert strict.exit_code == 1
    assert "Not proven prudent" in strict.output
    with pytest.raises(TypeError, match="max_observed must come without several columns of groups"):
        calcert.check(rows.assign(age=0), score="pd", label="y", groups=["grade", "age"], max_observed=1)
    with pytest.raises(ValueError, match="max_observed must be a positive number, such as 1; got 0"):
        calcert.check(rows, score="pd", label="y", max_observed=0)
