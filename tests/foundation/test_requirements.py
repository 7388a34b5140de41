"""What is not installed is named with the way to install it."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.mark.parametrize("library", ["sklearn", "torch"])
def test_an_adapter_without_its_library_names_the_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if f"{name}.".startswith(f"calcert.{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    way_out = rf'pip install "calcert\[{library}\]" \(in a checkout: "\.\[{library}\]"\)'
    way_out = rf"calcert\.{library} needs {library}, which is not installed: {way_out}"
    with pytest.raises(ModuleNotFoundError, match=way_out):
        importlib.import_module(f"calcert.{library}")
