"""Results in a real kernel: each is shown once, its text is its text, and a certificate is a sentence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import calcert

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

CELLS = (
    "import numpy as np, calcert\n"
    "x = np.random.default_rng(0).random(2_000)\n"
    "report = calcert.certify(x, np.random.default_rng(1).random(2_000) < x**2)\n"
    "summary = report.summary",
    "print(report)",
    "report",
    "report.distance",
    "calcert.plan(summary, 0.05, statement='distance')",
    "len(str(report)), len(report.details())",
    "calcert.check(summary, max=0.05)",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    from nbconvert.preprocessors import ExecutePreprocessor

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    source = str(Path(calcert.__file__).parent.parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]))
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {})
    return [cell.outputs for cell in notebook.cells]


def test_printing_writes_the_text_and_nothing_else(outputs: list[list[Any]]) -> None:
    (printed,) = outputs[1]
    assert printed.output_type == "stream"
    assert printed.text.startswith("Miscalibrated (95% confidence): scores are too high.")
    assert len(printed.text.splitlines()) <= 12
    assert all(int(length) > 400 for length in outputs[5][0].data["text/plain"].strip("()").split(","))


def test_a_report_is_shown_once_as_a_page_part_and_as_text(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[2]
    assert shown.output_type == "execute_result"
    assert shown.data["text/plain"].rstrip() == outputs[1][0].text.rstrip()
    html = shown.data["text/html"]
    assert html.count("Miscalibrated (95% confidence)") >= 1
    assert html.count("<svg") == 1


def test_a_certificate_is_a_sentence(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[3]
    assert shown.data["text/plain"].startswith("Distance from calibration of the classifier")
    assert "Certificate(" not in shown.data["text/plain"]


def test_other_results_are_shown_once_as_a_table(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[4]
    assert shown.data["text/html"].count("<table") == 1
    assert shown.data["text/plain"].strip()


def test_an_outcome_says_what_check_prints(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[6]
    assert shown.data["text/plain"].startswith("Beyond 0.05 (95% confidence): the error is at least")
    assert "Outcome(" not in shown.data["text/plain"]
    assert "<strong>Beyond 0.05 (95% confidence)" in shown.data["text/html"]
