"""The least versions that are tested are those that are asked for; no library that calcert uses is forgotten."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TESTED = [line for line in (ROOT / ".ci" / "minimum.txt").read_text().splitlines() if line and line[0] != "#"]
EXTRAS = ("dask", "duckdb", "excel", "ibis", "report", "sklearn")
LARGE = ("mlflow", "spark", "torch")


def parts(requirement: str) -> tuple[str, str]:
    """Name and version."""
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?[>=]=([\d.]+)", requirement)
    assert found is not None, requirement
    return found[1], found[2]


def test_what_is_tested_is_what_is_asked_for() -> None:
    extras = PROJECT["optional-dependencies"]
    users = dict(map(parts, PROJECT["dependencies"] + [one for name in EXTRAS for one in extras[name]]))
    developers = dict(map(parts, extras["dev"]))
    tested = dict(map(parts, TESTED))
    assert len(tested) == len(TESTED)
    assert all(line.count("==") == 1 for line in TESTED)
    assert tested == {name: version for name, version in (developers | users).items() if name in tested}
    assert users.keys() <= tested.keys()


def test_no_extra_of_users_is_forgotten() -> None:
    for_work_on_calcert = {"dev", "docs", "experiments", "peers", "training"}
    assert PROJECT["optional-dependencies"].keys() == {*EXTRAS, *LARGE, *for_work_on_calcert}
