"""What every example in a docstring may use without importing it, and how Hypothesis searches."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import calcert

collect_ignore_glob = ["src/calcert/kernels/*.py"]
"""Kernels have no examples, and what is imported is not that file where it was compiled."""

collect_ignore = [] if find_spec("mlflow") else ["src/calcert/mlflow.py"]
"""MLflow is too large to be asked of everybody who runs the tests; without it, its adapter cannot be imported."""

# The same examples every time, and no clock: a busy machine must not turn a true claim into a failure.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _names_for_examples(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["calcert"] = calcert
    doctest_namespace["np"] = np
