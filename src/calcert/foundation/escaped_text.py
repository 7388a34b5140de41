"""Text that comes from elsewhere, such as names of groups and files, made safe to be read."""

from __future__ import annotations

import re

OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # Terminals obey control characters, and XML does not take them.
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # These turn around the direction of what follows.
    "\u2028\u2029"  # These end a line.
    "\ud800-\udfff\ufffe\uffff]"  # These are no characters: bytes of a file name that are no UTF-8, and the like.
)


class CalledFile(str):
    """The path of a file that people know by another name, such as a copy of standard input."""

    def __new__(cls, path: str, called: str) -> CalledFile:
        file = super().__new__(cls, path)
        file.called = called
        return file

    called: str


def visible(text: str, keep: str = "") -> str:
    """The text, with every character that is obeyed instead of read written as an escape, but for those in `keep`."""
    shown = text.called if isinstance(text, CalledFile) else text
    return OBEYED.sub(lambda one: one[0] if one[0] in keep else one[0].encode("unicode_escape").decode(), shown)
