"""``calcert perturb``: the draws of the library in a new column, and nothing else changed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.perturbation import file_copy

from .conftest import Run


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks must not show in the result."""
    monkeypatch.setattr(file_copy, "CHUNK", 700)


def test_csv_gets_the_draws_of_the_library_and_keeps_its_text(run: Run, rows: tuple[Any, Any], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = run("perturb", "rows.csv", str(out), "--score", "p", "--bandwidth", "1/32", "--seed", "5")
    assert done.exit_code == 0
    assert done.stdout == (f"3,000 rows in {out}; column 'perturbed' is 'p' perturbed with bandwidth 0.03125, seed 5\n")
    before, after = Path("rows.csv").read_text().splitlines(), out.read_text().splitlines()
    assert after[0] == "p,y,perturbed"
    drawn = calcert.perturb(rows[0], bandwidth=1 / 32, rng=5)
    assert [line.rpartition(",")[0] for line in after] == before
    assert [float(line.rpartition(",")[2]) for line in after[1:]] == drawn.tolist()


def test_every_format_gets_the_same_draws(run: Run, rows: tuple[Any, Any], tmp_path: Path) -> None:
    drawn = calcert.perturb(rows[0], rng=5).tolist()
    with gzip.open(tmp_path / "in.csv.gz", "wt") as file:
        file.write(Path("rows.csv").read_text())
    for source, target in (
        ("rows.parquet", "out.parquet"),
        ("rows.jsonl", "out.jsonl"),
        (str(tmp_path / "in.csv.gz"), "out.csv.gz"),
    ):
        done = run("perturb", source, str(tmp_path / target), "--score", "p", "--seed", "5", "--column", "s")
        assert done.exit_code == 0, done.stderr
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["p", "y", "s"]
    assert table.drop_columns(["s"]).equals(pq.read_table("rows.parquet"))
    assert table["s"].to_pylist() == drawn
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["s"] for line in lines] == drawn
    assert [line.partition(', "s"')[0] + "}" for line in lines] == Path("rows.jsonl").read_text().splitlines()
    with gzip.open(tmp_path / "out.csv.gz", "rt") as file:
        assert [float(line.rpartition(",")[2]) for line in file.readlines()[1:]] == drawn


def test_a_score_inside_another_object_is_named_by_its_path(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"answer": {"p": 0.25}}\n{"answer": {"p": 0.5}, "n": 1}\n')
    done = run(
        "perturb", str(tmp_path / "log.jsonl"), str(tmp_path / "out.jsonl"), "--score", "answer.p", "--seed", "5"
    )
    assert done.exit_code == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    drawn = calcert.perturb(np.array([0.25, 0.5]), rng=5).tolist()
    assert found == [
        {"answer": {"p": 0.25}, "perturbed": drawn[0]},
        {"answer": {"p": 0.5}, "n": 1, "perturbed": drawn[1]},
    ]


def test_quotes_line_breaks_and_other_alphabets_survive(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "odd.csv", tmp_path / "out.csv"
    text = b'\xef\xbb\xbfname;p;note\r\n"a;b";0.25;"two\r\nlines"\r\nna\xc3\xafve \xff;0.5;"say ""no"""\r\n\r\nlast;1;x'
    source.write_bytes(text)
    done = run("perturb", str(source), str(out), "--score", "p", "--seed", "1", "--column", "a;b")
    assert done.exit_code == 0, done.stderr
    s = [repr(value).encode() for value in calcert.perturb([0.25, 0.5, 1.0], rng=1).tolist()]
    assert out.read_bytes() == (
        b'\xef\xbb\xbfname;p;note;"a;b"\r\n"a;b";0.25;"two\r\nlines";' + s[0] + b"\r\nna\xc3\xafve \xff;0.5;"
        b'"say ""no""";' + s[1] + b"\r\nlast;1;x;" + s[2] + b"\n"
    )


def test_parquet_keeps_types_metadata_and_compression(run: Run, tmp_path: Path) -> None:
    table = pa.table(
        {
            "p": pa.array([0.25, 0.5, 1.0], pa.float32()),
            "kind": pa.array(["a", None, "a"]).dictionary_encode(),
            "when": pa.array([1, 2, None], pa.timestamp("us", "UTC")),
        }
    ).replace_schema_metadata({"made": "by hand"})
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source, compression="zstd")
    assert run("perturb", str(source), str(out), "--seed", "1").exit_code == 0
    found = pq.read_table(out)
    assert found.drop_columns(["perturbed"]).equals(table, check_metadata=True)
    assert pq.ParquetFile(out).metadata.row_group(0).column(0).compression == "ZSTD"
    assert found["perturbed"].to_pylist() == calcert.perturb(np.array([0.25, 0.5, 1.0], np.float32), rng=1).tolist()


def test_a_fresh_seed_is_drawn_and_printed_and_repeats_the_draws(run: Run, tmp_path: Path) -> None:
    outs = [str(tmp_path / f"{k}.csv") for k in range(3)]
    seeds = [run("perturb", "rows.csv", out, "--score", "p").stdout.split()[-1] for out in outs[:2]]
    assert seeds[0] != seeds[1]
    run("perturb", "rows.csv", outs[2], "--score", "p", "--seed", seeds[1])
    contents = [Path(out).read_text() for out in outs]
    assert contents[0] != contents[1] == contents[2]


