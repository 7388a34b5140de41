"""``calcert plan`` and ``calcert research noise-costs``: estimates named as such, and a choice that is explained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import calcert
from calcert.foundation.number_text import at_most, fraction, span
from calcert.reports.noise_costs import noise_costs

from .conftest import Run


def test_plan_says_about_how_many_rows_and_that_it_is_an_estimate(run: Run, rows: tuple[Any, Any]) -> None:
    now = calcert.bounds.perturbed(*rows)
    target = now.upper - 0.02
    done = run("plan", "rows.csv", "--target", f"{target:.4f}", "--statement", "perturbed")
    assert done.exit_code == 0
    assert "L1 calibration error of the classifier with perturbed scores" in done.stdout
    assert f"Certified now, from 3,000 rows: {span(now.lower, now.upper)}." in done.stdout
    answer = re.search(r"Estimate: ([0-9,]+) rows or more", " ".join(done.stdout.split()))
    assert answer is not None
    assert int(answer[1].replace(",", "")) > 3000
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_plan_knows_what_is_reached_and_what_is_out_of_reach(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "off.csv"
    path.write_text("p,y\n" + "0.9,1\n0.9,0\n" * 500)
    reached = run("plan", str(path), "--target", "0.9", "--statement", "l1")
    assert "The 1,000 rows at hand certify it already." in reached.stdout
    hopeless = run("plan", str(path), "--target", "0.1", "--statement", "l1")
    assert "It is at least 0.3" in hopeless.stdout
    assert "more rows cannot help. Recalibrate the classifier." in " ".join(hopeless.stdout.split())


def test_a_plan_for_many_classes_is_about_the_prediction(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    path.write_text("p_a,p_b,p_c,y\n" + "0.5,0.25,0.25,a\n0.5,0.25,0.25,c\n" * 500)
    (tmp_path / "top.csv").write_text("p,y\n" + "0.5,1\n0.5,0\n" * 500)
    asked = ("--target", "0.02", "--statement", "distance")
    arguments = ("plan", str(path), "--class-columns", "p_*", "--label", "y", *asked)
    first, found = run(*arguments).stdout.split("\nCertified now")
    subject = "the classifier with its current scores, prediction among 3 classes"
    assert " ".join(first.split()) == f"distance from calibration of {subject}"
    assert found == run("plan", str(tmp_path / "top.csv"), *asked).stdout.split("\nCertified now")[1]
    assert "--of" not in run("plan", "--help").stdout


def test_bandwidth_shows_costs_bounds_and_the_largest_that_is_cheap(run: Run, rows: tuple[Any, Any]) -> None:
    costs = noise_costs(calcert.summarize(*rows))
    best = costs.recommended(0.001)
    assert best is not None
    done = run("research", "noise-costs", "rows.csv")
    assert done.exit_code == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    lines, kind = {}, ""
    for line in filter(str.strip, done.stdout.splitlines()):
        first = line.split()[0]
        kind = first if first in ("odds", "bandwidth") else kind
        lines[f"{kind} {first}"] = line
    for row in costs.rows:
        line = lines[row.noise.shown]
        assert f"{row.auroc:.4f}" in line
        assert f"{at_most(row.upper)}" in line
        assert ("recommended" in line) == (row is best)
        assert ("too large" in line) == (not row.fits_rare_events)
    text = " ".join(done.stdout.split())
    assert f"Recommended: {best.noise.shown}, the largest that costs at most 0.001 of AUROC." in text
    assert "of one kind of noise hold together with probability 0.95; the rest are estimates." in text


def test_a_stricter_limit_recommends_a_smaller_bandwidth(run: Run) -> None:
    def recommended(limit: str) -> float:
        words = run("research", "noise-costs", "rows.csv", "--max-auroc-loss", limit).stdout
        found = re.search(r"Recommended: odds 1/([0-9]+)", words)
        assert found is not None
        return 1 / int(found[1])

    assert recommended("0.0005") < recommended("0.05")


def test_rare_events_forbid_a_bandwidth_whatever_it_costs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("p,y\n" + "0.0001,0\n0.002,0\n0.004,0\n" * 900 + "0.004,1\n0.002,1\n" * 3)
    done = run("research", "noise-costs", str(path), "--try", "1/64", "--try", "2^-7")
    text = " ".join(done.stdout.split())
    assert done.stdout.count("too large") == 2
    assert "None can be recommended: the rarer outcome is too rare for all of these." in text
    tries = [word for k in range(3, 17) for word in ("--try", f"2^-{k}")]
    free = run("research", "noise-costs", str(path), "--max-auroc-loss", "1", *tries)
    text = " ".join(free.stdout.split())
    assert "recommended" in free.stdout
    assert "but the rarer outcome is too rare for them." in text


def test_one_label_only_has_no_ranking_but_an_answer(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "ones.csv"
    path.write_text("p,y\n" + "0.5,1\n" * 500)
    done = run("research", "noise-costs", str(path))
    assert done.exit_code == 0
    assert "nan" not in done.stdout.lower()


@pytest.mark.parametrize("command", [("plan", "--target", "0.1"), ("research", "noise-costs")])
@pytest.mark.parametrize(("file", "said"), [("none.csv", "at least one row"), ("logits.csv", "got 1.75 on line 3")])
def test_bad_input_has_code_2(run: Run, command: tuple[str, ...], file: str, said: str) -> None:
    done = run(*command, file)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("value", "text"), [(1 / 64, "1/64"), (2.0**-20, "1/1048576"), (0.3, "0.3"), (1.5, "1.5")])
def test_bandwidths_are_shown_as_people_say_them(value: float, text: str) -> None:
    assert fraction(value) == text
