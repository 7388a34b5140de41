"""Kernels as they are written: the same files, run as Python whether or not they were compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import calcert.kernels

FOLDER = Path(calcert.kernels.__file__).parent


@cache
def python_module(name: str) -> ModuleType:
    """A module of kernels from its text; constants that are numbers in C can be seen here."""
    spec = spec_from_file_location(f"python_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        # What is None there cannot be imported: the loops in Python stay.
        patch.setitem(sys.modules, "calcert.kernels._counting", None)
        spec.loader.exec_module(module)
    return module


def as_python(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as it is written."""
    found = getattr(python_module(kernel.__module__.rpartition(".")[2].lstrip("_")), kernel.__name__)
    assert callable(found)
    return found
