"""What some parts need beyond calcert itself, said clearly where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed(what: str, extra: str, *modules: str) -> Iterator[None]:
    """Around imports of these modules: a missing one is named together with the extra that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in modules:
            raise
        raise ModuleNotFoundError(
            f'{what} {missing}, which is not installed: pip install "calcert[{extra}]".', name=error.name
        ) from error
