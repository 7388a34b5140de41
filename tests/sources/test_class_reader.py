"""Many classes in tables: the rows of the array from every kind of table, and refusals that name row and column."""

from __future__ import annotations

import json
import logging
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import polars as pl
import pytest

import calcert
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.refusal import WrongValue
from calcert.sources.classes.class_columns import ClassNumbers
from calcert.sources.classes.class_rows import ClassRows
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.parsed_values import Reading
from calcert.sources.source_argument import Files

NAMES = ("cat", "dog", "bird")
ROWS = 200
COLUMNS = [f"p_{name}" for name in NAMES]


class Wanted(NamedTuple):
    """Probabilities and classes."""

    p: Any
    y: Any


@pytest.fixture(scope="module")
def wanted() -> Wanted:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([2.0, 1.0, 0.2], ROWS)
    p[0] = [0.1, 0.7, 0.2]  # Adds up to 0.9999999999999999.
    return Wanted(p, rng.integers(0, 3, ROWS))


@pytest.fixture(scope="module")
def frame(wanted: Wanted) -> pl.DataFrame:
    p, y = wanted
    columns: dict[str, Any] = {name: p[:, k] for k, name in enumerate(COLUMNS)}
    return pl.DataFrame(columns | {"animal": [NAMES[k] for k in y], "number": y, "all": p.tolist()})


@pytest.fixture(scope="module")
def folder(frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("classes")
    frame.write_parquet(where / "rows.parquet", row_group_size=64)
    frame.write_ndjson(where / "rows.jsonl")
    as_text = frame.with_columns(all=pl.Series([json.dumps(row) for row in frame["all"].to_list()]))
    as_text.write_csv(where / "rows.csv")
    with (where / "nested.jsonl").open("w") as lines:
        for row in frame.to_dicts():
            lines.write(json.dumps({"p": {n: row[f"p_{n}"] for n in NAMES}, "truth": row["animal"]}) + "\n")
    return where


def probability_of(k: int) -> Callable[[Floats, Integers], Floats]:
    return lambda p, y: p[:, k].copy()


MEASURED: dict[str, Callable[[Floats, Integers], Floats]] = {
    **{name: probability_of(k) for k, name in enumerate(NAMES)},
    "label": lambda p, y: y.astype(float),
}
"""All probabilities and labels, as they come."""


def read(source: Any, columns: Any, label: str | None, names: Any = None) -> ClassRows:
    return calcert.Rows(source, class_columns=columns, label=label, class_names=names).by_class(MEASURED)


def same(found: ClassRows, wanted: Wanted, names: tuple[str, ...] | None = NAMES) -> None:
    p, y = wanted
    for k, name in enumerate(NAMES):
        assert found.measured[name].tobytes() == p[:, k].tobytes()
        assert found.of_class(k) == calcert.summarize(p[:, k], y == k)
    assert found.measured["label"].tolist() == y.tolist()
    assert found.prediction == calcert.summarize(p.max(axis=1), p.argmax(axis=1) == y)
    assert (found.size, found.names) == (3, names)


KINDS = ("polars", "pandas", "arrow", "lazy", "duckdb", "rows.parquet", "rows.csv", "rows.jsonl")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_rows_of_the_array(
    kind: str, frame: pl.DataFrame, folder: Path, wanted: Wanted
) -> None:
    sources: dict[str, Any] = {
        "polars": lambda: frame,
        "pandas": frame.to_pandas,
        "arrow": frame.to_arrow,
        "lazy": frame.lazy,
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()),
    }
    source = sources[kind]() if kind in sources else folder / kind
    same(read(source, "p_*", "animal"), wanted)
    same(read(source, "p_*", "number"), wanted)
    same(read(source, "p_cat,p_dog,p_bird", "number"), wanted, tuple(COLUMNS))
    same(read(source, COLUMNS, "animal", NAMES), wanted)
    same(read(source, "all", "number"), wanted, None)
    same(read(source, "all", "animal", NAMES), wanted)


def test_objects_inside_of_objects_are_columns(folder: Path, wanted: Wanted) -> None:
    same(read(folder / "nested.jsonl", "p.*", "truth"), wanted)


def test_a_label_column_with_a_telling_name_is_found_and_announced(
    folder: Path, wanted: Wanted, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "calcert"):
        same(read(folder / "nested.jsonl", "p.*", None), wanted)
    assert "classes of rows from column 'truth'" in caplog.text


