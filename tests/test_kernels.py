"""Kernels: compiled where there is a compiler, the same numbers as Python where there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert import cli
from calcert.cli import main
from calcert.kernels import counting

ROOT = Path(calcert.__file__).parents[2]
KERNELS = Path(calcert.__file__).parent / "kernels"
SOURCES = sorted(path for path in KERNELS.glob("*.py") if path.with_suffix(".pxd").exists())

CERTIFY = """
import numpy as np, calcert
x = np.random.default_rng(0).random(900)
y = np.random.default_rng(1).random(900) < x
print(calcert.__file__)
print(calcert.certify(x, y, settings=calcert.Settings(odds=1 / 16)).perturbed.upper)
"""


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    """What a fresh process prints; that it ends well is part of every test."""
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def installed(place: Path, *left_out: str) -> Path:
    """A copy of the package in which nothing can be written beside the source, whoever runs it."""
    package = place / "site" / "calcert"
    ignored = shutil.ignore_patterns("__pycache__", *left_out)
    shutil.copytree(Path(calcert.__file__).parent, package, ignore=ignored)
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file where Python wants a folder")
    return package


def environment(package: Path, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG", "HOME"))}
    return {**kept, "PYTHONPATH": str(package.parent), "MPLCONFIGDIR": str(package.parent), "HOME": str(home)}


COMMANDS = f"""
{CERTIFY}
import json, sys
from calcert.cli import main
for command in json.loads(sys.argv[1]):
    print(*command[:1], main(command, standalone_mode=False) or 0)
"""


def test_everything_works_in_a_read_only_installation_without_a_home(tmp_path: Path) -> None:
    nowhere, rows, state = tmp_path / "file", str(tmp_path / "rows.csv"), str(tmp_path / "state")
    fitted, mapped = str(tmp_path / "map.json"), str(tmp_path / "mapped.csv")
    nowhere.write_text("")
    package = installed(tmp_path)
    main(["demo", "--rows", "3000", "--save", rows], standalone_mode=False)
    columns = ["--score", "score", "--label", "label"]
    commands = [
        ["certify", rows, *columns],
        ["certify", rows, *columns, "--html", str(tmp_path / "report.html")],
        ["check", rows, *columns, "--max", "0.5", "--statement", "perturbed"],
        ["plan", rows, *columns, "--target", "0.3"],
        ["recalibrate", rows, *columns, "--out", fitted],
        ["apply", fitted, rows, "--score", "score", "--out", mapped],
        ["compare", mapped, "--scores", "score,recalibrated", "--label", "label"],
        ["research", "noise-costs", rows, *columns],
        ["perturb", rows, str(tmp_path / "perturbed.csv"), "--score", "score"],
        ["choose", rows, str(tmp_path / "chosen.csv"), "--score", "score", "--budget", "500"],
        ["research", "published", rows, *columns],
        ["sql", "rows", *columns, "--dialect", "duckdb"],
        ["monitor", "add", state, rows, *columns, "--batch-id", "1"],
        ["monitor", "status", state],
        ["demo", "--rows", "1000"],
    ]
    assert {command[0] for command in commands} == set(cli.COMMANDS)
    place, *found = run(
        environment(package, nowhere), "-W", "error", "-c", COMMANDS, json.dumps(commands)
    ).stdout.splitlines()
    assert place.startswith(str(package))
    assert [line for line in found if line in {f"{name} 0" for name in cli.COMMANDS}] == [f"{c[0]} 0" for c in commands]


@pytest.mark.parametrize("command", [["certify"], ["check", "--max", "0.5"]], ids=lambda command: command[0])
def test_the_program_loads_no_library_that_it_has_no_use_for(command: list[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    rows = pa.table({"p": scores, "y": rng.random(20_000) < scores})
    pq.write_table(rows, tmp_path / "rows.parquet")
    start = [sys.executable, "-X", "importtime", "-m", "calcert", command[0], "rows.parquet", "--score", "p"]
    done = subprocess.run(
        [*start, "--label", "y", *command[1:]], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "20,000 rows" in done.stdout
    assert "calcert.certificates.l1" in loaded
    assert not [name for name in loaded if name.startswith(("scipy", "duckdb", "pandas", "narwhals"))]


@pytest.mark.skipif(not counting.compiled, reason="The package was built without a compiler.")
def test_without_compiled_kernels_the_numbers_are_the_same_and_it_is_said_once(tmp_path: Path) -> None:
    package = installed(tmp_path, "*.so", "*.pyd")
    done = run(environment(package, tmp_path), "-c", CERTIFY)
    x = np.random.default_rng(0).random(900)
    y = np.random.default_rng(1).random(900) < x
    expected = calcert.certify(x, y, settings=calcert.Settings(odds=1 / 16)).perturbed.upper
    place, upper = done.stdout.splitlines()
    assert place.startswith(str(package))
    assert float(upper) == pytest.approx(expected, rel=1e-12)
    assert done.stderr.count("without a compiler") == 1
    assert "without a compiler" not in run(dict(os.environ), "-c", CERTIFY).stderr


def test_an_installation_without_a_compiler_ends_well(tmp_path: Path) -> None:
    pytest.importorskip("Cython")
    shutil.copytree(ROOT, tmp_path / "source", ignore=lambda folder, names: [n for n in names if n not in kept(folder)])
    changed = {**os.environ, "CC": "/bin/false", "CXX": "/bin/false"}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=tmp_path / "source", env=changed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "source").rglob("*.so"))


def kept(folder: str) -> set[str]:
    """What of the repository it takes to build."""
    if Path(folder) == ROOT:
        return {"src", "setup.py", "pyproject.toml", "README.md", "LICENSE"}
    return {path.name for path in Path(folder).iterdir() if path.suffix not in {".so", ".pyd"}}


def divisions_of_integers(path: Path, directives: dict[str, Any], into: Path) -> list[str]:
    """Where `/` stands between two integers of C: there the rest is dropped in silence."""
    from Cython.Compiler import ExprNodes
    from Cython.Compiler.Main import compile_single
    from Cython.Compiler.Options import CompilationOptions

    found: list[str] = []
    analyse = ExprNodes.DivNode.analyse_operation

    def watched(node: Any, env: Any) -> Any:
        done = analyse(node, env)
        if node.operator == "/" and node.operand1.type.is_int and node.operand2.type.is_int:
            found.append(f"{path.name}:{node.pos[1]}")
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExprNodes.DivNode, "analyse_operation", watched)
        options = CompilationOptions(compiler_directives=directives, output_file=str(into / f"{path.stem}.c"))
        assert compile_single(str(path), options, None).num_errors == 0
    return found


@pytest.fixture
def directives(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Those that the package is built with."""
    pytest.importorskip("Cython")
    monkeypatch.syspath_prepend(str(ROOT))
    import setup

    assert {*setup.KERNELS} == {path.stem for path in SOURCES}
    return dict(setup.DIRECTIVES)


def test_no_kernel_divides_integers_as_c_does(directives: dict[str, Any], tmp_path: Path) -> None:
    assert directives["cdivision"]
    assert [place for path in SOURCES for place in divisions_of_integers(path, directives, tmp_path)] == []


def test_a_division_of_integers_would_be_noticed(directives: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "halves.py"
    path.write_text("def half(n):\n    return n / 2 + n / 2.0\n")
    path.with_suffix(".pxd").write_text("cpdef double half(int n) noexcept\n")
    assert divisions_of_integers(path, directives, tmp_path) == ["halves.py:2"]
