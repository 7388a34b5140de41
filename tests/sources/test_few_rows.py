"""Few rows counted with NumPy alone: the same Summary as the compiled kernels make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.sources import few_rows
from calcert.sources.collector import Collector
from calcert.sources.few_rows import count_few
from tests.sources.test_count import awkward_scores

LABEL_TYPES = [np.uint8, np.int64, np.float64]


def counted(x: np.ndarray, y: np.ndarray) -> calcert.Summary:
    collector = Collector()
    collector.add(x, y)
    return collector.summary()


@pytest.fixture(params=["sorted", "in a table"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to count, whatever the number of rows."""
    monkeypatch.setattr(few_rows, "SORTED", 1 << 30 if request.param == "sorted" else 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("label_type", LABEL_TYPES)
@pytest.mark.parametrize("score_type", [np.float32, np.float64])
def test_few_rows_are_counted_as_the_kernel_counts_them(score_type: type, label_type: type) -> None:
    x = awkward_scores().astype(score_type)
    y = (np.arange(x.size) % 3 == 0).astype(label_type)
    assert count_few(x, y) == counted(x, y)


@pytest.mark.usefixtures("way")
def test_sums_of_the_largest_offsets_lose_nothing() -> None:
    x, y = np.full(600_000, 0.5 - 2.0**-40), np.ones(600_000, np.uint8)
    found = count_few(x, y)
    assert found == counted(x, y)
    assert found.offset.tolist() == [[0, 600_000 * (2**26 - 1)]]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("distinct", [1, 1000, 4096, 4097, 50_000])
def test_distinct_scores_are_listed_as_the_kernel_lists_them(distinct: int) -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.permutation(distinct), rng.integers(0, distinct, 5000)]) / distinct
    y = (rng.random(x.size) < 0.3).astype(np.uint8)
    found = count_few(x, y)
    assert found == counted(x, y)
    assert (found.distinct is None) == (distinct > 4096)


@pytest.mark.usefixtures("way")
def test_distinct_scores_that_come_late_are_too_many_all_the_same() -> None:
    x = np.concatenate([np.full(10_000, 0.5), np.arange(4096) / 4096, [1 / 3]])
    y = np.zeros(x.size, np.int64)
    assert count_few(x[:-1], y[:-1]) == counted(x[:-1], y[:-1])
    assert count_few(x, y) == counted(x, y)


@pytest.mark.parametrize("message", ["labels must be 0 or 1", "scores must lie in"])
def test_the_first_bad_row_of_a_small_file_is_named_in_a_process_without_numba(tmp_path: Path, message: str) -> None:
    bad = "0.5,3" if "labels" in message else "1.5,0"
    (tmp_path / "rows.csv").write_text("p,y\n0.25,0\n0.75,1\n" + bad + "\n-1,0\n")
    program = "import calcert; calcert.summarize('rows.csv')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert message in done.stderr
    assert "on line 4 of rows.csv" in done.stderr


def test_a_small_file_of_text_needs_no_arrow(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.random(2000)
    y = (rng.random(2000) < x).astype(int)
    path = tmp_path / "rows.csv"
    path.write_text("p,y\n" + "".join(f"{a!r},{b}\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)))
    program = (
        "import sys, calcert; s = calcert.summarize(sys.argv[1]); s.save(sys.argv[2]);"
        "print(sorted({'pyarrow', 'duckdb', 'narwhals', 'pandas'} & set(sys.modules)))"
    )
    saved = tmp_path / "rows.calcert"
    done = subprocess.run(
        [sys.executable, "-c", program, path, saved], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
    assert calcert.Summary.load(saved) == calcert.summarize(x, y)
