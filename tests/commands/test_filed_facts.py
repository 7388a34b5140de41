"""What a page is filed with: what was said, what was read and what was made of it, on page, in text and in JSON."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calcert
from calcert.reports import report, statements
from calcert.reports.report import Report
from calcert.show import as_page

from .conftest import Run

REVIEWED = ("--decimal", ",", "--percent", "--positive", "J", "--drop-missing")
SAID = {"model": "PD Retail", "version": "3.2", "owner": "Risk <b>", "period": "2025", "population": "new", "note": "x"}


def test_a_reviewers_file_takes_one_command(run: Run, portfolio: Path) -> None:
    done = run("certify", "portfolio.csv", "--score", "PD", "--label", "Ausfall", *REVIEWED, "--json")
    assert done.exit_code == 0, done.stderr
    values = json.loads(done.stdout)
    facts = values["facts"]
    assert facts["columns"] == {"score": "PD", "label": "Ausfall"}
    digest = hashlib.sha256(portfolio.read_bytes()).hexdigest()
    assert facts["files"] == [{"name": "portfolio.csv", "sha256": digest, "rows": 798}]
    assert facts["left_out"].startswith(
        "2 of 800 rows were left out: 1 without PD, 1 without Ausfall (--drop-missing)."
    )
    assert "'J' is 1" in facts["reading"][2]
    assert datetime.datetime.fromisoformat(facts["time"]).tzinfo is not None
    assert facts["calcert"] == calcert.__version__
    restored = Report.from_dict(values)
    assert restored.facts is not None
    assert restored.facts.columns["score"] == "PD"
    assert restored.to_dict() == values


@pytest.mark.parametrize("more", [(), ("--groups", "Region")])
def test_the_page_says_what_it_is_filed_with(run: Run, here: Path, more: tuple[str, ...]) -> None:
    (here / "a.csv").write_text("p;y;Region\n" + "0,5;J;Ost\n0,25;N;West\n;J;Ost\n" * 200)
    asked = [word for name, value in SAID.items() for word in ("--fact", f"{name}={value}")]
    arguments = ("--score", "p", "--label", "y", "--decimal", ",", "--positive", "J", "--drop-missing", *more)
    done = run("certify", "a.csv", *arguments, *asked, "--fact", "title=Filed", "--html", "a.html")
    assert done.exit_code == 0, done.stderr
    page = (here / "a.html").read_text()
    assert "<h1>Filed</h1>" in page
    assert "<dt>owner</dt><dd>Risk &lt;b&gt;</dd>" in page
    assert hashlib.sha256((here / "a.csv").read_bytes()).hexdigest() in page
    assert "200 of 600 rows were left out" in page
    for word in ("--decimal ,", "--positive J", "--drop-missing", "owner=Risk", "--fact title=Filed"):
        assert word in page
    assert "Owner: Risk <b>" in done.stdout
    again = page[page.index("calcert certify a.csv") :].partition("</code>")[0]
    assert "--html" not in again


def test_the_fingerprint_names_the_rows_whatever_the_file(run: Run, here: Path) -> None:
    (here / "a.csv").write_text("p,y\n" + "0.5,1\n0.25,0\n" * 50)
    (here / "b.csv").write_text("y;p\n" + "N;25\n" * 50 + "J;50\n" * 50)
    one = json.loads(run("certify", "a.csv", "--json").stdout)
    two = json.loads(run("certify", "b.csv", "--json", "--percent", "--positive", "J").stdout)
    assert one["fingerprint"] == two["fingerprint"]
    assert one["facts"]["files"] != two["facts"]["files"]
    assert f"Fingerprint of the rows: {one['fingerprint']}." in run("certify", "a.csv").stdout


def test_a_file_that_changes_meanwhile_is_refused(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here / "a.csv"
    path.write_text("p,y\n" + "0.5,1\n0.25,0\n" * 50)
    certify = statements.certificates_of

    def meanwhile(*rows: Any) -> Any:
        now = time.time_ns()
        os.utime(path, ns=(now, now))  # As a later writer would: the clock of files itself goes in ticks of 4 ms.
        return certify(*rows)

    monkeypatch.setattr(report, "certificates_of", meanwhile)
    done = run("certify", "a.csv")
    assert done.exit_code == 2
    assert "a.csv must not change while it is read" in done.stderr


def test_facts_in_python_are_text_by_name() -> None:
    found = calcert.certify([0.25, 0.75] * 50, [0, 1] * 50).with_facts({"model": "PD 7"})
    assert found.facts is not None
    assert found.facts.said == {"model": "PD 7"}
    assert Report.from_dict(found.to_dict()).facts == found.facts
    assert "Model: PD 7" in str(found)
    with pytest.raises(TypeError, match="facts must be text by name"):
        calcert.certify([0.25, 0.75] * 50, [0, 1] * 50).with_facts({"model": 7})  # type: ignore[dict-item]
    assert "facts" not in calcert.certify([0.25, 0.75] * 50, [0, 1] * 50).to_dict()


def test_results_of_every_kind_are_filed_alike() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(400)
    y = rng.random(400) < x
    chances = np.stack([x / 2, x / 2, 1 - x], axis=1)
    results = (
        calcert.certify(x, y, groups=np.repeat(["a", "b"], 200)).with_facts(SAID),
        calcert.certify(chances, np.where(y, 0, 2)).with_facts(SAID),
        calcert.compare({"a": x, "b": x**1.1}, y).with_facts(SAID),
        calcert.curves.score_table(calcert.summarize(x.round(1), y)).with_facts(SAID),
    )
    for result in results:
        page = as_page(result)
        assert "<dt>population</dt><dd>new</dd>" in page
        assert type(result).from_dict(result.to_dict()).facts == result.facts
        assert "Population: new" in str(result)
