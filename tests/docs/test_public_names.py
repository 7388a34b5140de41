"""Every public name explains itself with an example that runs, and has a place on a page of the API."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

API = Path(__file__).parents[2] / "docs" / "api"
MODULES = (
    "calcert",
    "calcert.bounds",
    "calcert.curves",
    "calcert.sql",
    "calcert.published",
    "calcert.sklearn",
    "calcert.torch",
)
NAMES = [
    f"{module}.{name}"
    for module in MODULES
    for name in importlib.import_module(module).__all__
    if not name.startswith("__")
]
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in sorted(API.glob("*.md")))
LISTED = re.findall(r"^\.\. auto(?:function|class):: ([\w.]+)", PAGES, re.MULTILINE)


def thing(name: str) -> object:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


@pytest.mark.parametrize("name", sorted({*NAMES, *LISTED}))
def test_a_public_name_has_an_example(name: str) -> None:
    text = inspect.getdoc(thing(name)) or ""
    assert re.search(r"^Examples\n-{8}$", text, re.MULTILINE), f"{name} has no section Examples"
    examples = doctest.DocTestParser().get_examples(text)
    assert any(example.want for example in examples), f"{name} shows no output"


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_on_a_page_of_the_api(name: str) -> None:
    assert LISTED.count(name) == 1


@pytest.mark.parametrize("name", sorted({*NAMES, *LISTED}))
def test_every_parameter_is_explained(name: str) -> None:
    shown = thing(name)
    parameters = list(inspect.signature(shown).parameters) if inspect.isfunction(shown) else []
    section = re.search(r"Parameters\n-+\n(.*?)(\n\w[\w ]*\n-+\n|\Z)", inspect.getdoc(shown) or "", re.DOTALL)
    named = re.findall(r"^(\w[\w, ]*)$", section[1], re.MULTILINE) if section else []
    assert {word for line in named for word in re.split(r",\s*", line)} >= set(parameters), name
