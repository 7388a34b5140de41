"""What pictures and pages need beyond calcert itself, said clearly where it is missing."""

from __future__ import annotations

from contextlib import AbstractContextManager

from calcert.foundation.requirements import needed


def needed_for_reports() -> AbstractContextManager[None]:
    """Around imports of matplotlib and jinja2: a missing one is named together with the way to install it."""
    return needed("pictures and pages need", "report", "matplotlib", "jinja2")
