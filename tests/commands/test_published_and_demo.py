"""``calcert research published`` and ``calcert demo``: other numbers beside ours, each with what it promises."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import calcert
from calcert import published
from calcert.commands.demo import simulate, truth
from calcert.foundation.number_text import at_most, number
from calcert.perturbation.noise import Noise
from calcert.published.compare import compare

from .conftest import Run
from .test_simulated_rows import true_errors


def test_the_comparison_holds_the_numbers_of_the_methods_themselves(rows: tuple[Any, Any]) -> None:
    found = compare(*rows, confidence=0.9, bandwidth=1 / 32, variation=2.0, seed=3)
    assert found.report == calcert.certify(
        *rows, settings=calcert.Settings(confidence=0.9, bandwidth=1 / 32, variation=2.0, seed=3)
    )
    assert found.published["ECE, 15 bins"].value == published.ece(*rows).value
    smoothed, buckets = (found.published[name] for name in ("perturb and smooth", "Lipschitz buckets"))
    assert smoothed.delta == buckets.delta == 0.1
    assert smoothed.parameters["first derivative"] == buckets.parameters["constant"] == 16
    pooled, per_fold = (found.published[f"total variation, {reading}"] for reading in ("pooled folds", "per fold"))
    assert pooled.parameters["variation"] == per_fold.parameters["variation"] == 2.0
    assert (pooled.parameters["reading"], per_fold.parameters["reading"]) == ("pooled", "per fold")
    assert compare(*rows, seed=3).to_dict() == compare(*rows, seed=3).to_dict()


def test_published_shows_every_number_and_what_it_promises(run: Run, rows: tuple[Any, Any]) -> None:
    expected = compare(*rows)
    done = run("research", "published", "rows.parquet", "--score", "p", "--label", "y")
    assert done.exit_code == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    for line in expected.lines:
        assert (at_most if line.bounds else number)(line.value) in done.stdout or "says nothing" in done.stdout
    text = " ".join(done.stdout.split())
    assert f"about {expected.published['ECE, 15 bins'].value:.4f}" in text
    assert text.count("Proved:") == 6
    for bound in expected.published.values():
        assert all(fault in text for fault in bound.faults)
    assert text.count("None that is proved") == 3
    assert "None: a heuristic." in text
    parsed = json.loads(run("research", "published", "rows.csv", "--score", "p", "--label", "y", "--json").stdout)
    assert parsed == expected.to_dict()


def test_one_of_our_certificates_has_what_the_published_methods_have(rows: tuple[Any, Any]) -> None:
    x, y = rows
    found = compare(x, y, bandwidth=1 / 32, confidence=0.9, seed=3)
    seen = calcert.summarize(calcert.perturb(x, bandwidth=1 / 32, rng=3), y)
    alone = calcert.bounds.lipschitz(seen, constant=16.0, confidence=0.9, seed=3)
    subject = found.report.perturbed.subject
    assert found.like_for_like == replace(alone, subject=subject, assumption="none")
    (line,) = (line for line in found.lines if "perturbed scores alone" in line.method)
    assert (line.subject, line.value) == (found.report.perturbed.subject, found.like_for_like.upper)
    assert line.promise == "Proved: each bound holds with probability 0.9, assuming nothing."


def test_the_reading_that_the_proof_covers_can_be_had_in_the_shell(run: Run, rows: tuple[Any, Any]) -> None:
    done = run("research", "published", "rows.parquet", "--score", "p", "--label", "y", "--per-fold", "--json")
    parsed = json.loads(done.stdout)
    assert parsed == compare(*rows, per_fold=True).to_dict()
    readings = {method: b["parameters"].get("reading") for method, b in parsed["published"].items()}
    assert readings.pop("total variation, pooled folds") == "pooled"
    assert set(readings.values()) == {"per fold", None}
    covered = parsed["published"]["total variation, per fold"]
    assert covered["guarantee"].startswith("At least the calibration error with probability 0.95")
    text = " ".join(
        run("research", "published", "rows.parquet", "--score", "p", "--label", "y", "--per-fold").stdout.split()
    )
    assert at_most(covered["value"]) in text


def test_a_line_says_whose_bound_it_is_and_whether_it_is_proved(run: Run, rows: tuple[Any, Any]) -> None:
    promises = {line.method: line.promise for line in compare(*rows).lines}
    assert "described, bound ours: Lipschitz buckets" in promises
    assert promises["published: total variation, per fold"].startswith("At least the calibration error")
    assert promises["published: total variation, pooled folds"].startswith("None that is proved")
    text = " ".join(run("research", "published", "rows.parquet", "--score", "p", "--label", "y").stdout.split())
    assert "What is not proved, ours to choose, or wasteful:" in text
    assert "looser than needed" in text
    assert "fault" not in text


def test_a_comparison_that_lacks_a_number_is_refused(rows: tuple[Any, Any]) -> None:
    written = compare(*rows).to_dict()
    assert published.Comparison.from_dict(written).to_dict() == written
    del written["published"]["ECE, 15 bins"]
    with pytest.raises(ValueError, match="the published numbers must be all there; ECE, 15 bins is not"):
        published.Comparison.from_dict(written)


def test_the_help_says_what_the_seed_draws(run: Run) -> None:
    text = " ".join(run("research", "published", "--help").stdout.split())
    assert (
        "Draws the perturbation, the folds of the published methods and the random splits of our lower bounds" in text
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("none.csv", "at least one row"),
        ("logits.csv", "got 1.75 on line 3 of logits.csv"),
        ("gone.csv", "no such file"),
    ],
)
def test_bad_input_has_code_2(run: Run, file: str, said: str) -> None:
    done = run("research", "published", file)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_too_few_rows_for_folds_are_refused_in_words(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("p,y\n0.5,1\n0.25,0\n")
    done = run("research", "published", str(path))
    assert done.exit_code == 2
    assert "5-fold cross-fitting needs at least 5 rows; got 2." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_demo_saves_rows_that_the_next_command_certifies(run: Run, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"demo{suffix}"
    done = run("demo", "--rows", "2000", "--seed", "3", "--save", str(path))
    assert done.exit_code == 0
    assert "The truth beside the bounds, which only a simulation knows:" in done.stdout
    assert "Calibration error    0.0400" in done.stdout
    again = run("certify", str(path), "--score", "score", "--label", "label", "--json")
    expected = calcert.certify(*simulate(2000, 3)).to_dict()
    assert json.loads(again.stdout) | {"facts": None} == expected | {"facts": None}


def test_demo_refuses_a_format_that_it_cannot_write(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--rows", "10", "--save", str(tmp_path / "demo.xlsx"))
    assert done.exit_code == 2
    assert "--save must name a .csv or .parquet file" in done.stderr


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark", "bigquery", "snowflake", "trino"])
def test_sql_prints_the_query_of_the_library(run: Run, dialect: str) -> None:
    done = run("sql", "t", "--score", "p", "--label", "y", "--dialect", dialect)
    assert done.stdout == calcert.sql.summary_query("t", "p", "y", dialect)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["t; drop table t", "--score", "p", "--label", "y", "--dialect", "duckdb"], "without ';'"),
        (["t", "--score", "p", "--label", "y", "--dialect", "oracle"], "'oracle' is not one of 'duckdb'"),
        (["t", "--score", "p", "--dialect", "duckdb"], "Missing option '--label'"),
    ],
)
def test_sql_refuses_what_is_no_name(run: Run, arguments: list[str], said: str) -> None:
    done = run("sql", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_demo_prints_a_truth_beside_every_bound_that_it_lies_between() -> None:
    known = truth()
    assert known["l1"] == pytest.approx(true_errors(Noise("odds", 1 / 16)).l1, abs=1e-4)
    report = calcert.certify(*simulate(100_000, 0))  # As the demo does.
    assert known.keys() == report.certificates.keys()
    assert report.observed_over_expected is not None
    assert report.observed_over_expected.lower <= known.pop("in_the_large") <= report.observed_over_expected.upper
    for name, value in known.items():
        assert report.statement(name).lower <= value <= report.statement(name).upper
    finer = truth(points=4_000)
    assert all(finer[name] == pytest.approx(value, abs=1e-4) for name, value in known.items())