def test_standard_input_to_standard_output(run: Run) -> None:
    for text, expected in (
        ("p,y\n0.25,1\n", "p,y,perturbed\n0.25,1,{}\n"),
        ('{"p": 0.25, "y": 1}\n', '{{"p": 0.25, "y": 1, "perturbed": {}}}\n'),
    ):
        done = run("perturb", "-", "-", "--score", "p", "--seed", "1", input=text)
        assert done.stdout == expected.format(calcert.perturb([0.25], rng=1)[0].item())
        assert "1 row in standard output" in done.stderr


def test_an_existing_file_is_replaced_only_on_request(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("precious")
    refused = run("perturb", "rows.csv", str(out))
    assert refused.exit_code == 2
    assert "OUT must not exist" in refused.stderr
    assert out.read_text() == "precious"
    assert run("perturb", "rows.csv", str(out), "--overwrite").exit_code == 0
    assert out.read_text().startswith("p,y,perturbed\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p,y\n0.5,1\n" + "0.5,1\n" * 900 + "1.5,0\n", "scores must lie in [0, 1]; got 1.5 on line 903 of "),
        ("p,y\n0.5,1\n,0\n", "scores must have no missing values; got one on line 3 of "),
        ("p,y\n0.5,1\nlow,0\n", "scores must be numbers in [0, 1]; got 'low' on line 3 of "),
        ("p,y\n0.5,1\n0.5\n", "as many values as there are columns, 2; got 1 on line 3 of "),
        ("p,y\n", "must hold at least one row; got none."),
        ("", "must begin with a line of column names"),
        ("a,b\n0.5,1\n", "more or fewer than one is plausible; it has the columns 'a' (text), 'b' (text)"),
        ("p,perturbed\n0.5,1\n", "the new column must have a name of its own; got 'perturbed'"),
        ("p,Perturbed\n0.5,1\n", "the new column must have a name of its own; got 'perturbed'"),
        ('p,note\n0.5,"open\n0.25,x\n', "every quote must be closed; got one that is not, on line 2 of "),
        ('p,note\n0.5,"a"b\n', "a value in quotes must end with them"),
        ("p,y\n0.5,1\np,y\n0.5,1\n", "column names must be there once; got them again on line 3 of "),
        ("p,y\n0.5,1\np,y,z\n0.5,1,2\n", "as many values as there are columns, 2; got 3 on line 3 of "),
        ("p,P\n0.5,1\n", "more or fewer than one is plausible; it has the columns 'p' (text), 'P' (text)"),
        ("0.5,1\n0.25,0\n", "must begin with a line of column names; got '0.5,1', which looks like a row"),
        ("p,y\n0_5,1\n", "scores must be numbers in [0, 1]; got '0_5' on line 2 of "),
        ("p,y\ntrue,1\n", "scores must be numbers in [0, 1]; got 'true' on line 2 of "),
    ],
)
def test_bad_rows_leave_no_file_behind(run: Run, tmp_path: Path, text: str, said: str) -> None:
    source = tmp_path / "bad.csv"
    source.write_text(text)
    done = run("perturb", str(source), str(tmp_path / "out.csv"))
    assert done.exit_code == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"p": 0.5, "p": 0.25}\n', "every key must be there once; got 'p' twice on line 1 of "),
        ('{"p": 0.5}\n{"p": "0.5"}\n', "scores must be numbers in [0, 1]; got '0.5' on line 2 of "),
        ('{"p": 0.5}\n{"q": 0.5}\n', "scores must have no missing values; got one on line 2 of "),
        ('{"p": 0.5}\n{"p": 0.5, "perturbed": 1}\n', "the new column must have a name of its own"),
        ('{"p": 0.5}\n{"p": 0.5\n', "every line must be a JSON object"),
        ('{"p": 0.5, "z": ' + "[" * 100_000 + "\n", "must not be nested so deeply"),
        ("\n\n", "must hold at least one row; got none."),
    ],
)
def test_bad_lines_leave_no_file_behind(run: Run, tmp_path: Path, text: str, said: str) -> None:
    source = tmp_path / "bad.jsonl"
    source.write_text(text)
    done = run("perturb", str(source), str(tmp_path / "out.jsonl"))
    assert done.exit_code == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == [source]


