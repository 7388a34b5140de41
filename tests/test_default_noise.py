"""Where nobody says otherwise the odds of a score move by about 7%, everywhere; and nobody may ask for two kinds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

import calcert
from calcert.cli import main
from calcert.sklearn import PerturbedClassifier

RNG = np.random.default_rng(0)
X = RNG.random(300)
Y = RNG.random(300) < X
ROWS = calcert.summarize(X, Y)
CLASSES = np.stack([X / 2, 1 - X, X / 2], axis=1)


def monitored(folder: Path, **noise: Any) -> Any:
    monitor = calcert.Monitor(folder / repr(noise), statement="perturbed", **noise)
    monitor.add(X, Y, batch_id="one", time="2026-03-02", window_name="first")
    status = monitor.status()
    return status.upper, status.windows


def served(**noise: float) -> list[list[float]]:
    model = PerturbedClassifier(LogisticRegression(), random_state=1, **noise).fit(X[:, None], Y)
    return np.asarray(model.predict_proba(X[:, None])).tolist()


def asked(**noise: Any) -> calcert.Settings:
    return calcert.Settings(statements="perturbed", **noise)


CALLS: dict[str, Callable[..., Any]] = {
    "perturb": lambda folder, **noise: calcert.perturb(X, rng=1, **noise).tolist(),
    "certify": lambda folder, **noise: calcert.certify(X, Y, settings=asked(**noise)),
    "groups": lambda folder, **noise: calcert.certify(X, Y, groups=X < 0.3, settings=asked(**noise)),
    "classes": lambda folder, **noise: calcert.certify(CLASSES, Y.astype(int), settings=asked(**noise)),
    "compare": lambda folder, **noise: calcert.compare({"a": X, "b": X**2}, Y, settings=asked(**noise)),
    "perturbed": lambda folder, **noise: calcert.bounds.perturbed(ROWS, **noise),
    "squared": lambda folder, **noise: calcert.bounds.squared(ROWS, **noise),
    "calibration_band": lambda folder, **noise: calcert.curves.calibration_band(ROWS, **noise).upper.tolist(),
    "plan": lambda folder, **noise: calcert.plan(ROWS, 0.5, statement="perturbed", settings=calcert.Settings(**noise)),
    "Monitor": monitored,
    "PerturbedClassifier": lambda folder, **noise: served(**noise),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_odds_move_by_seven_percent_where_nobody_says_otherwise(name: str, tmp_path: Path) -> None:
    choices: tuple[dict[str, float], ...] = ({}, {"odds": 1 / 16}, {"bandwidth": 1 / 64})
    left_out, odds, bandwidth = (CALLS[name](tmp_path, **noise) for noise in choices)
    assert left_out == odds
    assert left_out != bandwidth


@pytest.mark.parametrize("name", CALLS)
def test_two_kinds_of_noise_exclude_each_other(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"odds and bandwidth exclude each other; got odds=0\.1 and bandwidth=0\.2"):
        CALLS[name](tmp_path, odds=0.1, bandwidth=0.2)


def test_json_and_page_name_kind_and_size_in_words(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("p,y\n" + "".join(f"{x!r},{y:d}\n" for x, y in zip(X.tolist(), Y, strict=True)))
    page = tmp_path / "page.html"
    for asked, words in (
        (["--statement", "perturbed"], "log-odds noise, scale 1/16"),
        (["--odds", "1/4"], "log-odds noise, scale 1/4"),
        (["--bandwidth", "2^-5"], "bandwidth 1/32"),
    ):
        done = CliRunner().invoke(
            main, ["certify", str(tmp_path / "rows.csv"), "--json", "--html", str(page), *asked], catch_exceptions=False
        )
        assert done.exit_code == 0
        assert json.loads(done.stdout)["perturbed"]["subject"] == f"with perturbed scores, {words}"
        assert words in page.read_text()


def test_the_published_methods_keep_the_kernel_of_the_paper() -> None:
    report = calcert.published.compare(X, Y).report
    assert report.settings.noise.parameters == {"bandwidth": 1 / 64}
    assert "--odds" not in CliRunner().invoke(main, ["research", "published", "--help"]).stdout
