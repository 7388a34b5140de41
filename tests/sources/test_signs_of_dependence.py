"""Rows that stick together are noticed where they come in order; independent rows never are, whatever the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.sources.signs_of_dependence import STICKS, lag_one

WORDS = "neighbouring rows err together"


def in_game_forecasts(games: int = 100, moments: int = 100, seed: int = 0) -> tuple[Any, Any]:
    """Forecasts all along each game: a random walk, and whether the side that leads at its end won."""
    rng = np.random.default_rng(seed)
    steps = rng.standard_normal((games, moments))
    left = np.sqrt(np.arange(moments, 0, -1))
    lead = np.cumsum(steps, axis=1) - steps
    from scipy.stats import norm

    return norm.cdf(lead / left).ravel(), np.repeat(steps.sum(axis=1) > 0, moments)


def warned(rows: Any) -> bool:
    return any(WORDS in words for words in calcert.certify(rows).warnings)


def test_forecasts_all_along_a_game_are_calibrated_and_stick_together(tmp_path: Path) -> None:
    scores, labels = in_game_forecasts()
    assert lag_one(scores, labels) > 5 * STICKS
    table = pa.table({"p": scores, "y": labels})
    pq.write_table(table, tmp_path / "games.parquet")
    for rows in (calcert.Rows(scores, labels), calcert.Rows(table), calcert.Rows(str(tmp_path / "games.parquet"))):
        assert warned(rows)
    game = np.repeat(np.arange(100), 100)
    assert not warned(calcert.Rows(scores, labels, clusters=game)), "what rows belong to is named"
    shuffled = np.random.default_rng(1).permutation(scores.size)
    assert not warned(calcert.Rows(scores[shuffled], labels[shuffled])), "rows do not come in order"


def test_a_file_in_parts_is_read_as_one(tmp_path: Path) -> None:
    scores, labels = in_game_forecasts()
    lines = [f"{p!r},{int(y)}" for p, y in zip(scores.tolist(), labels.tolist(), strict=True)]
    for part in range(2):
        (tmp_path / f"{part}.csv").write_text("\n".join(["p,y", *lines[5_000 * part : 5_000 * part + 5_000]]))
    assert warned(calcert.Rows([str(tmp_path / "0.csv"), str(tmp_path / "1.csv")], score="p", label="y"))


@pytest.mark.parametrize("power", [1.0, 1.5, 3.0])
def test_independent_rows_are_standard_normal_however_far_off_the_scores_are(power: float) -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(200):
        x = rng.random(3_000)
        found.append(lag_one(x, rng.random(3_000) < x**power))
    assert abs(np.mean(found)) < 0.3
    assert np.std(found) == pytest.approx(1.0, abs=0.2)
    x = rng.random(600_000)
    assert abs(lag_one(x, rng.random(x.size) < x**power)) < 5
    error = (rng.random(x.size) < x**power) - x
    plain = float(error[:-1] @ error[1:]) / float(np.sqrt(((x * (1 - x))[:-1]) @ (x * (1 - x))[1:]))
    assert (plain > STICKS) == (power > 1), "errors that are not centred would be mistaken for rows that stick"


@pytest.mark.parametrize("by", ["label", "score"])
def test_rows_that_were_sorted_are_not_warned_of(by: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(1, 10, 5_000) / 10
    y = rng.random(5_000) < x
    order = np.lexsort((y,) if by == "label" else (y, x))
    assert lag_one(x[order], y[order]) > STICKS
    assert not warned(calcert.Rows(x[order], y[order]))


def test_few_rows_and_rows_without_noise_say_nothing() -> None:
    assert not warned(calcert.Rows([0.3], [1]))
    assert lag_one(np.array([0.5]), np.array([1])) == lag_one(np.zeros(9), np.zeros(9)) == 0


def test_a_column_whose_values_come_again_is_warned_of_in_the_report(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.random(400)
    keys = [f"K{10_000 + row // 4}" for row in range(400)]
    pq.write_table(pa.table({"p": x, "y": rng.random(400) < x, "Kunde": keys}), tmp_path / "rows.parquet")
    report = calcert.certify(calcert.Rows(str(tmp_path / "rows.parquet"), score="p", label="y"))
    assert any("column 'Kunde' has values that come again" in words for words in report.warnings)
    assert any("Kunde" in words for words in report.to_dict()["warnings"])
    assert "Warning: column 'Kunde'" in str(report)
