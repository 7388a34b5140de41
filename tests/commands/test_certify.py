"""``calcert certify``: the report of the library, from a file, in words or as JSON."""

from __future__ import annotations

import html
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import calcert
from calcert import Report, Settings
from calcert.foundation.number_text import at_most
from calcert.reports.classes import ClassReport
from calcert.show.certificate_words import STATEMENTS

from .conftest import Run


def unfiled(text: str) -> dict[str, Any]:
    """JSON of a report, without the facts that it is filed with."""
    values: dict[str, Any] = json.loads(text)
    assert values.pop("facts").keys() == {"said", "columns", "files", "reading", "left_out", "time", "calcert"}
    return values


def test_json_is_the_report_of_the_library(run: Run, rows: tuple[Any, Any]) -> None:
    expected = calcert.certify(*rows).to_dict()
    for file in ("rows.csv", "rows.parquet", "rows.jsonl"):
        done = run("certify", file, "--score", "p", "--label", "y", "--json")
        assert done.exit_code == 0
        assert unfiled(done.stdout) == expected
        assert done.stderr == ""


def test_settings_reach_the_report(run: Run, rows: tuple[Any, Any]) -> None:
    done = run(
        *("certify", "rows.csv", "--json", "--confidence", "0.99", "--bandwidth", "2^-5"),
        *("--variation", "3/2", "--seed", "4"),
    )
    expected = calcert.certify(
        *rows, settings=calcert.Settings(confidence=0.99, bandwidth=1 / 32, variation=1.5, seed=4)
    )
    assert unfiled(done.stdout) == expected.to_dict()
    assert expected != calcert.certify(*rows)
    assert "scores from column 'p', labels from column 'y'" in done.stderr or done.stderr == ""


def test_the_table_shows_every_bound_of_the_report(run: Run, rows: tuple[Any, Any]) -> None:
    report = calcert.certify(*rows)
    text = run("certify", "rows.csv", "--score", "p", "--label", "y", "--details").stdout
    assert text.startswith(report.verdict.sentence)
    short = run("certify", "rows.csv", "--score", "p", "--label", "y").stdout
    answer = short[: short.index("Read from")]
    assert len(answer.splitlines()) <= 12
    assert text.startswith(answer)
    for certificate in report.certificates.values():
        assert f"{at_most(certificate.upper)}" in text
    assert "confidence 0.95" in text
    assert "estimate, without guarantee" in text
    assert all(line == line.rstrip() and len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("chosen", [("distance",), ("perturbed", "l1"), ("cutoff",)])
def test_statements_asked_for_are_all_that_text_json_page_and_picture_have(
    run: Run, rows: tuple[Any, Any], chosen: tuple[str, ...], tmp_path: Path
) -> None:
    asked = [word for name in chosen for word in ("--statement", name)]
    everything = calcert.certify(*rows, settings=Settings(odds=1 / 16))
    report = calcert.certify(*rows, settings=Settings(statements=chosen))
    assert report.certificates == {name: everything.certificates[name] for name in chosen}
    assert unfiled(run("certify", "rows.csv", "--json", *asked).stdout) == report.to_dict()
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"
    text = run("certify", "rows.csv", *asked, "--html", str(page), "--plot", str(picture), "--details").stdout
    for name, certificate in everything.certificates.items():
        shown = at_most(certificate.upper)
        assert (shown in text) == (name in chosen)
        assert (f'class="name">{STATEMENTS[name].title}</th>' in page.read_text()) == (name in chosen)
    for content in (page, picture):
        assert ("of perturbed scores" in content.read_text().lower()) == ("perturbed" in chosen)
    assert report.verdict.next in html.unescape(page.read_text())
    again = Report.from_dict(report.to_dict())
    assert again == report
    assert again.settings.statements == chosen


def test_groups_and_classes_are_certified_for_the_statements_asked_for() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(600)
    groups = calcert.certify(
        x, rng.random(600) < x, groups=np.where(x < 0.5, "a", "b"), settings=Settings(statements="perturbed")
    )
    assert groups.worst.keys() == groups.groups["a"].certificates.keys() == {"perturbed"}
    assert groups.worst_first() == groups.worst_first("perturbed")
    p = rng.dirichlet(np.ones(3), 300)
    classes = calcert.certify(p, p.argmax(axis=1), settings=Settings(statements=("distance", "l1")))
    assert isinstance(classes, ClassReport)
    for found in (classes.certificates, classes.mean, classes.worst, classes.classes["0"].certificates):
        assert list(found) == ["l1", "distance"]
    for report in (groups, classes):
        assert len(str(report).splitlines()) > 5
        assert report.plot().axes
        assert "<svg" in (report._repr_html_() or "")


def test_a_statement_that_is_not_there_or_not_proved_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"statement must be one of 'perturbed'.*; got 'sharpness'"):
        calcert.certify([0.2, 0.8], [0, 1], settings=Settings(statements="sharpness"))
    x = np.random.default_rng(0).random(5_000)
    rows = calcert.Rows(x, x > 0.5, weights=np.ones(5_000), largest_weight=1)
    with pytest.raises(ValueError, match="l1 is not certified: a bound on a variation is of no use"):
        calcert.certify(rows, settings=Settings(statements="l1", variation=1))


