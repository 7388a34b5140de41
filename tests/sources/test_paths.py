"""Every file that is meant is read, once; what is no file, or is there twice, is refused by name."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.sources.files.paths import resolve

ROWS = "p,y\n0.5,1\n0.25,0\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text(ROWS)
    return tmp_path


def refusal(*paths: Any, **names: Any) -> str:
    with pytest.raises((ValueError, OSError)) as raised:
        calcert.summarize(list(paths), **names)
    return str(raised.value)


@pytest.mark.parametrize(
    "again", ["data/a.csv", "./data/a.csv", "data/../data/a.csv", "data", "data/*.csv", "**/a.csv"]
)
def test_a_file_that_is_named_twice_is_refused(here: Path, again: str) -> None:
    words = refusal("data/a.csv", again)
    assert words.startswith("every file must be named once; got data/a.csv")
    assert words.endswith("Its rows would be counted twice.")


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_file_and_a_link_to_it_are_one(here: Path, make: Any) -> None:
    make(here / "data" / "a.csv", here / "data" / "b.csv")
    said = "got data/a.csv and data/b.csv, which are one and the same."
    for paths in (["data"], ["data/*.csv"], ["data/a.csv", "data/b.csv"], ["data/**"]):
        assert said in refusal(*paths)


def test_a_copy_is_remarked_on(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = (here / "data" / "a.csv").read_bytes()
    copy = here / "data" / "copy.csv"
    copy.write_bytes(rows)
    calcert.summarize("data", score="p", label="y")
    said = "data/a.csv and data/copy.csv hold the same bytes: if one is a copy, its rows are counted twice"
    assert [words.partition(";")[0] for words in caplog.messages] == [said]
    caplog.clear()
    copy.write_bytes(rows[:-1] + b" ")  # As long, and other bytes.
    calcert.summarize("data", score="p", label="y")
    (here / "data" / "day=1").mkdir()
    copy.rename(here / "data" / "day=1" / "a.csv")
    (here / "data" / "day=1" / "a.csv").write_bytes(rows)  # Rows of another day, as the folder says.
    calcert.summarize("data", score="p", label="y")
    assert caplog.messages == []


@pytest.mark.parametrize("meant", ["data", "data/**/*.csv", "data/**", "**/*.parquet", "*/**/a.csv"])
def test_folders_that_lead_back_to_themselves_are_refused(here: Path, meant: str) -> None:
    # Two of them make 2^40 paths before the system says stop.
    (here / "data" / "one").symlink_to(".")
    (here / "data" / "two").symlink_to(here)
    assert "every folder must be named once; got " in refusal(meant)


def test_a_link_to_a_folder_elsewhere_is_followed(here: Path) -> None:
    (here / "more").mkdir()
    (here / "more" / "b.csv").write_text(ROWS)
    (here / "data" / "linked").symlink_to(here / "more")
    expected = calcert.summarize([0.5, 0.25] * 2, [1, 0] * 2)
    for meant in ("data", "data/**/*.csv", "data/*"):
        assert calcert.summarize(meant, score="p", label="y") == expected


def test_a_glob_that_matches_a_folder_means_the_files_in_it(here: Path) -> None:
    (here / "data" / "day=1").mkdir()
    (here / "data" / "day=1" / "part.csv").write_text(ROWS)
    assert resolve(["data/*"])[0] == ["data/a.csv", "data/day=1/part.csv"]
    assert resolve(["data/**"])[0] == ["data/a.csv", "data/day=1/part.csv"]


def test_links_that_lead_nowhere_are_refused(here: Path) -> None:
    (here / "data" / "gone.csv").symlink_to("nowhere")
    for meant in ("data", "data/*", "data/gone.csv"):
        assert "data/gone.csv must be a file; got a link that leads nowhere." in refusal(meant)


def test_pipes_and_devices_are_not_waited_for(here: Path) -> None:
    os.mkfifo(here / "data" / "pipe.csv")
    for meant in ("data", "data/*.csv", "data/pipe.csv"):
        assert "data/pipe.csv must be a regular file; got a named pipe." in refusal(meant)
    assert "/dev/null must be a regular file; got a device." in refusal("/dev/null")


@pytest.mark.parametrize(
    "address", ["http://host/a.csv", "https://host/*.parquet", "s3://bucket/a.jsonl", "hf://x/a.pq"]
)
def test_addresses_are_refused_with_the_way_that_works(here: Path, address: str) -> None:
    words = refusal(address)
    assert f"must lead to files on this machine; got the address {address!r}" in words
    assert "Copy the files here first" in words
    assert "polars.scan_parquet" in words


def test_a_file_that_looks_like_an_address_is_a_file(here: Path) -> None:
    (here / "s3:" / "bucket").mkdir(parents=True)
    (here / "s3:" / "bucket" / "a.csv").write_text(ROWS)
    pq.write_table(pa.table({"p": [0.5, 0.25], "y": [1, 0]}), here / "s3:" / "bucket" / "b.parquet")
    expected = calcert.summarize([0.5, 0.25], [1, 0])
    for name in ("a.csv", "b.parquet"):
        assert calcert.summarize(f"s3://bucket/{name}", score="p", label="y") == expected
    assert "Pass it without 'file://'" in refusal(f"file://{here}/data/a.csv")


def test_a_folder_that_may_not_be_read_is_no_empty_folder(here: Path) -> None:
    secret = here / "data" / "secret"
    secret.mkdir()
    secret.chmod(0)
    user = os.geteuid()
    for folder in [here, *here.parents]:
        if user == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    (here / "data").chmod(0o755)
    try:
        if user == 0:
            os.seteuid(65534)
        words = refusal("data", score="p", label="y")
    finally:
        os.seteuid(user)
        secret.chmod(0o700)
    assert "data/secret must be readable; Permission denied." in words


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("name", ["a\x1b[2J", "two\nlines", "\u202egnp", "[red]a", "a\x85b"])
def test_file_names_are_shown_so_that_a_terminal_is_not_misled(here: Path, form: str, name: str) -> None:
    path = here / f"{name}.{form}"
    if form == "parquet":
        pq.write_table(pa.table({"p": [0.5, 0.25], "y": [1, 2]}), path)
    else:
        path.write_text("p,y\n0.5,1\n0.25,2\n" if form == "csv" else '{"p":0.5,"y":1}\n{"p":0.25,"y":2}\n')
    words = refusal(path, score="p", label="y")
    assert words.isprintable()
    where = {"parquet": "at row 1", "csv": "on line 3", "jsonl": "on line 2"}[form]
    assert f"got 2 {where} of {here}/{name.encode('unicode_escape').decode()}.{form}" in words


def test_a_file_name_that_is_no_text(here: Path) -> None:
    path = os.fsdecode(os.fsencode(here) + b"/\xff")
    Path(f"{path}.csv").write_text(ROWS)
    assert calcert.summarize(f"{path}.csv", score="p", label="y").n == 2
    pq.write_table(pa.table({"p": [0.5], "y": [1]}), here / "a.parquet")
    (here / "a.parquet").rename(f"{path}.parquet")
    assert "\\udcff.parquet must have a name in UTF-8; rename the file." in refusal(f"{path}.parquet")


# Columns of Parquet: the one that was asked for.


def parquet(path: Path, names: list[str], columns: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays([pa.array(column) for column in columns], names=names), path)
    return path


def test_parquet_columns_that_are_alike_are_refused_and_others_read(here: Path) -> None:
    path = parquet(here / "a.parquet", ["P", "p", "p_1", "y"], [[0.9, 0.9], [0.8, 0.8], [0.5, 0.25], [1, 0]])
    expected = calcert.summarize([0.5, 0.25], [1, 0])
    assert calcert.summarize(path, score="p_1", label="y") == expected
    for score in ("P", "p"):
        words = refusal(path, score=score, label="y")
        assert f"score must name one column of {path} alone; got {score!r}, but it has 'P' (double) and 'p'" in words
    path = parquet(here / "b.parquet", ["p", "y", "p"], [[0.9], [1], [0.5]])
    assert "'p' (double) and 'p' (double)" in refusal(path, score="p", label="y")


def test_parquet_files_with_columns_that_are_alike_are_not_mixed(here: Path) -> None:
    parquet(here / "in" / "1.parquet", ["p_1", "y"], [[0.5], [1]])
    parquet(here / "in" / "2.parquet", ["P", "p", "p_1", "y"], [[0.9], [0.8], [0.25], [0]])
    assert calcert.summarize(here / "in", score="p_1", label="y") == calcert.summarize([0.5, 0.25], [1, 0])
    parquet(here / "in" / "3.parquet", ["P_1", "p_1", "y"], [[0.9], [0.25], [0]])
    words = refusal(here / "in", score="p_1", label="y")
    assert f"{here}/in/3.parquet alone" in words
    assert "'P_1' (double) and 'p_1' (double)" in words


def test_a_column_inside_of_another_is_not_meant(here: Path) -> None:
    inner = [{"p": 0.9, "y": {"p": 7}}, {"p": 0.9, "y": {"p": 7}}]
    path = parquet(here / "a.parquet", ["s", "p", "y"], [inner, [0.5, 0.25], [1, 0]])
    assert calcert.summarize(path, score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])
    other = parquet(here / "b.parquet", ["p", "y"], [[0.5, 0.25], [1, 0]])
    assert calcert.summarize([path, other], score="p", label="y").n == 4


@pytest.mark.parametrize("folder", ["p=1", "y=0", "P=1", "p=0.5/x=1"])
def test_a_folder_does_not_override_a_column_of_parquet(here: Path, folder: str) -> None:
    path = parquet(here / "out" / folder / "a.parquet", ["p", "y"], [[0.5, 0.25], [1, 0]])
    words = refusal(path, score="p", label="y")
    name = folder.split("=")[0].lower()
    assert f"{name!r} (" in words
    assert "in the names of folders" in words


def test_folders_above_or_of_other_names_do_not_matter(here: Path) -> None:
    (here / "p=1").mkdir()
    path = parquet(here / "p=1" / "z=3" / "a.parquet", ["p", "y"], [[0.5, 0.25], [1, 0]])
    os.chdir(here / "p=1")
    assert calcert.summarize("z=3/a.parquet", score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])
    assert "'p'" in refusal(path, score="p", label="y")


def test_folders_give_labels_that_parquet_lacks(here: Path) -> None:
    parquet(here / "out" / "y=1" / "a.parquet", ["p"], [[0.5, 0.75]])
    parquet(here / "out" / "y=0" / "a.parquet", ["p"], [[0.25]])
    assert calcert.summarize("out", score="p", label="y") == calcert.summarize([0.5, 0.75, 0.25], [1, 1, 0])
    parquet(here / "out" / "y=0.7" / "a.parquet", ["p"], [[0.25]])
    assert "labels must be 0 or 1 (or bool); got 0.7 at row 0 of out/y=0.7/a.parquet" in refusal(
        "out", score="p", label="y"
    )
    parquet(here / "other" / "y=won" / "a.parquet", ["p"], [[0.25]])
    assert "labels must be 0 or 1 (or bool); got 'won' at row 0 of other/y=won/a.parquet" in refusal(
        "other", score="p", label="y"
    )
    parquet(here / "half" / "a.parquet", ["p"], [[0.25]])
    parquet(here / "half" / "y=1" / "b.parquet", ["p"], [[0.25]])
    assert "label must be a column of half/a.parquet" in refusal("half", score="p", label="y")


def test_groups_may_be_the_names_of_folders(here: Path) -> None:
    parquet(here / "out" / "site=north" / "a.parquet", ["p", "y"], [[0.5, 0.75], [1, 0]])
    parquet(here / "out" / "site=south" / "a.parquet", ["p", "y"], [[0.25], [1]])
    report = calcert.certify("out", score="p", label="y", groups="site")
    assert {name: group.summary for name, group in report.groups.items()} == {
        "north": calcert.summarize([0.5, 0.75], [1, 0]),
        "south": calcert.summarize([0.25], [1]),
    }


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.decimal128(9, 2), pa.decimal128(38, 30)])
def test_scores_of_every_type_are_exact(here: Path, kind: Any) -> None:
    rng = np.random.default_rng(0)
    if pa.types.is_decimal(kind):
        chance = random.Random(0)
        digits = [f"{chance.randrange(10**kind.scale):0{kind.scale}d}" for _ in range(300)]
        column = pa.array([Decimal(f"0.{part}") for part in digits], kind)
    else:
        column = pa.array(rng.random(300).astype(np.float16 if kind == pa.float16() else np.float32), kind)
    labels = np.arange(300) % 2
    pq.write_table(pa.table({"p": column, "y": labels}), here / "a.parquet")
    exact = [float(value) for value in column.to_pylist()]
    assert calcert.summarize(here / "a.parquet", score="p", label="y") == calcert.summarize(exact, labels)


def test_decimals_that_cannot_be_read_exactly_are_refused(here: Path) -> None:
    digits = pa.array([Decimal("0.1234567890123456789012345678901234567890")], pa.decimal256(50, 40))
    pq.write_table(pa.table({"p": digits, "y": [1]}), here / "a.parquet")
    with pytest.raises(TypeError, match=r"'p' of .*a\.parquet, which has type 50 decimal digits, too many"):
        calcert.summarize(here / "a.parquet", score="p", label="y")


@pytest.mark.parametrize("label", [2**64 - 1, 2**53 + 1, 2])
def test_large_labels_are_not_wrapped_around(here: Path, label: int) -> None:
    pq.write_table(pa.table({"p": [0.5, 0.5], "y": pa.array([1, label], pa.uint64())}), here / "a.parquet")
    assert "labels must be 0 or 1 (or bool); got " in refusal(here / "a.parquet", score="p", label="y")


def test_nothing_is_written_to_the_home_folder(here: Path) -> None:
    """Neither a file nor an extension that was fetched."""
    (here / "home").mkdir()
    pq.write_table(pa.table({"p": [0.5], "y": [1]}), here / "a.parquet")
    (here / "a.jsonl").write_text('{"p": 0.5, "y": 1}\n' * 100_000)
    program = """
