"""Files of every kind give the Summary of their rows, and what cannot be read says why."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.sources.files import file_table

ROWS = 5000


@pytest.fixture(autouse=True, params=["exactly", "fast"])
def _way_of_reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files of text are read exactly and large ones fast; what is claimed here holds for both."""
    if request.param == "fast":
        monkeypatch.setattr(file_table, "SMALL", -1)


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    rng = np.random.default_rng(3)
    scores = np.concatenate([[0.0, 1.0, 5e-324, 2.0**-40], rng.random(ROWS - 4) ** 4])
    return pa.table({"id": np.arange(ROWS), "p": scores, "y": (rng.random(ROWS) < scores).astype(np.int8)})


@pytest.fixture(scope="module")
def expected(rows: pa.Table) -> calcert.Summary:
    return calcert.summarize(rows["p"], rows["y"])


WRITTEN = {
    "a.parquet": "FORMAT parquet, ROW_GROUP_SIZE 2048",
    "a.pq": "FORMAT parquet, COMPRESSION zstd",
    "a.csv": "FORMAT csv",
    "a.tsv": "FORMAT csv, DELIMITER '\t'",
    "a.csv.gz": "FORMAT csv, COMPRESSION gzip",
    "a.csv.zst": "FORMAT csv, COMPRESSION zstd",
    "a.jsonl": "FORMAT json",
    "a.ndjson.gz": "FORMAT json, COMPRESSION gzip",
    "a.json": "FORMAT json, ARRAY true",
    "by_id": "FORMAT parquet, PARTITION_BY (part)",
    "by_label": "FORMAT parquet, PARTITION_BY (y)",
    "csv_by_label": "FORMAT csv, PARTITION_BY (y)",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_gives_the_summary_of_its_rows(
    name: str, rows: pa.Table, expected: calcert.Summary, tmp_path: Path
) -> None:
    path = tmp_path / name
    duckdb.connect().execute(f"COPY (SELECT *, id % 3 AS part FROM rows) TO '{path}' ({WRITTEN[name]})")
    assert calcert.summarize(path, score="p", label="y") == expected
    assert calcert.summarize(str(path), score="p", label="y") == expected


def test_globs_folders_and_lists_stand_for_their_files(
    rows: pa.Table, expected: calcert.Summary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        pq.write_table(rows.slice(number * 2000, 2000), tmp_path / str(number) / "part.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "0" / ".part.parquet.crc").touch()
    monkeypatch.chdir(tmp_path)
    assert calcert.summarize(tmp_path) == expected
    assert calcert.summarize("*/part.parquet") == expected
    assert calcert.summarize([f"{number}/part.parquet" for number in range(3)]) == expected
    assert calcert.summarize(["0", "[12]/*.parquet"]) == expected


@pytest.mark.parametrize("name", ["a[1].parquet", "a*.parquet", "it's.parquet", 'a "b".parquet', "é ?.parquet"])
def test_a_name_with_special_characters_means_that_file_alone(
    name: str, rows: pa.Table, expected: calcert.Summary, tmp_path: Path
) -> None:
    pq.write_table(rows, tmp_path / name)
    pq.write_table(rows, tmp_path / "a1.parquet")
    pq.write_table(rows, tmp_path / "aa.parquet")
    assert calcert.summarize(tmp_path / name) == expected


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    odd = pa.table({'the "score"': [0.25, 0.5], "it's the label": [0, 1]})
    pq.write_table(odd, tmp_path / "a.parquet")
    duckdb.connect().execute(f"COPY odd TO '{tmp_path}/a.csv'; COPY odd TO '{tmp_path}/a.jsonl' (FORMAT json)")
    for name in ("a.parquet", "a.csv", "a.jsonl"):
        summary = calcert.summarize(tmp_path / name, score='the "score"', label="it's the label")
        assert summary == calcert.summarize([0.25, 0.5], [0, 1])


@pytest.mark.parametrize("score_type", [pa.float64(), pa.float32(), pa.decimal128(9, 3), pa.int32(), pa.bool_()])
@pytest.mark.parametrize("label_type", [pa.bool_(), pa.int8(), pa.uint32(), pa.float32(), pa.decimal128(21, 1)])
def test_every_type_of_column_is_read_exactly(score_type: Any, label_type: Any, tmp_path: Path) -> None:
    whole = pa.types.is_integer(score_type) or pa.types.is_boolean(score_type)
    scores, labels = pa.array([0.0, 1.0, 1.0, 0.0] if whole else [0.1, 0.3, 0.7, 1.0]), pa.array([0, 1, 1, 0])
    table = pa.table({"p": scores.cast(score_type), "y": labels.cast(label_type)})
    pq.write_table(table, tmp_path / "a.parquet")
    values = [float(value) for value in table["p"].to_pylist()]
    assert calcert.summarize(tmp_path / "a.parquet") == calcert.summarize(
        np.array(values, np.float32) if score_type == pa.float32() else values, labels
    )


def test_scores_of_a_text_file_are_doubles_even_if_the_first_ones_look_like_integers(tmp_path: Path) -> None:
    scores = [0.0] * 50_000 + [0.5]
    expected = calcert.summarize(scores, [1] * len(scores))
    (tmp_path / "a.csv").write_text("p,y\n" + "0,1\n" * 50_000 + "0.5,1\n")
    (tmp_path / "a.jsonl").write_text('{"p": 0, "y": 1}\n' * 50_000 + '{"p": 0.5, "y": 1}\n')
    assert calcert.summarize(tmp_path / "a.csv", score="p", label="y") == expected
    assert calcert.summarize(tmp_path / "a.jsonl", score="p", label="y") == expected


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_labels_of_a_text_file_may_be_true_and_false(name: str, tmp_path: Path) -> None:
    text = {"a.csv": "p,y\n0.5,true\n0.75,false\n", "a.jsonl": '{"p": 0.5, "y": true}\n{"p": 0.75, "y": false}\n'}
    path = tmp_path / name
    path.write_text(text[name])
    assert calcert.summarize(path) == calcert.summarize([0.5, 0.75], [1, 0])
    path.write_text(text[name].replace("false", "" if name == "a.csv" else "null"))
    with pytest.raises(ValueError, match=r"labels must have no missing values; got one on line [23] of .*a\."):
        calcert.summarize(path)


def test_columns_that_were_found_are_announced(
    rows: pa.Table, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pq.write_table(rows, tmp_path / "a.parquet")
    calcert.summarize(tmp_path / "a.parquet")
    assert caplog.messages == [f"{tmp_path}/a.parquet: scores from column 'p', labels from column 'y'"]
    caplog.clear()
    calcert.summarize(tmp_path / "a.parquet", score="p", label="y")
    assert caplog.messages == []


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(*paths: Any, **names: Any) -> str:
    with pytest.raises((ValueError, TypeError, OSError)) as raised:
        calcert.summarize(list(paths), **names)
    return str(raised.value)


def test_a_missing_column_lists_the_columns_and_the_nearest_name(rows: pa.Table, tmp_path: Path) -> None:
    pq.write_table(rows.rename_columns(["id", "Probability", "y"]), tmp_path / "a.parquet")
    words = refusal(tmp_path / "a.parquet", score="probabilty", label="y")
    assert "'id' (int64), 'Probability' (double), 'y' (int8)" in words
    assert "Did you mean 'Probability'?" in words


def test_a_bad_row_is_named_with_its_file(rows: pa.Table, tmp_path: Path) -> None:
    for number, value in enumerate((0.5, 1.73)):
        scores = rows["p"].to_numpy().copy()
        scores[4321] = value
        pq.write_table(rows.set_column(1, "p", pa.array(scores)), tmp_path / f"{number}.parquet", row_group_size=512)
    good, bad = tmp_path / "0.parquet", tmp_path / "1.parquet"
    assert f"got 1.73 at row 4321 of {bad}. If they are logits" in refusal(bad)
    assert f"got 1.73 at row 4321 of {bad}. If they are logits" in refusal(good, bad)
    assert f"got 1.73 at row 4321 of {bad}. If they are logits" in refusal(bad, good)


@pytest.mark.parametrize("column", ["p", "y"])
def test_a_missing_value_is_named_with_its_row(column: str, rows: pa.Table, tmp_path: Path) -> None:
    place = rows.column_names.index(column)
    values = rows[column].to_pylist()
    values[3333] = None
    pq.write_table(rows.set_column(place, column, pa.array(values)), tmp_path / "a.parquet")
    assert f"missing values; got one at row 3333 of {tmp_path}/a.parquet" in refusal(tmp_path / "a.parquet")


def test_a_label_that_is_not_0_or_1_is_named_with_its_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "p,y\n0.5,1\n0.5,2\n0.5,2\n")
    assert f"got 2 on line 3 of {path}. For classes 1 and 2 pass Reading(positive='2')" in refusal(path)


def test_files_that_are_not_what_their_name_says(rows: pa.Table, tmp_path: Path) -> None:
    pq.write_table(rows, tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    truncated = write(tmp_path / "truncated.parquet", whole[: len(whole) // 2])
    assert f"{truncated} must be complete parquet" in refusal(truncated)
    assert "must be complete parquet" in refusal(write(tmp_path / "text.parquet", "p,y\n0.5,1\n"))
    cut = write(tmp_path / "cut.jsonl", '{"p": 0.5, "y": 1}\n{"p": 0.')
    assert f"""every line must be a JSON object; got '{{"p": 0.' on line 2 of {cut}""" in refusal(cut)
    cut = write(tmp_path / "cut.csv.gz", gzip.compress(b"p,y\n" + b"0.5,1\n" * 1000)[:-9])
    assert f"{cut} must be complete; Compressed file ended" in refusal(cut)
    late = write(tmp_path / "late.csv", "p,y\n" + "0.5,1\n" * 50_000 + "maybe,1\n")
    assert f"got 'maybe' on line 50002 of {late}" in refusal(late)


def test_files_without_rows(rows: pa.Table, tmp_path: Path) -> None:
    pq.write_table(rows.slice(0, 0), tmp_path / "a.parquet")
    for path in (tmp_path / "a.parquet", write(tmp_path / "a.csv", "p,y\n")):
        assert f"{path} must hold at least one row; got none" in refusal(path, score="p", label="y")
    assert "empty file" in refusal(write(tmp_path / "b.csv", ""))
    (tmp_path / "none").mkdir()
    assert "empty folder" in refusal(tmp_path / "none")


def test_files_that_disagree(rows: pa.Table, tmp_path: Path) -> None:
    pq.write_table(rows, tmp_path / "a.parquet")
    single = rows.set_column(1, "p", rows["p"].cast(pa.float32()))
    pq.write_table(single, tmp_path / "b.parquet")
    words = refusal(tmp_path)
    assert "p double, y int8" in words
    assert "p float, y int8" in words
    pq.write_table(rows.rename_columns(["id", "q", "y"]), tmp_path / "b.parquet")
    assert "y int8 in" in refusal(tmp_path)
    write(tmp_path / "c.csv", "p,y\n0.5,1\n")
    assert "all files must have one format; got" in refusal(tmp_path)
    write(tmp_path / "d.csv", "q,y\n0.5,1\n")
    words = refusal(tmp_path / "c.csv", tmp_path / "d.csv", score="p", label="y")
    assert f"all files must have the column 'p'; {tmp_path}/d.csv has 'q', 'y'." in words


def test_columns_of_strings(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "p,y\nhigh,1\nlow,0\n")
    words = refusal(path, score="p", label="y")
    assert f"scores must be numbers in [0, 1]; got 'high' on line 2 of {path}." in words


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "a.parquet")
    assert "no file matches it" in refusal(tmp_path / "*.parquet")
    assert "format" in refusal(write(tmp_path / "a.unknown", "x"))
    assert refusal(write(tmp_path / "a.xls", "x")).endswith("Save the sheet as .xlsx or CSV UTF-8.")
    assert "format" in refusal(write(tmp_path / "a.parquet.gz", "x"))


def test_a_file_without_read_permission(rows: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(rows, path)
    path.chmod(0)
    user = os.geteuid()
    for folder in [tmp_path, *tmp_path.parents]:
        if user == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    try:
        if user == 0:
            os.seteuid(65534)
        words = refusal(path)
    finally:
        os.seteuid(user)
    assert f"{path} must be readable" in words


def start_reading(folder: Path, rows: pa.Table) -> subprocess.Popen[bytes]:
    """Another process in the middle of reading a file, with all its temporary files in `folder`."""
    pq.write_table(pa.concat_tables([rows] * 500), folder / "a.parquet", row_group_size=50_000)
    program = """
import time
from calcert import summarize
from calcert.sources.arrays import Collector
add = Collector.add
Collector.add = lambda self, x, y: (time.sleep(0.3), add(self, x, y))
print('reading', flush=True)
summarize('a.parquet', score='p', label='y')
"""
    environment = os.environ | {"TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.5)
    assert process.poll() is None
    return process


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_reader_that_is_stopped_leaves_nothing_behind(how: signal.Signals, rows: pa.Table, tmp_path: Path) -> None:
    with start_reading(tmp_path, rows) as process:
        process.send_signal(how)
        process.wait(timeout=20)
    assert process.returncode != 0
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_importing_calcert_loads_no_engine() -> None:
    program = (
        "import sys, calcert; "
        "print([m for m in ('duckdb', 'pyarrow', 'pandas', 'polars', 'dask', 'ibis', 'pyspark', 'rich') "
        "if m in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.check_output([sys.executable, "-c", program], env=environment, text=True).strip() == "[]"


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl"])
def test_no_file_needs_pandas(name: str, tmp_path: Path) -> None:
    # Its import takes a second, and Arrow, which would do it, forgets a Ctrl-C that comes meanwhile.
    if name.endswith("parquet"):
        pq.write_table(pa.table({"p": [0.5] * 300_000, "y": [True] * 300_000}), tmp_path / name)
    else:
        rows = ["p,y"] + ["0.5,true"] * 3 if name.endswith("csv") else ['{"p": 0.5, "y": true}'] * 3
        (tmp_path / name).write_text("\n".join(rows))
    program = f"import sys, calcert; calcert.summarize({name!r}); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
