"""CSV and JSON: every line is a row or an error that names it, and no value is another than the one written."""

from __future__ import annotations

import gzip
import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import calcert
from calcert.sources.files import file_table
from calcert.sources.groups.grouped import summarize_groups

MANY = 30_000
"""More rows than an engine that guesses types looks at."""


@pytest.fixture(autouse=True, params=["exactly", "fast"])
def _way_of_reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are read exactly and large ones fast; what is claimed here holds for both."""
    monkeypatch.setattr(file_table, "SMALL", -1 if request.param == "fast" else 1 << 40)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def to(content: str | bytes, name: str = "a.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to


def refusal(*paths: Any, score: str | None = "p", label: str | None = "y") -> str:
    with pytest.raises((ValueError, TypeError, OSError)) as raised:
        calcert.summarize(list(paths), score=score, label=label)
    return str(raised.value)


def lines(rows: list[tuple[Any, Any]]) -> str:
    return "".join(f'{{"p": {x}, "y": {y}}}\n' for x, y in rows)


def text(rows: list[tuple[Any, Any]]) -> str:
    return "p,y\n" + "".join(f"{x},{y}\n" for x, y in rows)


WRITTEN = {"a.csv": text, "a.jsonl": lines}


# Labels are what is written, wherever in the file.


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(("early", "late"), [("1", "0.7"), ("true", "0.7"), ("true", "2"), ("0", "1e-300")])
def test_a_late_label_is_not_rounded_to_the_type_of_the_early_ones(
    write: Any, name: str, early: str, late: str
) -> None:
    path = write(WRITTEN[name]([(0.5, early)] * MANY + [(0.5, late)]), name)
    words = refusal(path)
    line = MANY + 1 + (path.suffix == ".csv")
    assert words.startswith(f"labels must be 0 or 1 (or bool); got {late} on line {line} of {path}.")


@pytest.mark.parametrize("name", WRITTEN)
def test_labels_may_be_written_in_several_ways(write: Any, name: str) -> None:
    path = write(WRITTEN[name]([(0.5, "true")] * MANY + [(0.25, "0"), (0.75, "1.0"), (0.5, "false")]), name)
    assert calcert.summarize(path) == calcert.summarize([0.5] * MANY + [0.25, 0.75, 0.5], [1] * MANY + [0, 1, 0])


def test_capitals_and_spaces_do_not_matter_to_a_label(write: Any) -> None:
    path = write("p,y\n0.5,TRUE\n 0.25 ,False\n+.75,\t1\n")
    assert calcert.summarize(path, score="p", label="y") == calcert.summarize([0.5, 0.25, 0.75], [1, 0, 1])


@pytest.mark.parametrize("word", ["yes", "No", "t", "F", "J", "n", "won"])
def test_labels_in_other_words_get_a_hint(write: Any, word: str) -> None:
    words = refusal(write(f"p,y\n0.5,{word}\n"))
    hints = {"yes": "'yes'", "t": "'t'", "J": "'J'"}
    assert f"labels must be 0 or 1 (or bool); got {word!r} on line 2 of " in words
    assert f" Reading(positive={hints.get(word, '...')})." in words


# Scores are the nearest double of what is written.

AWKWARD = [
    "0.1",
    "1e-400",
    "0.30000000000000004440892098500626",
    "0.12345678901234567890123456789012345678901234567890",
    "2.2250738585072011e-308",
    "0.500000000000000166533453693773481063544750213623046875",
    "1",
    "0",
    "-0.0",
    "1.00000000000000011102230246251565",
    "0.9999999999999999444888487687421760603063",
    "7e-1",
    "0.0000000000000000000000000000000000000000000000005",
]


@pytest.mark.parametrize("name", WRITTEN)
def test_scores_are_the_nearest_doubles(write: Any, name: str) -> None:
    exact = [float(Fraction(value)) for value in AWKWARD]
    path = write(WRITTEN[name]([(value, 1) for value in AWKWARD]), name)
    assert calcert.summarize(path) == calcert.summarize(exact, [1] * len(exact))


@pytest.mark.parametrize("value", ["0_5", "٠.٥", "0,5", "0x1p-1", "5%", "0.5f", "1/2", "'0.5'"])
def test_what_is_no_number_is_shown(write: Any, value: str) -> None:
    path = write(f"p;y\n0.5;1\n{value};1\n")
    assert f"scores must be numbers in [0, 1]; got {value!r} on line 3 of {path}." in refusal(path)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("nan", "got a missing value (NaN) on line 3"),
        ("1e400", "got inf on line 3"),
        ("9007199254740993", "got 9.0072e+15 on line 3"),
        ("", "scores must have no missing values; got one on line 3"),
        ('""', "scores must have no missing values; got one on line 3"),
        ("  ", "scores must have no missing values; got one on line 3"),
        ("#N/A", "scores must have no missing values; got '#N/A' on line 3"),
        ("NULL", "scores must have no missing values; got 'NULL' on line 3"),
        ("true", "scores must be numbers in [0, 1]; got 'true' on line 3"),
    ],
)
def test_values_that_are_no_scores(write: Any, value: str, said: str) -> None:
    path = write(f"p,y\n0.5,1\n{value},1\n0.5,1\n")
    assert f"{said} of {path}" in refusal(path)


def test_the_first_wrong_row_is_named_first(write: Any) -> None:
    assert "got 1.5 on line 3 of " in refusal(write("p,y\n0.5,1\n1.5,1\nhigh,1\n"))
    assert "got 'high' on line 3 of " in refusal(write("p,y\n0.5,1\nhigh,1\n1.5,1\n"))
    assert "as many values" in refusal(write("p,y\n0.5,1\n0.5\n1.5,1\n"))


# Every line of a CSV file is accounted for.


def test_a_header_that_changes_midway_is_refused(write: Any) -> None:
    first, second = "p,y\n" + "0.5,1\n" * MANY, "p,y,z\n" + "0.5,0,3\n" * 20
    path = write(first + second)
    said = f"as many values as there are columns, 2; got 3 on line {MANY + 2} of {path}."
    way = " Delete lines that are no rows, such as totals and remarks, and write a value that holds ',' in quotes."
    assert said + way in refusal(path)
    path = write("p,y\n0.5,1\n" + second, "b.csv")
    assert "got 3 on line 3 of " in refusal(path)
    path = write(first + first, "c.csv")
    assert f"column names must be there once; got them again on line {MANY + 2} of {path}" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        "p,y\n0.5,1\n0.25\n0.75,0\n",
        "p,y\n0.5,1\n0.25,0,\n",
        "p,y\n0.5,1\n# a remark\n",
        "p,y\n0.5,1\n   \n",
        "p,y\n0.5,1\n\x1a",
        "id,p,y\n0.5,1\n",
        "p,y\n0.5,1,\n0.25,0,\n",
    ],
)
def test_rows_of_another_length_are_refused(write: Any, content: str) -> None:
    path = write(content)
    assert "every row must have as many values as there are columns" in refusal(path)
    assert str(path) in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        "p,y\n0.5,1\n0.25,0\n",
        "p,y\n0.5,1\n0.25,0",
        "p,y\r\n0.5,1\r\n0.25,0\r\n",
        "p,y\r0.5,1\r0.25,0\r",
        "\ufeffp,y\n0.5,1\n0.25,0\n",
        "\n\np,y\n\n0.5,1\n\n\n0.25,0\n\n",
        '"p","y"\n"0.5","1"\n"0.25","0"\n',
        "p;y\n0.5;1\n0.25;0\n",
        "p\ty\n0.5\t1\n0.25\t0\n",
        "p|y\n0.5|1\n0.25|0\n",
        'p,y,note\n0.5,1,"two\nlines"\n0.25,0,"a ""quote"""\n',
        'p,y,note\n0.5,1,"p,y\n0.9,1,"\n0.25,0,""\n',
        'p,y,note\n0.5,1,5" pipe\n0.25,0,x"y"z\n',
        '"a;b;c;d",p,y\n1,0.5,1\n2,0.25,0\n',
        '"two\nlines",p,y\n1,0.5,1\n2,0.25,0\n',
        ",p,y\n0,0.5,1\n1,0.25,0\n",
        "y,p\n1,0.5\n0,0.25\n",
    ],
)
def test_every_way_to_write_two_rows(write: Any, content: str) -> None:
    assert calcert.summarize(write(content), score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('p,y,note\n0.5,1,"open\n0.25,0,x\n', "every quote must be closed; got one that is not, on line 2"),
        ('p,y,note\n0.5,1,"a"b\n0.25,0,x\n', "a value in quotes must end with them; got 'b' after 'a' on line 2"),
        ('p,y\n"0.5"3,1\n', "a value in quotes must end with them; got '3,1' after '0.5' on line 2"),
        ('p,y,note\n0.5,1,"a\\"b"\n', "a value in quotes must end with them"),
        ('"p,y\n0.5,1\n', "every quote must be closed; got one that is not, on line 1"),
    ],
)
def test_quotes_that_cannot_be_meant_are_refused(write: Any, content: str, said: str) -> None:
    assert said in refusal(write(content))


