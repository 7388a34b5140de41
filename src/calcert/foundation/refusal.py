"""Errors as objects: what is wrong, where, and the way out, worded for whoever is told.

Python and the command line word the same fields: an argument for one, an option for the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Argument(NamedTuple):
    """An argument in a sentence, alone or with a value, which is ... for the name of some column.

    `part_of` is the class that takes it, such as Reading, and `also` are others to be given with it.
    """

    name: str
    value: Any = None
    part_of: str = ""
    also: tuple[Argument, ...] = ()

    def in_python(self) -> str:
        if not self.part_of:
            return self.name if self.value is None else f"{self.name}={self._shown}"
        given = ", ".join(f"{one.name}={one._shown}" for one in (*self.also, self))
        return f"{self.part_of}({given})"

    @property
    def _shown(self) -> str:
        return "..." if self.value is None else repr("..." if self.value is ... else self.value)

    def in_shell(self, options: Mapping[str, str]) -> str:
        words = [one.in_shell(options) for one in self.also]
        for value in self.value if isinstance(self.value, tuple) else (self.value,):
            words.append(options[self.name])
            if value is not None and value is not True:
                words.append("COLUMN" if value is ... else _quoted(value))
        return " ".join(words)


def _quoted(value: Any) -> str:
    """In double quotes where it needs any: shells of every system take these away."""
    return str(value) if BARE.fullmatch(str(value)) else f'"{value}"'


def reading(name: str, value: Any = None, *also: Argument) -> Argument:
    """An argument of ``calcert.Reading``."""
    return Argument(name, value, "Reading", also)


Phrase = str | tuple[str | Argument, ...]


def worded(phrase: Phrase | Argument, options: Mapping[str, str] | None = None) -> str:
    """A phrase with its arguments by name, or as options where `options` says what these are called."""

    def named(part: Argument) -> str:
        return part.in_shell(options) if options is not None and part.name in options else part.in_python()

    parts = (phrase,) if isinstance(phrase, (str, Argument)) else phrase
    return "".join(part if isinstance(part, str) else named(part) for part in parts)


class Way(NamedTuple):
    """A way out, for callers who hold arrays, and for those who name files; unsaid, it is the same.

    `without` is for commands that lack an option of `files`, `metrics` for metrics of (y_true, y_prob).
    """

    arrays: Phrase
    files: Phrase | None = None
    without: Phrase | None = None
    metrics: Phrase | None = None


class Refused(Exception):
    """What is wrong with an argument, the scores, a file; what it must be, what it was, as it is shown, and where.

    Ways out follow, and what else is to be said.
    """

    def __init__(
        self,
        argument: Phrase | Argument,
        requirement: Phrase,
        value: str | None = None,
        place: str = "",
        *ways: Way | Phrase,
    ) -> None:
        super().__init__(argument, requirement, value, place, *ways)
        self.argument, self.requirement, self.value, self.place, self.ways = argument, requirement, value, place, ways
        self.audience = "arrays"

    def __str__(self) -> str:
        return self.words()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self).__name__, self.args, self.audience)

    def words(self, options: Mapping[str, str] | None = None) -> str:
        """The refusal in words; with options for arguments where `options` says what these are called."""

        def said(phrase: Phrase | Argument) -> str:
            return worded(phrase, options)

        def chosen(way: Way) -> Phrase:
            if options is None and self.audience == "arrays":
                return way.arrays
            if options is None and self.audience == "metrics":
                return way.arrays if way.metrics is None else way.metrics
            found = way.arrays if way.files is None else way.files
            lacks = options is not None and any(isinstance(p, Argument) and p.name not in options for p in found)
            return way.without if lacks and way.without is not None else found

        place = f" {self.place}" if self.place else ""
        got = "" if self.value is None else f"; got {self.value}{place}"
        sentences = [f"{said(self.argument)} {said(self.requirement)}{got}."]
        sentences += [said(chosen(way) if isinstance(way, Way) else way) for way in self.ways]
        words = " ".join(filter(None, sentences))
        if NOT_UTF_8.search(words) and "encoding" not in words:
            words += said((" Some text in it is not UTF-8: pass ", reading("encoding"), ", or save it as CSV UTF-8."))
        return words

    def of_one(self, name: str) -> Self:
        """The same of one model among several."""
        parts = (self.argument,) if isinstance(self.argument, (str, Argument)) else self.argument
        return self._of((f"{name}: ", *parts), *self.args[1:])

    def saying(self, *ways: Way | Phrase) -> Self:
        """The same with more to say."""
        return self._of(*self.args, *ways)

    def _of(self, *fields: Any) -> Self:
        found = type(self)(*fields)
        found.audience = self.audience
        return found


class WrongValue(Refused, ValueError):
    """An argument or a row that has a value it must not have."""


class WrongType(Refused, TypeError):
    """An argument of another type, or one that does not go together with others."""


class TooLarge(Refused, OverflowError):
    """Numbers that add up to more than a Summary holds."""


class NoRows(WrongValue):
    """There is a source of rows, and it holds none, or none that was not left out."""

    @classmethod
    def of(cls, source: str, left_out: str = "") -> NoRows:
        """`left_out` says how many rows were left out, in words."""
        return cls(source, "must hold at least one row", f"none{left_out and ': '}{left_out}")

    @property
    def said(self) -> str:
        """The same where it is no error."""
        return f"{self.argument} holds no rows{str(self.value).removeprefix('none')}."


KINDS = {kind.__name__: kind for kind in (WrongValue, WrongType, TooLarge, NoRows)}
for kind in KINDS.values():
    # Tracebacks begin with what callers catch.
    caught = next(base for base in (ValueError, TypeError, OverflowError) if issubclass(kind, base))
    kind.__module__, kind.__qualname__ = "builtins", caught.__qualname__


def _again(name: str, fields: tuple[Any, ...], audience: str) -> Refused:
    """A refusal that came from another process."""
    refused = KINDS[name](*fields)
    refused.audience = audience
    return refused


BARE = re.compile(r"[\w:/%+*-]+([.,][\w:/%+*-]+)*")
NOT_UTF_8 = re.compile(r"[\udc80-\udcff]|\\udc[89a-f][0-9a-f]")


def about_files(function: Callable[P, R]) -> Callable[P, R]:
    """A function that reads files: what it refuses is worded for those who name them."""

    @wraps(function)
    def reads(*args: P.args, **named: P.kwargs) -> R:
        try:
            return function(*args, **named)
        except Refused as error:
            error.audience = "files"
            raise

    return reads


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
