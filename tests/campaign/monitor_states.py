"""States of a monitor that are flipped, cut, mixed, robbed of rows and replaced: refused, or the same numbers."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import calcert
from calcert.monitoring import looks
from calcert.monitoring.looks import schedule
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.states.checksummed_batches import Batch, digest
from calcert.monitoring.states.state_content import State, remembered
from calcert.summary.summary import Summary
from tests.campaign import Counts

PAGE = 4096
PATIENCE = 20.0
"""Seconds after which an answer that should come at once has run a stranger's code."""
SIZES = (400, 300, 500, 200, 900, 100, 700, 1500, 50)
LAST = len(schedule(SIZES))
TABLES = ("settings", "batches", "contents", "learned", "looks", "pool")
WRITERS = Path(__file__).parents[1] / "monitoring" / "writers.py"

Answer = dict[str, Any]


def batch(seed: int, rows: int, error: float) -> Summary:
    rng = np.random.default_rng(seed)
    scores = rng.random(rows).round(3)
    return calcert.summarize(scores, rng.random(rows) < np.clip(scores - error, 0, 1))


def lived(path: Path, error: float, seed: int) -> tuple[bytes, bytes]:
    """A state with a batch a day, two windows, an alarm and everything computed: before its last batch, and after."""
    monitor, before = Monitor(path), b""
    for number, rows in enumerate(SIZES):
        if number == len(SIZES) - 1:
            monitor.status()
            before = path.read_bytes()
        day, window = f"2026-03-{number + 1:02d}", f"window {number // 5}"
        monitor.add(batch(seed + number, rows, error), batch_id=str(number), time=day, window_name=window)
    monitor.status()
    return before, path.read_bytes()