def test_a_quote_that_is_never_closed_does_not_take_for_ever(write: Any) -> None:
    assert "every quote must be closed" in refusal(write('p,y,note\n0.5,1,"\n' + "0.5,1,x\n" * 300_000))
    assert "every quote must be closed" in refusal(write('"p,y\n' + "0.5,1\n" * 300_000))


@pytest.mark.parametrize(
    ("content", "score", "label"),
    [
        ("0.5,1\n0.25,0\n", None, None),
        ("0.5,1\n0.25,0\n", "0.5", "1"),
        ("a,0.5,1\nb,0.25,0\n", None, None),
        ("0.5,true\n0.25,false\n", None, None),
    ],
)
def test_a_file_without_column_names_is_refused(write: Any, content: str, score: str | None, label: str | None) -> None:
    words = refusal(write(content), score=score, label=label)
    assert "must begin with a line of column names" in words
    assert "Write a line of names above" in words


def test_a_txt_file_is_read_as_csv_and_json_in_it_is_told_its_name(write: Any) -> None:
    expected = calcert.summarize([0.5, 0.25], [1, 0])
    assert calcert.summarize(write("p\ty\n0.5\t1\n0.25\t0\n", "rows.txt")) == expected
    for text in ('{"p": 0.5, "y": 1}\n', '[{"p": 0.5, "y": 1}]'):
        assert "looks like JSON. Call a file of JSON lines .jsonl." in refusal(write(text, "rows.txt"))


