"""What pictures and pages need beyond calcert itself, said clearly where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_for_reports() -> Iterator[None]:
    """Around imports of matplotlib and jinja2: a missing one is named together with the way to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("matplotlib", "jinja2"):
            raise
        raise ModuleNotFoundError(
            f'pictures and pages need {missing}, which is not installed: pip install "calcert[report]".',
            name=error.name,
        ) from error
