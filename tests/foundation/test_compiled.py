"""Compiled kernels are kept on disk where that works, and work where it does not."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert import cli
from calcert.cli import main
from calcert.foundation.compiled import compiled

CERTIFY = """
import numpy as np, calcert
x = np.random.default_rng(0).random(9000)
y = np.random.default_rng(1).random(9000) < x
print(calcert.__file__)
print(calcert.certify(x, y, settings=calcert.Settings(odds=1 / 16)).perturbed.upper)
"""


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """What a program prints where caches work, but for the place of the package."""
    return run(dict(os.environ)).splitlines()[1:]


def run(environment: dict[str, str], *command: str) -> str:
    """What a fresh process prints; that it ends well, without a word on caches, is part of every test."""
    command = command or ("-c", CERTIFY)
    done = subprocess.run(
        [sys.executable, "-W", "error", *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cache" not in done.stderr
    return done.stdout


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the package in which nothing can be written beside the source, whoever runs it."""
    package = tmp_path / "site" / "calcert"
    shutil.copytree(Path(calcert.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file where numba and Python want a folder")
    return package


def environment(package: Path, **changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "HOME"))}
    return {**kept, "PYTHONPATH": str(package.parent), "MPLCONFIGDIR": str(package.parent), **changes}


COMMANDS = f"""
{CERTIFY}
import json, sys
from calcert.cli import main
from calcert.foundation.compiled import compiled
for command in json.loads(sys.argv[1]):
    print(*command[:1], main(command, standalone_mode=False) or 0)
"""


def test_everything_works_in_a_read_only_installation_without_a_home(
    installed: Path, tmp_path: Path, expected: list[str]
) -> None:
    nowhere, rows, state = tmp_path / "file", str(tmp_path / "rows.csv"), str(tmp_path / "state")
    fitted, mapped = str(tmp_path / "map.json"), str(tmp_path / "mapped.csv")
    nowhere.write_text("")
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
        ["perturb", rows, str(tmp_path / "served.csv"), "--score", "score"],
        ["choose", rows, str(tmp_path / "chosen.csv"), "--score", "score", "--budget", "500"],
        ["research", "published", rows, *columns],
        ["sql", "rows", *columns, "--dialect", "duckdb"],
        ["monitor", "add", state, rows, *columns, "--batch-id", "1"],
        ["monitor", "status", state],
        ["demo", "--rows", "1000"],
    ]
    assert {command[0] for command in commands} == set(cli.COMMANDS)
    here = environment(installed, HOME=str(nowhere), NUMBA_CACHE_DIR=str(nowhere))
    place, *found = run(here, "-c", COMMANDS, json.dumps(commands)).splitlines()
    assert place.startswith(str(installed))
    assert found[: len(expected)] == expected
    assert [line for line in found if line in {f"{name} 0" for name in cli.COMMANDS}] == [f"{c[0]} 0" for c in commands]


def garble(path: Path, how: int) -> None:
    """Spoil a file of a cache, in one of the ways in which disks and programs do."""
    content = path.read_bytes()
    path.unlink()
    if how % 4 == 0:
        path.mkdir()
    else:
        path.write_bytes((b"", content[: len(content) // 2], b"\x80\x05garbled" + content[9:])[how % 4 - 1])


COUNT = """
import numba, numpy as np, calcert
x = np.random.default_rng(0).random(20_000)
print(calcert.summarize(x, x > 0.5).count.sum(axis=0).tolist())
"""
"""A few kernels, quickly compiled, that call each other; fewer rows, or numba not there yet, would do without them."""


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_garbled_cache_is_written_again_or_done_without(kind: str, tmp_path: Path, filled: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(filled, cache)
    files = sorted(cache.rglob(f"*.{kind}"))
    assert len(files) >= 4
    for how, path in enumerate(files):
        garble(path, how)
    garbled = [None if path.is_dir() else path.read_bytes() for path in files]
    x = np.random.default_rng(0).random(20_000)
    expected = [int((x <= 0.5).sum()), int((x > 0.5).sum())]
    assert json.loads(run({**os.environ, "NUMBA_CACHE_DIR": str(cache)}, "-c", COUNT)) == expected
    mended = [path.is_dir() or path.read_bytes() != before for path, before in zip(files, garbled, strict=True)]
    assert all(mended)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that a program has filled."""
    cache = tmp_path_factory.mktemp("numba")
    run({**os.environ, "NUMBA_CACHE_DIR": str(cache)}, "-c", COUNT)
    return cache


def test_kernels_are_cached_where_that_works(filled: Path) -> None:
    names = {path.name.split("-")[0] for path in filled.rglob("*.nbc")}
    assert {"count_numba.fill", "count_numba.tally"} <= names


def test_kernels_are_loaded_without_what_compiling_needs_and_compiled_after_all(filled: Path) -> None:
    code = f"""
{COUNT}
import sys
print("numba.np.polynomial" in sys.modules)
from calcert.foundation.compiled import compiled
print(compiled(lambda x: {{3: np.sort(x).sum()}}[3])(np.array([2.0, 1.0])))
print("numba.np.polynomial" in sys.modules)
"""
    printed = run({**os.environ, "NUMBA_CACHE_DIR": str(filled)}, "-c", code)
    assert printed.splitlines()[1:] == ["False", "3.0", "True"]


def test_no_kernel_is_compiled_in_another_way() -> None:
    package = Path(calcert.__file__).parent
    using = [
        path.name for path in package.rglob("*.py") if "import numba" in path.read_text() or "njit" in path.read_text()
    ]
    assert using == ["compiled.py"]


def test_an_interruption_while_a_kernel_is_compiled_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    @compiled
    def twice(x: float) -> float:
        return 2 * x

    # Exceptions that are raised in a callback of C, as LLVM has them, go nowhere.
    interrupt = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(twice._cache, "load_overload", lambda *signature: interrupt())
    with pytest.raises(KeyboardInterrupt):
        twice(21.0)
    assert twice(21.0) == 42.0


def test_the_program_loads_no_library_that_it_has_no_use_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    rows = pa.table({"p": scores, "y": rng.random(20_000) < scores})
    pq.write_table(rows, tmp_path / "rows.parquet")
    command = [sys.executable, "-X", "importtime", "-m", "calcert", "certify", "rows.parquet", "--score", "p"]
    done = subprocess.run([*command, "--label", "y"], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "20,000 rows" in done.stdout
    assert {"numba", "calcert.certificates.l1"} <= loaded
    spared = ("scipy.linalg.blas", "scipy.special", "duckdb", "pandas", "narwhals")
    assert not [name for name in loaded if name.startswith(spared)]


def test_linear_algebra_is_there_for_whoever_wants_it() -> None:
    code = """
import sys
import calcert.foundation.compiled
calcert.foundation.compiled.alone = {}
from calcert.foundation.compiled import compiled
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
compiled(lambda x: x)
print("scipy.linalg" in sys.modules)
import scipy.linalg.cython_blas
from numba import njit
product = njit(lambda a, b: a @ b)
print(product(np.eye(2), np.full((2, 2), 3.0)).sum())
"""
    for alone in (True, False):
        done = subprocess.run([sys.executable, "-c", code.format(alone)], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["False", "12.0"]
