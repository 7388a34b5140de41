"""Which files are meant by a path, a glob, a folder or a list of them, how they are written, and what folders name.

Folders may name a column and its value, ``y=1/part.parquet``, as Hive, Spark and others write them.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, Literal
from urllib.parse import unquote

from calcert.foundation.escaped_text import visible
from calcert.foundation.refusal import Way, WrongValue, reading
from calcert.foundation.whole_regular_file import check_regular
from calcert.sources.columns import WORDS, Column, check_alone, kind_of
from calcert.sources.parsed_values import PLAIN, Reader, Reading, label_in_cell, score_in_cell

LOG = logging.getLogger("calcert")

Format = Literal["parquet", "csv", "json", "sheet"]

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".eval": "json",
    ".xlsx": "sheet",
}
OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
COMPRESSED = (".gz", ".zst")
WAY_OUT = "Parquet, CSV, TSV or .txt, JSON lines, .xlsx and .eval of inspect_ai are read, text also as .gz and .zst"

ASIDE = (".", "_")
"""How names begin of what Spark and others leave beside the data: _SUCCESS, .part-0.crc, _delta_log."""

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


APART = Way("Summarise them apart and add the summaries with +.", "Certify them apart.")


def resolve(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[str], Format]:
    """All files, in order, each readable, none twice and all of one format; an error by name where that is not so."""
    files = [file for path in paths for file in _expand(os.path.expanduser(os.fspath(path)))]
    once = _Once("file")
    for file in files:
        check_regular(file)
        once.see(file)
    formats = {_format(file): file for file in reversed(files)}
    if len(formats) > 1:
        (one, first), (two, second) = list(formats.items())[:2]
        got = f"{one} ({visible(first)}) and {two} ({visible(second)})"
        raise WrongValue("all files", "must have one format", got, "", APART)
    for file in files:
        _check_readable(file)
    return files, next(iter(formats))


def _expand(path: str) -> list[str]:
    if ADDRESS.match(path) and not os.path.exists(path):
        if path.lower().startswith("file://"):
            raise ValueError(f"the path must be plain; got {path!r}. Pass it without 'file://'.")
        raise ValueError(
            f"the path must lead to files on this machine; got the address {path!r}, and nothing is fetched from a "
            "network. Copy the files here first or, in Python, pass a table of an engine that reads them where they "
            "are, such as polars.scan_parquet(...) or a DuckDB relation."
        )
    if os.path.isdir(path):
        found = _files_below(path)
        if not found:
            raise FileNotFoundError(
                f"{visible(path)} must hold files; got an empty folder, or one of files whose names begin with . "
                "or _, which are taken for notes that writers leave beside the data."
            )
        return found
    if os.path.lexists(path):
        return [path]
    found = sorted(_matches(path))
    if not found:
        what = "no file matches it" if glob.has_magic(path) else "there is no such file"
        raise FileNotFoundError(
            f"the path must lead to files; got {path!r}, but {what} (seen from {visible(os.getcwd())})."
        )
    return found


def _matches(pattern: str) -> Iterator[str]:
    """What a glob stands for; a folder that it matches stands for the files in it, except under ``**``."""
    parts = pattern.split(os.sep)
    recursive = "**" in parts
    if recursive:
        above = os.sep.join(parts[: parts.index("**")]) or (os.sep if os.path.isabs(pattern) else os.curdir)
        for folder in filter(os.path.isdir, glob.glob(above)):
            # A folder that leads back to itself would be searched for ever: walking notices.
            deque(_folders_below(folder, "."), maxlen=0)
    for found in glob.iglob(pattern, recursive=True):
        if not os.path.isdir(found):
            yield found
        elif not recursive:
            yield from _files_below(found)


def _files_below(folder: str) -> list[str]:
    """All files of a folder and the folders in it, except what writers leave beside the data."""
    return sorted(
        os.path.join(inner, name)
        for inner, names in _folders_below(folder, *ASIDE)
        for name in names
        if not name.startswith(ASIDE)
    )


def _folders_below(folder: str, *aside: str) -> Iterator[tuple[str, list[str]]]:
    """A folder and all in it, links followed, with the names of their files; none may be reached twice.

    Folders whose names begin with what is to be left `aside` are.
    """
    once = _Once("folder")

    def denied(error: OSError) -> None:
        raise PermissionError(f"{visible(str(error.filename))} must be readable; {error.strerror}.") from error

    for inner, folders, names in os.walk(folder, followlinks=True, onerror=denied):
        once.see(inner)
        folders[:] = sorted(name for name in folders if not name.startswith(aside))
        yield inner, names


class _Once:
    """Rows that are there once must not be counted twice: neither by the same name, nor by a link."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._seen: dict[tuple[int, int], str] = {}

    def see(self, path: str) -> None:
        facts = os.stat(path)
        key = (facts.st_dev, facts.st_ino)
        if key in self._seen:
            first, again = visible(self._seen[key]), visible(path)
            got = f"{again} twice" if first == again else f"{first} and {again}, which are one and the same"
            raise ValueError(f"every {self._what} must be named once; got {got}. Its rows would be counted twice.")
        self._seen[key] = path


def _format(file: str) -> Format:
    stem, suffix = os.path.splitext(file.lower())
    if suffix in COMPRESSED:
        suffix = os.path.splitext(stem)[1]
        if SUFFIXES.get(suffix) in ("parquet", "sheet") or suffix == ".eval":
            suffix = ""
    if suffix not in SUFFIXES:
        save = " Save the sheet as .xlsx or CSV UTF-8." if suffix in OTHER_SHEETS else ""
        raise ValueError(f"the format of {visible(file)} is not known from its name. {WAY_OUT}.{save}")
    return SUFFIXES[suffix]


