"""MLflow finds the evaluator, logs what certify says, and its thresholds apply; against a local tracking store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import calcert

mlflow = pytest.importorskip("mlflow")

pytestmark = pytest.mark.filterwarnings("ignore")
"""MLflow warns of its own future."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.set_experiment("calibration")
    return tmp_path


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    p = rng.random(2_000)
    return pd.DataFrame({"p": p, "y": (rng.random(p.size) < p**1.3).astype(int)})


def evaluated(rows: pd.DataFrame, **config: Any) -> tuple[Any, Any]:
    with mlflow.start_run() as run:
        found = mlflow.models.evaluate(
            data=rows,
            predictions="p",
            targets="y",
            model_type="classifier",
            evaluators=["calcert"],
            evaluator_config={"calcert": config},
        )
    return found, mlflow.get_run(run.info.run_id)


def test_it_is_found_by_its_name_and_logs_what_certify_says(store: Path, rows: pd.DataFrame) -> None:
    found, run = evaluated(rows, confidence=0.9, seed=3)
    report = calcert.certify(rows["p"], rows["y"], settings=calcert.Settings(confidence=0.9, seed=3))
    for name, certificate in report.certificates.items():
        assert found.metrics[f"calcert_{name}_upper"] == certificate.upper
        assert run.data.metrics[f"calcert_{name}_lower"] == certificate.lower
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="calcert"))
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "report.json", "report.png"]
    logged = calcert.Report.from_dict(json.loads((folder / "report.json").read_text()))
    assert logged.certificates == report.certificates
    assert logged.facts is not None
    assert logged.facts.said["MLflow run"] == run.info.run_id
    assert run.info.run_id in (folder / "report.html").read_text()


def test_thresholds_apply_to_bounds(store: Path, rows: pd.DataFrame) -> None:
    found, _ = evaluated(rows)
    name = "calcert_distance_upper"
    passing = {name: mlflow.models.MetricThreshold(threshold=found.metrics[name] + 0.01, greater_is_better=False)}
    mlflow.validate_evaluation_results(passing, found)
    failing = {name: mlflow.models.MetricThreshold(threshold=found.metrics[name] - 0.01, greater_is_better=False)}
    with pytest.raises(mlflow.exceptions.MlflowException, match=name):
        mlflow.validate_evaluation_results(failing, found)


def test_a_demand_is_judged_as_check_judges_it(store: Path, rows: pd.DataFrame) -> None:
    for limit in (0.5, 0.02):
        found, run = evaluated(rows, max=limit, statement="cutoff")
        outcome = calcert.check(rows["p"], rows["y"], max=limit, statement="cutoff")
        assert found.metrics["calcert_passed"] == run.data.metrics["calcert_passed"] == float(outcome.passed)
        folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="calcert"))
        facts = calcert.Report.from_dict(json.loads((folder / "report.json").read_text())).facts
        assert facts is not None
        assert (facts.said["verdict"], facts.said["statement"]) == (outcome.verdict.sentence, "cutoff")


def test_a_logged_classifier_is_asked_for_probabilities(store: Path) -> None:
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"a": rng.normal(size=2_000)})
    y = rng.random(2_000) < 1 / (1 + np.exp(-x["a"]))
    words = np.where(y, "yes", "no")
    model = LogisticRegression().fit(x[:1000], words[:1000])
    with mlflow.start_run():
        logged = mlflow.sklearn.log_model(model, name="model")
        found = mlflow.models.evaluate(
            logged.model_uri,
            x[1000:].assign(y=words[1000:]),
            targets="y",
            model_type="classifier",
            evaluators=["calcert"],
            evaluator_config={"calcert": {"pos_label": "yes"}},
        )
    expected = calcert.certify(model.predict_proba(x[1000:])[:, 1], y[1000:])
    assert found.metrics["calcert_cutoff_upper"] == expected.cutoff.upper


def test_classes_are_no_probabilities_and_settings_must_be_known(store: Path, rows: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="predictions must be probabilities of the positive class; got classes"):
        evaluated(rows.assign(p=(rows["p"] > 0.5).astype(int)))
    with pytest.raises(ValueError, match=r"entries out of pos_label, confidence.*got 'detla'"):
        evaluated(rows, detla=0.1)


def test_a_positive_class_that_is_not_there_is_refused_not_certified_as_all_negative(
    store: Path, rows: pd.DataFrame
) -> None:
    with pytest.raises(ValueError, match=r"pos_label must be one of the classes of the targets, 0 and 1; got 'J'"):
        evaluated(rows, pos_label="J")
    words = rows.assign(y=np.where(rows["y"] == 1, "J", "A"))
    with pytest.raises(ValueError, match=r"the targets, 'A' and 'J'; got 1\. .*\"pos_label\": 'J'"):
        evaluated(words)
    assert evaluated(words, pos_label="J")[0].metrics == evaluated(rows)[0].metrics
    assert evaluated(rows.assign(y=0))[0].metrics["calcert_distance_lower"] > 0


@pytest.mark.parametrize("known", [[0.0, 1.0], [1.0], [0.0]], ids=str)
@pytest.mark.parametrize("missing", [np.nan, None], ids=str)
def test_a_missing_label_is_no_label(store: Path, rows: pd.DataFrame, known: list[float], missing: Any) -> None:
    labels = pd.Series(np.resize(known, len(rows)), dtype=object if missing is None else float)
    labels[5] = missing
    with pytest.raises(ValueError, match="targets must have no missing values; got one at row 5"):
        evaluated(rows.assign(y=labels))


def test_more_than_two_classes_are_left_to_others_in_words(
    store: Path, rows: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    assert evaluated(rows.assign(y=np.arange(len(rows)) % 3))[0].metrics == {}
    assert "these rows have more: nothing is logged" in caplog.text


def test_of_two_columns_the_second_is_taken_only_where_it_is_the_positive_one() -> None:
    from calcert.mlflow import _checked

    both = np.array([[0.75, 0.25], [0.5, 0.5]])
    np.testing.assert_array_equal(_checked(both, "J", ["A", "J"]), [0.25, 0.5])
    with pytest.raises(ValueError, match=r"must be one column, of the probability of 'A'.*got two columns"):
        _checked(both, "A", ["A", "J"])


def test_only_classifiers_are_its_business() -> None:
    from calcert.mlflow import CalibrationEvaluator

    assert CalibrationEvaluator.can_evaluate(model_type="classifier", evaluator_config={})
    assert not CalibrationEvaluator.can_evaluate(model_type="regressor", evaluator_config=None)