def test_all_rows_of_odd_text_come_out_as_they_were(run: Run, tmp_path: Path) -> None:
    long = "x" * 140_000
    for name, text in (
        ("a.csv", '"two\nlines",p\n"p,y\n0.9",0.25\n5" pipe,0.5\n"",1\n'),
        ("b.csv", f'{long},p\n{long},0.25\n"{long}",0.5\n,1\n'),
        ("c.csv", '\ufeff"a,b,c";p\n1;0.25\r\n2;0.5\r\n3;1\r\n'),
        ("d.jsonl", '\ufeff{"p": 0.25, "z": {"p": 1, "p": 2}}\n{"p": 0.5, "q": NaN}\r\n{"p": 1, "q": 1, "q": 1}\n'),
    ):
        source, out = tmp_path / name, tmp_path / f"out.{name}"
        source.write_bytes(text.encode())
        done = run("perturb", str(source), str(out), "--score", "p", "--seed", "1", "--column", "s")
        assert done.exit_code == 0, done.stderr
        written = out.read_bytes().decode()
        for value in calcert.perturb([0.25, 0.5, 1.0], rng=1).tolist():
            assert repr(value) in written
            written = written.replace(f', "s": {value!r}', "").replace(f",{value!r}", "").replace(f";{value!r}", "")
        assert written.replace(",s\n", "\n", 1).replace(";s\n", "\n", 1) == text


def test_parquet_with_columns_that_are_alike(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    columns = [pa.array([0.9]), pa.array([0.5]), pa.array([0.25]), pa.array(["x"])]
    pq.write_table(pa.Table.from_arrays(columns, ["p", "P", "q", "q_1"]), source)
    done = run("perturb", str(source), str(tmp_path / "out.parquet"), "--score", "p")
    assert done.exit_code == 2
    assert "score must name one column of" in done.stderr
    done = run("perturb", str(source), str(tmp_path / "out.parquet"), "--score", "q")
    assert done.exit_code == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert [column.to_pylist() for column in table.columns[:4]] == [column.to_pylist() for column in columns]


def test_a_copy_of_broken_gzip_is_refused(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "in.csv.gz"
    content = bytearray(gzip.compress(b"p,y\n" + b"0.5,1\n" * 1000))
    for broken in (content[:-3], content[:30] + b"\xff\xff" + content[32:], content + b"more"):
        source.write_bytes(broken)
        done = run("perturb", str(source), str(tmp_path / "out.csv.gz"), "--score", "p")
        assert done.exit_code == 2
        assert "in.csv.gz must be complete" in done.stderr
        assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.csv", "out.csv"], "there is no 'gone.csv'"),
        (["rows.csv", "out.parquet"], "IN and OUT must have one format"),
        (["rows.csv", "out.txt"], "must be known from its name"),
        (["rows.parquet", "-"], "Parquet must have a name for both"),
        (["broken.parquet", "out.parquet"], "broken.parquet must be complete parquet"),
        (["rows.csv", "no/where/out.csv"], "must lie in a folder that exists"),
        (["rows.csv", "out.csv", "--score", "q"], "got 'q'. It has the columns 'p' (text), 'y' (text)"),
        (["rows.csv", "out.csv", "--bandwidth", "0"], "must be positive"),
    ],
)
def test_bad_arguments_have_code_2_and_leave_nothing(run: Run, folder: Path, arguments: list[str], said: str) -> None:
    before = sorted(folder.iterdir())
    done = run("perturb", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("form", ["csv", "csv.gz", "jsonl"])
def test_text_in_another_encoding_stays_in_it(run: Run, tmp_path: Path, encoding: str, form: str) -> None:
    lines = ["name,größe", "Ärger,0.5", "Übung,0.25"]
    if form == "jsonl":
        lines = ['{"name": "Ärger", "größe": 0.5}', '{"name": "Übung", "größe": 0.25}']
    text, write = "\n".join([*lines, ""]), gzip.open if form == "csv.gz" else open
    with write(tmp_path / f"in.{form}", "wb") as file:
        file.write(text.encode(encoding))
    paths = str(tmp_path / f"in.{form}"), str(tmp_path / f"out.{form}")
    done = run("perturb", *paths, "--score", "größe", "--seed", "5", "--encoding", encoding)
    assert done.exit_code == 0, done.stderr
    with write(paths[1], "rb") as file:
        copied = file.read().decode(encoding).splitlines()
    drawn = calcert.perturb([0.5, 0.25], rng=5).tolist()
    if form == "jsonl":
        assert [json.loads(line) for line in copied] == [
            {**json.loads(line), "perturbed": value} for line, value in zip(lines, drawn, strict=True)
        ]
    else:
        assert copied == [
            f"{lines[0]},perturbed",
            *(f"{line},{value!r}" for line, value in zip(lines[1:], drawn, strict=True)),
        ]


CP1252 = "Ärger,größe,ab\nx,0.5,1\n".encode("cp1252")


def test_standard_input_in_another_encoding_stays_in_it(run: Run) -> None:
    done = run("perturb", "-", "-", "--score", "größe", "--seed", "5", "--encoding", "cp1252", input=CP1252)
    assert done.exit_code == 0, done.stderr
    assert done.stdout_bytes.startswith(CP1252[:14] + b",perturbed\n")
    done = run("perturb", "-", "-", "--score", "größe", "--encoding", "ascii", input=CP1252)
    assert done.exit_code == 2
    assert "standard input must be text in ascii" in done.stderr


def test_an_encoding_must_come_with_text(run: Run, tmp_path: Path) -> None:
    done = run("perturb", "rows.parquet", str(tmp_path / "out.parquet"), "--score", "p", "--encoding", "cp1252")
    assert done.exit_code == 2
    assert "encoding must come with text; got rows.parquet" in done.stderr
