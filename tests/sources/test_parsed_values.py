"""Files as people keep them: what was said of them is done, counted and told, and nothing else is."""

from __future__ import annotations

import csv
import json
import logging
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.groups.grouped import summarize_groups
from calcert.sources.parsed_values import Reading
from calcert.sources.source_argument import Files

NUMBERS = ["0", "7.56", "12.5", "0.07", "33.3333333333", "100", "1e-3", "99.99"]
SHARES = [float(Decimal(text).scaleb(-2)) for text in NUMBERS]
LABELS = ["N", "J", "N", "N", "J", "J", "N", "J"]
TRUE = [label == "J" for label in LABELS]


def write_csv(path: Path, scores: list[str], labels: list[str], header: str = "PD;Ausfall") -> Path:
    path.write_text("\n".join([header, *(f"{x};{y}" for x, y in zip(scores, labels, strict=True))]) + "\n")
    return path


def read(path: Path, **said: Any) -> calcert.Summary:
    return calcert.summarize(Files([path], Reading(**said)), score="PD", label="Ausfall")


def refusal(path: Path, **said: Any) -> str:
    with pytest.raises(ValueError) as raised:
        read(path, **said)
    return str(raised.value)


@pytest.mark.parametrize("sign", ["", "%", " %"])
def test_percentages_are_the_nearest_doubles_of_their_hundredths(tmp_path: Path, sign: str) -> None:
    path = write_csv(tmp_path / "a.csv", [f"{text}{sign}" for text in NUMBERS], LABELS)
    assert read(path, percent=True, positive="J") == calcert.summarize(SHARES, TRUE)
    comma = write_csv(tmp_path / "b.csv", [f"{text.replace('.', ',')}{sign}" for text in NUMBERS], LABELS)
    assert read(comma, percent=True, positive="J", decimal=",") == calcert.summarize(SHARES, TRUE)


