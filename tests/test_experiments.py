"""The experiments run at their quick size and write what they say."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import calcert
from calcert import published

pytest.importorskip("matplotlib", reason="figures need matplotlib")

import experiments
from experiments import (
    faults,
    few_values,
    fix,
    gate,
    hero,
    rates,
    reconstruction,
    results,
    samples,
    synthetic,
    tradeoff,
)
from experiments.__main__ import commands
from experiments.distributions import BANDWIDTH, DISTRIBUTIONS
from experiments.results import read


def run(command, *arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda distribution: distribution.name)
def test_a_distribution_is_a_probability_with_the_variation_it_states(distribution) -> None:
    x = np.linspace(0, 1, 400_001)
    eta = distribution.eta(x)
    assert eta.min() >= 0
    assert eta.max() <= 1
    assert np.abs(np.diff(eta)).sum() <= distribution.variation


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda distribution: distribution.name)
def test_rows_follow_the_law_and_perturbed_rows_follow_the_served_law(distribution) -> None:
    rng = np.random.default_rng(0)
    x, y = distribution.rows(200_000, rng)
    assert np.all(np.diff(x) >= 0)
    assert abs((y - distribution.eta(x)).mean()) < 5 * 0.5 / np.sqrt(y.size)
    s, z = distribution.perturbed_rows(200_000, rng)
    t, density, eta = distribution.perturbed
    assert abs(s.mean() - np.trapezoid(t * density, t)) < 5 * 0.3 / np.sqrt(s.size)
    assert abs(z.mean() - np.trapezoid(eta * density, t)) < 5 * 0.5 / np.sqrt(s.size)


def test_synthetic_is_resumable_and_feeds_rates_and_samples(tmp_path: Path) -> None:
    arguments = ("--quick", "--repeats", "1", "--distribution", "square", "--workers", "1", "--out", str(tmp_path))
    assert "5 data sets" in run(synthetic.main, *arguments)
    assert "0 data sets" in run(synthetic.main, *arguments)
    lines = read(tmp_path / "synthetic.csv")
    assert {int(line["n"]) for line in lines} == set(synthetic.SIZES[:5])
    ours = synthetic.gaps(lines)["square"]["perturbed (ours)"]  # type: ignore[attr-defined]
    theirs = synthetic.gaps(lines)["square"]["NW (published)"]  # type: ignore[attr-defined]
    assert all(0 < ours[n][0] < theirs[n][0] for n in ours)
    assert "perturbed (ours)" in run(rates.main, "--out", str(tmp_path))
    assert "gap 0.01" in run(samples.main, "--out", str(tmp_path))
    for name in ("synthetic.svg", "synthetic.png", "rates.csv", "samples.csv"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_lipschitz_line_has_the_information_of_the_published_methods() -> None:
    name, n, repeat = "square", 3_162, 2
    lines = {method: (value, truth) for _, _, _, method, value, truth in synthetic.measure((name, n, repeat))}
    distribution = DISTRIBUTIONS[0]
    # The first draw of the seed: perturbed scores, which NW and Lip+Bkt are given too.
    seen = calcert.summarize(*distribution.perturbed_rows(n, np.random.default_rng([0, n, repeat])))
    ours = calcert.bounds.lipschitz(seen, constant=published.derivative_bounds(BANDWIDTH)[0])
    assert lines["Lipschitz (ours)"] == pytest.approx((ours.upper, distribution.perturbed_error), abs=1e-12)
    assert lines["NW (published)"][1] == lines["Lip+Bkt (described; bound ours)"][1] == distribution.perturbed_error
    assert len(lines) == synthetic.METHODS
    for method, given in synthetic.GIVEN.items():
        assert method in lines
        assert ("perturbed scores" in given) == (method != "perturbed (ours)")


def test_every_command_is_listed_with_what_it_is_about() -> None:
    folder = Path(experiments.__file__).parent
    with_main = {f"experiments.{path.stem}" for path in folder.glob("*.py") if "def main(" in path.read_text()}
    assert commands().keys() == with_main
    assert all(about[0].isupper() and about.endswith((".", "?")) for _, about in commands().values())
    done = subprocess.run(
        [sys.executable, "-m", "experiments"], cwd=folder.parent, capture_output=True, text=True, check=True, timeout=60
    )
    assert all(f"python -m {name} " in done.stdout for name in with_main)


def test_what_an_interrupted_run_left_of_a_data_set_is_measured_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(synthetic, "SIZES", [1_000])
    arguments = ("--quick", "--repeats", "2", "--distribution", "square", "--workers", "1", "--out", str(tmp_path))
    run(synthetic.main, *arguments)
    path = tmp_path / "synthetic.csv"
    whole = path.read_bytes()
    # In the middle of a number; and after a whole line, where only the count says that others are missing.
    for end in (len(whole) - 5, whole[:-2].rfind(b"\n") + 1):
        path.write_bytes(whole[:end])
        assert "1 data sets" in run(synthetic.main, *arguments)
        assert path.read_bytes() == whole


def test_a_part_is_not_published_and_nothing_is_written_into_the_documentation(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, word in (
        (("--distribution", "square", "--publish"), "leave out what chooses a part"),
        (("--quick", "--out", "docs/figures"), "--out is not for docs/figures"),
    ):
        result = CliRunner().invoke(synthetic.main, list(arguments))
        assert result.exit_code == 2
        assert word in result.output
    assert not list(tmp_path.iterdir())


def test_results_are_not_forgotten_where_data_are_missing(tmp_path: Path) -> None:
    (tmp_path / "tradeoff.csv").write_text("measured")
    arguments = ["--fresh", "--rows", "NBA Elo", "--data", str(tmp_path), "--out", str(tmp_path)]
    result = CliRunner().invoke(tradeoff.main, arguments)
    assert result.exit_code == 1
    assert "pairs_nba_elo_home.parquet, which is not there" in result.output
    assert (tmp_path / "tradeoff.csv").read_text() == "measured"


def test_rates_without_measurements_say_what_to_run(tmp_path: Path) -> None:
    result = CliRunner().invoke(rates.main, ["--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "experiments.synthetic" in result.output
    quick = CliRunner().invoke(rates.main, ["--quick", "--out", str(tmp_path)])
    assert "run python -m experiments.synthetic --quick first" in quick.output


def test_reconstruction_improves_with_rows(tmp_path: Path) -> None:
    run(reconstruction.main, "--quick", "--out", str(tmp_path))
    with (tmp_path / "reconstruction.csv").open() as file:
        lines = list(csv.DictReader(file))
    ours = [float(line["mean distance to its own truth"]) for line in lines if line["method"] == "perturbed (ours)"]
    assert ours == sorted(ours, reverse=True)


def test_the_published_statement_fails_as_often_as_computed_by_hand() -> None:
    # Both training labels must be 1 for the mean to reach the score: probability 1/4.
    assert faults.CASES[0].exact() == pytest.approx(0.25)
    assert faults.CASES[1].exact() == pytest.approx(0.128, abs=0.001)
    published, ours = faults.CASES[0].simulate(400, seed=1)
    assert 60 <= published <= 140
    assert ours <= 40


def test_the_wave_hides_from_15_bins_and_not_from_30() -> None:
    (wave,) = (distribution for distribution in DISTRIBUTIONS if distribution.name == "wave")
    scores, labels = wave.rows(1_000_000, np.random.default_rng(0))
    found = [published.ece(scores, labels, bins=bins).value for bins in (15, 20, 30)]
    assert found == pytest.approx([0.006, 0.036, 0.107], abs=0.001)
    assert wave.error == pytest.approx(0.106, abs=0.001)


def test_a_training_set_of_one_label_breaks_the_printed_bound_in_every_draw() -> None:
    drawn = [faults.OneLabel.draw(seed) for seed in range(faults.DRAWS)]
    assert all(d.given < d.bound < d.truth for d in drawn)
    assert (min(d.bound for d in drawn), max(d.bound for d in drawn)) == pytest.approx((0.324, 0.469), abs=5e-4)
    published = [float(line["published"]) for line in read(Path("docs/figures/faults_one_label.csv"))]
    assert published == pytest.approx([d.bound for d in drawn], abs=1e-4)


def test_the_true_error_of_perturbed_scores_is_the_one_that_draws_have() -> None:
    for case in faults.CASES:
        scores = np.full(400_000, case.s)
        drawn = scores if case.bandwidth is None else calcert.perturb(scores, bandwidth=case.bandwidth, rng=0)
        assert case.truth == pytest.approx(np.abs(drawn - case.probability).mean(), abs=2e-3)


def test_a_gate_passes_a_model_that_is_off_by_more_than_it_allows_as_rarely_as_it_promises() -> None:
    """The looks of a policy count as one gate; without their price it would pass too often."""
    upper = gate.upper_bounds(0.1, (100, 200), 300, seed=1)
    assert np.sum(upper < 0.1) <= binom.isf(1e-6, 300, 0.05)
    assert np.sum(upper < 0.1) < np.sum(upper < 0.2) <= 300
    calibrated = gate.upper_bounds(0.0, (300,), 300, seed=1)
    assert np.mean(calibrated <= 0.15) > 0.95
    assert np.mean(calibrated <= 0.03) == 0


def test_the_truth_of_the_front_page_is_that_of_its_models() -> None:
    x = np.random.default_rng(0).beta(2, 3, 400_000)
    for model in hero.MODELS:
        assert abs(np.mean(x - x**model.power) - model.truth) < 1e-4


def test_the_front_page_is_drawn(tmp_path: Path) -> None:
    run(hero.main, "--quick", "--out", str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hero.png", "hero.svg"]


QUICK = [synthetic, rates, samples, reconstruction, faults, gate, hero]


@pytest.mark.parametrize("command", QUICK, ids=lambda m: m.__name__)
def test_a_quick_run_is_never_published(command, tmp_path: Path) -> None:
    result = CliRunner().invoke(command.main, ["--quick", "--publish", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "leave out --quick" in result.output
    assert not list(tmp_path.iterdir())


def test_results_go_to_scratch_folders_and_to_the_documentation_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(faults, "CASES", faults.CASES[:1])
    run(faults.main, "--quick")
    assert [path.name for path in (tmp_path / "build/experiments").iterdir()] == ["quick"]
    run(faults.main, "--publish")
    published = tmp_path / "docs/figures/faults.csv"
    assert published.read_bytes() == (tmp_path / "build/experiments/faults.csv").read_bytes()
    assert [line["data sets"] for line in read(published)] == ["2000"]
    assert [line["data sets"] for line in read(tmp_path / "build/experiments/quick/faults.csv")] == ["100"]


def test_nothing_is_published_where_a_file_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").write_text("1")
    with pytest.raises(click.ClickException, match=r"lacks gone\.csv; nothing was published"):
        results.copy(tmp_path, ("there.csv", "gone.csv"))
    assert not (tmp_path / "docs").exists()


def test_fresh_forgets_what_was_measured(tmp_path: Path) -> None:
    arguments = ("--quick", "--repeats", "1", "--distribution", "square", "--workers", "1", "--out", str(tmp_path))
    monkey = pytest.MonkeyPatch()
    monkey.setattr(synthetic, "SIZES", [1_000])
    with monkey.context():
        assert "1 data sets" in run(synthetic.main, *arguments)
        assert "0 data sets" in run(synthetic.main, *arguments)
        assert "1 data sets" in run(synthetic.main, *arguments, "--fresh")
    monkey.undo()


def test_a_missing_package_is_named_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "find_spec", lambda name: None)
    result = CliRunner().invoke(reconstruction.main, ["--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "needs matplotlib" in result.output
    assert ".[experiments]" in result.output
    assert not list(tmp_path.iterdir())


def test_noise_on_the_odds_costs_rare_events_less_ranking_than_any_bandwidth(tmp_path: Path) -> None:
    arguments = ("--quick", "--rows", "Beta(1/2, 500)", "--out", str(tmp_path))
    assert "8 sizes of noise" in run(tradeoff.main, *arguments)
    assert "8 sizes of noise" in run(tradeoff.main, *arguments)
    lines = read(tmp_path / "tradeoff.csv")
    lost = {(line["kind"], float(line["size"])): float(line["AUROC lost"]) for line in lines}
    assert lost["odds", 1 / 16] < 0.001 < min(loss for (kind, _), loss in lost.items() if kind == "additive")
    odds, additive = read(tmp_path / "tradeoff_digest.csv")
    assert float(odds["at most"]) < float(additive["at most"]) / 50
    assert additive["at most where 0.001 of AUROC is lost"] == "none"
    assert (tmp_path / "tradeoff.svg").stat().st_size > 0


def test_a_bound_at_a_price_lies_between_those_of_its_neighbours() -> None:
    def line(size: float, lost: float, upper: float) -> dict[str, str]:
        return {"size": repr(size), "AUROC lost": repr(lost), "upper": repr(upper)}

    found = tradeoff.at_the_price([line(0.2, 1e-2, 0.04), line(0.1, 1e-4, 0.01)])
    assert found == pytest.approx(0.02)
    assert np.isnan(tradeoff.at_the_price([line(0.1, 1e-5, 0.1), line(0.2, 1e-4, 0.1)]))


def test_recalibrating_is_measured_beside_scikit_learn(tmp_path: Path) -> None:
    assert "covered" in run(fix.main, "--quick", "--out", str(tmp_path))
    (line,) = results.read(tmp_path / "fix.csv")
    assert float(line["truth"]) < float(line["bound"]) < 0.105
    assert line["covered"] == "100.00%"
    assert float(line["log loss"]) < 1.01 * float(line["scikit-learn, same half"])


def test_few_values_are_measured_beside_noise(tmp_path: Path) -> None:
    assert "AUROC lost" in run(few_values.main, "--quick", "--out", str(tmp_path))
    bound = {line["deployed"]: float(line["L1 bound"]) for line in results.read(tmp_path / "few_values.csv")}
    assert bound["10 levels"] < bound["21 levels"] < bound["101 levels"] < 0.05
