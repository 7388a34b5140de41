"""What some parts need beyond calcert itself, said clearly where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


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
            f'{what} {missing}, which is not installed: pip install "calcert[{extra}]" (in a checkout: ".[{extra}]").',
            name=error.name,
        ) from error


def needed_for_reports() -> AbstractContextManager[None]:
    """The same of what pictures and pages need."""
    return needed("pictures and pages need", "report", "matplotlib", "jinja2")