def test_batches_are_put_together(folder: Path, wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calcert.sources.classes.class_rows.VALUES", 90)
    monkeypatch.setattr("calcert.sources.classes.class_rows.LARGE", 70)
    for name in ("rows.parquet", "rows.csv", "rows.jsonl"):
        same(read(folder / name, "p_*", "animal"), wanted)
        same(read([folder / name], "all", "number"), wanted, None)


def test_files_are_spelled_as_they_say(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a;b;c;y\n50,5%;20%;29,5%;b\n;1%;99%;c\n10%;20%;70%;c\n")
    files = Files([path], Reading(decimal=",", percent=True, drop_missing=True))
    found = read(files, "a,b,c", "y").measured
    assert [found[name].tolist() for name in NAMES] == [[0.505, 0.1], [0.2, 0.2], [0.295, 0.7]]
    assert found["label"].tolist() == [1, 2]
    assert files.account.left_out == "1 of 3 rows were left out: 1 without a"


HEADER = "p_a,p_b,p_c,y"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("0.5,0.5,0.5,a", "must add up to 1 in every row, within 0.001; got 1.5 on line 3 of "),
        ("0.5,1.5,-1,a", r"must lie in \[0, 1\]; got 1.5 on line 3 of .*, column 'p_b'"),
        ("0.5,nan,0.5,a", "got nan on line 3 of .*, column 'p_b'"),
        ("0.5,,0.5,a", "no missing values; got one on line 3 of .*, column 'p_b'"),
        ("0.5,0_1,0.5,a", r"numbers in \[0, 1\]; got '0_1' on line 3 of .*, column 'p_b'"),
        ("0.5,\u0661,0.5,a", "on line 3 of .*, column 'p_b'"),
        ("0.5,0.25,0.25,", "labels must have no missing values; got one on line 3"),
        ("0.5,0.25,0.25,d", "names of classes, 'a', 'b', 'c', or whole numbers from 0 to 2; got 'd' on line 3"),
        ("0.5,0.25,0.25,3", "got '3' on line 3"),
        ("0.5,0.25,0.25,1", "names of classes throughout, or numbers; got '1' on line 3 .* and 'a' before"),
        ("0.5,0.25,0.25", "as many values as there are columns, 4; got 3 on line 3"),
    ],
)
def test_a_bad_row_is_named(row: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{HEADER}\n0.5,0.25,0.25,a\n{row}\n")
    with pytest.raises(ValueError, match=words):
        read(path, "p_*", "y")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0.2, 0.3, 0.5], [0.5, 0.5]], "as many in every row; got 3 .* and 2 "),
        ([[0.2, 0.3, 0.5], None], "probabilities must have no missing values; got one "),
        ([[0.2, 0.3, 0.5], [0.2, None, 0.8]], "must have no missing values; got one "),
        ([[0.5, 0.5], [0.5, 0.5]], "at least 3 classes; got 2 "),
        ([[0.2, 0.3, 0.5], [0.2, 0.9, 0.8]], "add up to 1 in every row"),
    ],
)
@pytest.mark.parametrize("kind", ["frame", "parquet", "jsonl"])
def test_a_bad_list_is_named(kind: str, values: list[Any], words: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"p": values, "y": [0, 1]})
    source: Any = frame if kind == "frame" else tmp_path / f"rows.{kind}"
    if kind == "parquet":
        frame.write_parquet(source)
    elif kind == "jsonl":
        frame.write_ndjson(source)
    with pytest.raises(ValueError, match=words):
        read(source, "p", "y")


def test_text_that_is_no_list_and_lists_that_hold_no_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('p,y\n"[0.2 0.3 0.5]",1\n')
    with pytest.raises(ValueError, match=r"such as \[0.2, 0.3, 0.5\]; got '\[0.2 0.3 0.5\]' on line 2"):
        read(path, "p", "y")
    path = tmp_path / "rows.jsonl"
    path.write_text('{"p": [true, 0, 0], "y": 1}\n')
    with pytest.raises(ValueError, match="got True on line 1"):
        read(path, "p", "y")
    for wrong in ([["a", "b", "c"]], [[True, False, False]]):
        with pytest.raises(TypeError, match="probabilities must be"):
            read(pl.DataFrame({"p": wrong, "y": [0]}), "p", "y")


@pytest.mark.parametrize(
    ("columns", "label", "names", "words"),
    [
        ("p_cat", "animal", None, "a column of lists, at least 3 columns, or a pattern .* got 'p_cat'"),
        ("p_cat,p_dog", "animal", None, "at least 3 columns .* which is 2. With two classes"),
        ("p_cat,p_dog,p_fish", "animal", None, "class_columns must be a column of .* got 'p_fish'"),
        (["p_cat", "p_cat", "p_dog"], "animal", None, "every column once; got 'p_cat' twice"),
        ("q_*", "animal", None, "match at least 3 columns of .*; 'q_.' matches 0"),
        ("p_*_*", "animal", None, "must have one star"),
        ("p_*", None, None, "because 0 are plausible"),
        ("p_*", "p_cat", None, "match at least 3 columns"),
        (COLUMNS, "p_cat", None, "another column than those of classes; got 'p_cat' for both"),
        ("p_*", "animal", ["a", "b"], "class_names must name every class; got 2 names for 3 classes"),
        ("all", "animal", ["a", "b"], "class_names must name every class; got 2 names for 3 classes"),
        ("p_*", "animal", ["a", "b", "a"], "a name of its own; got 'a' twice"),
        (COLUMNS, "animal", None, r"got '[a-z]+' at row 0.* pass class_columns='p_\*'"),
    ],
)
def test_columns_that_are_none_are_refused(
    columns: Any, label: str | None, names: Any, words: str, frame: pl.DataFrame, folder: Path
) -> None:
    for source in (frame, folder / "rows.parquet"):
        with pytest.raises(ValueError, match=words):
            read(source, columns, label, names)


