"""A pair of columns is found where only one is plausible, and asked for where not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import calcert
from calcert.sources.columns import Column, choose_all

KINDS = {"f": "real", "i": "integer", "b": "boolean", "s": "other"}


def columns(text: str) -> list[Column]:
    """'p:f y:i' is a real column p and an integer column y."""
    return [Column(name, KINDS[kind], KINDS[kind]) for name, kind in (word.split(":") for word in text.split())]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "score", "label"),
    [
        ("p:f y:i", "p", "y"),
        ("a:f b:i", "a", "b"),
        ("name:s a:f b:b", "a", "b"),
        ("id:i p:f y:i", "p", "y"),
        ("weight:f age:f score:f label:f", "score", "label"),
        ("Score:i Label:i", "Score", "Label"),
        ("y:f p:f", "p", "y"),
    ],
)
def test_the_plausible_pair_is_found(text: str, score: str, label: str) -> None:
    *found, _ = choose_all(columns(text), None, None, {}, "the table")
    assert (found[0].name, found[1].name) == (score, label)


def test_one_name_is_enough_if_the_other_is_plain() -> None:
    *found, _ = choose_all(columns("id:i a:f b:f y:i"), "b", None, {}, "the table")
    assert (found[0].name, found[1].name) == ("b", "y")


@pytest.mark.parametrize("text", ["a:f b:f y:i", "p:f a:i b:i", "p:f", "y:i", "p:s y:s", "score:f p:f y:i", ""])
def test_anything_else_is_asked_for(text: str) -> None:
    with pytest.raises(ValueError, match=r"score and label must name two columns of the table.*Pass score='...'"):
        choose_all(columns(text), None, None, {}, "the table")


def test_names_are_checked() -> None:
    known = columns("probability:f y:i note:s")
    with pytest.raises(ValueError, match=r"label must be a column of t; got 'yy'.*Did you mean 'y'\?"):
        choose_all(known, "probability", "yy", {}, "t")
    with pytest.raises(ValueError, match=r"got 'zzz'. It has the columns [^?]*$"):
        choose_all(known, "zzz", "y", {}, "t")
    with pytest.raises(ValueError, match=r"got 'forecast_model'. It has the columns [^?]*$"):
        choose_all(columns("fourth_middle:f y:i"), "forecast_model", "y", {}, "t")
    with pytest.raises(ValueError, match="two columns; got 'y' for both"):
        choose_all(known, "y", "y", {}, "t")
    with pytest.raises(TypeError, match="score must be the name of a column; got 1 of type int"):
        choose_all(known, 1, "y", {}, "t")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"label must name a column of 0/1 or bool; got 'note' of t.*such as 'x'"):
        choose_all(known, "probability", "note", {}, "t", lambda name: "x")


def test_numbers_are_more_plausible_than_words_of_a_telling_name() -> None:
    *found, _ = choose_all([*columns("p:f y:i"), Column("class", "unknown", "text")], None, None, {}, "the table")
    assert (found[0].name, found[1].name) == ("p", "y")
    *found, _ = choose_all([*columns("p:f id:i"), Column("label", "unknown", "text")], None, None, {}, "the table")
    assert found[1].name == "label"


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_a_column_has_one_part_to_play(tmp_path: Path, kind: str) -> None:
    rows = pa.table({"p": [0.25, 0.5], "y": [0, 1], "w": [1.0, 2.0]})
    pa.csv.write_csv(rows, tmp_path / "f.csv")
    pa.parquet.write_table(rows, tmp_path / "f.parquet")
    source = rows if kind == "frame" else str(tmp_path / f"f.{kind}")
    with pytest.raises(ValueError, match=r"score and clusters must be two columns of .*; got 'p' for both"):
        calcert.summarize(source, score="p", label="y", clusters="p")
    with pytest.raises(ValueError, match=r"label and weights must be two columns of .*; got 'y' for both"):
        calcert.summarize(source, score="p", label="y", weights="y")
    with pytest.raises(ValueError, match=r"groups must be another column than label; got 'y' for both"):
        calcert.certify(source, score="p", label="y", groups="y")
