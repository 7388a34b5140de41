"""Kernels compiled by numba: kept on disk where that works, compiled anew where it does not.

Compiling takes seconds and a cache spares them, but a cache is never worth an error. An installation that nobody may
write to, no home folder, a full disk, a file that was cut short: numba raises for each of them, and here none matters.
Ctrl-C while a kernel is compiled or loaded would be lost in a callback of LLVM; it waits until the kernel is there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, TypeVar, overload

from calcert.foundation.interruption import uninterrupted

BLAS = "scipy.linalg.cython_blas"

alone = False
"""True where this process is the program ``calcert``, which lives for a second, and runs nobody else's code."""

announce: Callable[[], None] | None = None
"""Called once, when something is compiled: it takes seconds, and people should know."""

Function = TypeVar("Function", bound=Callable[..., Any])

_noted: list[Callable[..., Any]] = []


def in_kernels(function: Function) -> Function:
    """A function of plain Python that kernels may call as well, and hand on to others: one text for both.

    Examples
    --------
    >>> @in_kernels
    ... def half(x):
    ...     return x / 2
    >>> half(42)
    21.0
    """
    _noted.append(function)  # Numba takes a moment to import, and is told when a kernel needs it.
    return function


@overload
def compiled_later(function: Function) -> Function: ...
@overload
def compiled_later(**options: Any) -> Callable[[Function], Function]: ...
def compiled_later(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A kernel that is compiled, and numba imported, when it is first called; not for calls from other kernels.

    Options are those of :func:`compiled`.

    Examples
    --------
    >>> @compiled_later
    ... def thrice(x):
    ...     return 3 * x
    >>> thrice(14), thrice.py_func(14)
    (42, 42)
    >>> @compiled_later(error_model="numpy")
    ... def inverse(x):
    ...     return 1 / x
    >>> inverse(0.0)
    inf
    """
    if function is None:
        return lambda later: compiled_later(later, **options)
    kernel: Any = None

    @wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal kernel
        if kernel is None:
            kernel = compiled(function, **options)
        return kernel(*arguments)

    call.py_func = function  # type: ignore[attr-defined]
    return call


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`numba.njit` with a cache on disk that cannot fail.

    Examples
    --------
    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    if function is None:
        return lambda later: compiled(later, **options)
    import numba
    from numba.extending import register_jitable

    while _noted:
        register_jitable(_noted.pop())
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except (RuntimeError, OSError):  # There is no folder that numba may write to.
        kernel = numba.njit(**options)(function)
    else:
        kernel._cache = Forgiving(kernel._cache)
    kernel.compile = uninterrupted()(sparing_linear_algebra()(kernel.compile))
    return kernel


@contextmanager
def sparing_linear_algebra() -> Iterator[None]:
    """Inside, numba looks for BLAS and finds none, where this process is the program alone.

    It would import all of scipy.linalg, an eighth of the time that the program takes, to multiply matrices with it,
    which no kernel here does. Whoever else wants BLAS finds it.
    """
    if not alone or "scipy.linalg" in sys.modules or BLAS in sys.modules:
        yield
        return
    # As with all modules that are None there, importing it fails at once.
    sys.modules[BLAS] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[BLAS]


class Forgiving:
    """A cache of numba: what it cannot read is compiled, what it cannot write is not kept."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was kept for a signature; None where nothing is, or nothing that can be read."""
        with suppress(Exception):  # Unpickling garbled bytes may raise anything.
            found = self._load(signature, target)
            if found is not None:
                return found
        global announce
        if announce is not None:
            announce()
            announce = None
        return None

    def _load(self, signature: Any, target: Any) -> Any:
        """Load machine code without what numba imports to make some: for a program that is most of the time.

        What it calls is there as soon as memory can be allocated; numba imports the rest when something is compiled.
        """
        load = getattr(self._cache, "_load_overload", None)
        if load is None:  # Another numba may call it otherwise.
            return self._cache.load_overload(signature, target)
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(target)
        return load(signature, target)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled; a garbled index is started again."""
        try:
            self._cache.save_overload(signature, result)
        except Exception:
            with suppress(Exception):
                self._cache.flush()
                self._cache.save_overload(signature, result)
