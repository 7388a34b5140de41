"""Results: one base. Every kind survives JSON, is told from the others, and becomes a frame, a text and a page."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest

import calcert
from calcert import Certificate, Report
from calcert.foundation.result import KINDS, SCHEMA, Result
from calcert.monitoring.status import Status
from calcert.published.compare import Comparison as Published
from calcert.reports.classes import ClassReport
from calcert.reports.comparison import Comparison
from calcert.reports.groups import GroupReport
from calcert.reports.noise_costs import NoiseCosts
from calcert.reports.plan import Plan
from calcert.reports.statements import STATEMENTS


@cache
def results() -> Mapping[str, Any]:
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    y = rng.random(2_000) < x
    rows = calcert.summarize(x, y)
    p = rng.dirichlet([2.0, 1.0, 1.0], 2_000)
    classes = (rng.random((2_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    watch = calcert.Monitor(tempfile.mkdtemp() + "/state")
    for day in range(3):
        part = slice(600 * day, 600 * (day + 1))
        watch.add(x[part], y[part], batch_id=str(day), time=f"2026-03-0{day + 1}", window="week")
    return {
        "report": calcert.certify(
            rows, settings=calcert.Settings(confidence=0.9, bandwidth=1 / 32, variation=2.0, seed=5)
        ),
        "groups": calcert.certify(
            x, y, groups=np.where(x < 0.3, "low", "high"), settings=calcert.Settings(odds=1 / 16)
        ),
        "classes": calcert.certify(p, classes),
        "recalibration": calcert.recalibrate(x, y, levels=5),
        "comparison": calcert.compare({"a": x, "b": x**2}, y),
        "plan": calcert.plan(rows, 0.1),
        "noise costs": calcert.noise_costs(rows, bandwidths=[1 / 64, 1 / 16]),
        "band": calcert.curves.calibration_band(rows).thinned(20),
        "monotone band": calcert.curves.monotone_band(rows),
        "score table": calcert.curves.score_table(calcert.summarize(x.round(1), y)),
        "segments": calcert.certify(x, y, groups=pd.DataFrame({"a": np.arange(x.size) % 3, "b": x > 0.5})),
        "decision curve": calcert.curves.decision_curve(rows, thresholds=[0.25, 0.5]),
        "transport plan": calcert.certify(rows).transport_plan,
        "ratio": calcert.bounds.observed_over_expected(rows),
        "sides": calcert.bounds.sides(rows, odds=1 / 16),
        "test": calcert.bounds.calibration_test(rows),
        "status": watch.status(alarm=0.01),
        "published": calcert.published.compare(x, y),
    }


def through_json(result: Result) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    return values


def same(a: Any, b: Any) -> bool:
    """Equal, arrays entry by entry and NaN to NaN."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return bool(a == b)