def test_the_reviewers_file_is_the_same_in_every_format(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    scores, labels = [*NUMBERS, "#N/A", "50", ""], [*LABELS, "J", "", "N"]
    said: dict[str, Any] = {"percent": True, "positive": "J", "drop_missing": True}
    plain = calcert.summarize(SHARES, TRUE)
    files: dict[str, Files] = {}
    for name, decimal in (("a.csv", ","), ("b.csv", ".")):
        path = write_csv(tmp_path / name, [text.replace(".", decimal) for text in scores], labels)
        files[name] = Files([path], Reading(decimal=decimal, **said))
    lines = [json.dumps({"PD": x, "Ausfall": y or None}) for x, y in zip(scores, labels, strict=True)]
    (tmp_path / "c.jsonl").write_text("\n".join(lines))
    (tmp_path / "d.json").write_text(f"[{','.join(lines)}]")
    pq.write_table(pa.table({"PD": scores, "Ausfall": labels}), tmp_path / "e.parquet")
    book = openpyxl.Workbook()
    book.active.append(["PD", "Ausfall"])
    for x, y in zip(scores, labels, strict=True):
        book.active.append([float(x) if x[:1].isdigit() else x or None, y or None])
    book.save(tmp_path / "f.xlsx")
    files |= {name: Files([tmp_path / name], Reading(**said)) for name in ("c.jsonl", "d.json", "e.parquet", "f.xlsx")}
    for name, source in files.items():
        assert calcert.summarize(source, score="PD", label="Ausfall") == plain, name
        assert source.account.dropped == {"PD": 2, "Ausfall": 1}, name
        assert source.account.rows.total() == len(NUMBERS), name
        assert source.account.labels == {"J": 4, "N": 4}, name
        assert source.account.columns == {"score": "PD", "label": "Ausfall"}, name


def test_groups_and_clusters_are_read_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("PD;Ausfall;Region;Kunde\n10,5;J;Ost;a\n20;N;West;b\nNA;N;West;b\n30;J;;c\n40;N;Ost;\n")
    said = Reading(",", True, "J", True)
    groups = summarize_groups(Files([path], said), None, "Region", score="PD", label="Ausfall")
    assert {name: part.n for name, part in groups.items()} == {"Ost": 2, "West": 1, "missing": 1}
    source = Files([path], said)
    found = calcert.summarize(source, score="PD", label="Ausfall", clusters="Kunde")
    assert found == calcert.summarize([0.105, 0.2, 0.3], [1, 0, 1], clusters=["a", "b", "c"])
    assert source.account.dropped == {"PD": 1, "Kunde": 1}
    assert source.account.columns == {"score": "PD", "label": "Ausfall", "clusters": "Kunde"}


def test_many_rows_that_are_left_out_do_not_end_the_reading(tmp_path: Path) -> None:
    rows = [("NA", "0")] * 70_000 + [("0.5", "1")] * 2
    path = write_csv(tmp_path / "a.csv", [x for x, _ in rows], [y for _, y in rows])
    assert read(path, drop_missing=True) == calcert.summarize([0.5, 0.5], [1, 1])


@pytest.mark.parametrize(
    ("scores", "labels", "said", "words"),
    [
        (["5%", "7.5"], "JN", {"percent": True, "positive": "J"}, "all without it; got '7.5' on line 3"),
        (["5", "101"], "JN", {"percent": True, "positive": "J"}, "percentages from 0 to 100; got '101' on line 3"),
        (["5%", "-1%"], "JN", {"percent": True, "positive": "J"}, "percentages from 0 to 100; got '-1%' on line 3"),
        (["0,5", "0.5"], "JN", {"decimal": ",", "positive": "J"}, "with a decimal comma; got '0.5' on line 3"),
        (["0,5", "1.000,5"], "JN", {"decimal": ",", "positive": "J"}, "with a decimal comma; got '1.000,5' on line 3"),
        (["0.5", "0.5"], "Jj", {"positive": "J"}, "(or Reading(positive='j') must be given); got 'j' on line 3"),
        (["0,5", "10,0 %"], "JN", {"decimal": ",", "positive": "J"}, "percent=True) must be given; got '10,0 %'"),
        (["0.5", "0.5"], "NN", {"positive": "J"}, "Reading(positive=...) must be a label of"),
        (["0.5", "0.5"], ["J", "NA"], {"positive": "J"}, "labels must have no missing values; got 'NA' on line 3"),
        (["0.5", "k.A."], "01", {"drop_missing": True}, "got 'k.A.' on line 3"),
        (["0.5", "5%"], "01", {}, "got '5%' on line 3"),
        (["0.5", "0.5"], "JN", {}, "got 'J' on line 2"),
        (["0.5", "nan"], "01", {"percent": True}, "scores must have no missing values; got 'nan' on line 3"),
        (["0.5", "inf"], "01", {"percent": True}, "percentages from 0 to 100; got 'inf' on line 3"),
    ],
)  # fmt: skip
def test_what_was_not_said_is_refused_with_its_line(
    tmp_path: Path, scores: list[str], labels: Any, said: dict[str, Any], words: str
) -> None:
    assert words in refusal(write_csv(tmp_path / "a.csv", scores, list(labels)), **said)


def test_a_refusal_says_how_many_values_are_bad(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", ["0.5", "#N/A", "", "high", "1.5", "0.1"], ["1", "0", "N", "", "1", "0"])
    words = refusal(path)
    assert "scores must have no missing values; got '#N/A' on line 3 of" in words
    assert words.endswith(
        "In 6 rows: 2 missing scores, 2 unusable scores such as 'high' and '1.5', 1 missing labels, "
        "1 unusable labels such as 'N'."
    )
    single = write_csv(tmp_path / "b.csv", ["0.5", "high"], ["1", "0"])
    assert refusal(single).endswith("It is the only bad value in 2 rows.")


def test_other_words_for_missing_must_be_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", ["0.5", "k.A.", "0.25"], ["1", "0", "-"])
    assert read(path, drop_missing=True, missing=("k.A.", "-")) == calcert.summarize([0.5], [1])


@pytest.mark.parametrize("error", ["#NV", "#DIV/0!", "#¡VALOR!"])
def test_an_error_of_a_spreadsheet_is_no_label(tmp_path: Path, error: str) -> None:
    path = write_csv(tmp_path / "a.csv", ["0.5", "0.25"], ["J", error])
    words = refusal(path, positive="J")
    assert f"labels must be values and no errors of a spreadsheet; got {error!r} on line 3" in words
    assert f"If it stands for a missing value, pass Reading(drop_missing=True, missing=({error!r},))." in words
    assert read(path, positive="J", drop_missing=True, missing=(error,)) == calcert.summarize([0.5], [1])


def test_where_every_row_lacks_something_that_is_said(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", ["#N/A", "0.5"], ["1;a", ";a"], "PD;Ausfall;Kunde")
    words = "got none: 2 of 2 rows were left out: 1 without PD, 1 without Ausfall."
    assert words in refusal(path, drop_missing=True)
    files = Files([path], Reading(drop_missing=True))
    with pytest.raises(ValueError, match=words):
        calcert.summarize(files, score="PD", label="Ausfall", clusters="Kunde")


@pytest.mark.parametrize("clusters", [None, "Kunde"])
def test_rows_without_a_group_are_never_left_out(tmp_path: Path, clusters: str | None) -> None:
    named = ["A", "", "#N/A", "k.A.", "A"]
    lines = [f"0.5;{k % 2};{name};K{k}" for k, name in enumerate(named)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["PD;Ausfall;Segment;Kunde", *lines, ";1;A;K9"]) + "\n")
    files = Files([path], Reading(drop_missing=True, missing=("k.A.",)))
    found = summarize_groups(files, None, "Segment", score="PD", label="Ausfall", weighing=Weighing(clusters=clusters))
    assert {name: summary.rows for name, summary in found.items()} == {"A": 2, "missing": 3}
    assert files.account.left_out == "1 of 6 rows were left out: 1 without PD"
    assert files.account.columns["groups"] == "Segment"


def test_what_was_made_of_labels_and_gaps_is_announced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_csv(tmp_path / "a.csv", ["0.5", "", "0.25"], ["J", "J", "?"])
    with caplog.at_level(logging.WARNING, "calcert"):
        read(path, positive="J", drop_missing=True)
    assert f"{path}: label 'J' is 1 (1 row); '?' (1 row) is 0" in caplog.text
    assert f"{path}: 1 of 3 rows were left out: 1 without PD" in caplog.text


def test_any_label_can_be_the_positive_one(tmp_path: Path) -> None:
    rows = [{"p": 0.5, "y": value} for value in (2, 2.0, True, 1, 3)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for positive, expected in (("2", [1, 1, 0, 0, 0]), ("true", [0, 0, 1, 0, 0]), ("1", [0, 0, 0, 1, 0])):
        source = Files([tmp_path / "a.jsonl"], Reading(positive=positive))
        assert calcert.summarize(source, score="p", label="y") == calcert.summarize([0.5] * 5, expected)


def test_a_whole_number_is_one_label_however_it_is_written(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", ["0.5"] * 5, ["2", "2.0", "2.00", "02", "2.5"])
    for positive in ("2", "2.0"):
        assert read(path, positive=positive) == calcert.summarize([0.5] * 5, [1, 1, 1, 0, 0])
    comma = write_csv(tmp_path / "b.csv", ["0,5"] * 3, ["2", "2,0", "2.0"])
    assert read(comma, positive="2", decimal=",") == calcert.summarize([0.5] * 3, [1, 1, 0])


@pytest.mark.parametrize(
    ("scores", "doubted"),
    [(["0.5", "50"], True), (["0.5"], True), (["0.85", *["90"] * 50], True), (["1", *"23456"], True),
     (["0.5%", "50%"], False), (["50", "2", "0"], False)],
)  # fmt: skip
def test_percentages_that_may_be_shares_are_remarked_on(
    tmp_path: Path, scores: list[str], doubted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_csv(tmp_path / "a.csv", scores, ["1"] * len(scores))
    read(path, percent=True)
    assert ("1 of" in caplog.text and "if these are shares in [0, 1], the bounds are wrong" in caplog.text) is doubted


TITLES = {
    "Report 2026\nmade by Risk\n\n{}": (4, "Report 2026"),
    '"Report, a long one"\n{}': (2, "Report, a long one"),
    "Report 2026;;\n{}": (2, "Report 2026"),
    "Report;2026\n{}": (2, "Report, 2026"),
    "# made by hand\n{}": (2, "# made by hand"),
}


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("columns", [{"score": "PD", "label": "Ausfall"}, {}, {"score": "PD", "clusters": "Ausfall"}])
def test_titles_above_the_names_are_refused_with_the_line_of_the_names_and_passed_over_when_told_so(
    tmp_path: Path, title: str, columns: dict[str, Any]
) -> None:
    line, shown = TITLES[title]
    (tmp_path / "a.csv").write_text(title.format("PD;Ausfall\n0,25;1\n0,5;0\n"))
    with pytest.raises(ValueError) as raised:
        calcert.summarize(Files([tmp_path / "a.csv"], Reading(",")), **columns)
    assert f"got {shown!r} on line 1, and line {line} looks like them: 'PD, Ausfall'." in str(raised.value)
    assert str(raised.value).endswith(f"Delete what stands above it, or pass Reading(skip_lines={line - 1}).")
    found = read(tmp_path / "a.csv", decimal=",", skip_lines=line - 1)
    assert found == calcert.summarize([0.25, 0.5], [1, 0])
    assert f"and line {line} looks like them" in refusal(tmp_path / "a.csv", decimal=",", skip_lines=line)


@pytest.mark.parametrize("mark", ["sep=;", "SEP=,", '"sep=;"', "\ufeffsep=;"])
def test_a_separator_above_the_names_is_refused_and_passed_over_when_told_so(tmp_path: Path, mark: str) -> None:
    path = write_csv(tmp_path / "a.csv", ["0.5"], ["1"], header=f"{mark}\nPD;Ausfall")
    bare = mark.strip("\ufeff")
    assert f"got {bare!r} on line 1, which spreadsheets write above it. Delete that line, or pass" in refusal(path)
    assert read(path, skip_lines=1) == calcert.summarize([0.5], [1])
    assert "got 1.5 on line 4" in refusal(
        write_csv(path, ["0.5", "1.5"], ["1", "1"], f"{mark}\nPD;Ausfall"), skip_lines=1
    )


def test_a_column_that_is_not_there_is_no_title(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", ["NA", "k.A.", "0.5"], ["J", "N", "J"], header="p;y")
    assert "score must be a column of" in refusal(path)


def test_lines_are_passed_over_in_tables_with_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"PD": 0.5, "Ausfall": 1}')
    assert "Reading(skip_lines=...) must come with CSV or a workbook" in refusal(tmp_path / "a.jsonl", skip_lines=1)


def test_values_inside_objects_have_dotted_names(tmp_path: Path) -> None:
    rows = [{"answer": {"confidence": p, "judged": {"right": y}}} for p, y in ((0.5, True), (0.25, False))]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = calcert.summarize(path, score="answer.confidence", label="answer.judged.right")
    assert found == calcert.summarize([0.5, 0.25], [1, 0])
    path.write_text('{"a.b": 0.5, "y": 1}\n')
    assert calcert.summarize(path, score="a.b", label="y") == calcert.summarize([0.5], [1])
    path.write_text('{"a.b": 0.5, "a": {"b": 0.25}, "y": 1}\n')
    with pytest.raises(ValueError, match=r"'a\.b' must be one value; got that key and 'b' of 'a'"):
        calcert.summarize(path, score="a.b", label="y")
    path.write_text('{"a.b": 0.5, "y": 1}\n' * 80_000 + '{"a.b": 0.5, "a": {"b": 0.25}, "y": 1}\n')
    with pytest.raises(ValueError, match=r"'a\.b' must be one value; got that key and 'b' of 'a' on line 80001"):
        calcert.summarize(path, score="a.b", label="y")
    path.write_text('{"a": {"b": 0.5, "b": 0.25}, "y": 1}\n')
    with pytest.raises(ValueError, match="every key must be there once; got 'b' twice"):
        calcert.summarize(path, score="a.b", label="y")


def test_numbers_shown_by_a_spreadsheet_export_survive_quotes(tmp_path: Path) -> None:
    with open(tmp_path / "a.csv", "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([["PD", "Ausfall"], *([f"{p:.1f}".replace(".", ","), "0"] for p in np.linspace(0, 1, 11))])
    assert read(tmp_path / "a.csv", decimal=",") == calcert.summarize(np.linspace(0, 1, 11).round(1), [0] * 11)
