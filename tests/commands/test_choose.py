"""``calcert choose``: the rows that the library chooses, as they stand in the file, and the command that reads them."""

from __future__ import annotations

import gzip
import json
import shlex
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import calcert
from calcert.perturbation import file_copy
from calcert.perturbation.appended_column import Wanted

from .conftest import Run

RNG = np.random.default_rng(0)
X = np.where(np.arange(20_000) % 20, RNG.beta(1, 2000, 20_000), RNG.random(20_000))
TABLE = pl.DataFrame({"id": np.arange(20_000), "p": X, "y": (RNG.random(20_000) < X).astype(int)})


@pytest.fixture(autouse=True)
def _table(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Chunks must not show in the result."""
    monkeypatch.setattr(file_copy, "CHUNK", 700)
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("t.csv")


@pytest.mark.parametrize(
    ("form", "labels"), [("csv.gz", ()), ("jsonl", ()), ("csv", ("--label", "y")), ("parquet", ("--label", "y"))]
)
def test_every_format_has_the_rows_of_the_library_and_the_printed_command_reads_them(
    run: Run, form: str, labels: tuple[str, ...]
) -> None:
    if form == "parquet":
        TABLE.write_parquet("t.parquet")
    elif form == "jsonl":
        TABLE.write_ndjson("t.jsonl")
    elif form == "csv.gz":
        Path("t.csv.gz").write_bytes(gzip.compress(Path("t.csv").read_bytes()))
    done = run("choose", f"t.{form}", "--score", "p", "--budget", "2000", "--seed", "5", *labels)
    assert done.exit_code == 0, done.stderr
    chosen = calcert.sample_for_labelling(X, 2000, labels=TABLE["y"] if labels else None, seed=5)
    assert chosen.rule is not None
    *said, command = done.stdout.splitlines()
    assert said[0] == str(chosen)
    assert f"t.chosen.{form}, seed 5" in said[1]
    read: Any = {"parquet": pl.read_parquet, "jsonl": pl.read_ndjson}.get(form, pl.read_csv)
    found = read(f"t.chosen.{form}")
    assert found.drop("weight").equals(TABLE[chosen.rows])
    assert found["weight"].to_list() == chosen.weights.tolist()
    certified = run(*shlex.split(command.replace("LABEL", "y"))[1:], "--json")
    assert certified.exit_code == 0, certified.stderr
    expected = calcert.certify(calcert.Rows(X[chosen.rows], TABLE["y"].to_numpy()[chosen.rows], **chosen.arguments))
    assert calcert.Report.from_dict(json.loads(certified.stdout)).certificates == expected.certificates


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("labels", [(), ("--label", "out.y", "--positive", "J")])
def test_files_as_people_keep_them_are_chosen_from_and_read_back(
    run: Run, form: str, labels: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    written = [format(Decimal(repr(x)).scaleb(2), "f").replace(".", ",") for x in X.tolist()]
    answers = ["J" if y else "N" for y in TABLE["y"]]
    if form == "csv":
        lines = ["PD;out.y", ";J", *(f"{x};{y}" for x, y in zip(written, answers, strict=True)), "NA;N"]
    else:
        rows = [("n/a", "J"), *zip(written, answers, strict=True)]
        lines = [json.dumps({"PD": x, "out": {"y": y}}) for x, y in rows]
    Path(f"r.{form}").write_text("\n".join(lines))
    spelled = ("--score", "PD", "--decimal", ",", "--percent", "--drop-missing")
    done = run("choose", f"r.{form}", "--budget", "2000", "--seed", "5", *spelled, *labels)
    assert done.exit_code == 0, done.stderr
    gone = 2 if form == "csv" else 1
    assert f"{gone} of {20_000 + gone:,} rows were left out: {gone} without PD" in caplog.text
    chosen = calcert.sample_for_labelling(X, 2000, labels=TABLE["y"] if labels else None, seed=5)
    assert chosen.rule is not None
    command = shlex.split(done.stdout.splitlines()[-1])[1:]
    assert "--drop-missing" not in command  # A chosen row without a label is an error.
    if not labels:
        command[command.index("LABEL")] = "out.y"
        command += ["--positive", "J"]
    certified = run(*command, "--json")
    assert certified.exit_code == 0, certified.stderr
    expected = calcert.certify(calcert.Rows(X[chosen.rows], TABLE["y"].to_numpy()[chosen.rows], **chosen.arguments))
    assert calcert.Report.from_dict(json.loads(certified.stdout)).certificates == expected.certificates


def test_plain_rows_are_read_back_as_plain_rows(run: Run) -> None:
    pl.DataFrame({"p": RNG.random(5000), "y": 1}).write_csv("flat.csv")
    done = run("choose", "flat.csv", "few.csv", "--score", "p", "--budget", "500", "--seed", "1")
    assert "all with the same probability" in done.stdout
    assert done.stdout.splitlines()[-1] == "  calcert certify few.csv --score p --label LABEL"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv", "--budget", "0"), "budget must be a whole number of rows"),
        (("t.csv", "--budget", "20000"), "budget must be smaller than the number of rows; got 20,000 and 20,000 rows"),
        (("-", "--budget", "5"), "FILE and OUT must be files with names"),
        (("t.csv", "-", "--budget", "5"), "FILE and OUT must be files with names"),
        (("none.csv", "--budget", "5"), "FILE must be a file; there is no 'none.csv'"),
        (("t.csv", "./t.csv", "--overwrite", "--budget", "5"), "OUT must not be FILE, whose other rows would be lost"),
        (("*.csv", "--budget", "5"), "FILE must be a file; there is no '*.csv'"),
        ((".", "--budget", "5"), "the format of . must be known from its name"),
        (("t.csv", "t.parquet", "--budget", "5"), "IN and OUT must have one format"),
        (("t.csv", "--budget", "5", "--column", "ID"), "the new column must have a name of its own"),
        (("t.csv", "--budget", "5", "--label", "id"), "labels must be 0 or 1"),
        (("t.csv", "--budget", "5", "--label", "p"), "score and label must be two columns"),
        (("t.csv", "--budget", "5", "--positive", "1"), "--positive must come with --label; got '1' alone"),
        (("t.csv", "--budget", "5", "--missing", "x"), "--missing must come with --drop-missing"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_left(run: Run, arguments: tuple[str, ...], message: str) -> None:
    done = run("choose", *arguments, "--score", "p", "--seed", "0")
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert [path.name for path in Path().iterdir()] == ["t.csv"]


def test_parquet_is_chosen_from_as_it_is(run: Run) -> None:
    TABLE.write_parquet("t.parquet")
    done = run("choose", "t.parquet", "--score", "p", "--budget", "5", "--percent")
    assert done.exit_code == 2
    assert "--percent must come with text; got t.parquet" in " ".join(done.stderr.split())


def test_an_invalid_score_is_named_by_its_line(run: Run) -> None:
    Path("bad.csv").write_text("p\n0.5\n1.5\n0.25\n")
    done = run("choose", "bad.csv", "--score", "p", "--budget", "1")
    assert done.exit_code == 2
    assert "line 3 of bad.csv" in " ".join(done.stderr.split())


@pytest.mark.parametrize("change", ["p\n0.5\n", "p\n0.5\n0.25\n0.75\n0.5\n", "p\n0.5\n0.5\n0.5\n"])
def test_a_file_that_changes_between_two_reads_is_refused(change: str) -> None:
    Path("moving.csv").write_text("p\n0.5\n0.25\n0.75\n")
    scores, name = file_copy.read_scores("moving.csv", Wanted("p", "weight"))
    Path("moving.csv").write_text(change)
    again = file_copy.selection(scores, np.ones(3))
    with pytest.raises(ValueError, match="the file must stay as it is while it is read twice"):
        file_copy.copy_file("moving.csv", "out.csv", Wanted(name, "weight"), "copying", again, total=3)
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("weight\n", "heft\n", "--weights must be a column"), (",1.0\n", ",1e5\n", "--largest-weight must bound")],
)
def test_a_chosen_file_that_was_edited_is_refused_where_it_can_be_told(
    run: Run, old: str, new: str, message: str
) -> None:
    done = run("choose", "t.csv", "--score", "p", "--label", "y", "--budget", "2000", "--seed", "5")
    chosen = Path("t.chosen.csv")
    assert old in chosen.read_text()
    chosen.write_text(chosen.read_text().replace(old, new, 1))
    edited = run(*shlex.split(done.stdout.splitlines()[-1])[1:])
    assert edited.exit_code == 2
    assert message in " ".join(edited.stderr.split())


def test_an_existing_file_is_replaced_only_on_request(run: Run) -> None:
    Path("out.csv").write_text("precious")
    asked = ("choose", "t.csv", "out.csv", "--score", "p", "--budget", "2000")
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "OUT must not exist; got out.csv" in refused.stderr
    assert Path("out.csv").read_text() == "precious"
    assert run(*asked, "--overwrite").exit_code == 0
    assert Path("out.csv").read_text().startswith("id,p,y,weight\n")


def test_text_in_another_encoding_is_chosen_from_and_stays_in_it(run: Run) -> None:
    text = Path("t.csv").read_text().replace("id,p,y", "id,größe,Fälle")
    Path("t.csv").write_text(text, encoding="cp1252")
    given = ("--score", "größe", "--label", "Fälle", "--budget", "2000", "--seed", "5", "--encoding", "cp1252")
    done = run("choose", "t.csv", *given)
    assert done.exit_code == 0, done.stderr
    assert Path("t.chosen.csv").read_text(encoding="cp1252").startswith("id,größe,Fälle,weight\n")
    printed = shlex.split(done.stdout.splitlines()[-1])
    assert run(*printed[1:]).exit_code == 0
