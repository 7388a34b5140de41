"""The house: the top level is what users import, every other module has a room, and imports point one way.

Imports inside functions count like any other; those for types alone do not, as they are never run.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import calcert

ROOT = Path(calcert.__file__).parent

TOP = {"__init__", "__main__", "bounds", "cli", "curves", "metrics", "mlflow", "sql", "testing", "torch"}
"""What users import, and the entry of the command line."""

ROOMS = {
    "foundation": set(),
    "kernels": {"foundation"},
    "summary": {"foundation", "kernels"},
    "sources": {"foundation", "kernels", "summary"},
    "perturbation": {"foundation", "kernels", "summary", "sources"},
    "certificates": {"foundation", "kernels", "summary", "perturbation"},
    "reports": {"foundation", "kernels", "summary", "sources", "perturbation", "certificates"},
    "monitoring": {"foundation", "kernels", "summary", "sources", "certificates", "reports"},
    "published": {"foundation", "kernels", "sources", "perturbation", "certificates", "reports"},
    "show": {"foundation", "summary", "perturbation", "reports", "certificates"},
    "commands": {"foundation", "summary", "sources", "perturbation", "reports", "monitoring", "published", "show"},
    "sklearn": {"foundation", "sources", "perturbation", "reports"},
}
"""Every room, and the rooms it may stand on."""

DOOR = ("foundation.result", "show")
"""Results show themselves through one door: the one import that points the other way."""


def name_of(path: Path) -> str:
    """The dotted name below calcert; a package has the name of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, modules: set[str]) -> set[str]:
    """The modules of calcert that this one may load, when it is loaded or later."""
    found: set[str] = set()

    class Visitor(ast.NodeVisitor):
        def visit_If(self, node: ast.If) -> None:
            if "TYPE_CHECKING" not in ast.dump(node.test):
                self.generic_visit(node)

        def visit_Import(self, node: ast.Import) -> None:
            found.update(alias.name for alias in node.names if alias.name.split(".")[0] == "calcert")

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            if (node.module or "").split(".")[0] == "calcert":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found.add(inner if inner.removeprefix("calcert.") in modules else str(node.module))

    Visitor().visit(ast.parse(path.read_text()))
    return {name.removeprefix("calcert").removeprefix(".") for name in found}


PATHS = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
IMPORTS = {name: imports_of(path, set(PATHS)) for name, path in PATHS.items()}


def room(name: str) -> str:
    return name.split(".")[0]


def test_the_map_of_imports_sees_the_program() -> None:
    assert "summary.summary" in IMPORTS["certificates.perturbed"]
    assert "certificates.limits.sampling_term" in IMPORTS["certificates.distance"]
    assert "reports.groups" in IMPORTS["reports.certify"], "imports inside functions count"
    assert "reports.report" not in IMPORTS["show.report"], "imports for types do not"


def test_the_top_level_is_what_users_import() -> None:
    assert {path.stem for path in ROOT.glob("*.py")} == TOP
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == ROOMS.keys()


@pytest.mark.parametrize("name", [name for name in PATHS if room(name) in ROOMS])
def test_every_room_stands_on_the_rooms_it_may_stand_on(name: str) -> None:
    for used in IMPORTS[name]:
        if (name, used) != DOOR and used:  # The package itself, for its version.
            assert room(used) in ROOMS[room(name)] | {room(name)}, f"{name} imports {used}"


def test_only_commands_adapters_and_the_door_reach_showing() -> None:
    reaching = {name for name in PATHS if any(room(used) == "show" for used in IMPORTS[name]) and room(name) != "show"}
    assert {name for name in reaching if room(name) != "commands" and name not in TOP} == {DOOR[0]}
    assert {used for used in IMPORTS[DOOR[0]] if room(used) == "show"} == {DOOR[1]}


def test_showing_calls_no_certificate() -> None:
    for name in PATHS:
        if room(name) == "show":
            used = {used for used in IMPORTS[name] if room(used) == "certificates"}
            assert used <= {"certificates.certificate"}, name


def test_no_module_needs_itself() -> None:
    graph = {name: {used for used in IMPORTS[name] if used in PATHS and used} for name in PATHS if name}
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(graph)


def test_no_path_of_a_module_is_built_from_parts() -> None:
    for name, path in PATHS.items():
        if name != "cli":  # Commands are files of their names.
            assert 'import_module(f"' not in path.read_text(), name


HEAVY = ("pandas", "polars", "torch", "sklearn", "matplotlib", "pyspark", "duckdb", "dask", "ibis", "pyarrow")


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
    assert loaded_after(code) == set()


@pytest.mark.parametrize("name", calcert.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    assert name in dir(calcert)
    thing = getattr(calcert, name)
    if name != "__version__":
        assert thing.__doc__
        assert len(thing.__doc__) > 100


def test_everything_public_is_there_after_importing_the_package() -> None:
    code = "import calcert\nprint(calcert.published.compare, calcert.plan, 'plan' in dir(calcert))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("True\n")