def _check_readable(file: str) -> None:
    if not os.access(file, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(f"{visible(file)} must be readable; this user has no permission to read it.")
    if not os.path.getsize(file):
        raise ValueError(f"{visible(file)} must hold rows; got an empty file.")


def remark_on_copies(files: Sequence[str]) -> None:
    """Say, through the logger ``calcert``, that two files hold the same bytes; only files of one size are compared.

    It is no error: parts without rows are alike, and folders may name values that files do not.
    """
    seen: dict[tuple[object, ...], str] = {}
    sizes = Counter(os.path.getsize(file) for file in files)
    for file in files:
        if sizes[os.path.getsize(file)] > 1:
            with open(file, "rb") as content:
                key = (hashlib.file_digest(content, "sha256").digest(), *keys_in_folders(file).items())
            first = seen.setdefault(key, file)
            if first != file:
                LOG.warning(
                    "%s and %s hold the same bytes: if one is a copy, its rows are counted twice; leave it out",
                    visible(first),
                    visible(file),
                )
                return


def title(files: Sequence[str]) -> str:
    """What to call some files in words."""
    first = visible(files[0])
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"


FILE_NAME = "file_name"
"""A column of every table that has none of that name: where its rows are."""


def names_of_files(files: Sequence[str]) -> dict[str, str]:
    """What every file is called below the folder that holds them all."""
    common = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
    return {file: visible(os.path.relpath(os.path.abspath(file), common)) for file in files}


def real(file: str) -> str:
    """What an engine calls the file: the whole path, links followed, so that no two readings of it differ."""
    try:
        os.fspath(file).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{visible(file)} must have a name in UTF-8; rename the file.") from None
    return os.path.realpath(file)


NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def keys_in_folders(path: str) -> dict[str, str]:
    """The columns in the names of the folders of a path, with their values; nothing where a value is missing."""
    found: dict[str, str] = {}
    for part in os.path.dirname(path).split(os.sep):
        name, sign, value = part.partition("=")
        if not (name and sign):
            continue
        if found.setdefault(unquote(name), value) != value:
            raise ValueError(f"folders must name a column once; got {unquote(name)!r} twice in {visible(path)}.")
    return {name: "" if value == NO_VALUE else unquote(value) for name, value in found.items()}


def columns_of_folders(paths: Sequence[str]) -> list[Column]:
    """The columns that the folders of the first of some files name, and what they hold as far as all folders tell."""
    every = [keys_in_folders(path) for path in paths]
    kinds = {name: kind_of([keys.get(name) for keys in every]) for name in every[0]}
    return [Column(name, kind, f"{WORDS[kind]} in the names of folders") for name, kind in kinds.items()]


def value_in_folders(path: str, name: str, own: Sequence[str]) -> str | None:
    """The value that the folders of a file give to a column; None where they are silent.

    A column that the file has itself is refused: one of the two would be believed, and nobody said which. Likewise one
    that neither has.
    """
    found = keys_in_folders(path).get(name)
    if found is None and name not in own:
        known = ", ".join(map(repr, own[:20]))
        raise ValueError(f"all files must have the column {name!r}; {visible(path)} has {known or 'none'}.")
    if found is not None and any(column.lower() == name.lower() for column in own):
        raise ValueError(
            f"{name!r} must be one column; got one in {visible(path)} and another in the name of its folder, "
            f"{visible(f'{name}={found}')!r}. Rename the folder, or the column."
        )
    return found


class RowsFile:
    """A file by its path, read from the beginning whenever it is asked something."""

    where = "at row {} of {}"
    score_reader: Reader = staticmethod(score_in_cell)
    label_reader: Reader = staticmethod(label_in_cell)
    content: Any = None  # The bytes that are being read, where they know how far they are.
    digests: dict[str, str] | None = None  # Of files by their paths, where they are wanted.

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = visible(path)

    def place(self, number: int) -> str:
        """Where a row stands, in words."""
        return self.where.format(number, self.name)

    def title_above(self) -> WrongValue | None:
        """What is wrong where titles stand above the column names; None where none do."""
        return None

    def own_columns(self, names: Sequence[str], own: Sequence[str]) -> list[str]:
        """Those of some columns that the file has itself, each alone; its folders must name the others."""
        columns = [Column(name, "unknown", f"column {number}") for number, name in enumerate(own, 1)]
        for name in names:
            check_alone(columns, "score, label and groups", name, self.name)
        return [name for name in names if value_in_folders(self.path, name, own) is None]


def check_fitting(path: str, form: Format, said: Reading) -> None:
    """Refuse what was said of reading that files of this form cannot have."""
    archive = path.lower().endswith(".eval")
    for name, fits, kind in (
        ("sheet", form == "sheet", "a workbook (.xlsx)"),
        ("filter", form == "json" and not archive, "samples of lm-evaluation-harness"),
        ("skip_lines", form in ("csv", "sheet"), "CSV or a workbook (.xlsx)"),
        ("encoding", form in ("csv", "json") and not archive, "CSV or JSON"),
    ):
        if getattr(said, name) != getattr(PLAIN, name) and not fits:
            raise WrongValue(reading(name), f"must come with {kind}", visible(path))
