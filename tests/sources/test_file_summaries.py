"""One road for files: plain, grouped, clustered and weighted rows of every format are those of arrays."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.file_summaries import file_summaries
from calcert.sources.files import file_table
from calcert.sources.groups import rows_by_group
from calcert.sources.groups.grouped import summarize_groups
from calcert.sources.parsed_values import Reading
from calcert.sources.rows_in_memory import read_rows
from calcert.sources.source_argument import Files

WRITTEN: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "jsonl": pl.DataFrame.write_ndjson,
}
SAMPLINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "clusters": {"clusters": "u"},
    "names": {"clusters": "name"},
    "weights": {"weights": "w", "weight_unit": 0.5},
    "counts": {"counts": "k"},
    "all": {"clusters": "name", "weights": "w", "weight_unit": 0.5, "pair_sums": True},
}


def frame(rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    user = rng.integers(0, rows // 5, rows)
    return pl.DataFrame(
        {
            "p": rng.beta(0.3, 1, rows),
            "y": rng.integers(0, 2, rows),
            "u": user,
            "name": [f"user {number}" for number in user],
            "w": rng.integers(0, 5, rows) / 2,
            "k": rng.integers(1, 4, rows),
            "g": np.array(["north", "süd", "", "NA"])[rng.integers(0, 4, rows)],
        }
    )


@pytest.mark.parametrize(("form", "fast"), [("parquet", False), *itertools.product(("csv", "jsonl"), (True, False))])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_rows_of_files_are_those_of_arrays(
    form: str, fast: bool, sampling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_table, "SMALL", -1 if fast else 1 << 40)
    rows, said = frame(), SAMPLINGS[sampling]
    path = tmp_path / f"a.{form}"
    WRITTEN[form](rows, path)
    columns: dict[str, Any] = {name: rows[value] if isinstance(value, str) else value for name, value in said.items()}
    whole = calcert.summarize(rows["p"], rows["y"], **columns)
    assert file_summaries([path], "p", "y", Weighing(**said)) == {None: whole}
    names = [None if name == "" else name for name in rows["g"]]
    parts = summarize_groups(rows["p"], rows["y"], names, weighing=Weighing(**columns))
    assert file_summaries([path], "p", "y", Weighing(**said), "g") == parts
    monkeypatch.setattr(rows_by_group, "WAITING", 100)
    monkeypatch.setattr(rows_by_group, "LARGE", 500)
    assert file_summaries([path], "p", "y", Weighing(**said), "g") == parts


def test_files_keep_an_account_of_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("p;y;u\n10%;J;a\n;J;b\n30 %;N;k.A.\n20%;N;c\n")
    files = Files([tmp_path / "a.csv"], Reading(percent=True, positive="J", drop_missing=True, missing=("k.A.",)))
    found = file_summaries(files, "p", "y", Weighing(clusters="u"))
    assert found == {None: calcert.summarize([0.1, 0.2], [1, 0], clusters=["a", "c"])}
    assert files.account.columns == {"score": "p", "label": "y", "clusters": "u"}
    assert files.account.dropped == {"p": 1, "u": 1}
    assert files.account.rows == {str(tmp_path / "a.csv"): 2}
    assert files.account.labels == {"J": 1, "N": 1}
    scores, labels = read_rows(Files(files, files.spelling), "p", "y")
    assert (scores.tolist(), labels.tolist()) == ([0.1, 0.3, 0.2], [1, 0, 0])


@pytest.mark.parametrize("form", WRITTEN)
def test_clusters_that_differ_by_blanks_alone_are_refused_in_every_format(form: str, tmp_path: Path) -> None:
    rows = pl.DataFrame({"p": [0.5] * 4, "y": [0, 1, 0, 1], "u": ["a", "b ", "b ", " a"]})
    path = tmp_path / f"a.{form}"
    WRITTEN[form](rows[:3], path)
    assert calcert.summarize(path, score="p", label="y", clusters="u").clusters.number == 2  # type: ignore[union-attr]
    WRITTEN[form](rows, path)
    with pytest.raises(ValueError, match=r"clusters must differ by more than blanks; got ' a' .* of .*a\."):
        calcert.summarize(path, score="p", label="y", clusters="u")


def test_groups_that_are_numbers_and_text_are_not_merged(tmp_path: Path) -> None:
    lines = [{"p": 0.5, "y": 1, "g": group} for group in (1, None, 2, "1")]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ValueError, match=r"groups must be named by text .*; got '1' on line 4 of .*a\.jsonl"):
        summarize_groups(tmp_path / "a.jsonl", None, "g", score="p", label="y")


def test_categories_that_no_row_has_are_no_groups(tmp_path: Path) -> None:
    groups = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2]), ["a", "b", "c"])
    pq.write_table(pa.table({"p": [0.5] * 4, "y": [0, 1, 0, 1], "g": groups}), tmp_path / "a.parquet")
    found = summarize_groups(tmp_path / "a.parquet", None, "g", score="p", label="y")
    assert {name: part.rows for name, part in found.items()} == {"a": 1, "c": 2, "missing": 1}


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_a_page_that_does_not_have_its_checksum_is_refused(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"p": np.arange(4096) / 4096, "y": np.arange(4096) % 2})
    pq.write_table(table, path, write_page_checksum=True, compression=compression, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path} must be complete parquet .* CRC checksum verification failed"):
        calcert.summarize(path, score="p", label="y")


@pytest.mark.parametrize("value", ["0.5", "x"])
def test_a_bad_row_of_a_group_or_cluster_is_named_with_its_line(value: str, tmp_path: Path) -> None:
    lines = ["p,y,u,w,g", *[f"0.5,1,u{k},1,a" for k in range(4000)], f"0.5,1,u9,{value},b", "2,1,u9,1,b"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    said = r"got 2 on line 4003" if value == "0.5" else r"weights must be numbers; got 'x' on line 4002"
    unit = Weighing(clusters="u", weights="w", weight_unit=0.5)
    for group in (None, "g"):
        with pytest.raises(ValueError, match=said):
            file_summaries([tmp_path / "a.csv"], "p", "y", unit, group)


def test_weights_of_a_group_must_not_all_be_zero(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("p,y,w,g\n0.5,1,1,a\n0.5,0,2,a\n0.5,0,0,b\n")
    with pytest.raises(ValueError, match="weights must not all be zero in any group; got nothing else in 'b'"):
        file_summaries([tmp_path / "a.csv"], "p", "y", Weighing(weights="w"), "g")


# What text is written in.

TEXT = "Größe,y,g\n0.5,1,Öffentlich\n0.25,0,„a“\n0.75,1,Öffentlich\n"
GROUPS = {"Öffentlich": calcert.summarize([0.5, 0.75], [1, 1]), "„a“": calcert.summarize([0.25], [0])}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("encoding", ["cp1252", "windows-1252", "utf-16", "utf-16-le", "UTF-16-BE", "utf-8", "utf-32"])
def test_text_of_any_encoding_is_read_where_it_is_said(
    encoding: str, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_table, "SMALL", -1 if fast else 1 << 40)
    (tmp_path / "a.csv").write_bytes(TEXT.encode(encoding))
    files = Files([tmp_path / "a.csv"], Reading(encoding=encoding))
    assert summarize_groups(files, None, "g", score="Größe", label="y") == GROUPS
    lines = [{"Größe": 0.5, "y": 1, "g": "ü"}, {"Größe": 0.25, "y": 0, "g": "ü"}]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (tmp_path / "a.jsonl").write_bytes(text.encode(encoding))
    files = Files([tmp_path / "a.jsonl"], Reading(encoding=encoding))
    assert summarize_groups(files, None, "g", score="Größe", label="y").keys() == {"ü"}


@pytest.mark.parametrize("fast", [True, False])
def test_names_that_are_not_utf_8_are_refused_with_the_way_out(
    fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_table, "SMALL", -1 if fast else 1 << 40)
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.replace("Größe", "p").encode("cp1252"))
    way = re.escape("Pass what the file is written in, such as Reading(encoding='cp1252')")
    choices: list[dict[str, Any]] = [{"groups": "g"}, {"clusters": "g"}]
    for said in choices:
        with pytest.raises(ValueError, match=rf"{next(iter(said))} must be text in UTF-8; got .* on line 2 of .*{way}"):
            calcert.certify(path, score="p", label="y", **said)
    path.write_bytes(TEXT.encode("cp1252"))
    with pytest.raises(ValueError, match=rf"names of columns must be text in UTF-8; got .*{way}"):
        calcert.summarize(path, score="Größe", label="y")


def test_bytes_that_are_not_of_the_encoding_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.encode("utf-8"))
    with pytest.raises(ValueError, match=r"a\.csv must be text in ascii; .* Pass another encoding"):
        calcert.summarize(Files([tmp_path / "a.csv"], Reading(encoding="ascii")), score="p", label="y")
    with pytest.raises(ValueError, match=r"encoding must be one of text that Python knows.*; got 'zip'"):
        Reading(encoding="zip")
    pq.write_table(pa.table({"p": [0.5], "y": [1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"Reading\(encoding=\.\.\.\) must come with CSV or JSON"):
        calcert.summarize(Files([tmp_path / "a.parquet"], Reading(encoding="cp1252")), score="p", label="y")