class Field:
    """Where tries are made: a sound state, its answers, and others that must not be mistaken for it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts = Counts()
        self.folder = folder
        self.path = folder / "state"
        self.monitor = Monitor(self.path)
        self.before, self.sound = lived(folder / "sound", 0.15, 0)
        _, self.other = lived(folder / "other", 0.3, 100)
        self.next = batch(50, 800, 0.15)
        self.path.write_bytes(self.sound)
        self.answer = self.told()
        self.lower = self.add_next().lower
        self.answer_after_next = self.told()
        self.path.write_bytes(self.before)
        self.answer_before = self.told()
        self.path.write_bytes(self.other)
        self.answer_of_other = self.told()

    def told(self) -> Answer:
        """What a process says that has never seen the state."""
        remembered.cache_clear()
        return self.monitor.status(alarm=0.05).to_dict()

    def add_next(self) -> Any:
        remembered.cache_clear()
        return self.monitor.add(self.next, batch_id="next", time="2026-03-20", window_name="window 1")

    def judge(self, kind: str, what: str, allowed: list[Answer] | None = None) -> None:
        """Ask the state as it lies there, and ask again after another batch."""
        allowed = [self.answer] if allowed is None else allowed
        outcome = self._outcome(self.told, allowed)
        if outcome == "same" and allowed == [self.answer]:
            added = self._outcome(lambda: self.add_next().lower, [self.lower])
            if added != "refused":
                after = self._outcome(self.told, [self.answer_after_next])
                outcome = added if added != "same" else after if after not in ("same", "refused") else outcome
        if outcome in ("same", "refused"):
            self.counts.add(kind, outcome)
        else:
            self.counts.fail(kind, f"{what}: {outcome}")

    def _outcome(self, ask: Callable[[], Any], allowed: list[Any]) -> str:
        try:
            found = ask()
        except (ValueError, OSError) as error:
            return "refused" if str(self.path) in str(error) else f"words without the path: {error!r}"
        except Exception as error:
            return f"not in words: {error!r}"
        return "same" if found in allowed else "OTHER NUMBERS"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path)
    try:
        with database:
            yield database
    finally:
        database.close()


def flips(field: Field) -> None:
    """A few flipped bits in one page, all pages in turn."""
    pages = len(field.sound) // PAGE
    page = field.counts.outcomes.total() % pages
    damaged, places = bytearray(field.sound), []
    for _ in range(field.chance.choice((1, 1, 1, 2, 5))):
        # Headers of pages, where structure is, are short next to what they lead to.
        place = PAGE * page + field.chance.randrange(field.chance.choice((120, PAGE)))
        bit = field.chance.randrange(8)
        damaged[place] ^= 1 << bit
        places.append((place, bit))
    field.path.write_bytes(damaged)
    field.judge("flipped bits", f"(byte, bit) {places}")


def pages(field: Field) -> None:
    """A page that is lost, old, of another state, or in the place of another."""
    damaged = bytearray(field.sound)
    one, two = (PAGE * field.chance.randrange(len(field.sound) // PAGE) for _ in range(2))
    how = field.chance.choice(("zeros", "noise", "old", "foreign", "swapped"))
    if how == "swapped":
        damaged[one : one + PAGE], damaged[two : two + PAGE] = damaged[two : two + PAGE], damaged[one : one + PAGE]
    else:
        source = {"zeros": bytes(PAGE), "noise": field.chance.randbytes(PAGE)}.get(how)
        if source is None:
            source = (field.before if how == "old" else field.other)[one : one + PAGE]
        damaged[one : one + len(source)] = source
    field.path.write_bytes(damaged)
    field.judge(f"{how} page", f"pages {one // PAGE}, {two // PAGE}")


def torn(field: Field) -> None:
    """Some pages from before a batch and some from after it, as where the journal of a killed writer was removed."""
    mixed = bytearray(field.sound)
    old = sorted(field.chance.sample(range(len(field.before) // PAGE), field.chance.randrange(1, 12)))
    for page in old:
        mixed[PAGE * page : PAGE * (page + 1)] = field.before[PAGE * page : PAGE * (page + 1)]
    field.path.write_bytes(mixed)
    field.judge("torn write", f"old pages {old}", [field.answer, field.answer_before])


def cuts(field: Field) -> None:
    """A file that ends early, or late."""
    size = field.chance.choice((0, field.chance.randrange(200), field.chance.randrange(len(field.sound))))
    if field.chance.random() < 0.3:
        size -= size % PAGE
    if field.chance.random() < 0.1:
        field.path.write_bytes(field.sound + field.chance.randbytes(field.chance.randrange(1, 3 * PAGE)))
        return field.judge("appended noise", "")
    field.path.write_bytes(field.sound[:size])
    return field.judge("cut", f"to {size} bytes")


def rows(field: Field) -> None:
    """A row that is lost, doubled, swapped, of another state, or has a value of another row."""
    field.path.write_bytes(field.sound)
    table = field.chance.choice(TABLES)
    with opened(field.path) as database:
        columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
        held = database.execute(f"SELECT * FROM {table}").fetchall()
        one, two = field.chance.choice(held), field.chance.choice(held)
        how = field.chance.choice(("lost", "swapped", "foreign", "renamed", "mixed"))
        keys = {"looks": 2}.get(table, 1)
        named = " AND ".join(f"{name} = ?" for name in columns[:keys])
        marks = ", ".join("?" * len(columns))
        if how == "lost":
            database.execute(f"DELETE FROM {table} WHERE {named}", one[:keys])
        elif how == "swapped":
            for mine, yours in ((one, two), (two, one)):
                database.execute(f"DELETE FROM {table} WHERE {named}", mine[:keys])
                database.execute(f"INSERT INTO {table} VALUES ({marks})", (*mine[:keys], *yours[keys:]))
        elif how == "foreign":
            database.execute("ATTACH ? AS other", (str(field.folder / "other"),))
            found = database.execute(f"SELECT * FROM other.{table} WHERE {named}", one[:keys]).fetchall()
            database.execute(f"DELETE FROM {table} WHERE {named}", one[:keys])
            database.executemany(f"INSERT INTO {table} VALUES ({marks})", found)
        elif how == "renamed":
            name = field.chance.choice(columns[:keys])
            value = one[columns.index(name)]
            other = value + field.chance.randrange(1, 20) if isinstance(value, int) else f"{value}!"
            database.execute(f"UPDATE OR REPLACE {table} SET {name} = ? WHERE {named}", (other, *one[:keys]))
        else:
            name = field.chance.choice(columns[keys:])
            value = two[columns.index(name)]
            database.execute(f"UPDATE {table} SET {name} = ? WHERE {named}", (value, *one[:keys]))
    field.judge(f"{how} row of {table}", f"{one[:keys]}, {two[:keys]}")


def caches(field: Field) -> None:
    """Any part of what can be computed again, gone or of another state."""
    field.path.write_bytes(field.sound)
    with opened(field.path) as database:
        database.execute("ATTACH ? AS other", (str(field.folder / "other"),))
        for stretch, number in database.execute("SELECT stretch, number FROM looks").fetchall():
            if field.chance.random() < 0.5:
                database.execute("DELETE FROM looks WHERE (stretch, number) = (?, ?)", (stretch, number))
        if field.chance.random() < 0.5:
            database.execute("INSERT OR IGNORE INTO looks SELECT * FROM other.looks")
        if field.chance.random() < 0.5:
            database.execute("DELETE FROM pool")
        if field.chance.random() < 0.5:
            database.execute("INSERT OR IGNORE INTO pool SELECT * FROM other.pool")
    field.judge("caches in part", "")


def replaced(field: Field) -> None:
    """Another file in the place of the state while a status is computed."""
    field.path.write_bytes(field.sound)
    first = field.chance.randrange(1, LAST + 1)
    with opened(field.path) as database:
        database.execute("DELETE FROM looks WHERE number >= ?", (first,))
        if field.chance.random() < 0.5:
            database.execute("DELETE FROM pool")
    compute, when = looks.certify_pool, field.chance.randrange(LAST + 1 - first)  # type: ignore[attr-defined]
    what, answer = field.chance.choice(
        (
            (field.other, field.answer_of_other),
            (field.before, field.answer_before),
            (field.sound, field.answer),
            (b"", None),
            (None, None),
        )
    )
    calls = iter(range(100))

    def replacing(*arguments: Any) -> Any:
        if next(calls) == when:
            field.path.unlink()
            if what is not None:
                field.path.write_bytes(what)
        return compute(*arguments)

    looks.certify_pool = replacing  # type: ignore[assignment, attr-defined]
    try:
        outcome = field._outcome(field.told, [field.answer])
    finally:
        looks.certify_pool = compute  # type: ignore[attr-defined]
    kind = "replaced meanwhile"
    if outcome not in ("same", "refused"):
        return field.counts.fail(kind, outcome)
    if (field.path.read_bytes() if field.path.exists() else None) != what and what != field.sound:
        return field.counts.fail(kind, "what took its place was changed")
    if answer is not None and field.told() != answer:
        return field.counts.fail(kind, "what took its place says something else")
    return field.counts.add(kind, outcome)


def remembering(field: Field) -> None:
    """A process that knows the state, and finds other states, or damage, in its place."""
    field.path.write_bytes(field.sound)
    allowed = {field.sound: field.answer, field.other: field.answer_of_other, field.before: field.answer_before}
    assert field.told() == field.answer
    for _ in range(5):
        content = field.chance.choice(list(allowed))
        damaged = bytearray(content)
        if field.chance.random() < 0.5:
            damaged[field.chance.randrange(len(damaged))] ^= 1 << field.chance.randrange(8)
        field.path.write_bytes(damaged)
        outcome = field._outcome(lambda: field.monitor.status(alarm=0.05).to_dict(), [allowed[content]])
        if outcome in ("same", "refused"):
            field.counts.add("remembered", outcome)
        else:
            field.counts.fail("remembered", outcome)


NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
FOREIGN = {
    "endless view": f"ALTER TABLE pool RENAME TO p; CREATE VIEW pool AS {NUMBERS} i, zeroblob(900000), x'' FROM n;",
    "view of batches": "ALTER TABLE batches RENAME TO b; CREATE VIEW batches AS SELECT * FROM b;",
    "trigger that loses batches": "CREATE TRIGGER t BEFORE INSERT ON batches BEGIN SELECT raise(IGNORE); END;",
    "trigger that changes rows": "CREATE TRIGGER t AFTER INSERT ON learned BEGIN DELETE FROM looks; END;",
    "generated column": "ALTER TABLE settings ADD COLUMN more REAL AS (abs(value)) VIRTUAL;",
    "checked column": "ALTER TABLE settings ADD COLUMN more REAL CHECK (value >= 0);",
    "virtual table": "CREATE VIRTUAL TABLE more USING fts5(words);",
    "table in place of another": "DROP TABLE pool; CREATE TABLE pool (batches, summary, digest);",
    "extra index": "CREATE INDEX more ON batches (digest);",
    "extra unique index": "CREATE UNIQUE INDEX more ON batches (id);",
    "extra table": "CREATE TABLE more (name TEXT);",
    "statistics": "ANALYZE;",
    "lost table": "DROP TABLE looks;",
    "crafted line": "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'pool';",
    "crafted name": "CREATE TABLE more (x); PRAGMA writable_schema = ON; "
    "UPDATE sqlite_schema SET type = NULL, tbl_name = x'00' WHERE name = 'more';",
}
"""What strangers may do to the schema of a state, by what it is."""


def foreign(field: Field) -> None:
    """A schema that no monitor makes: nothing of it is run, and nothing is changed."""
    name = field.chance.choice(list(FOREIGN))
    field.path.write_bytes(field.sound)
    with opened(field.path) as database:
        database.executescript(FOREIGN[name])
    before, start = field.path.read_bytes(), time.monotonic()
    outcomes = {field._outcome(ask, []) for ask in (field.told, field.add_next, field.monitor.check)}
    if outcomes == {"refused"} and field.path.read_bytes() == before and time.monotonic() - start < PATIENCE:
        field.counts.add("foreign schema", "refused")
    else:
        field.counts.fail("foreign schema", f"{name}: {outcomes}, after {time.monotonic() - start:.0f} s")


IMPOSSIBLE: dict[str, tuple[Any, ...]] = {
    "time": ("9999-12-31T00:00:00", "0001-01-01T00:00:00", "1900-01-01T00:00:00", "2026-03-01", "noon", "", 20260301),
    "rows": (0, -5, "many", 1e300, b"400"),
    "positives": (-1, 10**9, "all"),
    "lower": (2.0, -1.0, float("inf"), "none"),
    "window": (7, b"window 0"),
    "id": (b"0", 3),
}
"""Values that no monitor writes into the line of a batch."""


def crafted(field: Field) -> None:
    """An impossible value in a line, with every checksum made to fit."""
    field.path.write_bytes(field.sound)
    column = field.chance.choice(list(IMPOSSIBLE))
    number, value = field.chance.randrange(1, len(SIZES) + 1), field.chance.choice(IMPOSSIBLE[column])
    with opened(field.path) as database:
        state = State(database, field.path)
        # SQLite would turn some values into the type of the column; a blob keeps its bytes, text its letters.
        database.execute(f"UPDATE batches SET {column} = ? WHERE number = ?", (value, number))
        before = state.origin()
        for line in map(Batch._make, database.execute("SELECT * FROM batches ORDER BY number").fetchall()):
            before = line.chained(before)
            database.execute("UPDATE batches SET digest = ? WHERE number = ?", (before, line.number))
        known = database.execute("SELECT memory, wealth FROM learned").fetchone()
        database.execute("UPDATE learned SET digest = ?", (digest(before, state.origin(), *known),))
        (kept,) = database.execute(f"SELECT {column} FROM batches WHERE number = ?", (number,)).fetchone()
    outcomes = {field._outcome(ask, []) for ask in (field.told, field.add_next, field.monitor.check)}
    expected = {"OTHER NUMBERS"} if kept != value or type(kept) is not type(value) else {"refused"}
    if outcomes <= {"refused"} | expected:
        field.counts.add("crafted line", "refused" if outcomes == {"refused"} else "made possible by SQLite")
    else:
        field.counts.fail("crafted line", f"{column} {value!r} of batch {number}: {outcomes}")


def times(field: Field) -> None:
    """A batch whose time is at an end of what states take, or beyond it: shown, or refused."""
    field.path.write_bytes(field.sound)
    when = field.chance.choice(
        ("1900-01-02", "2199-12-31", "1900-01-01", "2200-01-01", "9999-12-31", "0001-01-01", "0001-01-01T00:00+14:00")
    )
    try:
        field.monitor.add(batch(70, 300, 0.1), batch_id="elsewhen", time=when, window="month")
    except ValueError as error:
        wrong = "time must lie between" not in str(error) or field.path.read_bytes() != field.sound
        return field.counts.fail("time", f"{when}: {error}") if wrong else field.counts.add("time", "refused")
    try:
        status = field.monitor.status(alarm=0.05)
        status.plot().savefig(field.folder / "figure.svg")
        status.to_html(field.folder / "page.html")
    except Exception as error:
        return field.counts.fail("time", f"{when}: {error!r}")
    return field.counts.add("time", "shown")


def cumulative(field: Field) -> None:
    """Days apart are taken; exports of all days so far are refused, and with ids every row counts once."""
    rng = np.random.default_rng(field.chance.randrange(2**32))
    decimals, rows = field.chance.choice((1, 2, 3, 8)), field.chance.choice((1, 3, 30, 60, 400, 2000))
    truth = rng.beta(rng.uniform(0.5, 4), rng.uniform(0.5, 4), 4 * rows)
    truth[rng.random(truth.size) < field.chance.choice((0, 0, 0.7))] = 0.25
    scores, labels = truth.round(decimals), rng.random(truth.size) < truth
    how = field.chance.choice(("honest days", "cumulative days", "cumulative days with ids"))
    path = field.folder / "days"
    path.unlink(missing_ok=True)
    added, names = 0, np.array([f"row {number}" for number in rng.permutation(truth.size)])
    for day in range(1, 5):
        place = slice((day - 1) * rows if how == "honest days" else 0, day * rows)
        ids = names[place] if how == "cumulative days with ids" else None
        try:
            added += Monitor(path).add(scores[place], labels[place], batch_id=f"day {day}", ids=ids).rows
        except ValueError as error:
            # Scores that tell rows apart: that many of them are no chance.
            if how == "cumulative days" and f"it holds those of batch 'day {day - 1}'" in str(error):
                return field.counts.add(how, "refused")
            return field.counts.fail(how, f"{rows} rows, {decimals} decimals: {error}")
    told = int(np.unique(scores).size > 50 and decimals == 8)
    if how == "cumulative days" and told and rows >= 60:
        return field.counts.fail(how, f"{rows} rows, {decimals} decimals: not noticed")
    if how != "cumulative days" and added != truth.size:
        return field.counts.fail(how, f"{added} of {truth.size} rows")
    return field.counts.add(how, "added")


def killed(field: Field, rounds: int) -> None:
    """Writers killed at random moments: what they acknowledged is there, and says what it says without kills."""
    state, calm = field.folder / "killed", field.folder / "calm"
    for path in (state, calm):
        path.unlink(missing_ok=True)
    command = [sys.executable, str(WRITERS), "kill", str(state), str(rounds)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return field.counts.fail("killed writers", done.stderr)
    remembered.cache_clear()
    with opened(state) as database:
        lines = database.execute("SELECT id, time, window FROM batches ORDER BY number").fetchall()
    if not {*json.loads(done.stdout)["acknowledged"]} <= {name for name, *_ in lines}:
        return field.counts.fail("killed writers", "an acknowledged batch is lost")
    same = batch_of_writers()
    for name, when, window in lines:
        Monitor(calm).add(same, batch_id=name, time=when, window_name=window, again=True)
    if Monitor(state).check().batches != len(lines) or Monitor(state).status() != Monitor(calm).status():
        return field.counts.fail("killed writers", "other numbers than without kills")
    field.counts.outcomes["killed writers", "same"] += rounds
    return None


def batch_of_writers() -> Summary:
    from tests.monitoring.writers import BATCH

    return BATCH


KINDS = (
    foreign,
    crafted,
    times,
    cumulative,
    cumulative,
    cumulative,
    flips,
    flips,
    flips,
    rows,
    rows,
    pages,
    torn,
    cuts,
    caches,
    replaced,
    remembering,
)


def run(budget: float, seed: int) -> Counts:
    """Try to make a state say something else than before; see :mod:`tests.campaign`."""
    end = time.monotonic() + budget
    folder = Path(tempfile.mkdtemp())
    try:
        field = Field(folder, seed)
        killed(field, rounds=3 if budget < 60 else 100)
        for kind in KINDS:
            kind(field)
        while time.monotonic() < end:
            for kind in KINDS:
                kind(field)
        return field.counts
    finally:
        shutil.rmtree(folder)
