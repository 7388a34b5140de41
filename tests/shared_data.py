"""Real data for tests, where there is a folder of it: CALCERT_DATA, or shared/data beside the repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("CALCERT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def real_file(name: str) -> Path:
    """The file of a table; the test is skipped, by name, where it is not there."""
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{name}.parquet is not in {FOLDER}: set CALCERT_DATA to a folder that has it")
    return path


def real_data(name: str) -> Any:
    """A table as a pandas data frame."""
    pandas = pytest.importorskip("pandas")
    return pandas.read_parquet(real_file(name))
