"""Which files are meant by a path, a glob, a folder or a list of them, and how they are written."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

Format = Literal["parquet", "csv", "json"]

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSED = (".gz", ".zst")
WAY_OUT = "Parquet, CSV, TSV and JSON lines are read, the last three also as .gz and .zst"


def resolve(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[str], Format]:
    """All files, in order, each readable and all of one format; an error by name where that is not so."""
    files = [file for path in paths for file in _expand(os.path.expanduser(os.fspath(path)))]
    formats = {_format(file): file for file in reversed(files)}
    if len(formats) > 1:
        (one, first), (two, second) = list(formats.items())[:2]
        raise ValueError(
            f"all files must have one format; got {one} ({first}) and {two} ({second}). Summarise them apart and add "
            "the summaries with +."
        )
    for file in files:
        _check_readable(file)
    return files, next(iter(formats))


def _expand(path: str) -> list[str]:
    if "://" in path:
        return [path]
    if os.path.isdir(path):
        found = sorted(str(file) for file in Path(path).rglob("*") if file.is_file() and not _hidden(file, path))
        if not found:
            raise FileNotFoundError(f"{path} must hold files; got an empty folder.")
        return found
    if os.path.exists(path):
        return [path]
    found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    if not found:
        what = "no file matches it" if glob.has_magic(path) else "there is no such file"
        raise FileNotFoundError(f"the path must lead to files; got {path!r}, but {what} (seen from {os.getcwd()}).")
    return found


def _hidden(file: Path, folder: str) -> bool:
    """Files that Spark and others leave beside the data: _SUCCESS, .part-0.crc, _delta_log/..."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _format(file: str) -> Format:
    name = file.partition("?")[0] if "://" in file else file
    stem, suffix = os.path.splitext(name.lower())
    if suffix in COMPRESSED:
        suffix = os.path.splitext(stem)[1]
        if SUFFIXES.get(suffix) == "parquet":
            suffix = ""
    if suffix not in SUFFIXES:
        raise ValueError(f"the format of {file} is not known from its name. {WAY_OUT}.")
    return SUFFIXES[suffix]


def _check_readable(file: str) -> None:
    if "://" in file:
        return
    try:
        with open(file, "rb") as content:
            empty = not content.read(1)
    except PermissionError as error:
        raise PermissionError(f"{file} must be readable; this user has no permission to read it.") from error
    if empty:
        raise ValueError(f"{file} must hold rows; got an empty file.")


def literal(file: str) -> str:
    """The path as a pattern that matches nothing else, for an engine that reads every path as a glob."""
    return file if "://" in file else glob.escape(file)