def test_columns_may_be_called_like_classes(write: Any) -> None:
    path = write("0,1,y\n0.5,0.5,1\n0.75,0.25,0\n")
    assert calcert.summarize(path, score="1", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


def test_each_file_has_its_own_header(write: Any) -> None:
    one, two = write("p,y\n0.5,1\n", "1.csv"), write("y;z;p\n0;9;0.25\n", "2.csv")
    assert calcert.summarize([one, two], score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])
    three = write("p,z\n0.5,1\n", "3.csv")
    assert f"all files must have the column 'y'; {three} has 'p', 'z'." in refusal(one, three)


def test_a_file_without_rows_among_others_has_none(write: Any) -> None:
    one, two = write("p,y\n", "1.csv"), write("p,y\n0.25,0\n", "2.csv")
    assert calcert.summarize([one, two], score="p", label="y") == calcert.summarize([0.25], [0])
    assert "at least one row; got none" in refusal(one)


def test_a_header_of_any_length(write: Any) -> None:
    names = [f"feature_{k}" for k in range(20_000)]
    header = ",".join([*names, "p", "y"])
    assert len(header) > 131_072
    row = "0," * len(names)
    path = write(f"{header}\n{row}0.5,1\n{row}0.25,0\n")
    assert calcert.summarize(path, score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])
    long = "x" * 200_000
    path = write(f"{long},p,y\n1,0.5,1\n2,0.25,0\n")
    assert calcert.summarize(path, score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


# Columns: the one that was asked for, or none.


@pytest.mark.parametrize("names", ["P,p,y", "p,p,y", "p,y,Y", "p,y,y"])
def test_columns_that_differ_by_case_or_not_at_all_are_refused(write: Any, names: str) -> None:
    path = write(f"{names}\n0.5,1,1\n")
    words = refusal(path)
    assert "one column of" in words
    assert all(repr(name) in words for name in names.split(",") if names.lower().split(",").count(name.lower()) > 1)


def test_columns_beside_those_that_are_alike_are_read(write: Any) -> None:
    path = write("P,p,p_1,y\n0.9,0.8,0.5,1\n0.9,0.8,0.25,0\n")
    assert calcert.summarize(path, score="p_1", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


@pytest.mark.parametrize("name", ["p=1/a.csv", "p=1/a.jsonl", "y=0/a.csv", "y=0/b/a.jsonl"])
def test_a_folder_does_not_override_a_column(write: Any, name: str) -> None:
    path = write(WRITTEN[f"a{os.path.splitext(name)[1]}"]([(0.5, 1)]), name)
    words = refusal(path)
    key = name.split("=")[0]
    assert f"{key!r}" in words
    assert "folder" in words
    assert "Rename" in words


def test_folders_give_the_columns_that_files_lack(write: Any, tmp_path: Path) -> None:
    write("p\n0.5\n0.75\n", "out/y=1/a.csv")
    write("p\n0.25\n", "out/y=0/a.csv")
    expected = calcert.summarize([0.25, 0.5, 0.75], [0, 1, 1])
    assert calcert.summarize(tmp_path / "out", score="p", label="y") == expected
    write('{"p": 0.5}\n{"p": 0.75}\n', "lines/y=true/a.jsonl")
    write('{"p": 0.25}\n', "lines/y=false/a.jsonl")
    assert calcert.summarize(tmp_path / "lines", score="p", label="y") == expected
    write("p\n0.25\n", "out/y=__HIVE_DEFAULT_PARTITION__/a.csv")
    assert "labels must have no missing values" in refusal(tmp_path / "out")
    write("p\n0.25\n", "none/y=/a.csv")
    assert "labels must have no missing values" in refusal(tmp_path / "none")
    write("p\n0.25\n", "other/z=1/a.csv")
    assert "label must be a column of" in refusal(tmp_path / "other")


# JSON.


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"p": 0.5, "p": 0.25, "y": 1}', "every key must be there once; got 'p' twice on line 2"),
        ('{"p": 0.5, "y": 1, "y": 1}', "every key must be there once; got 'y' twice on line 2"),
        ('{"p": 0.5, "\\u0070": 0.25, "y": 1}', "every key must be there once; got 'p' twice on line 2"),
        ('{"p": "0.5", "y": 1}', "scores must be numbers in [0, 1]; got '0.5' on line 2"),
        ('{"p": 0.5, "y": "1"}', "labels must be 0 or 1 (or bool); got '1' on line 2"),
        ('{"p": true, "y": 1}', "scores must be numbers in [0, 1]; got True on line 2"),
        ('{"p": {"p": 0.5}, "y": 1}', "scores must be numbers in [0, 1]; got {'p': 0.5} on line 2"),
        ('{"p": [0.5], "y": 1}', "scores must be numbers in [0, 1]; got [0.5] on line 2"),
        ('{"y": 1}', "scores must have no missing values; got one on line 2"),
        ('{"p": 0.5, "y": null}', "labels must have no missing values; got one on line 2"),
        ('{"P": 0.5, "y": 1}', "score must name one column of"),
        ('{"p": 0.5, "y": 1} {"p": 0.5, "y": 1}', 'every line must be a JSON object; got \'{"p": 0.5'),
        ('{"p": 0.5, "y": 1', "every line must be a JSON object"),
        ("null", "every line must be a JSON object; got None on line 2"),
        ("3", "every line must be a JSON object; got 3 on line 2"),
        ('{"p": NaN, "y": 1}', "got a missing value (NaN) on line 2"),
        ('{"p": 1e999, "y": 1}', "got inf on line 2"),
        (f'{{"p": 1{"0" * 400}, "y": 1}}', "got inf on line 2"),
        (f'{{"p": 0.5, "y": {2**64}}}', f"got {float(2**64)!r} on line 2"),
        (f'{{"p": 0.5, "y": {"[" * 100_000}', "must not be nested so deeply"),
        (f'{{"p": 0.5, "y": 1, "z": {"[" * 100_000}{"]" * 100_000}', "must not be nested so deeply"),
    ],
)
def test_lines_that_are_no_rows_are_named(write: Any, line: str, said: str) -> None:
    path = write(f'{{"p": 0.5, "y": 1}}\n{line}\n{{"p": 0.25, "y": 0}}\n', "a.jsonl")
    words = refusal(path)
    assert said in words
    assert str(path) in words


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('{"p": 0.5, "y": 1}\n{"p": 0.25, "y": 0}', "a.jsonl"),
        ('{"p": 0.5, "y": 1}\r\n\r\n  \r\n{"y": 0, "p": 0.25}\r\n', "a.jsonl"),
        ('\ufeff{"p": 0.5, "y": true}\n{"p": 0.25, "y": 0.0}\n', "a.ndjson"),
        ('{"p": 0.5, "y": 1, "z": {"p": 9, "p": 8}}\n{"z": "\\"p\\"", "p": 2.5e-1, "y": 0}\n', "a.jsonl"),
        ('{"p": 0.5, "y": 1, "q": 1, "q": 2}\n{"Q": 7, "p": 0.25, "y": false}\n', "a.jsonl"),
        ('[{"p": 0.5, "y": 1}, {"p": 0.25, "y": 0}]', "a.json"),
        ('\ufeff \n [ {"p": 0.5,\n "y": 1}\n,\n{"p": 0.25, "y": false, "z": []} ] \n', "a.json"),
    ],
)
def test_every_way_to_write_two_objects(write: Any, content: str, name: str) -> None:
    assert calcert.summarize(write(content, name), score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


@pytest.mark.parametrize(
    "content",
    [
        '[{"p": 0.5, "y": 1}',
        '[{"p": 0.5, "y": 1},]',
        '[{"p": 0.5, "y": 1} {"p": 0.5, "y": 1}]',
        '[{"p": 0.5, "y": 1}] [{"p": 0.5, "y": 1}]',
        '[{"p": 0.5, "y": 1}]\n{"p": 0.5, "y": 1}\n',
        '[,{"p": 0.5, "y": 1}]',
        '[[{"p": 0.5, "y": 1}]]',
        '[{"p": 0.5, "y": 1}, 3]',
        "[" * 100_000,
        "[]",
    ],
)
def test_arrays_that_are_no_tables_are_refused(write: Any, content: str) -> None:
    path = write(content, "a.json")
    assert str(path) in refusal(path)


def test_an_array_is_not_held_in_memory_to_be_read(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from calcert.sources.files import json_file

    monkeypatch.setattr(json_file, "PIECE", 7)
    rows = [(k / 1000, k % 2, "x" * (k % 40)) for k in range(1000)]
    path = write(json.dumps([{"p": x, "y": y, "note": note} for x, y, note in rows], indent=1), "a.json")
    assert calcert.summarize(path) == calcert.summarize([row[0] for row in rows], [row[1] for row in rows])


# Compressed, and not what the name says.


def packed(content: bytes, how: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, how) as stream:
        stream.write(content)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize(("suffix", "how"), [(".gz", "gzip"), (".zst", "zstd")])
@pytest.mark.parametrize("name", WRITTEN)
def test_compressed_parts_that_were_joined_are_one_file(write: Any, name: str, suffix: str, how: str) -> None:
    rows = [(k / MANY, k % 2) for k in range(MANY)]
    whole = WRITTEN[name](rows).encode()
    cut = len(whole) // 2
    content = packed(whole[:cut], how) + packed(whole[cut:], how)
    path = write(content, name + suffix)
    assert calcert.summarize(path) == calcert.summarize(*map(list, zip(*rows, strict=True)))
    for length in (len(content) - 3, len(content) * 3 // 4):
        broken = write(content[:length], f"broken.{name}{suffix}")
        assert f"{broken} must be complete" in refusal(broken)


def test_a_checksum_that_does_not_hold_is_refused(write: Any) -> None:
    content = bytearray(gzip.compress(text([(0.5, 1)] * 1000).encode()))
    content[-6] ^= 1
    path = write(bytes(content), "a.csv.gz")
    assert f"{path} must be complete; CRC check failed" in refusal(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"p,y\n0.5,1\n", mtime=0), "got gzip. Give it a name that ends in .gz"),
        (packed(b"p,y\n0.5,1\n", "zstd"), "got zstd"),
        ("p,y\n0.5,1\n".encode("utf-16"), "got UTF-16. Pass Reading(encoding='utf-16'), or save it as CSV UTF-8"),
        ("p,y\n0.5,1\n".encode("utf-16-le"), "got bytes that are not, or UTF-16"),
        (b"PK\x03\x04 sheet", "got a spreadsheet or a zip archive"),
        (b"PAR1 and so on", "got Parquet"),
    ],
)
def test_what_is_no_text_is_called_by_its_name(write: Any, content: bytes, said: str) -> None:
    path = write(content)
    assert f"{path} must be text; {said}" in refusal(path)


