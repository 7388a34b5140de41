"""Result: what every result that people look at has in common: a page, and a view in notebooks."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import ClassVar


class Paged:
    """A result with a page and a notebook view, both made by the module of ``calcert.show`` that it names."""

    _pages: ClassVar[str]

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None) -> Path:
        """Write one self-contained page for a reader who was not there, and return its path.

        Needs matplotlib and jinja2. `command` is shown as the exact command that made the result.

        Examples
        --------
        >>> report = calcert.certify([0.25, 0.75] * 500, [0, 1] * 500)
        >>> import tempfile, pathlib
        >>> report.to_html(pathlib.Path(tempfile.mkdtemp()) / "report.html").name
        'report.html'
        """
        pages = importlib.import_module(f"calcert.show.{self._pages}")
        from calcert.show.pages.layout import write

        return write(pages.page(self, title=title, command=command), path)

    def _repr_html_(self) -> str | None:
        """For notebooks; None, and thus plain text, where matplotlib or jinja2 is missing."""
        try:
            pages = importlib.import_module(f"calcert.show.{self._pages}")
        except ModuleNotFoundError:
            return None
        view: str = pages.notebook_view(self)
        return view
