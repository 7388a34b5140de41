"""What commands read and write: files, standard input among them, results, and remarks to standard error."""

from __future__ import annotations

import glob
import hashlib
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from calcert.foundation.escaped_text import CalledFile, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calcert.foundation.facts import Facts, ReadFile
    from calcert.foundation.result import Result
    from calcert.sources.parsed_values import Reading
    from calcert.sources.rows import Rows
    from calcert.sources.source_argument import Files

    Filed = TypeVar("Filed", bound=Result)


STANDARD_INPUT = "-"
CHUNK = 1 << 20


@contextmanager
def named_files(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """The files, with standard input copied to a file that has a name for as long as it is needed."""
    if STANDARD_INPUT not in files:
        yield files
        return
    if len(files) > 1:
        raise ValueError(f"- must stand alone on the command line; got {len(files)} files. Certify them apart.")
    folder = tempfile.mkdtemp(prefix="calcert-")
    copy = os.path.join(folder, "rows")
    try:
        yield [CalledFile(_copy_of_standard_input(sys.stdin.buffer, copy), "standard input")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_of_standard_input(source: BinaryIO, name: str) -> str:
    """The path of a copy, `name` and how it is written."""
    from calcert.foundation.long_work import RowProgress

    head = source.read(CHUNK)
    path = name + _format_of_standard_input(head)
    with open(path, "wb") as file, RowProgress("reading standard input") as progress:
        rows = 0
        while head:
            file.write(head)
            rows += head.count(b"\n")
            progress.advance_to(rows)
            head = source.read(CHUNK)
    return path


def _format_of_standard_input(head: bytes) -> str:
    """The suffix of a file that begins so."""
    from calcert.sources.files.text_bytes import BYTE_ORDER_MARK

    text = head.removeprefix(BYTE_ORDER_MARK.encode()).lstrip()
    if not text:
        raise ValueError("standard input must hold rows, as CSV with a header or as JSON lines; got nothing.")
    if head.startswith(b"\x1f\x8b"):
        raise ValueError("standard input must be text; got gzip. Pipe it through zcat, or pass the file by name.")
    if head.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if text.startswith((b"{", b"[")) else ".csv"


def filed(result: Filed, said: dict[str, str], rows: Rows) -> Filed:
    """The result with its facts; the files must not have changed since they were read."""
    return result.with_facts(facts_of(said, rows))


def facts_of(said: dict[str, str], rows: Rows) -> Facts:
    """What was said, and what was read."""
    from calcert.foundation.facts import Facts

    account = rows.account
    read = tuple(described(rows.source.value))
    reading = in_words(rows.reading, account)
    gone = (
        f"{account.left_out} (--drop-missing). The bounds apply to rows that lack nothing." if account.left_out else ""
    )
    return Facts.of(said, columns=account.columns, files=read, reading=reading, left_out=gone)


def described(files: Files) -> list[ReadFile]:
    """Name, SHA-256 and number of rows of every file."""
    from calcert.foundation.facts import ReadFile
    from calcert.sources.files.paths import resolve

    found = []
    for path in resolve(files)[0]:
        digest = (files.digests or {}).get(path) or _digest(path)
        if files.begun < os.stat(path).st_mtime_ns <= time.time_ns():
            raise ValueError(f"{visible(path)} must not change while it is read; it did. Run the command again.")
        rows = files.account.rows.get(path)
        found.append(ReadFile(getattr(path, "called", path), digest, _rows_of_parquet(path) if rows is None else rows))
    return found


def _digest(path: str) -> str:
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _rows_of_parquet(path: str) -> int | None:
    if not path.lower().endswith((".parquet", ".pq")):
        return None
    from calcert.foundation.long_work import load

    return int(load("pyarrow.parquet").read_metadata(path).num_rows)


def in_words(spelling: Reading, account: Any) -> tuple[str, ...]:
    """What was made of the values in the files, in sentences."""
    above = "1 line was" if spelling.skip_lines == 1 else f"{spelling.skip_lines} lines were"
    meaning = "" if spelling.positive is None else account.meaning(spelling)
    sentences = [
        (spelling.decimal == ",", "Numbers have decimal commas (--decimal ,)."),
        (spelling.percent, "Scores are percentages, of which a hundredth part was taken (--percent)."),
        (account.doubt, f"{account.doubt}."),
        (meaning, f"Labels: {meaning} (--positive)."),
        (spelling.drop_missing and not account.left_out, "No row was left out (--drop-missing)."),
        (spelling.skip_lines, f"Above the column names of each file {above} passed over (--skip-lines)."),
        (spelling.encoding != "utf-8", f"Text was read as {spelling.encoding} (--encoding)."),
        (spelling.sheet is not None, f"Rows are from the sheet {spelling.sheet!r} (--sheet)."),
    ]
    return tuple(sentence for holds, sentence in sentences if holds)


STANDARD_OUTPUT = "-"
PICTURE_FORMATS = (".png", ".svg", ".pdf")


def show(result: Result, **options: Any) -> None:
    """Print a result: in colour and as wide as the terminal, or plain and 80 columns wide where there is none.

    NO_COLOR, FORCE_COLOR and COLUMNS are respected. It is written in one piece, so that a closed pipe is an error here
    and not inside rich, which would end the program with a code of its own.
    """
    from rich.console import Console

    from calcert.show import as_view
    from calcert.show.text import plain

    console, shown = Console(), as_view(result, **options)
    if not console.is_terminal:
        click.echo(plain(shown, console.width))
        return
    with console.capture() as captured:
        console.print(shown, highlight=False)
    click.echo(captured.get(), nl=False)


def note(words: str) -> None:
    """A remark for people that is no part of the result, in one line."""
    click.echo(visible(words), err=True)


def say(words: str, *, err: bool = False) -> None:
    """Lines for people in which names of files and the like may stand."""
    click.echo(visible(words, keep="\n"), err=err)


@contextmanager
def working(words: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes its time."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


def refuse_overwriting(read: Iterable[str], written: Mapping[str, str | None]) -> None:
    """What a command writes must not take the place of what it reads, nor of what else it writes."""
    named = [path for path in read if path != STANDARD_OUTPUT]
    sources = {os.path.realpath(found) for path in named for found in [path, *glob.glob(path)]}
    for option, path in written.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in sources or (
            os.path.exists(place) and any(place.startswith(f"{folder}{os.sep}") for folder in sources)
        ):
            raise ValueError(f"{option} must name a file that is neither read nor written otherwise; got {path!r}.")
        sources.add(place)


def write_page(result: Result, path: str, command: str) -> bool:
    """Write it, and say where; True where it went to standard output, which then holds nothing else."""
    if path != STANDARD_OUTPUT:
        note(f"report written to {result.to_html(path, command=command)}")
        return False
    with tempfile.TemporaryDirectory(prefix="calcert-") as folder:
        click.echo(result.to_html(Path(folder, "report.html"), command=command).read_text("utf-8"), nl=False)
    return True


def write_picture(figure: Figure, path: Path) -> None:
    """Write it, and say where."""
    from calcert.foundation.whole_regular_file import replacing

    with replacing(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:].lower())
    note(f"picture written to {path}")


ABOUT_OUTPUT = ("--json", "--html", "--junit", "--plot", "--curve", "--workers", "--debug")
"""Options that leave the report as it is."""


def repeat(**unseen: str | None) -> str:
    """The command that gives the same report again, with every setting that was given.

    What click does not tell of itself is `unseen`, by name.
    """
    context = click.get_current_context()
    values = unseen | context.params
    words = ["calcert", str(context.info_name), *values["files"]]
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        name = option.opts[0]
        if given and name.startswith("--") and name not in ABOUT_OUTPUT:
            value = values[option.name or ""]
            for one in value if isinstance(value, tuple) else (value,):
                words += [name] if one is True else [name, str(one)]
    return shlex.join(words)


@dataclass(frozen=True)
class Shown:
    """Where a result goes: to standard output as a table or as JSON, and to the files that were named."""

    as_json: bool
    html: str | None = None
    picture: str | None = None

    def refuse(self, read: Iterable[str], **written: str | None) -> None:
        """Refuse what cannot be written, before anything is computed; `written` is what else is, by option."""
        beside = {f"--{name}": path for name, path in written.items()}
        json_too = {"--json": STANDARD_OUTPUT if self.as_json else None}
        refuse_overwriting(read, {**beside, "--html": self.html, "--plot": self.picture, **json_too})
        if self.picture is not None and Path(self.picture).suffix.lower() not in PICTURE_FORMATS:
            raise ValueError(f"--plot must end in .png, .svg or .pdf; got {self.picture!r}.")

    def deliver(self, result: Result, again: str = "", instead: str | None = None, **plot: Any) -> bool:
        """Write and print the result, or the text `instead`, if any; False where it was not printed as a table."""
        if self.picture is not None:
            write_picture(result.plot(**plot), Path(self.picture))
        # After the picture: a curve that was asked for is on the page as well.
        if self.html is not None and write_page(result, self.html, again):
            return False
        if instead is None and not self.as_json:
            show(result)
            return True
        if instead is None:
            import json

            instead = json.dumps(result.to_dict(), indent=2, allow_nan=False)
        if instead:
            click.echo(instead)
        return False