def test_the_page_holds_the_bounds_and_the_command_that_repeats_it(
    run: Run, rows: tuple[Any, Any], tmp_path: Path
) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    path = tmp_path / "report.html"
    done = run("certify", "rows.csv", "--score", "p", "--label", "y", "--bandwidth", "1/32", "--html", str(path))
    assert done.exit_code == 0
    assert done.stdout.startswith("Miscalibrated (95% confidence)")
    assert done.stderr == f"report written to {path}\n"
    page = path.read_text()
    assert "calcert certify rows.csv --score p --label y --bandwidth 0.03125" in page
    assert f"{at_most(calcert.certify(*rows, settings=calcert.Settings(bandwidth=1 / 32)).perturbed.upper)}" in page
    refused = run("certify", "rows.csv", "--html", str(tmp_path / "no" / "report.html"))
    assert refused.exit_code == 2
    assert "must lie in a folder that exists" in refused.stderr
    refused = run("certify", "rows.csv", "--html", str(tmp_path))
    assert refused.exit_code == 2
    assert "is a folder. Name a file in it, such as" in " ".join(refused.stderr.split())


def test_what_a_page_needs_is_asked_for_before_rows_are_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("jinja2", "matplotlib"):
        monkeypatch.setitem(sys.modules, library, None)
    for option, library in (("--html", "jinja2"), ("--plot", "matplotlib")):
        refused = run("certify", "there is no such file.csv", option, "report")
        assert refused.exit_code == 2
        assert f"need {library}, which is not installed" in " ".join(refused.stderr.split())


def test_several_files_are_one_source(run: Run, rows: tuple[Any, Any], tmp_path: Path) -> None:
    copy = shutil.copy("rows.csv", tmp_path / "copy.csv")
    done = run("certify", "rows.csv", str(copy), "--score", "p", "--label", "y", "--json")
    twice = calcert.certify(np.tile(rows[0], 2), np.tile(rows[1], 2))
    assert unfiled(done.stdout) == twice.to_dict()


def test_the_query_of_sql_gives_the_same_certificates_as_the_rows(
    run: Run, rows: tuple[Any, Any], tmp_path: Path
) -> None:
    query = run("sql", "'rows.parquet'", "--score", "p", "--label", "y", "--dialect", "duckdb").stdout
    saved = tmp_path / "cells.csv"
    duckdb.sql(f"COPY ({query.strip()}) TO '{saved}' (HEADER)")
    done = run("certify", str(saved), "--json")
    assert unfiled(done.stdout) == calcert.certify(*rows).to_dict()
    # What a tool cut short must not pass for the whole.
    lines = saved.read_text().splitlines(keepends=True)
    saved.write_text("".join(lines[:-10]))
    cut = run("certify", str(saved))
    assert cut.exit_code == 2
    assert "whole result of the query" in cut.stderr


