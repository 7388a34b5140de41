"""Imports point one way: sources -> summary <- certificates <- show; and importing the package costs little."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import calcert

ROOT = Path(calcert.__file__).parent
FOUNDATION = {"cells", "query_result", "summary", "validation", "progress", "whole_file"}
"""Modules that sources and certificates may both stand on."""


def name_of(path: Path) -> str:
    """The dotted name below calcert; a package has the name of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_when_loaded(path: Path, modules: set[str]) -> set[str]:
    """The modules of calcert that loading this one loads; imports inside functions and for types are not among them."""
    found: set[str] = set()

    def visit(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                visit(node.orelse)
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                visit(node.body)
                visit(getattr(node, "orelse", []))
            elif isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names if alias.name.split(".")[0] == "calcert")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "calcert":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found.add(inner if inner.removeprefix("calcert.") in modules else str(node.module))

    visit(ast.parse(path.read_text()).body)
    return {name.removeprefix("calcert").removeprefix(".") for name in found}


PATHS = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
IMPORTS = {name: imported_when_loaded(path, set(PATHS)) for name, path in PATHS.items()}


def part(name: str) -> str:
    return name.split(".")[0]


def test_the_map_of_imports_sees_the_program() -> None:
    assert {"summary", "sources.arrays", "certificates.perturbed", "show.text", "certification"} <= PATHS.keys()
    assert "summary" in IMPORTS["certificates.perturbed"]
    assert "summary" in IMPORTS["sources.arrays"]
    assert "certificates.deviations" in IMPORTS["certificates.distance"]
    assert "certificate" in IMPORTS["show.text"]


def test_a_summary_knows_neither_sources_nor_certificates_nor_showing() -> None:
    for name in FOUNDATION & PATHS.keys():
        assert IMPORTS[name] <= FOUNDATION, name


def test_sources_know_summaries_and_nothing_of_what_is_done_with_them() -> None:
    for name in PATHS:
        if part(name) == "sources":
            assert {part(used) for used in IMPORTS[name]} <= FOUNDATION | {"sources"}, name


def test_certificates_do_not_know_where_rows_come_from_or_how_results_are_shown() -> None:
    mathematics = {"perturbation", "deviations", "served", "grouping", "prequential", "certificate", "certificates"}
    for name in PATHS:
        if part(name) in mathematics:
            assert {part(used) for used in IMPORTS[name]} <= FOUNDATION | mathematics, name


def test_showing_does_not_read_rows() -> None:
    for name in PATHS:
        if part(name) == "show":
            assert "sources" not in {part(used) for used in IMPORTS[name]}, name


def test_only_the_command_line_and_showing_load_showing() -> None:
    for name, used in IMPORTS.items():
        if any(part(module) == "show" for module in used):
            assert part(name) in ("show", "cli", "commands"), name


def test_no_module_needs_itself_to_load() -> None:
    graph = {name: {used for used in IMPORTS[name] if used in PATHS and used} for name in PATHS if name}
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(graph)


HEAVY = ("pandas", "polars", "torch", "sklearn", "matplotlib", "pyspark", "duckdb", "dask", "ibis", "pyarrow", "numba")


def loaded_after(code: str) -> set[str]:
    """Which of the heavy modules a fresh interpreter has loaded after running code."""
    check = f"{code}\nimport sys\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_importing_the_package_loads_no_heavy_library() -> None:
    assert loaded_after("import calcert") == set()


def test_the_check_would_notice_a_heavy_library() -> None:
    assert "pandas" in loaded_after("import calcert, pandas")


def test_certifying_arrays_loads_no_data_frame_library() -> None:
    code = "import calcert\ncalcert.certify([0.25, 0.75] * 20, [0, 1] * 20)"
    assert loaded_after(code) <= {"numba"}


@pytest.mark.parametrize("name", calcert.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    thing = getattr(calcert, name)
    if name != "__version__":
        assert thing.__doc__
        assert len(thing.__doc__) > 100
