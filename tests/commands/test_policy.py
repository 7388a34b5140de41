"""A policy in a file: what it says is demanded, the outcome names its version, and looks share delta."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import calcert
from calcert.summary.summary import Summary

from .conftest import Run

POLICY = """
name = "Retail"
version = "2026-1"
owner = "Risk"
statement = "distance"
max = 0.3
confidence = 0.96
score = "p"
label = "y"
"""


@pytest.fixture
def policy(run: Run, folder: Path) -> Path:
    return folder / "calibration.toml"


@pytest.fixture
def summary(rows: tuple) -> Summary:
    return calcert.summarize(*rows)


def test_what_the_policy_says_is_demanded(run: Run, policy: Path, summary: Summary) -> None:
    policy.write_text(POLICY)
    done = run("check", "rows.csv", "--policy", "calibration.toml", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["passed"] is True
    assert found["certificate"]["upper"] == calcert.bounds.distance(summary, confidence=0.96).upper
    assert found["policy"]["version"] == "2026-1"
    assert found["policy"]["owner"] == "Risk"
    assert found["facts"]["columns"] == {"score": "p", "label": "y"}
    assert found["rows"] == 3000
    words = run("check", "rows.csv", "--policy", "calibration.toml").stdout
    assert words.splitlines()[-1] == "Policy Retail, version 2026-1, owner Risk."
    policy.write_text(POLICY.replace("0.3", "0.01"))
    done = run("check", "rows.csv", "--policy", "calibration.toml", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["passed"] is False


def test_a_policy_saved_with_a_byte_order_mark_is_read(run: Run, policy: Path) -> None:
    policy.write_text(POLICY, encoding="utf-8-sig")
    assert run("check", "rows.csv", "--policy", "calibration.toml").exit_code == 0


def test_a_policy_in_latin_1_is_refused_with_its_line(run: Run, policy: Path) -> None:
    policy.write_text(POLICY.replace("Risk", "Müller"), encoding="latin-1")
    refused = run("check", "rows.csv", "--policy", "calibration.toml")
    assert refused.exit_code == 2
    assert refused.stderr == "Error: calibration.toml must be UTF-8; line 4 is not. Save it as UTF-8.\n"


def test_one_text_where_a_policy_needs_a_list_is_refused_with_that_list(run: Run, policy: Path) -> None:
    policy.write_text(POLICY + 'drop_missing = true\nmissing = "k.A."\n')
    refused = run("check", "rows.csv", "--policy", "calibration.toml")
    assert refused.exit_code == 2
    assert "missing must be a list; got 'k.A.' in calibration.toml. Write missing = ['k.A.']." in refused.stderr
    policy.write_text(POLICY + "drop_missing = true\nmissing = ['k.A.']\n")
    assert run("check", "rows.csv", "--policy", "calibration.toml").exit_code == 0


def test_looks_share_delta(run: Run, policy: Path, summary: Summary) -> None:
    upper = calcert.bounds.distance(summary, confidence=0.99).upper
    policy.write_text(POLICY.replace("0.3", f"{upper - 1e-6:.6f}") + "looks = [3000, 4000, 8000, 9000]\n")
    done = run("check", "rows.csv", "--policy", "calibration.toml")
    assert done.exit_code == 1, "passes at delta, and must not at a quarter of it"
    assert "confidence 0.99" in done.stdout
    assert "One of the looks at 3,000, 4,000, 8,000 and 9,000 rows, which share delta." in done.stdout
    policy.write_text(POLICY.replace("0.3", f"{upper + 1e-6:.6f}") + "looks = [3000, 4000, 8000, 9000]\n")
    assert run("check", "rows.csv", "--policy", "calibration.toml").exit_code == 0


def test_a_number_of_rows_that_was_not_fixed_is_refused(run: Run, policy: Path) -> None:
    policy.write_text(POLICY + "looks = [2000, 4000]\n")
    done = run("check", "rows.csv", "--policy", "calibration.toml")
    assert done.exit_code == 2
    assert "must be as many as a look of calibration.toml has, 2,000 and 4,000; got 3,000." in done.stderr


def test_a_look_is_at_rows_as_they_came_those_that_lack_something_too(run: Run, policy: Path, folder: Path) -> None:
    lines = (folder / "rows.csv").read_text().splitlines()
    (folder / "gaps.csv").write_text("\n".join([*lines[:-2], "0.5,", ",1"]) + "\n")
    policy.write_text(POLICY + "looks = [3000]\ndrop_missing = true\n")
    done = run("check", "gaps.csv", "--policy", "calibration.toml", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 2998
    policy.write_text(POLICY + "looks = [2998]\ndrop_missing = true\n")
    assert "got 3,000." in run("check", "gaps.csv", "--policy", "calibration.toml").stderr


def test_too_few_rows_do_not_pass(run: Run, policy: Path, folder: Path) -> None:
    policy.write_text(POLICY + "minimum_rows = 3001\n")
    done = run("check", "rows.csv", "--policy", "calibration.toml", "--junit", "a.xml")
    assert done.exit_code == 1
    assert done.stdout.startswith("Not certified: 3,000 rows, and the policy asks for 3,001.")
    suite = ElementTree.parse(folder / "a.xml").getroot()[0]
    assert suite.get("failures") == "1"
    assert suite.find("properties/property[@name='policy']").get("value") == "2026-1"  # type: ignore[union-attr]
    policy.write_text(POLICY + "minimum_rows = 3000\n")
    assert run("check", "rows.csv", "--policy", "calibration.toml").exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('max = 0.1\nstatement = "distance"', 'must say which policy it is; write version = "1".'),
        ("version = 1", "version must be text in quotes; got 1"),
        ('version = "1"\nminimum_rows = 0', "minimum_rows must be a whole number, 1 or more; got 0"),
        ('version = "1"\nminimum_rows = true', "minimum_rows must be a whole number, 1 or more; got True"),
        ('version = "1"\nlooks = 4', "looks must be the numbers of rows of all looks, such as [2000, 8000]; got 4"),
        ('version = "1"\nlooks = [0, 4]', "looks must be the numbers of rows of all looks"),
        ('version = "1"\nlooks = []', "looks must be the numbers of rows of all looks"),
        ('version = "1"\nstatment = "distance"', "got 'statment'. Did you mean 'statement'?"),
        ('version = "1"\nfiles = "a.csv"', "got 'files'."),
        ('version = "1"\nlargest = 0.1', "got 'largest'."),
        ('version = "1"\nmax = 3\nstatement = "distance"', "3 must lie strictly between 0 and 1"),
        ('version = "1"\nmax = 0.1\nstatement = "perfect"', "'perfect' is not one of"),
        ('version = "1"\nmax = 0.1\nodds = 0.1\nbandwidth = 0.1\nstatement = "distance"', "odds"),
        ("version = ", "must be a policy in TOML"),
        (f"a = {'[' * 3000}{']' * 3000}", "must be a policy in TOML; got values nested too deeply."),
    ],
)
def test_a_policy_that_says_something_else_is_refused(run: Run, policy: Path, text: str, said: str) -> None:
    policy.write_text(text)
    done = run("check", "rows.csv", "--policy", "calibration.toml")
    assert done.exit_code == 2
    assert said in done.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("option", "value"), [("--max", "0.5"), ("--confidence", "0.9"), ("--score", "p"), ("--statement", "cutoff")]
)
def test_what_the_policy_says_cannot_be_said_again(run: Run, policy: Path, option: str, value: str) -> None:
    policy.write_text(POLICY)
    done = run("check", "rows.csv", "--policy", "calibration.toml", option, value)
    assert done.exit_code == 2
    assert f"{option} must be said once; the policy calibration.toml has it already." in done.stderr


def test_a_policy_for_groups_demands_it_of_the_worst(run: Run, policy: Path, folder: Path) -> None:
    (folder / "groups.csv").write_text("p,y,region\n" + "0.5,1,a\n0.5,0,a\n0.9,0,b\n" * 400)
    policy.write_text(POLICY + 'groups = "region"\nsmallest_group = 100\n')
    done = run("check", "groups.csv", "--policy", "calibration.toml", "--json")
    assert done.exit_code == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["group"], found["rows"]) == ("b", 1200)
    assert found["facts"]["columns"]["groups"] == "region"
