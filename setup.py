"""What is compiled when the package is built: kernels by Cython, and the loops that see every row, which are C.

Without a compiler the installation goes on without, and the same files run as Python.
"""

from __future__ import annotations

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = "src/calcert/kernels"
KERNELS = (
    "bets",
    "clusters",
    "distance",
    "few_values",
    "grids",
    "knots",
    "limits",
    "search",
    "signs",
    "strata",
    "strings",
    "windows",
)

# No sum is reordered and no product fused with a sum, so that machines agree.
FLAGS = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]

DIRECTIVES = {
    "language_level": "3",
    "annotation_typing": False,  # Types in C are those of the .pxd.
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


def extension(name: str, file: str, flags: list[str] = FLAGS) -> Extension:
    """A module in C that the package can do without."""
    return Extension(f"calcert.kernels.{name}", [f"{FOLDER}/{file}"], extra_compile_args=flags, optional=True)


if __name__ == "__main__":
    shared = extension("_shared", "_shared.c", ["/O1"] if sys.platform == "win32" else ["-Os", "-g0"])
    modules = cythonize(
        [shared, *(extension(name, f"{name}.py") for name in KERNELS)],
        build_dir="build/c",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=shared.name,
        nthreads=os.cpu_count() or 1,
        quiet=True,
    )
    for module in modules:
        module.optional = True  # Cython makes the shared one anew, and forgets it.
    at_once = {"build": {"parallel": os.cpu_count()}}  # Unless the command says how many compilers.
    setup(ext_modules=[*modules, extension("_counting", "counting.c")], options=at_once)
