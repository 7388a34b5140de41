"""Logs of language models in the shell: one command each, and words with code 2 for what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sources.test_model_logs import AS_JSON, CHOICES, EPOCHS, FILTERS, SCORERS, hostile

from .conftest import Run


@pytest.mark.parametrize(
    ("path", "words"), [(CHOICES, "12 rows"), (EPOCHS, "8 rows in 4 clusters"), (AS_JSON, "4 rows")]
)
def test_a_log_is_certified_by_one_command(run: Run, path: Path, words: str) -> None:
    done = run("certify", str(path), "--statement", "distance")
    assert done.exit_code == 0
    assert words in done.stdout


def test_the_output_says_which_columns_and_clusters_were_taken(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    done = run("certify", str(EPOCHS), "--statement", "distance", "--json")
    columns = json.loads(done.stdout)["facts"]["columns"]
    assert columns["clusters"] == "question"
    assert columns["label"] == "scores.said.value"
    assert "--independent" in caplog.text
    assert "clusters" not in run("certify", str(EPOCHS), "--statement", "distance", "--independent").stdout


def test_what_is_not_clear_is_asked_for(run: Run) -> None:
    assert run("certify", str(SCORERS)).exit_code == 2
    assert run("certify", str(SCORERS), "--label", "scores.said.value").exit_code == 0
    two = run("certify", str(FILTERS), "--score", "filtered_resps.0", "--label", "exact_match", "--percent")
    assert two.exit_code == 2
    assert "--filter" in two.stderr
    one = run(
        "certify", str(FILTERS), "--score", "target", "--label", "exact_match", "--percent", "--filter", "strict-match"
    )
    assert one.exit_code == 0


def test_methods_without_clusters_refuse_repeated_questions(run: Run) -> None:
    done = run("research", "published", str(EPOCHS))
    assert done.exit_code == 2
    assert "independent rows" in done.stderr


def test_hostile_archives_end_with_code_2(run: Run, tmp_path: Path) -> None:
    for name, (path, words) in hostile(tmp_path).items():
        done = run("certify", str(path))
        assert done.exit_code == 2, name
        assert words in done.stderr.replace("\n", " "), (name, done.stderr)


def test_models_are_compared_by_their_logs_each_alone(
    run: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One question asked of several models is no cluster of any one of them."""
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for path in paths:
        path.write_text(CHOICES.read_text())
    done = run("compare", *map(str, paths), "--own-labels", "--statement", "distance")
    assert done.exit_code == 0
    assert "12 rows, 3 models" in done.stdout
    assert "--independent" not in caplog.text
    assert caplog.text.count("scores from 'choice_confidence'") == 3
