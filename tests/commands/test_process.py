"""Commands as processes: pipes, signals, terminals, permissions. What a test inside one process cannot see."""

from __future__ import annotations

import ctypes
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import calcert

from .conftest import Spawn, plain_environment, program

BAD_INPUT = {
    "certify": ["certify", "logits.csv"],
    "check": ["check", "logits.csv", "--max", "0.1", "--statement", "distance"],
    "plan": ["plan", "logits.csv", "--target", "0.1"],
    "noise-costs": ["research", "noise-costs", "logits.csv"],
    "published": ["research", "published", "logits.csv"],
    "perturb": ["perturb", "logits.csv", "out.csv"],
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_ends_every_command_with_code_2_and_one_message(spawn: Spawn, name: str) -> None:
    done = spawn(*BAD_INPUT[name])
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error: scores must lie in [0, 1]; got 1.75 on line 3 of logits.csv." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--debug", "certify", "logits.csv"), ("certify", "logits.csv", "--debug")])
def test_debug_shows_where_it_happened(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    done = spawn(*arguments)
    assert done.returncode == 2
    assert done.stderr.count("Traceback") >= 1
    assert "ValueError: scores must lie in [0, 1]; got 1.75 on line 3" in done.stderr


def without_special_powers() -> None:
    """Permissions hold for root too once the capabilities to override them are gone."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are a thing of Linux")
def test_a_file_that_may_not_be_read(spawn: Spawn, folder: Path) -> None:
    readable = subprocess.run(
        ["cat", folder / "secret.csv"], preexec_fn=without_special_powers, capture_output=True, check=False
    )
    if readable.returncode == 0:
        pytest.skip("this user may read everything")
    done = spawn("certify", "secret.csv", preexec_fn=without_special_powers)
    assert done.returncode == 2
    assert done.stderr == "Error: secret.csv must be readable; this user has no permission to read it.\n"


def test_standard_input_as_csv_and_as_json_lines(spawn: Spawn, folder: Path, rows: tuple[Any, Any]) -> None:
    expected = calcert.certify(*rows).to_dict()
    for file in ("rows.csv", "rows.jsonl"):
        done = spawn("certify", "-", "--json", input=(folder / file).read_text())
        found = json.loads(done.stdout)
        assert found.pop("facts")["files"][0]["name"] == "standard input"
        assert found == expected
        assert done.stderr.startswith("standard input: scores from column 'p'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "standard input must hold rows, as CSV with a header or as JSON lines; got nothing."),
        ("p,y\n0.5,1\n1.75,0\n", "got 1.75 on line 3 of standard input."),
    ],
)
def test_bad_standard_input(spawn: Spawn, tmp_path: Path, text: str, said: str) -> None:
    done = spawn("certify", "-", input=text, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 2
    assert said in done.stderr
    assert str(tmp_path) not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("certify", "rows.csv"), ("certify", "--help"), ("perturb", "rows.csv", "-")])
def test_a_reader_that_goes_away_is_no_error_worth_words(folder: Path, arguments: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [*program(), *arguments],
        cwd=folder,
        env=plain_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        words = process.stderr.read()
        assert process.wait(timeout=60) == 141
    assert "Error" not in words
    assert "Traceback" not in words


def test_head_gets_its_line(folder: Path) -> None:
    shell = "set -o pipefail; " + " ".join(program()) + " certify rows.csv --score p --label y | head -1"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=plain_environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == "Miscalibrated (95% confidence): scores are overconfident (too close to 0 and 1).\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [(signal.SIGINT, 130, "Interrupted; nothing was left half-written."), (signal.SIGTERM, 143, "")],
)
@pytest.mark.parametrize("arguments", [("certify", "-"), ("perturb", "-", "out.csv")])
def test_a_command_that_is_stopped_says_so_and_leaves_nothing(
    tmp_path: Path, how: signal.Signals, code: int, said: str, arguments: tuple[str, ...]
) -> None:
    process = subprocess.Popen(
        [*program(), *arguments],
        cwd=tmp_path,
        env=plain_environment() | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    # More than a pipe holds: once this is written, the command is in the middle of reading.
    process.stdin.write(b"p,y\n" + b"0.5,1\n" * 50_000)
    process.stdin.flush()
    process.send_signal(how)
    output, words = process.communicate(timeout=60)
    assert process.returncode == code
    assert output == b""
    assert said in words.decode()
    assert "Traceback" not in words.decode()
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_libraries_are_loaded_ends_like_any_other() -> None:
    loading = (
        "import sys, signal, calcert.__main__ as program\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'calcert.cli': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "program.run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", loading], env=plain_environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "\nInterrupted; nothing was left half-written.\n")


def on_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """What a command writes where both of its outputs are a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    settings = plain_environment() | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment
    process = subprocess.Popen([*program(), *arguments], cwd=folder, env=settings, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 1 << 16):
            written += part
    except OSError:
        # On Linux a terminal ends so when the last process has left it.
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return written.decode()


COLOUR = re.compile(r"\x1b\[(?:\d+;)*3[0-7](?:;\d+)*m")


def test_colour_and_signs_of_life_on_a_terminal_only(spawn: Spawn, folder: Path, tmp_path: Path) -> None:
    rare = tmp_path / "rare.csv"
    rare.write_text("p,y\n" + "0.001,0\n" * 999 + "0.001,1\n")
    seen = on_a_terminal(folder, "certify", str(rare), "--bandwidth", "1/64")
    assert COLOUR.search(seen)
    assert not COLOUR.search(on_a_terminal(folder, "certify", str(rare), "--bandwidth", "1/64", NO_COLOR="1"))
    assert "trying noise" in on_a_terminal(folder, "research", "noise-costs", str(rare), "--try", "1/64")
    piped = spawn("research", "noise-costs", str(rare), "--try", "1/64")
    assert "\x1b" not in piped.stdout + piped.stderr
    assert "trying noise" not in piped.stderr


def test_the_width_is_that_of_the_terminal_or_80(spawn: Spawn) -> None:
    def widest(text: str) -> int:
        return max(map(len, text.splitlines()))

    usual = spawn("certify", "rows.csv").stdout
    assert 70 < widest(usual) <= 80
    assert widest(spawn("certify", "rows.csv", env={"COLUMNS": "60"}).stdout) <= 60
    assert 80 < widest(spawn("certify", "rows.csv", env={"COLUMNS": "120"}).stdout) <= 120


def test_json_is_json_whatever_the_terminal(spawn: Spawn) -> None:
    done = spawn("certify", "rows.csv", "--json", env={"FORCE_COLOR": "1", "COLUMNS": "20"})
    assert json.loads(done.stdout)["kind"] == "report"


def test_a_closed_standard_output_is_no_crash(folder: Path) -> None:
    shell = " ".join(program()) + " check rows.csv --max 0.5 --statement perturbed >&-"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=plain_environment(), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 141)


@pytest.mark.parametrize("missing", ["click", "numpy", "calcert.commands.options", "calcert.summary.cells"])
@pytest.mark.parametrize("arguments", [["check", "rows.csv", "--max", "0.9", "--statement", "perturbed"], ["--help"]])
def test_an_installation_that_lacks_something_never_ends_with_the_code_of_check(
    missing: str, arguments: list[str], folder: Path
) -> None:
    start = f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['calcert', *{arguments!r}]"
    code = f"{start}; from calcert.__main__ import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=plain_environment(), check=False
    )
    assert done.returncode in (2, 70) or (arguments == ["--help"] and done.returncode == 0)
    if done.returncode:
        assert missing.split(".")[-1] in done.stderr
