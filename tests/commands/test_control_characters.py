"""Names of groups, windows, batches and files cannot speak to the terminal, and JUnit stays XML."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import Result

import calcert
from tests.commands.conftest import Run

HOSTILE = "\x1b]0;title\x07\x1b[2J\u202ered\x9b\r"
SHOWN = "\\x1b]0;title\\x07\\x1b[2J\\u202ered\\x9b\\r"
SHORT, SHORT_SHOWN = "\x1bc\u202e", "\\x1bc\\u202e"
"""Short enough to stand on one line of a table."""

OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def nothing_obeyed(result: Result) -> str:
    words = result.output + result.stderr
    assert not OBEYED.search(words), words
    return words


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """A file whose name and whose groups are hostile."""
    rng = np.random.default_rng(0)
    x = rng.random(4000)
    y = rng.random(4000) < x
    path = tmp_path / f"rows{HOSTILE}.csv"
    lines = (f"{p!r},{int(label)},{SHORT}" for p, label in zip(x.tolist(), y, strict=True))
    path.write_text("\n".join(["p,y,g", *lines]))
    return path


def test_groups_and_file_names_are_escaped(run: Run, groups: Path, caplog: pytest.LogCaptureFixture) -> None:
    words = nothing_obeyed(run("certify", str(groups), "--groups", "g", env={"COLUMNS": "200"}))
    assert f"rows{SHOWN}.csv: scores from column 'p'" in caplog.messages[0]
    assert SHORT_SHOWN in words


def test_a_missing_file_is_escaped_in_the_error_and_in_junit(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    result = run("check", f"no{HOSTILE}.csv", "--max", "0.1", "--statement", "perturbed", "--junit", str(report))
    assert result.exit_code == 2
    assert f"no{SHOWN}.csv" in nothing_obeyed(result)
    (error,) = ElementTree.parse(report).iter("error")
    assert f"no{SHOWN}.csv" in str(error.text)
    assert f"no{SHOWN}.csv" in error.attrib["message"]


def test_windows_and_batches_are_escaped(run: Run, folder: Path, tmp_path: Path) -> None:
    state = str(tmp_path / f"state{HOSTILE}")
    for number in (1, 2):
        result = run(
            *("monitor", "add", state, "rows.csv", "--batch-id", f"{number}{HOSTILE}"),
            *("--window-name", f"{SHORT}{number}", "--again"),
        )
        assert result.exit_code == 0
        nothing_obeyed(result)
    words = nothing_obeyed(run("monitor", "status", state, "--alarm", "0.01", env={"COLUMNS": "200"}))
    assert f"{SHORT_SHOWN}2" in words
    exported = run("monitor", "status", state, "--prometheus", "-").output
    assert not OBEYED.search(exported)
    result = run("monitor", "status", state, "--html", str(tmp_path / f"page{HOSTILE}.html"))
    nothing_obeyed(result)
    page = (tmp_path / f"page{HOSTILE}.html").read_text()
    assert not OBEYED.search(page)
    assert f"{SHORT_SHOWN}2" in page


def test_text_of_the_library_is_escaped_too() -> None:
    x = np.linspace(0, 1, 200)
    text = str(calcert.certify(x, x > 0.5, groups=np.where(x < 0.4, SHORT, "b")))
    assert not OBEYED.search(text)
    assert SHORT_SHOWN in text


def test_pages_are_escaped(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 200)
    report = calcert.certify(x, x > 0.5, groups=np.where(x < 0.4, SHORT, "b"))
    report.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert not OBEYED.search(page)
    assert SHORT_SHOWN in page
    assert "<svg" in page


def test_perturbing_a_file_with_a_hostile_name(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("perturb", "rows.csv", str(tmp_path / f"out{HOSTILE}.csv"), "--score", "p", "--seed", "1")
    assert result.exit_code == 0
    assert f"out{SHOWN}.csv" in nothing_obeyed(result)


def test_a_wrong_option_cannot_speak_either(run: Run) -> None:
    assert run("certify", f"--{HOSTILE}").exit_code == 2
    nothing_obeyed(run("certify", f"--{HOSTILE}"))
    nothing_obeyed(run(HOSTILE))
