"""Files that are meant to do harm, or just strange: every command ends with words and code 2, and soon."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import calcert

from .conftest import Run, Spawn, plain_environment

COMMANDS = {
    "certify": ["certify"],
    "groups": ["certify", "--groups", "g"],
    "check": ["check", "--max", "0.1", "--statement", "distance"],
    "published": ["research", "published"],
    "plan": ["plan", "--target", "0.1"],
    "noise-costs": ["research", "noise-costs"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_pipes_are_not_waited_for(spawn: Spawn, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    command, *settings = COMMANDS[name]
    done = spawn(command, *settings, str(tmp_path / "pipe.csv"), timeout=30)
    assert done.returncode == 2
    assert f"{tmp_path}/pipe.csv must be a regular file; got a named pipe." in done.stderr


def test_perturb_neither_waits_for_a_pipe_nor_replaces_one(spawn: Spawn, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for arguments in (["pipe.csv", "out.csv"], [str(tmp_path / "pipe.csv"), str(tmp_path / "out.csv")]):
        done = spawn("perturb", *arguments, cwd=tmp_path, timeout=30)
        assert done.returncode == 2
    done = spawn("perturb", "rows.csv", str(tmp_path / "pipe.csv"), "--overwrite", timeout=30)
    assert done.returncode == 2
    assert "must be a regular file; got a named pipe" in done.stderr
    assert (tmp_path / "pipe.csv").is_fifo()


def test_a_folder_of_spark_output_is_read_without_names(run: Run, rows: tuple[Any, Any], tmp_path: Path) -> None:
    """Spark calls the folder by the name that was meant for a file."""
    for suffix in ("csv", "parquet"):
        folder = tmp_path / f"out.{suffix}"
        folder.mkdir()
        (folder / f"part-00000.{suffix}").write_bytes(Path(f"rows.{suffix}").read_bytes())
        (folder / "_SUCCESS").touch()
        (folder / f".part-00000.{suffix}.crc").write_bytes(b"crc\0")
        done = run("certify", str(folder), "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout) | {"facts": None} == calcert.certify(*rows).to_dict() | {"facts": None}
    bare = tmp_path / "bare.csv"
    bare.mkdir()
    (bare / "part-00000.csv").write_text("0.5,1\n0.25,0\n")
    done = run("certify", str(bare))
    assert done.exit_code == 2
    assert "must begin with a line of column names; got '0.5,1', which looks like a row" in done.stderr


def test_headers_of_any_length_and_deep_json(run: Run, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("x" * 140_000 + ",p,y\n" + "1,0.5,1\n2,0.25,0\n" * 20)
    assert run("certify", str(wide)).exit_code == 0
    cells = tmp_path / "cells.csv"
    cells.write_text("cell,label,row_count,offset_sum,table_rows,score\n" + "9" * 140_000 + ",1,1,0,1,\n")
    refused = run("certify", str(cells))
    assert refused.exit_code == 2
    assert "must be the whole result of the query of calcert sql" in refused.stderr
    for name, content in (("deep.jsonl", '{"p": 0.5, "y": ' + "[" * 100_000), ("deep.json", "[" * 100_000)):
        (tmp_path / name).write_text(content)
        refused = run("certify", str(tmp_path / name))
        assert refused.exit_code == 2
        assert "must not be nested so deeply" in refused.stderr


@pytest.mark.parametrize("address", ["https://host/a.csv", "s3://bucket/a.parquet"])
def test_addresses_are_refused_in_words(run: Run, address: str) -> None:
    refused = run("certify", address)
    assert refused.exit_code == 2
    assert "must lead to files on this machine" in refused.stderr


def test_names_of_files_do_not_reach_the_terminal_raw(run: Run, tmp_path: Path) -> None:
    name = "a\x1b[2J\nError: none\u202e"
    bad, good = tmp_path / f"{name}.csv", tmp_path / f"good {name}.csv"
    bad.write_text("p,y\n0.5,1\n1.5,0\n")
    good.write_text("p,y\n" + "0.5,1\n0.25,0\n" * 50)
    shown = name.encode("unicode_escape").decode()
    refused = run("certify", str(bad))
    assert refused.exit_code == 2
    assert f"on line 3 of {tmp_path}/{shown}.csv" in refused.stderr
    heard = [refused, run("certify", str(tmp_path / f"gone{name}.csv"))]
    heard.append(run("perturb", str(bad), str(tmp_path / "o.csv")))
    heard.append(run("perturb", str(good), str(tmp_path / f"out {name}.csv"), "--score", "p", "--seed", "1"))
    heard.append(run("certify", str(good), "--html", str(tmp_path / f"page {name}.html")))
    heard.append(run("certify", str(tmp_path / f"gone{name}" / "a.csv"), "--html", f"{tmp_path}/{name}/page.html"))
    assert [done.exit_code for done in heard] == [2, 2, 2, 0, 0, 2]
    for done in heard:
        said = done.stderr if "certify" in done.output else done.output
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert "\nError: none" not in said


def test_standard_input_that_is_no_text_is_called_by_its_name(spawn: Spawn) -> None:
    for content, said in (
        (gzip.compress(b"p,y\n0.5,1\n"), "standard input must be text; got gzip"),
        ("p,y\n0.5,1\n".encode("utf-16"), "standard input must be text; got UTF-16"),
    ):
        for command in (["certify", "-"], ["perturb", "-", "-", "--score", "p"]):
            done = spawn(*command, input=content, text=False)
            assert done.returncode == 2
            assert said in done.stderr.decode()  # type: ignore[attr-defined]


def test_standard_input_may_be_an_array_and_have_a_byte_order_mark(spawn: Spawn) -> None:
    rows = [{"p": 0.5, "y": 1}, {"p": 0.25, "y": 0}] * 20
    expected = calcert.certify([0.5, 0.25] * 20, [1, 0] * 20).to_dict()
    for text in (json.dumps(rows), "\ufeff" + "".join(json.dumps(row) + "\n" for row in rows)):
        done = spawn("certify", "-", "--json", input=text)
        assert json.loads(done.stdout) | {"facts": None} == expected | {"facts": None}


INTERRUPTED_INSIDE = """
import enum, signal, sys, threading

def from_elsewhere():
    # Another thread takes the signal, as those of a numerical library do.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.raise_signal(signal.SIGINT)

create = enum.EnumType._create_
done = []

def interrupted(*arguments, **options):
    if '_duckdb' in str(sys._getframe().f_back.f_back) or ('duckdb' in sys.modules and not done):
        done.append(True)
        thread = threading.Thread(target=from_elsewhere)
        thread.start()
        thread.join()
    return create(*arguments, **options)

from calcert.cli import main
enum.EnumType._create_ = interrupted
main(prog_name='calcert')
"""


def test_an_interruption_inside_the_import_of_an_engine_ends_with_130(folder: Path) -> None:
    (folder / "large.jsonl").write_text('{"p": 0.5, "y": 1}\n' * 70_000)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED_INSIDE, "certify", "large.jsonl", "--score", "p", "--label", "y"],
            cwd=folder,
            env=plain_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 130, done.stderr
        assert "Interrupted; nothing was left half-written." in done.stderr
