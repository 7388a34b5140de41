"""What is published follows from the published tables, and the comparison sees what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("pandas", reason="tables of the experiments are pandas")

from experiments import compare_figures, rates, recalibration, samples, tradeoff, training
from experiments.results import Results, read

FIGURES = Path(__file__).parents[1] / "docs" / "figures"


def test_digests_rates_and_samples_follow_from_the_published_tables(tmp_path: Path) -> None:
    shutil.copyfile(FIGURES / "synthetic.csv", tmp_path / "synthetic.csv")
    for command, name in ((rates.main, "rates.csv"), (samples.main, "samples.csv")):
        assert CliRunner().invoke(command, ["--out", str(tmp_path)]).exit_code == 0
        assert (tmp_path / name).read_text() == (FIGURES / name).read_text()
    for name, found in (
        ("recalibration", recalibration.digest(read(FIGURES / "recalibration.csv"), recalibration.SIZES)),
        ("tradeoff", tradeoff.digest(read(FIGURES / "tradeoff.csv"))),
        ("training", training.digest(training.grouped(read(FIGURES / "training.csv")), training.TASKS)),
    ):
        assert [tuple(line.values()) for line in read(FIGURES / f"{name}_digest.csv")] == list(found)


def test_numbers_are_compared_line_by_line_and_a_run_with_fewer_lines_is_a_sample(tmp_path: Path) -> None:
    out = Results(tmp_path)
    header = ("distribution", "method", "value")
    published = out.table("published.csv", header, [("a", "x", "0.5"), ("b", "x", "0.25"), ("c", "x", "nan")])
    sample = out.table("sample.csv", header, [("c", "x", "nan"), ("a", "x", "0.5000009")])
    assert compare_figures.compared(published, sample, 2) == (True, "same numbers, 2 of 3 lines")
    other = out.table("other.csv", header, [("a", "x", "0.5"), ("b", "x", "0.2501"), ("d", "x", "0")])
    right, words = compare_figures.compared(published, other, 2)
    assert not right
    assert words == "DIFFERS. x, value: 1 lines, by 0.0001 at most; 1 lines are not published"


def test_every_published_file_is_spoken_of_and_a_changed_table_ends_with_status_1(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(compare_figures, "PUBLISHED", FIGURES)
    result = CliRunner().invoke(compare_figures.main, [str(tmp_path), "--quick"])
    assert result.exit_code == 0
    assert [line.partition(":")[0] for line in result.output.splitlines()] == sorted(p.name for p in FIGURES.iterdir())
    changed = (FIGURES / "reconstruction.csv").read_text().replace("0.0", "0.1")
    (tmp_path / "reconstruction.csv").write_text(changed)
    result = CliRunner().invoke(compare_figures.main, [str(tmp_path), "--quick"])
    assert result.exit_code == 1
    assert "reconstruction.csv: DIFFERS" in result.output


def test_pictures_are_compared_by_pixels(tmp_path: Path) -> None:
    picture, same, other = (tmp_path / name for name in ("a.png", "b.png", "c.png"))
    from matplotlib.image import imsave

    shades = [[0.0, 0.5], [0.5, 1.0]]
    imsave(picture, shades)
    imsave(same, shades, metadata={"Comment": "other bits"})
    imsave(other, [[0.0, 0.5], [1.0, 1.0]])
    assert compare_figures.pictured(picture, same) == (True, "same pixels")
    assert compare_figures.pictured(picture, other) == (False, "DIFFERS in 25.00% of its pixels")