import calcert
calcert.summarize('a.parquet', score='p', label='y')
calcert.summarize('a.jsonl', score='p', label='y')
calcert.summarize('data/a.csv', score='p', label='y')
import duckdb
from calcert.sources.files.fast_text import OFFLINE
settings = duckdb.connect(config=OFFLINE).sql("FROM duckdb_settings() SELECT name, value").fetchall()
print(*(f'{name}={value}' for name, value in settings if name.startswith(('auto', 'allow_community'))), sep='\\n')
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(here / "home")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=here, env=environment, capture_output=True, text=True, check=True
    )
    assert list((here / "home").iterdir()) == []
    for name in ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"):
        assert f"{name}=false" in done.stdout


def test_columns_of_parquet_are_found_by_name_in_every_file(here: Path) -> None:
    parquet(here / "in" / "1.parquet", ["p", "y", "z"], [[0.5], [1], ["x"]])
    parquet(here / "in" / "2.parquet", ["w", "y", "p"], [[0.9], [0], [0.25]])
    parquet(here / "in" / "3.parquet", ["y", "p"], [[1], [0.75]])
    assert calcert.summarize(here / "in", score="p", label="y") == calcert.summarize([0.5, 0.25, 0.75], [1, 0, 1])
    parquet(here / "in" / "4.parquet", ["Y", "p"], [[1], [0.75]])
    assert "all files must have the same columns and types; got p double, y int64 in" in refusal(
        here / "in", score="p", label="y"
    )
