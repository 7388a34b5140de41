"""The curve as it is: a band where its assumption is named, single scores where they are few, and what would move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import calcert
from calcert.certificates.score_table import ScoreTable
from calcert.cli import main
from calcert.foundation.number_text import at_least
from calcert.reports.estimates import FEW_SCORES
from calcert.reports.report import Report

pytest.importorskip("matplotlib")


def report_of(scores: Any, power: float = 1.5, seed: int = 0) -> Report:
    rng = np.random.default_rng(seed)
    found = calcert.certify(scores, rng.random(len(scores)) < scores**power, settings=calcert.Settings(odds=1 / 16))
    assert isinstance(found, Report)
    return found


@pytest.fixture(scope="module")
def spread() -> Report:
    return report_of(np.random.default_rng(1).random(5_000))


@pytest.fixture(scope="module")
def single() -> Report:
    return report_of(np.random.default_rng(2).integers(1, 10, 5_000) / 10)


def test_few_scores_are_points_with_limits_and_no_line_joins_them(single: Report) -> None:
    assert isinstance(single.curve, ScoreTable)
    axes, *_ = single.plot(curve="current").axes
    drawn = np.array(axes.collections[0].get_segments())  # type: ignore[attr-defined]
    assert np.allclose(drawn[:, 0, 0], single.curve.score)
    assert np.allclose(drawn[:, :, 1], np.stack([single.curve.lower, single.curve.upper], axis=1))
    joined = [line for line in axes.lines if line.get_linestyle() != "None"]
    assert len(joined) == 1, "the diagonal"
    assert not axes.patches


def test_which_curve_it_is_depends_on_the_number_of_scores_alone() -> None:
    for size in (FEW_SCORES, FEW_SCORES + 1):
        scores = np.repeat(np.arange(1, size + 1) / (size + 1), 20)
        assert isinstance(report_of(scores).curve, ScoreTable) == (size == FEW_SCORES)


def test_where_rows_refute_the_assumption_no_band_is_drawn_and_that_is_said() -> None:
    rng = np.random.default_rng(3)
    x = rng.random(10_000)
    report = calcert.certify(x, rng.random(10_000) < 1 - x)
    axes, *_ = report.plot(curve="current").axes
    assert "no band" in axes.get_legend().get_texts()[0].get_text()  # type: ignore[union-attr]
    assert not axes.patches
    assert "The rows refute a probability that never falls" in " ".join(str(report.curve).split())


def test_the_curve_is_checked_and_needs_rows(spread: Report) -> None:
    with pytest.raises(ValueError, match="curve must be 'current' or 'perturbed'; got 'mine'"):
        spread.plot(curve="mine")  # type: ignore[arg-type]
    read = Report.from_dict(spread.to_dict())
    for name in ("curve", "transport_plan", "band"):
        with pytest.raises(ValueError, match=f"must hold the Summary of its rows for its {name}"):
            getattr(read, name)


def test_what_would_move_is_called_an_estimate_and_moves_by_the_distance_of_the_rows(spread: Report) -> None:
    moves = spread.transport_plan
    assert "an estimate" in moves.plot().axes[0].get_title(loc="left")
    assert "an estimate without guarantee" in str(moves)
    assert moves.distance == pytest.approx(spread.distance.terms["plug-in"], abs=1e-3)
    share = moves.negative + moves.positive
    assert share.sum() == pytest.approx(1.0)
    # Scores are too high on the whole: so are the goals below them, by the gap of the means.
    gap = spread.estimates["mean score"] - spread.estimates["base rate"]
    assert np.average(moves.score - moves.mean_goal, weights=share) == pytest.approx(gap, abs=2e-3)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("curves") / "rows.csv", np.random.default_rng(4)
    x = rng.random(2_000)
    lines = [f"{p:.6f},{int(y)}" for p, y in zip(x, rng.random(2_000) < x, strict=True)]
    path.write_text("\n".join(["p,y", *lines]))
    return path


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(main, ["certify", *map(str, arguments)], prog_name="calcert")
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_the_command_draws_either_curve(rows: Path, tmp_path: Path) -> None:
    done = run(rows, "--plot", tmp_path / "a.svg", "--curve", "current")
    assert f"picture written to {tmp_path / 'a.svg'}" in done.stderr
    assert "never falls" in (tmp_path / "a.svg").read_text()
    run(rows, "--plot", tmp_path / "b.svg", "--odds", "1/16")
    assert "perturbed scores" in (tmp_path / "b.svg").read_text()
    assert "--plot must end in .png, .svg or .pdf" in run(rows, "--plot", tmp_path / "c.doc", code=2).stderr
    assert "--curve says what --plot draws" in run(rows, "--curve", "perturbed", code=2).stderr


def test_a_page_draws_the_current_scores_and_needs_rows_for_it(spread: Report, tmp_path: Path) -> None:
    assert 'id="reliability-title"' in spread.to_html(tmp_path / "a.html").read_text()
    again = Report.from_dict(spread.to_dict())
    assert 'id="reliability-title"' not in again.to_html(tmp_path / "b.html").read_text()


def test_a_band_says_in_words_what_is_known_next_to_0_and_1() -> None:
    scores = np.repeat([1e-9, 0.5], 20_000)
    rng = np.random.default_rng(0)
    band = calcert.curves.calibration_band(calcert.summarize(scores, rng.random(40_000) < 0.3))
    assert band.ends[0].lower > 0.2
    words = " ".join(str(band).split())
    assert f"Perturbed scores within 1e-06 of 0: mean probability at least {at_least(band.ends[0].lower)}, at" in words
    assert "of 1: mean" not in words
