"""Names that people did not write for a terminal, shown so that a terminal cannot be misled by them."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text with whatever cannot be seen as an escape: control characters, line breaks, marks of direction.

    Examples
    --------
    >>> print(printable("day\x1b[2J\n1.csv"))
    day\x1b[2J\n1.csv
    >>> print(printable("Zürich, 3%"))
    Zürich, 3%
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
