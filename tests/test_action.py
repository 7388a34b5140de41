"""The GitHub action: its steps, run in a shell as GitHub runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
DEMAND = "--max 0.2 --statement distance"


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step that checks; GitHub writes inputs into its environment, and nowhere else."""
    known = {name: about.get("default") for name, about in ACTION["inputs"].items()} | inputs
    step = next(step for step in ACTION["runs"]["steps"] if step["name"] == "Check")
    assert "${{" not in step["run"], "an input that is pasted into a script can be a command"
    filled = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: known[found[1]], text)
        for name, text in step["env"].items()
    }
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "calcert").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m calcert "$@"\n')
    (bin_folder / "calcert").chmod(0o755)
    environment = (
        os.environ
        | filled
        | {
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
    )
    # `shell: bash` of a step is exactly this, and ends a script at the first command that fails.
    (bin_folder / "step.sh").write_text(step["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(bin_folder / "step.sh")],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.random(1_000)
    rows = "".join(f"{p!r},{int(y)}\n" for p, y in zip(x.tolist(), rng.random(1_000) < x, strict=True))
    (tmp_path / "my rows.csv").write_text("p,y\n" + rows)
    (tmp_path / "three.csv").write_text("a,b,c,y\n" + "0.5,0.25,0.25,a\n0.5,0.25,0.25,b\n" * 500)
    policy = (
        'version = "1"\nstatement = "distance"\nclass_columns = ["a", "b", "c"]\nlabel = "y"\nof = "worst"\nmax = 0.1\n'
    )
    (tmp_path / "policy.toml").write_text(policy)
    return tmp_path


@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({"files": "my rows.csv\n", "rows": "--score p --label y", "demand": "--max 0.2\n--statement distance"}, 0, ""),
        ({"files": "three.csv", "demand": "--policy policy.toml"}, 1, "not "),
    ],
)
def test_the_outcome_is_the_exit_code_and_the_summary_says_it(
    folder: Path, inputs: dict[str, str], code: int, said: str
) -> None:
    """The policy names columns of classes, and nothing else does: the page is about them all the same."""
    done = run_action(folder, **inputs)
    assert done.returncode == code, done.stderr
    summary, page = (folder / "summary.md").read_text(), (folder / "calibration.html").read_text()
    assert summary.startswith(f"## Calibration: {said}certified\n")
    assert done.stdout.splitlines()[0] in summary
    assert page.startswith("<!DOCTYPE html>")
    assert done.stdout.splitlines()[0] in page
    assert ("worst of 3 classes" in page) == ("worst of 3 classes" in summary) == (inputs["files"] == "three.csv")
    assert "<testsuite" in (folder / "calibration.xml").read_text()


def test_bad_input_is_no_failed_certificate(folder: Path) -> None:
    done = run_action(folder, files="none.csv", demand=DEMAND)
    assert done.returncode == 2
    summary = (folder / "summary.md").read_text()
    assert summary.startswith("## Calibration: could not be checked\n")
    assert "there is no such file" in summary


def test_inputs_are_never_commands(folder: Path) -> None:
    done = run_action(folder, files="$(touch gone).csv", rows="; touch gone", demand=f"{DEMAND} && touch gone")
    assert done.returncode == 2
    assert not (folder / "gone").exists()


def test_the_rest_of_the_action_is_what_the_guide_says() -> None:
    steps: list[dict[str, Any]] = ACTION["runs"]["steps"]
    assert steps[0]["run"] == 'python -m pip install --quiet "$GITHUB_ACTION_PATH[report]"'
    assert steps[-1]["uses"].startswith("actions/upload-artifact@")
    assert steps[-1]["if"].startswith("always()")
    guide = (ROOT / "docs" / "guides" / "ci-gate.md").read_text()
    assert all(f"`{name}`" in guide for name in ACTION["inputs"])