def test_other_encodings_beside_the_numbers_do_no_harm(write: Any) -> None:
    path = write("p,y,name\n0.5,1,Zürich\n0.25,0,Genève\n".encode("latin-1"))
    assert calcert.summarize(path, score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


# Groups: the text that is written.


@pytest.mark.parametrize("name", WRITTEN)
def test_groups_of_a_text_file_are_called_as_they_are_written(write: Any, name: str) -> None:
    rows = [(0.5, 1, "01"), (0.25, 0, "1"), (0.75, 1, "01"), (0.5, 0, "")]
    if name == "a.csv":
        content = "p,y,g\n" + "".join(f"{x},{y},{g}\n" for x, y, g in rows)
    else:
        content = "".join(json.dumps({"p": x, "y": y, "g": g or None}) + "\n" for x, y, g in rows)
    found = summarize_groups(write(content, name), None, "g", score="p", label="y")
    assert found == {
        "01": calcert.summarize([0.5, 0.75], [1, 1]),
        "1": calcert.summarize([0.25], [0]),
        "missing": calcert.summarize([0.5], [0]),
    }


def test_groups_refuse_what_is_refused_without_them(write: Any) -> None:
    path = write("p,y,g\n0.5,1,a\n1.5,0,b\n")
    for source, words in (
        (path, f"got 1.5 on line 3 of {path}"),
        (write("p,y,g,G\n0.5,1,a,b\n", "1.csv"), "groups must name one column of"),
        (write("p,y,h\n0.5,1,a\n", "2.csv"), "groups must be a column of"),
        (write("p,y,g\n0.5,1,a\n0.5,1\n", "3.csv"), "every row must have as many values"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            summarize_groups(source, None, "g", score="p", label="y")


def test_rows_given_to_methods_that_need_them_are_the_same(write: Any) -> None:
    from calcert.sources.rows_in_memory import read_rows

    rng = np.random.default_rng(0)
    scores, labels = rng.random(MANY), rng.integers(0, 2, MANY)
    found = read_rows([write(text(list(zip(scores.tolist(), labels.tolist(), strict=True))))], "p", "y")
    assert np.array_equal(found[0], scores)
    assert np.array_equal(found[1], labels)


@pytest.mark.parametrize(
    "content",
    [
        text([(0.5, 1), (0.25, 0)]),
        text([(0.5, "true"), (0.25, "False")]),
        'p,y,note\r\n0.5,1,"two\r\nlines"\r\n\r\n0.25,0,"a ""quote"""',
        lines([(0.5, 1), (0.25, 0)]),
        lines([(0.5, "true"), (0.25, "0.0")]),
    ],
)
def test_ordinary_files_are_read_fast(write: Any, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_table, "SMALL", -1)
    monkeypatch.setattr(file_table, "in_batches", None)
    path = write(content, "a.csv" if content.startswith("p") else "a.jsonl")
    assert calcert.summarize(path, score="p", label="y") == calcert.summarize([0.5, 0.25], [1, 0])


def test_a_late_line_that_the_engine_cannot_take_is_told_in_our_words(write: Any) -> None:
    path = write('{"p": 0.5, "y": 1}\n' * MANY + "[]\n", "a.jsonl")
    assert refusal(path) == f"every line must be a JSON object; got [] on line {MANY + 1} of {path}."


@pytest.mark.parametrize("key", ['"\\u0070": 0.5, "y": 1', '"p": 0.5, "\\u0079": 1', '"\\u0070": 0.5, "\\u0079": 1'])
@pytest.mark.parametrize("last", [False, True])
def test_a_key_is_the_same_key_with_its_letters_escaped(write: Any, key: str, last: bool) -> None:
    lines = ['{"p": 0.5, "y": 1}\n'] * 2
    lines.insert(2 if last else 0, f"{{{key}}}\n")
    assert calcert.summarize(write("".join(lines), "a.jsonl")) == calcert.summarize([0.5] * 3, [1] * 3)


@pytest.mark.parametrize(
    ("said", "heard"), [(RuntimeError("Query interrupted"), KeyboardInterrupt), (RuntimeError("else"), RuntimeError)]
)
def test_an_interruption_that_the_engine_hears_first_is_one(
    write: Any, monkeypatch: pytest.MonkeyPatch, said: Exception, heard: type[BaseException]
) -> None:
    class Engine:
        def __enter__(self) -> Engine:
            return self

        def __exit__(self, *error: object) -> None: ...

        def sql(self, *words: Any, **options: Any) -> Any:
            raise said

    monkeypatch.setattr(file_table, "SMALL", -1)
    monkeypatch.setattr("duckdb.connect", lambda **options: Engine())
    with pytest.raises(heard):
        calcert.summarize(write('{"p": 0.5, "y": 1}\n', "a.jsonl"))
