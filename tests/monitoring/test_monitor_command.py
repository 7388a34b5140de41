"""``calcert monitor`` as people use it: batches and alarms in a process of their own, and good and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from calcert.cli import main

CALCERT = [sys.executable, "-m", "calcert"]


def spawn(*arguments: object, code: int = 0) -> str:
    """What a process of its own says."""
    done = subprocess.run(
        [*CALCERT, "monitor", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stdout


def run(*arguments: object, code: int = 0) -> Result:
    """The same in this process, which has loaded everything already."""
    done = CliRunner().invoke(main, ["monitor", *map(str, arguments)], prog_name="calcert")
    assert done.exit_code == code, (done.output, done.exception)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    rng = np.random.default_rng(0)
    for day in range(1, 4):
        chance = rng.random(4_000)
        lines = [f"{p:.6f},{int(y)}" for p, y in zip(chance**0.6, rng.random(4_000) < chance, strict=True)]
        (folder / f"{day}.csv").write_text("\n".join(["p,y", *lines]))
        path, options = folder / "state", ("--score", "p", "--label", "y", "--window", "month")
        said = spawn("add", path, folder / f"{day}.csv", "--batch-id", day, "--time", f"2026-05-0{day}", *options)
        assert said == f"Added batch '{day}': 4,000 rows, batch {day} of this state.\n"
    return path


def test_the_same_batch_again_is_no_error_and_says_so(state: Path) -> None:
    done = run("add", state, state.parent / "2.csv", "--batch-id", 2, "--score", "p", "--label", "y")
    assert "is there already, as batch 2: nothing was changed" in done.stdout


def test_a_file_that_holds_earlier_rows_is_refused_added_again_or_reduced_to_new_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(600).round(6)
    lines = [f"{k},{p},{int(rng.random() < p)}" for k, p in enumerate(scores)]
    for day in (1, 2):
        (tmp_path / f"{day}.csv").write_text("\n".join(["id,p,y", *lines[: 300 * day]]))
    columns = ("--score", "p", "--label", "y")
    for name, identified in (("plain", ()), ("ids", ("--id", "id"))):
        run("add", tmp_path / name, tmp_path / "1.csv", "--batch-id", 1, *columns, *identified)
    refused = run("add", tmp_path / "plain", tmp_path / "2.csv", "--batch-id", 2, *columns, code=2).stderr
    assert "batch '2' must hold rows that were not added before; it holds those of batch '1'" in refused
    assert "with --id COLUMN from" in refused
    assert "pass --again." in refused
    said = run("add", tmp_path / "plain", tmp_path / "2.csv", "--batch-id", 2, *columns, "--again").stdout
    assert said == "Added batch '2': 600 rows, batch 2 of this state.\n"
    said = run("add", tmp_path / "ids", tmp_path / "2.csv", "--batch-id", 2, *columns, "--id", "id").stdout
    assert said == "Added batch '2': 300 rows, batch 2 of this state. Left out: 300 rows that were added before.\n"


def test_a_day_without_labels_is_an_error_unless_it_is_allowed(
    state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = state.read_bytes()
    (tmp_path / "none.csv").write_text("p,y\n")
    (tmp_path / "unlabelled.csv").write_text("p,y\n0.5,\n0.25,\n")
    for rows in ((tmp_path / "none.csv",), (tmp_path / "unlabelled.csv", "--drop-missing")):
        given = ("add", state, *rows, "--batch-id", 9, "--score", "p", "--label", "y")
        assert "pass --allow-empty." in run(*given, code=2).stderr
        done = run(*given, "--allow-empty")
        assert done.stdout == "Batch '9' has no new rows. Nothing was changed.\n"
        assert f"{rows[0]} holds no rows" in caplog.text
        assert "must" not in caplog.text
        caplog.clear()
    (tmp_path / "cut.csv").write_text("")
    assert (
        "got an empty file" in run("add", state, tmp_path / "cut.csv", "--batch-id", 9, "--allow-empty", code=2).stderr
    )
    assert state.read_bytes() == before


def test_status_in_words_and_the_exit_code_of_an_alarm(state: Path) -> None:
    run("status", state, "--alarm", 0, code=1)
    assert "No alarm" in spawn("status", state, "--alarm", 0.5)
    assert "ALARM since 2026-05-0" in spawn("status", state, "--alarm", 0.02, code=1)


def test_status_as_json(state: Path) -> None:
    found = json.loads(run("status", state, "--json", "--alarm", 0.02, code=1).stdout)
    assert found["rows"] == 12_000
    assert found["alarm"]["limit"] == 0.02
    assert [window["key"] for window in found["windows"]] == ["2026-05"]


def test_status_writes_metrics_to_a_file_or_to_standard_output_alone(state: Path, tmp_path: Path) -> None:
    said = run("status", state, "--prometheus", "-", "--fact", "model=churn").stdout
    assert said.startswith("# HELP calcert_rows")
    assert 'calcert_rows{model="churn"} 12000\n' in said
    done = run(
        "status", state, "--prometheus", tmp_path / "churn.prom", "--fact", "model=churn", "--alarm", 0.02, code=1
    )
    assert done.stdout.startswith("ALARM since ")
    assert "  12,000 rows in 3 batches, " in done.stdout
    assert "metrics written to" in done.stderr
    assert 'calcert_alarm{model="churn",limit="0.02",statement="distance"} 1\n' in (tmp_path / "churn.prom").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["churn.prom"]


def test_status_draws_a_figure(state: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = run("status", state, "--plot", tmp_path / "figure.svg", "--alarm", 0.02, code=1)
    assert done.stdout.startswith("ALARM since ")
    assert "  12,000 rows in 3 batches, " in done.stdout
    assert "alarm" in (tmp_path / "figure.svg").read_text()


def test_status_writes_a_page_and_says_where(state: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    done = run("status", state, "--alarm", 0.02, "--html", page, code=1)
    assert done.stderr == f"report written to {page}\n"
    text = page.read_text(encoding="utf-8")
    assert "ALARM since 2026-05-0" in text
    assert f"calcert monitor status {state} --alarm 0.02 --html {page}" in text
    assert "2026-05" in text
    run("status", state, "--html", page, "--fact", "title=Churn, watched", "--fact", "owner=Growth", code=0)
    text = page.read_text(encoding="utf-8")
    assert "<h1>Churn, watched</h1>" in text
    assert "<dt>owner</dt><dd>Growth</dd>" in text
    refused = run("status", state, "--html", tmp_path / "no" / "page.html", code=2)
    assert "must lie in a folder that exists" in refused.stderr


def test_check_reads_everything_and_refuses_what_is_damaged(state: Path, tmp_path: Path) -> None:
    assert "3 batches of 12,000 rows: nothing is damaged." in run("check", state).stdout
    cut = tmp_path / "cut"
    cut.write_bytes(state.read_bytes()[:-4096])
    assert "is damaged" in run("check", cut, code=2).stderr
    cut.write_bytes(b"")
    assert "is damaged: it has 0 bytes" in run("check", cut, code=2).stderr


def test_bad_input_is_refused_in_words(state: Path, tmp_path: Path) -> None:
    rows = state.parent / "1.csv"
    for words, arguments in (
        ("there is no such file", ("status", tmp_path / "none")),
        ("is a file of another kind", ("status", rows)),
        ("is there already as batch 1", ("add", state, state.parent / "2.csv", "--batch-id", 1)),
        ("got 'none.csv', but there is no such file", ("add", state, "none.csv", "--batch-id", 9)),
        ("ISO 8601", ("add", state, rows, "--batch-id", 9, "--time", "noon")),
        (
            "window must be day, week or month; got 'weekly'",
            ("add", state, rows, "--batch-id", 9, "--window", "weekly"),
        ),
        ("confidence is fixed for the life", ("add", state, rows, "--batch-id", 9, "--confidence", 0.99)),
        ("--batch-id", ("add", state, rows)),
        ("No such command", ("export", state)),
        ("must end in .png, .svg or .pdf", ("status", state, "--plot", tmp_path / "picture.doc")),
        ("neither read nor written otherwise", ("status", state, "--prometheus", state)),
        ("only pages and metrics go to standard output", ("status", state, "--plot", "-")),
        ("For 5% write 0.05", ("status", state, "--alarm", 5)),
        ("'5%' is not a number", ("status", state, "--alarm", "5%")),
        ("must lie in a folder that exists", ("status", state, "--plot", tmp_path / "no" / "picture.png")),
    ):
        assert words in " ".join(run(*arguments, code=2).stderr.split())
