"""Rows in files, and two ways to run a command: in this process, and as people run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from calcert.cli import main

ROWS = 3000
LOOKS = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE")

Run = Callable[..., Result]
Spawn = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scores and labels of a classifier that is too sure of itself."""
    rng = np.random.default_rng(7)
    x = rng.random(ROWS)
    return x, (rng.random(ROWS) < 0.2 + 0.6 * x).astype(np.int64)


@pytest.fixture(scope="session")
def folder(rows: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as CSV, JSON lines and Parquet, with columns p and y, and some files that are not as they should be."""
    where = tmp_path_factory.mktemp("files")
    pairs = list(zip(rows[0].tolist(), rows[1].tolist(), strict=True))
    (where / "rows.csv").write_text("p,y\n" + "".join(f"{x!r},{y}\n" for x, y in pairs))
    (where / "rows.jsonl").write_text("".join(f'{{"p": {x!r}, "y": {y}}}\n' for x, y in pairs))
    pq.write_table(pa.table({"p": rows[0], "y": rows[1]}), where / "rows.parquet")
    (where / "none.csv").write_text("p,y\n")
    (where / "words.csv").write_text("p,y\nhigh,1\nlow,0\n")
    (where / "logits.csv").write_text("p,y\n0.5,1\n1.75,0\n")
    (where / "broken.parquet").write_bytes((where / "rows.parquet").read_bytes()[:-500])
    (where / "secret.csv").write_text("p,y\n0.5,1\n")
    (where / "secret.csv").chmod(0)
    return where


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, in the folder of the files."""
    monkeypatch.chdir(folder)
    for name in LOOKS:
        monkeypatch.delenv(name, raising=False)

    def invoke(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="calcert", **options)

    return invoke


@pytest.fixture
def here(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own to run commands in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def portfolio(here: Path) -> Path:
    """Semicolons, decimal commas, percent signs, gaps and J/N, as a spreadsheet saves them."""
    rng = np.random.default_rng(5)
    grades = rng.choice([0.5, 2.5, 10.0, 35.0], 800)
    labels = np.where(rng.random(800) < grades / 100, "J", "N")
    lines = [f"{p:.2f} %;{y}".replace(".", ",") for p, y in zip(grades, labels, strict=True)]
    lines[7], lines[9] = "#N/A;N", "2,50 %;"
    path = here / "portfolio.csv"
    path.write_text("PD;Ausfall\n" + "\n".join(lines) + "\n", encoding="utf-8-sig")
    return path


@pytest.fixture
def spawn(folder: Path) -> Spawn:
    """Run a command in a process of its own, where warnings of ours are errors."""

    def start(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = plain_environment() | options.pop("env", {})
        settings: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 60, "cwd": folder} | options
        if "input" not in settings:
            settings.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([*program(), *arguments], env=environment, **settings)

    return start


def program() -> list[str]:
    return [sys.executable, "-W", "error:::calcert", "-m", "calcert"]


def plain_environment() -> dict[str, str]:
    """Nothing that changes how output looks."""
    kept = {name: value for name, value in os.environ.items() if name not in LOOKS}
    return kept | {"PYTHONPATH": os.pathsep.join(sys.path)}
