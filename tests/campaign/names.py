"""Hostile names of files, groups, columns, windows and batches: shown so that nothing obeys them, kept as they are.

What is printed holds no character that a terminal obeys, JUnit stays XML, JSON gives the name back, pages hold none of
its markup, metrics stay one to a line, and a command ends with a code that is its own.
"""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import click.testing
import numpy as np

from calcert.cli import main
from tests.campaign import Counts

PARTS = ["\x1b[2J", "\x1b]0;t\x07", "\x9b31m", "\r", "\n", "\t", "\x00", "\x7f", "\u202e", "\u2066", "\u200b", "\ufeff"]
PARTS += ["\u2028", "\x85", "\ufffe", "\udc80", "\u0301" * 5, "\U0001f600", "é", "日本", "<script>alert(1)</script>"]
PARTS += ["&amp;", "]]>", "<!--", '"', "'", "\\", "{{ 7 }}", "{% x %}", "[red]", "[/]", "[link=x]", "%s", "{0}", "$(x)"]
PARTS += ["`x`", ";", "|", ",", "=", "*", "?", "[a-z]", "~", "-", "--", " ", ".", "x" * 90, "1e999", "nan", "NULL"]
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
METRIC = re.compile(r'(#.*|[a-z_]+(\{([a-z_]+="(\\.|[^"\\])*",?)*\})? \S+)')
ROWS = 60


class Field:
    """A folder, its rows, and what counts."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance, self.counts = folder, random.Random(seed), Counts()
        rng = np.random.default_rng(seed)
        self.scores = rng.random(ROWS).round(3)
        self.labels = (rng.random(ROWS) < self.scores).astype(int)

    def name(self, *, of_file: bool) -> str:
        """A name made of hostile parts; a file cannot have some of them."""
        text = "".join(self.chance.choice(PARTS) for _ in range(self.chance.randrange(1, 5)))
        return f"f{text.replace(chr(0), '').replace('/', '_')}"[:60] if of_file else text

    def write(self, name: str, groups: str | None = None, score: str = "p") -> Path:
        path = self.folder / name
        with path.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            writer = csv.writer(file)
            writer.writerow([score, "y", "g"])
            for row, (x, y) in enumerate(zip(self.scores, self.labels, strict=True)):
                writer.writerow([x, y, groups if row % 2 and groups is not None else "b"])
        return path

    def run(self, kind: str, *words: str) -> str | None:
        """What a command prints on standard output, None where it does not end well or something would be obeyed."""
        environment = {"COLUMNS": self.chance.choice(("40", "80", "200"))}
        done = click.testing.CliRunner(env=environment).invoke(main, list(words), prog_name="calcert", color=True)
        shown = done.output + done.stderr
        if done.exit_code not in (0, 1, 2) or (done.exit_code == 1 and words[0] != "check"):
            self.counts.fail(kind, f"ended with {done.exit_code}, {done.exception!r}: {words!r}: {shown[-300:]!r}")
        elif OBEYED.search(shown):
            self.counts.fail(kind, f"would be obeyed: {OBEYED.findall(shown)}: {words!r}")
        elif done.exit_code == 2:
            self.counts.add(kind, "refused")
        else:
            self.counts.add(kind, "shown")
            return done.stdout
        return None


def files(field: Field) -> None:
    name = field.name(of_file=True)
    path = field.write(f"{name}.csv")
    field.run("file", "certify", str(path), "--score", "p", "--label", "y")
    out = field.folder / f"o{name}.csv"
    field.run(
        "file", "perturb", str(path), str(out), "--score", "p", "--column", field.name(of_file=False), "--seed", "1"
    )
    field.run("file that is not there", "certify", str(field.folder / f"n{name}.csv"))


def columns(field: Field) -> None:
    name = field.name(of_file=False)
    path = field.write("columns.csv", score=name)
    field.run(
        "column", "certify", str(path), "--label", "y", *([] if field.chance.random() < 0.5 else ["--score", name])
    )
    field.run("column that is not there", "certify", str(path), "--label", "y", "--score", field.name(of_file=False))


def groups(field: Field) -> None:
    name = field.name(of_file=False)
    path = str(field.write("groups.csv", groups=name))
    words = ["certify", path, "--score", "p", "--label", "y", "--groups", "g"]
    field.run("group", *words)
    found = field.run("group in JSON", *words, "--json")
    if found is not None and json.loads(found)["groups"].keys() != {name, "b"}:
        field.counts.fail("group in JSON", f"another name: {list(json.loads(found)['groups'])} for {name!r}")
    page = field.folder / "page.html"
    if field.chance.random() < 0.1 and field.run("group on a page", *words, "--html", str(page)) is not None:
        text = page.read_text(encoding="utf-8")
        if OBEYED.search(text) or "<script>alert" in text:
            field.counts.fail("group on a page", f"markup or what is obeyed: {name!r}")


def gates(field: Field) -> None:
    there = field.chance.random() < 0.5
    path = field.folder / f"{field.name(of_file=True)}.csv"
    if there:
        field.write(path.name)
    junit = field.folder / "junit.xml"
    words = ["--score", "p", "--label", "y", "--max", "0.5", "--statement", "distance", "--junit", str(junit)]
    field.run("gate", "check", str(path), *words)
    try:
        ElementTree.parse(junit)
    except (ElementTree.ParseError, OSError) as error:
        field.counts.fail("JUnit", f"{error}: {path.name!r}")
    else:
        field.counts.add("JUnit", "well-formed")
    junit.unlink(missing_ok=True)


def monitors(field: Field) -> None:
    path, state = str(field.write("batch.csv")), str(field.folder / f"state{field.name(of_file=True)}")
    for number in range(2):
        words = ["--score", "p", "--label", "y", "--batch-id", f"{number}{field.name(of_file=False)}"]
        words += ["--window-name", field.name(of_file=False), "--time", f"2026-03-0{number + 1}"]
        field.run("batch and window", "monitor", "add", state, path, *words)
    field.run("state", "monitor", "status", state)
    metrics = field.run("state as metrics", "monitor", "status", state, "--prometheus", "-")
    if metrics is not None and not all(METRIC.fullmatch(line) for line in metrics.strip().split("\n")):
        field.counts.fail("state as metrics", f"no metrics: {metrics!r}")


KINDS: tuple[Callable[[Field], None], ...] = (files, columns, groups, gates, monitors)


def run(budget: float, seed: int) -> Counts:
    """Try hostile names for about `budget` seconds, each kind at least once; see :mod:`tests.campaign`."""
    end = time.monotonic() + budget
    folder = Path(tempfile.mkdtemp(prefix="campaign-"))
    try:
        field = Field(folder, seed)
        number = 0
        while number < len(KINDS) or time.monotonic() < end:
            here = folder / str(number)
            here.mkdir()
            field.folder = here
            try:
                KINDS[number % len(KINDS)](field)
            except OSError as error:
                # The name is one that the file system cannot bear.
                field.counts.add("name that no file can have", type(error).__name__)
            number += 1
            shutil.rmtree(here)
        return field.counts
    finally:
        shutil.rmtree(folder)