def test_a_rare_outcome_gets_a_warning(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("p,y\n" + "0.001,0\n" * 999 + "0.001,1\n")
    text = " ".join(run("certify", str(path), "--bandwidth", "1/64").stdout.split())
    assert "Warning: bandwidth 0.015625 is large next to the mean score of the rarer outcome, 0.001" in text
    assert "Warning" not in run("certify", str(path)).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.csv"], "there is no such file"),
        (
            ["rows.csv", "--score", "q", "--label", "y"],
            "score must be a column of rows.csv; got 'q'. It has",
        ),
        (["none.csv"], "none.csv must hold at least one row; got none."),
        (
            ["words.csv", "--score", "p", "--label", "y"],
            "scores must be numbers in [0, 1]; got 'high' on line 2 of words.csv.",
        ),
        (["logits.csv"], "scores must lie in [0, 1]; got 1.75 on line 3 of logits.csv. If they are logits"),
        (["broken.parquet"], "broken.parquet must be complete parquet"),
        (["rows.csv", "-"], "- must stand alone"),
        (["rows.csv", "--confidence", "5"], "may fail with probability 5% pass 0.95"),
        (["rows.csv", "--confidence", "95"], "For a confidence of 95% pass 0.95."),
        (["rows.csv", "--confidence", "0.05"], "may fail with probability 0.05 pass 0.95."),
        (["rows.csv", "--confidence", "0.5"], "--confidence must lie strictly between 0.5 and 1; got 0.5."),
        (["rows.csv", "--confidence", "5%"], "'5%' is not a number. Write it as a decimal, such as 0.95 for 95%."),
        (["rows.csv", "--bandwidth", "1/0"], "is not a number"),
        (["rows.csv", "--variation", "0"], "must be positive"),
        (["rows.csv", "--seed", "-1"], "not in the range x>=0"),
        (["rows.csv", "--statement", "all"], "'perturbed', 'in_the_large', 'l1', 'cutoff', 'distance'"),
        ([], "Missing argument 'FILE...'"),
    ],
)
def test_bad_input_is_told_in_one_message_with_code_2(run: Run, arguments: list[str], said: str) -> None:
    done = run("certify", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ["certify", "a.csv", "--html", "a.csv"],
        ["certify", "*.csv", "--html", "./a.csv"],
        ["certify", "a.csv", "--plot", "p.png", "--html", "p.png"],
        ["check", "a.csv", "--max", "0.9", "--statement", "distance", "--junit", "a.csv"],
    ],
    ids=" ".join,
)
def test_nothing_that_is_read_is_overwritten(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "p,y\n" + "0.5,1\n0.25,0\n" * 50
    Path("a.csv").write_text(rows)
    refused = run(*words, "--score", "p", "--label", "y")
    assert refused.exit_code == 2
    assert "must name a file that is neither read nor written otherwise; got" in refused.stderr
    assert Path("a.csv").read_text() == rows
    assert os.listdir() == ["a.csv"]


def test_classes_come_from_columns(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names, p = np.array(["cat", "dog", "bird"]), rng.dirichlet([2.0, 1.0, 1.0], 300)
    y = names[(rng.random((300, 1)) > p.cumsum(axis=1)).sum(axis=1)]
    path = tmp_path / "rows.csv"
    lines = [",".join([*map(repr, row.tolist()), label]) for row, label in zip(p, y, strict=True)]
    path.write_text("\n".join(["p_cat,p_dog,p_bird,animal", *lines]) + "\n")
    arguments = ("certify", str(path), "--class-columns", "p_*", "--label", "animal")
    expected = calcert.certify(calcert.Rows(p, y, class_names=list(names))).to_dict()
    done = run(*arguments, "--workers", "2", "--json")
    assert unfiled(done.stdout) == expected
    assert list(expected["classes"]) == list(names)
    some = unfiled(run(*arguments, "--statement", "cutoff", "--json").stdout)
    for found in (some, some["mean"], some["worst"], *some["classes"].values()):
        assert "cutoff" in found
        assert "distance" not in found
    shown = run(*arguments, "--statement", "cutoff", "--html", str(tmp_path / "page.html")).stdout
    assert "Each of 3 classes against the rest" in shown
    assert "distance" not in shown
    page = html.unescape((tmp_path / "page.html").read_text())
    assert f"calcert certify {path} --label animal --class-columns 'p_*' --statement cutoff" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--class-names", "a,b,c"), "--class-names must come with --class-columns"),
        (("--workers", "2"), "--workers must come with groups or classes; got 2, and none."),
        (("--class-columns", "p_*", "--groups", "y"), "groups must not come with classes"),
        (("--class-columns", "p_*", "--smallest-group", "9"), "--smallest-group must not come with classes"),
        (("--class-columns", "p_*", "--clusters", "y"), "--clusters must not come with classes"),
        (("--class-columns", "p_*", "--positive", "y"), "--positive must not come with classes"),
        (("--class-columns", "p_*"), "'p_*' matches 0 of 'p', 'y'"),
    ],
)
def test_what_does_not_go_with_classes_is_refused(run: Run, arguments: tuple[str, ...], words: str) -> None:
    done = run("certify", "rows.csv", "--label", "y", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("score", "options", "hint"),
    [
        ("k.A.", [], 'If it stands for a missing value, pass --drop-missing --missing "k.A.".'),
        ("k.A.", ["--decimal", ","], 'If it stands for a missing value, pass --drop-missing --missing "k.A.".'),
        ("#DIV/0!", [], 'If it stands for a missing value, pass --drop-missing --missing "#DIV/0!".'),
        (
            "1,25 %",
            [],
            'if some are shares, --mixed-percent. For decimal commas pass --decimal ",".',
        ),
    ],
)
def test_a_score_that_cannot_be_read_gets_all_options_that_would_help(
    run: Run, tmp_path: Path, score: str, options: list[str], hint: str
) -> None:
    (tmp_path / "bad.csv").write_text(f"p;y\n{score};1\n0;0\n")
    refused = run("certify", str(tmp_path / "bad.csv"), "--score", "p", "--label", "y", *options)
    assert refused.exit_code == 2
    assert hint in refused.stderr


def test_a_page_goes_to_standard_output_alone(run: Run) -> None:
    done = run("certify", "rows.csv", "--html", "-")
    assert done.exit_code == 0
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stdout.rstrip().endswith("</html>")
    checked = run("check", "rows.csv", "--statement", "distance", "--max", "0.9", "--html", "-")
    assert checked.stdout.rstrip().endswith("</html>")
    assert checked.stderr.count("Within 0.9 (95% confidence)") == 1
    assert not Path("-").exists()
    both = run("certify", "rows.csv", "--html", "-", "--json")
    assert both.exit_code == 2
    assert "neither read nor written otherwise" in both.stderr
    assert "only pages and metrics go to standard output" in run("certify", "rows.csv", "--plot", "-").stderr
