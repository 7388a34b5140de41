"""The benchmark of speed: what it measures is what is asked for, and its page gets the tables and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks import speed, speed_measures

ROOT = Path(__file__).parents[1]


def test_every_figure_has_a_measurement_and_no_measurement_is_left_out() -> None:
    assert {figure.measure for figure in speed.FIGURES} == speed_measures.MEASURES.keys()


@pytest.mark.parametrize("name", ["summarising", "queries of DuckDB", "groups"])
def test_a_measurement_finds_its_figures(name: str) -> None:
    found = speed_measures.MEASURES[name](True)
    keys = {figure.key for figure in speed.FIGURES if figure.measure == name}
    assert found
    assert found.keys() <= keys
    assert keys - found.keys() <= {"queries, 1000", "two cores"}  # Not asked quickly, not there with one core.
    assert all(value > 0 for value in found.values())


def test_bounds_are_no_wider_than_they_were_written_down() -> None:
    assert speed_measures.MEASURES["tightness"](True)["wider"] <= 1.0


def figure(**named: Any) -> Any:
    return speed.Figure("curve", "certify 1e5", "this / that", 4.0, **named)


@pytest.mark.parametrize(
    ("asked", "found", "cells"),
    [
        (figure(), {"certify 1e5": 3.999}, ["this / that", "≤ 4", "4.00", "yes"]),
        (figure(), {"certify 1e5": 4.01}, ["this / that", "≤ 4", "4.01", "no"]),
        (figure(most=False), {"certify 1e5": 4.01}, ["this / that", "≥ 4", "4.01", "yes"]),
        (figure(unit=" MB"), {"certify 1e5": 3.0}, ["this / that", "≤ 4 MB", "3 MB", "yes"]),
        (figure(), {"reason": "no Java"}, ["this / that", "≤ 4", "not measured: no Java", ""]),
    ],
)
def test_a_figure_is_met_or_missed_or_not_measured(asked: Any, found: dict[str, Any], cells: list[str]) -> None:
    assert speed.judged(asked, found).cells == cells


def test_the_page_keeps_what_is_outside_of_the_marks() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    once = speed.written(page, "| a table |")
    assert "| a table |" in once
    assert speed.written(once, "| another |") == speed.written(page, "| another |")
    before, after = page.split(speed.BEGIN)[0], page.split(speed.END)[1]
    assert once.startswith(before)
    assert once.endswith(after)
    with pytest.raises(SystemExit, match="the page must have the lines"):
        speed.written(page.replace(speed.END, ""), "| a table |")


def test_a_missing_measurement_says_why_without_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "__file__", str(ROOT / "nowhere" / "speed.py"))
    assert str(ROOT) not in speed.measured("curve", True)["reason"]
