"""Loops that are compiled when the package is built, and run as Python, slower and right, where it was built without.

Each module is plain Python and NumPy; the `.pxd` beside it has the types that Cython makes C of. `counting` has a file
of C beside it instead.
"""

from __future__ import annotations

import logging

from calcert.kernels import counting

if not counting.compiled:
    logging.getLogger("calcert").warning(
        "calcert was installed without a compiler: numbers are the same, but take far longer. "
        "For speed install a wheel, or a C compiler and then calcert again."
    )
