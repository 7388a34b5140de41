"""For MLflow: an evaluator that logs certified bounds as metrics, and the page, picture and JSON of the report.

Installed beside MLflow it is found by its name: ``mlflow.models.evaluate(..., evaluators=["calcert"])``.
"""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from mlflow.models import EvaluationResult
from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact
from mlflow.models.evaluation.base import ModelEvaluator
from mlflow.tracking import MlflowClient

from calcert.reports.certify import certify
from calcert.reports.gate import check
from calcert.reports.settings import Settings
from calcert.show.outcome import outcome_facts, outcome_words
from calcert.sources.arrays import complete_labels
from calcert.sources.rows import Rows

LOG = logging.getLogger("calcert")

SETTINGS = ("confidence", "odds", "bandwidth", "crossings", "variation", "seed")
DEMAND = ("max", "max_ratio", "max_observed", "statement", "fitted_on_other_rows")
FOLDER = "calcert"


class CalibrationEvaluator(ModelEvaluator):  # type: ignore[misc]
    """Certifies the calibration of a binary classifier on the rows that MLflow evaluates.

    Metrics are ``calcert_distance_upper``, ``calcert_distance_lower`` and so on, two for each statement of a report:
    thresholds of ``mlflow.validate_evaluation_results`` apply to them. ``calcert/report.html``, ``calcert/report.png``
    and ``calcert/report.json`` are artefacts of the run.

    ``evaluator_config`` may have `pos_label`, and what :class:`calcert.Settings` has: `confidence`, `odds`,
    `bandwidth`, `crossings`, `variation` and `seed`; all are to be fixed before the rows are seen. With `max` or
    `max_ratio`, and `statement` and `fitted_on_other_rows` where wanted, the rows must pass :func:`calcert.check`: the
    metric ``calcert_passed`` is 1 or 0, and the page says why.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, evaluator_config: Any, **others: Any) -> bool:
        """True for classifiers."""
        return model_type == "classifier"

    def evaluate(
        self,
        *,
        model_type: str | None,
        dataset: Any,
        run_id: str,
        evaluator_config: dict[str, Any] | None,
        model: Any = None,
        **others: Any,
    ) -> EvaluationResult:
        """Certify the rows of the data set, and log what is certified to the run."""
        config = dict(evaluator_config or {})
        pos_label = config.pop("pos_label", 1)
        demand = {name: config.pop(name) for name in DEMAND if name in config}
        unknown = config.keys() - set(SETTINGS)
        if unknown:
            known = ", ".join(("pos_label", *SETTINGS, *DEMAND))
            raise ValueError(f"evaluator_config must have entries out of {known}; got {min(unknown)!r}.")
        found = complete_labels("targets", dataset.labels_data)
        classes = np.unique(found).tolist()
        if len(classes) > 2:
            LOG.warning("calcert certifies two classes, and these rows have more: nothing is logged")
            return EvaluationResult(metrics={}, artifacts={})
        # Rows of 0 alone have no positive one, which is their right; any other label must be there to be counted.
        if pos_label not in classes and not (pos_label == 1 and classes == [0]):
            raise ValueError(_no_such_class(pos_label, classes, "targets"))
        scores = _scores(model, dataset, pos_label, classes)
        facts = {"model": _name_of(model), "MLflow run": run_id}
        rows, settings = Rows(scores, found == pos_label), Settings(**config)
        gate = check(rows, settings=settings, **demand) if demand else None
        if gate is not None:
            facts |= outcome_facts(gate, outcome_words(gate))
        report: Any = certify(rows, settings=settings) if gate is None else gate.report
        report = report.with_facts(facts)
        metrics = {
            f"calcert_{name}_{side}": float(getattr(c, side))
            for name, c in report.certificates.items()
            for side in ("upper", "lower")
        }
        metrics |= {} if gate is None else {"calcert_passed": float(gate.passed)}
        client = MlflowClient()
        for name, value in metrics.items():
            client.log_metric(run_id, name, value)
        with tempfile.TemporaryDirectory(prefix="calcert-") as folder:
            report.to_html(Path(folder) / "report.html")
            report.plot().savefig(Path(folder) / "report.png")
            (Path(folder) / "report.json").write_text(json.dumps(report.to_dict(), allow_nan=False), encoding="utf-8")
            client.log_artifacts(run_id, folder, FOLDER)
        uri = f"{client.get_run(run_id).info.artifact_uri}/{FOLDER}/report.json"
        return EvaluationResult(metrics, {"calcert": JsonEvaluationArtifact(uri, report.to_dict())})


def _no_such_class(pos_label: Any, classes: list[Any], whose: str) -> str:
    listed = " and ".join(map(repr, classes))
    return (
        f"pos_label must be one of the classes of the {whose}, {listed}; got {pos_label!r}. Name the positive one: "
        f'evaluator_config={{"calcert": {{"pos_label": {classes[-1]!r}}}}}.'
    )


def _scores(model: Any, dataset: Any, pos_label: Any, classes: list[Any]) -> Any:
    """The probability of the positive class: what a model says itself, or the predictions that are there."""
    if model is None:
        return _checked(dataset.predictions_data, pos_label, classes)
    raw: Any = getattr(model, "_model_impl", None)
    raw = raw.get_raw_model() if hasattr(raw, "get_raw_model") else raw
    if hasattr(raw, "predict_proba") and hasattr(raw, "classes_"):
        known = np.asarray(raw.classes_).tolist()
        if pos_label not in known:
            raise ValueError(_no_such_class(pos_label, known, "model"))
        return raw.predict_proba(dataset.features_data)[:, known.index(pos_label)]
    return _checked(model.predict(dataset.features_data), pos_label, classes)


def _checked(predictions: Any, pos_label: Any, classes: list[Any]) -> Any:
    found = np.asarray(predictions)
    if found.ndim == 2 and found.shape[1] == 2:
        # Columns stand in the order of the classes, as everywhere in scikit-learn.
        if len(classes) == 2 and pos_label == classes[0]:
            raise ValueError(
                f"predictions must be one column, of the probability of {pos_label!r}, where that class comes first; "
                "got two columns, of which the second is taken."
            )
        found = found[:, 1]
    if found.dtype.kind not in "fiub" or np.isin(found, (0, 1)).all():
        raise ValueError(
            "predictions must be probabilities of the positive class; got classes. Log the model with "
            'pyfunc_predict_fn="predict_proba", or evaluate a column of probabilities.'
        )
    return found


def _name_of(model: Any) -> str:
    metadata = getattr(model, "metadata", None)
    return str(getattr(metadata, "model_uuid", None) or "predictions of a data set")