def test_what_is_no_table_has_no_columns_of_classes() -> None:
    with pytest.raises(TypeError, match="class_columns must name columns of a table; got list"):
        calcert.Rows([0.5, 0.5], [0, 1], class_columns="p_*").by_class({})
    with pytest.raises(TypeError, match="names of columns, or a pattern"):
        read(pl.DataFrame({"p": [0.5]}), 3, "y")
    with pytest.raises(TypeError, match=r"of numbers in .* got 'p_b' of the data frame, which has type String"):
        read(pl.DataFrame({"p_a": [0.5], "p_b": ["x"], "p_c": [0.5], "y": [0]}), "p_*", "y")
    with pytest.raises(ValueError, match="at least one row; got none"):
        read(pl.DataFrame({"p_a": [0.5], "p_b": [0.2], "p_c": [0.3], "y": [0]})[:0], "p_*", "y")


def test_names_for_classes_that_nobody_named_are_told_the_way_out() -> None:
    way_out = r"got 'cat' at row 0\. For names pass class_names, in the order of the columns"
    with pytest.raises(WrongValue, match=way_out) as told:
        ClassNumbers(None, 3).of(["cat"], "at row {}".format)
    assert "For names pass --class-names, in" in told.value.words({"class_names": "--class-names"})


def test_where_classes_are_called_by_numbers_a_number_is_a_name() -> None:
    at = "at row {}".format
    assert ClassNumbers(["0", "1", "10", "2"], 4).of([10, 2, "2", 2.0], at).tolist() == [2, 3, 3, 3]
    assert ClassNumbers(["1", "2", "3"], 3).of(np.array([1, 3]), at).tolist() == [0, 2]
    assert ClassNumbers(["1.0", "2.0", "3.0"], 3).of([1.0, 2, "1", "2.0"], at).tolist() == [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"labels must be names of classes, '1', '1\.0', '2'; got 1 at row 0"):
        ClassNumbers(["1", "1.0", "2"], 3).of([1], at)
    with pytest.raises(ValueError, match="labels must be names of classes, '1', '2', '3'; got 0 at row 0"):
        ClassNumbers(["1", "2", "3"], 3).of([0], at)
    for wrong in (True, 1.5, None, float("nan"), float("inf"), "1e-1", -1, 3):
        with pytest.raises(ValueError, match="labels must"):
            ClassNumbers(NAMES, 3).of([wrong], at)


def test_labels_of_an_array_may_be_names(wanted: Wanted) -> None:
    names = np.array(NAMES)
    same(calcert.Rows(wanted.p, names[wanted.y], class_names=NAMES).by_class(MEASURED), wanted)
    with pytest.raises(TypeError, match="class_names must be a list of texts"):
        calcert.Rows(wanted.p, names[wanted.y], class_names="abc").by_class(MEASURED)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_classes_of_files_are_counted_without_holding_all_probabilities(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty classes: 100,000 rows more are 16 MB of probabilities, and take less than half of that."""
    monkeypatch.setattr("calcert.sources.classes.class_rows.LARGE", 1)
    monkeypatch.setattr("calcert.sources.classes.class_rows.VALUES", 1 << 17)
    monkeypatch.setattr("calcert.sources.files.fast_text.BLOCK", 1 << 16)
    monkeypatch.setattr(CsvFile, "rows", None)  # A sound file is not read row by row.
    rng, size, peaks = np.random.default_rng(0), 20, []
    for rows in (50_000, 150_000):
        p = rng.integers(1, 8, (rows, size)).astype(float)
        p = np.round(p / p.sum(axis=1, keepdims=True), 5)
        frame = pl.DataFrame({f"p_{k}": p[:, k] for k in range(size)} | {"y": rng.integers(0, size, rows)})
        path = tmp_path / f"rows.{kind}"
        (frame.write_parquet if kind == "parquet" else frame.write_csv)(path)
        tracemalloc.start()
        try:
            found = calcert.Rows(path, class_columns="p_*", label="y").by_class({})
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert found.of_class(3) == calcert.summarize(p[:, 3], frame["y"] == 3)
    assert peaks[1] - peaks[0] < 8 * size * 100_000 / 2