def test_every_kind_is_here_and_the_table_names_its_class() -> None:
    assert results().keys() == KINDS.keys()
    for kind, result in results().items():
        assert result.kind == kind
        assert KINDS[kind].rpartition(".")[2] == type(result).__name__


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_survives_json(kind: str) -> None:
    result, values = results()[kind], through_json(results()[kind])
    assert (values["kind"], values["schema"]) == (kind, SCHEMA)
    again = type(result).from_dict(values)
    if kind in ("band", "monotone band", "score table", "transport plan"):
        assert all(same(getattr(again, name), value) for name, value in vars(result).items())
    else:
        assert again == result
    assert through_json(again) == values


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", [Report, GroupReport, ClassReport, Comparison, Plan, NoiseCosts, Status, Published])
def test_a_foreign_kind_is_refused_and_its_reader_named(kind: str, reader: type[Result]) -> None:
    if kind == reader.kind:
        return
    with pytest.raises(ValueError, match=rf"this is no '{reader.kind}' but '{kind}'\. Call {KINDS[kind]}\.from_dict"):
        reader.from_dict(through_json(results()[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_json_without_a_field_that_is_written_is_refused(kind: str) -> None:
    values = through_json(results()[kind])
    for name in values.keys() - STATEMENTS.keys():
        left = {key: value for key, value in values.items() if key != name}
        with pytest.raises(
            ValueError, match=rf"no '{kind}' but None|schema None|must have the fields? .*{name}|one row"
        ):
            type(results()[kind]).from_dict(left)


def broken(**changes: Any) -> dict[str, Any]:
    values = through_json(results()["report"])
    values["distance"] |= changes
    return values


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (broken(upper=0.1, lower=0.2), r"0 <= lower <= upper <= 1; got lower 0\.2, upper 0\.1"),
        (broken(upper=math.nan), "upper nan"),
        (broken(upper=None), "upper nan"),
        (broken(upper="0.1"), r"the certificate, upper must be a number; got '0\.1'"),
        (broken(terms={"plug-in": math.inf}), "finite terms"),
        (broken(confidence=0.0), "confidence between 0 and 1"),
        (broken(extra=1), "got extra as well"),
        ({"kind": "report", "schema": SCHEMA}, "the report must have the field 'settings'"),
        (broken() | {"warnings": "none"}, "the report, warnings must be a list; got 'none'"),
        (broken() | {"settings": {"confidence": 7}}, "confidence must lie strictly between 0.5 and 1; got 7"),
        (broken() | {"settings": {"width": 7}}, "settings must be what calcert.Settings takes"),
        (broken() | {"sharpness": broken()["distance"]}, "statement must be one of .*; got 'sharpness'"),
        ([], "the report must be an object with named fields; got list"),
    ],
)
def test_what_no_report_can_say_is_refused_in_words(values: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Report.from_dict(values)


def changed(kind: str, path: str, value: Any) -> dict[str, Any]:
    """The JSON of a result with one field replaced, or left out where the value is Ellipsis."""
    values = through_json(results()[kind])
    *above, last = path.split("/")
    owner: Any = values
    for name in above:
        owner = owner[int(name)] if isinstance(owner, list) else owner[name]
    owner[last] = value
    if value is ...:
        del owner[last]
    return values


@pytest.mark.parametrize(
    ("reader", "path", "value", "words"),
    [
        (Report, "settings", -1, "settings must be an object with named fields; got -1"),
        (Report, "settings", [0.5], "settings must be an object"),
        (Report, "settings/bandwidth", 10**400, "bandwidth must be a positive finite number.*too large"),
        (Report, "kind", [], r"this is no 'report' but \[\]"),
        (Report, "kind", None, "this is no 'report' but None"),
        (Report, "kind", "", "this is no 'report' but ''"),
        (Report, "distance/terms", {"sampling": 10**400}, "terms, sampling must be a number that a float can hold"),
        (GroupReport, "confidence", -1, "confidence must lie strictly between 0.5 and 1; got -1"),
        (GroupReport, "groups", {}, "there must be at least one group"),
        (GroupReport, "n", 0, "there must be at least one row; got 0"),
        (
            GroupReport,
            "groups/low/settings/odds",
            None,
            "must have the fields confidence, crossings, seed; got",
        ),
        (Report, "settings/odds", None, "settings must have the fields confidence, bandwidth"),
        (
            Report,
            "settings/seed",
            ...,
            "settings must have the fields confidence, bandwidth, crossings, variation, seed; got",
        ),
        (Report, "distance/vacuous", True, "distance, vacuous must be False, as the rest says; got True"),
        (Report, "estimates/AUROC", math.nan, "AUROC must be None, as the rest says; got nan"),
        (Comparison, "standings/distance/best", "b", "standings, distance, best must be .*; got 'b'"),
        (Status, "rows", 1, "the status, rows must be 1800, as the rest says; got 1"),
        (ClassReport, "classes/0/l1", ..., "the statement 'l1' must be certified; got in_the_large, cutoff"),
        (ClassReport, "mean/cutoff", ..., "the statement 'cutoff' must be certified; got in_the_large, l1"),
        (Comparison, "confidence", 0.05, "confidence must lie strictly between 0.5 and 1; got 0.05"),
        (Comparison, "models/b/cutoff", ..., "the statement 'cutoff' must be certified; got in_the_large, l1"),
    ],
)
def test_what_no_result_can_say_is_refused_in_words(reader: type[Result], path: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        reader.from_dict(changed(reader.kind, path, value))


def test_a_certificate_without_a_field_is_refused_by_its_name() -> None:
    values = results()["report"].distance.to_dict()
    del values["theorem"]
    with pytest.raises(ValueError, match="the certificate must have the field 'theorem'; it has quantity, subject"):
        Certificate.from_dict(values)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_text_a_page_and_a_notebook_view(kind: str, tmp_path: Path) -> None:
    result = results()[kind]
    assert len(str(result).splitlines()) > 2
    page = result.to_html(tmp_path / "page.html", title="A title", command="calcert x").read_text()
    assert "<h1>A title</h1>" in page
    assert "calcert x" in page
    assert "<svg" in page
    assert "<svg" in result._repr_html_()
    assert result.plot().axes


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_becomes_a_frame(kind: str) -> None:
    pandas, polars = results()[kind].to_frame(), results()[kind].to_frame("polars")
    table = results()[kind].to_frame("pyarrow")
    assert isinstance(table, pyarrow.Table)
    assert list(pandas.columns) == polars.columns == table.column_names
    assert len(pandas) == polars.height == table.num_rows >= 1


def test_the_frame_of_a_report_holds_its_bounds() -> None:
    report = results()["report"]
    frame = report.to_frame().set_index("statement")
    for name, certificate in report.certificates.items():
        assert (frame.loc[name, "lower"], frame.loc[name, "upper"]) == (certificate.lower, certificate.upper)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_fit_a_terminal(kind: str) -> None:
    assert max(map(len, str(results()[kind]).splitlines())) <= 80


def test_a_result_that_cannot_be_is_refused_in_words_about_its_fields() -> None:
    # Its text could not be written: it has no numbers to say.
    test = calcert.bounds.calibration_test([0.5] * 20, [0, 1] * 10)
    with pytest.raises(ValueError, match=r"a test must have a p-value .*; got \{'p_value': .*'drawn': \(\)\}"):
        replace(test, drawn=())
    plan = calcert.certify([0.25, 0.75] * 50, [0, 1] * 50).transport_plan
    with pytest.raises(ValueError, match="a transport plan must have rows in every strip"):
        replace(plan, negative=np.zeros_like(plan.negative), positive=np.zeros_like(plan.positive))
    ratio = calcert.bounds.observed_over_expected([0.5] * 20, [0, 1] * 10)
    with pytest.raises(ValueError, match=r"a ratio must have .*; got \{.*'lower': 3\.0"):
        replace(ratio, lower=3.0)
