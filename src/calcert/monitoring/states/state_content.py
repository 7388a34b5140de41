"""The content of a state in SQL: reads are checked against their checksums, writes are whole batches.

A batch is one transaction, acknowledged when SQLite has synced it to the disk (rollback journal, synchronous=EXTRA): a
process killed at any instant loses at most the batch that was not acknowledged. Writers queue for the write lock before
they read, so that none works on stale numbers.

:meth:`State.tip` checks the settings and what betting knows, :meth:`State.batches` the chain of all lines that this
process has not checked before. Whatever else is read is checked then; :meth:`State.check` reads everything.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from calcert.certificates.certificate import Certificate
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.number_text import rows_text
from calcert.foundation.validation import complement
from calcert.monitoring.betting_strategies import BETS, LIMITS, Wealth
from calcert.monitoring.looks import EVERYTHING, Due, Known, Life
from calcert.monitoring.states.checksummed_batches import Batch, digest
from calcert.monitoring.states.state_opening import DamagedState
from calcert.monitoring.status import Status
from calcert.monitoring.watched_statements import HALF_LIVES, NODES, USUAL, WATCHED, Memory
from calcert.reports.settings import Settings
from calcert.summary.summary import Summary

FIELDS = tuple(field.name for field in fields(Certificate))
"""What is kept of a certificate of a look."""

STRETCH = 64
"""Batches whose gains are read at a time."""


@dataclass(frozen=True)
class Tip:
    """Where a state stands: what the next batch is chained to and judged by.

    `number` and `digest` are those of the last batch; 0 and that of the settings where there is none.
    """

    number: int
    digest: bytes
    memory: Memory
    wealth: Wealth


@dataclass(frozen=True)
class Checked:
    """What a state holds, once all of it has been read and nothing of it is damaged.

    Of the looks that are `due`, at all rows and at windows, those not `kept` are computed by the next status.
    """

    batches: int
    rows: int
    due: int
    kept: int

    def __str__(self) -> str:
        batches = "1 batch" if self.batches == 1 else f"{self.batches:,} batches"
        rest = "" if self.kept == self.due else "; the next status computes the rest"
        kept = f"Looks kept: {self.kept:,} of {self.due:,} due{rest}."
        return f"{batches} of {rows_text(self.rows)}: nothing is damaged. {kept}"


class State:
    """The content of a state, inside one transaction of :mod:`calcert.monitoring.states.state_opening`."""

    def __init__(self, database: sqlite3.Connection, path: Path) -> None:
        self._database = database
        self._path = path

    def settings(self) -> dict[str, float]:
        """What was fixed when the state was started; empty for a new one."""
        return dict(self._database.execute("SELECT name, value FROM settings").fetchall())

    def chosen(self) -> Settings:
        """The settings as certificates take them."""
        settings: dict[str, Any] = dict(self.settings())
        return Settings(**settings | {name: int(settings[name]) for name in ("crossings", "seed")})

    def statement(self) -> str:
        """What the state watches."""
        watched = [name for (name,) in self._database.execute("SELECT statement FROM watched")]
        if not watched and not self.settings():
            return USUAL  # Nothing was added yet.
        if len(watched) != 1 or watched[0] not in WATCHED:
            raise self.damaged(f"it must watch one of {', '.join(WATCHED)}; it watches {watched}")
        return str(watched[0])

    def set(self, settings: Settings, statement: str) -> None:
        """Fix the settings of a new state, those that its statements are certified with, and what it watches."""
        values = [(name, float(value)) for name, value in settings.to_dict().items() if name != "statements"]
        self._database.executemany("INSERT INTO settings VALUES (?, ?)", values)
        self._database.execute("INSERT INTO watched VALUES (?)", (statement,))

    def origin(self) -> bytes:
        """What the first batch is chained to: the settings, and what is watched."""
        return digest(sorted(self.settings().items(), key=repr), self.statement())

    def tip(self) -> Tip:
        """Where the state stands, with the settings and what betting knows checked against the last line."""
        last = self._database.execute("SELECT number, digest FROM batches ORDER BY number DESC LIMIT 1").fetchone()
        learned = self._database.execute("SELECT batches, memory, wealth, digest FROM learned").fetchall()
        memory = WATCHED[self.statement()].memory
        if last is None and not learned and not self._database.execute("SELECT 1 FROM contents LIMIT 1").fetchall():
            return Tip(0, self.origin(), memory.blank(), Wealth.blank())
        if last is None or [line[0] for line in learned] != [last[0]]:
            raise self.damaged("it has the lines of more or fewer batches than there were")
        _, *taught, checksum = learned[0]
        if checksum != digest(last[1], self.origin(), *taught):
            raise self.damaged("its settings, or what earlier batches taught, do not fit their checksum")
        wealth = np.frombuffer(taught[1]).reshape(-1, BETS.size, LIMITS.size)
        return Tip(last[0], last[1], memory.unpacked(taught[0]), Wealth(last[0], wealth))

    def batches(self, tip: Tip, after: Batch | None = None) -> list[Batch]:
        """The batches up to the tip, or those after one that the state holds, with the chain of their digests checked.

        A digest stands for all lines up to its own: those up to `after` are what they were when it was checked.
        """
        number, before = (0, self.origin()) if after is None else (after.number, after.digest)
        rows = self._database.execute("SELECT * FROM batches WHERE number > ? ORDER BY number", (number,))
        lines = list(map(Batch._make, rows))
        for place, batch in enumerate(lines, start=number + 1):
            if batch.number != place or batch.chained(before) != batch.digest or not batch.possible:
                raise self.damaged(f"the line of batch {place} does not fit its checksum")
            before = batch.digest
        if before != tip.digest:
            raise self.damaged("it has the lines of more or fewer batches than there were")
        return lines

    def holds(self, batch: Batch) -> bool:
        """Whether this is a state of the same life: with this very batch, and therefore with all before it."""
        kept = self._database.execute("SELECT digest FROM batches WHERE number = ?", (batch.number,)).fetchone()
        return bool(kept == (batch.digest,))

    def append(
        self, tip: Tip, name: str, time: str, window: str | None, rows: Summary, packed: bytes, ids: bytes = b""
    ) -> tuple[Batch, Tip]:
        """Judge the batch after `tip` by what earlier ones taught, learn from it, write it; `packed` are its rows."""
        # The order matters: witnesses must be fixed before the batch is learned from (W1).
        histograms = tip.memory.gains(rows)
        wealth = tip.wealth.after(histograms)
        batch = Batch(
            number=tip.number + 1,
            id=name,
            rows=rows.n,
            positives=rows.positives,
            time=time,
            window=window,
            lower=wealth.lower(self.chosen().delta),
            gains_digest=digest(histograms.tobytes()),
            summary_digest=digest(packed),
            ids_digest=digest(ids),
            digest=b"",
        )
        batch = batch._replace(digest=batch.chained(tip.digest))
        memory = tip.memory.after(rows)
        self._database.execute(f"INSERT INTO batches VALUES ({', '.join('?' * len(batch))})", batch)
        content = (batch.number, histograms.tobytes(), packed, ids)
        self._database.execute("INSERT INTO contents VALUES (?, ?, ?, ?)", content)
        self._database.execute("DELETE FROM learned")
        learned = (memory.packed(), wealth.logarithm.tobytes())
        checksum = digest(batch.digest, self.origin(), *learned)
        self._database.execute("INSERT INTO learned VALUES (?, ?, ?, ?)", (batch.number, *learned, checksum))
        return batch, Tip(batch.number, batch.digest, memory, wealth)

    def gains(self, batches: Sequence[Batch]) -> Iterator[Floats]:
        """The histograms of gains of consecutive batches, the latest first, a stretch of batches at a time."""
        for stop in range(len(batches), 0, -STRETCH):
            stretch = batches[max(stop - STRETCH, 0) : stop]
            kept = self._database.execute(
                "SELECT gains FROM contents WHERE number BETWEEN ? AND ? ORDER BY number DESC",
                (stretch[0].number, stretch[-1].number),
            ).fetchall()
            if [digest(gains) for (gains,) in kept] != [batch.gains_digest for batch in reversed(stretch)]:
                raise self.damaged("the gains of a batch do not fit their checksum")
            yield np.array([np.frombuffer(gains) for (gains,) in kept]).reshape(-1, len(HALF_LIVES), NODES.size)

    def packed(self, batch: Batch) -> bytes:
        """The rows of one batch, as they are kept."""
        kept = self._database.execute("SELECT summary FROM contents WHERE number = ?", (batch.number,)).fetchone()
        if kept is None or digest(kept[0]) != batch.summary_digest:
            raise self.damaged(f"the rows of batch {batch.number} do not fit their checksum")
        return bytes(kept[0])

    def summary(self, batch: Batch) -> Summary:
        """The rows of one batch."""
        return Summary.from_bytes(self.packed(batch))

    def ids(self, batches: Sequence[Batch]) -> Integers:
        """The hashes of all ids of these batches, the first of the state; those added without ids have none."""
        last = batches[-1].number if batches else 0
        rows = self._database.execute("SELECT number, ids FROM contents WHERE number <= ? AND ids != x''", (last,))
        kept = dict(rows.fetchall())
        if [digest(kept.get(batch.number, b"")) for batch in batches] != [batch.ids_digest for batch in batches]:
            raise self.damaged("the ids of a batch do not fit their checksum")
        return np.frombuffer(b"".join(kept.values()), "<i8").astype(np.int64)

    def looks(self, due: Iterable[Due]) -> dict[Due, dict[str, Certificate]]:
        """Of the looks that are due, those that were kept and are about the very rows that they must be about.

        Any other is as good as none: it is computed again, and nothing is refused.
        """
        valid = {}
        for look in due:
            key = (look.stretch, look.number)
            kept = self._database.execute(
                "SELECT certificates, digest FROM looks WHERE stretch = ? AND number = ?", key
            ).fetchone()
            if kept is not None and kept[1] == digest(look.covered, key, kept[0]):
                made = _certificates(kept[0])
                about = {(certificate.n, certificate.confidence) for certificate in made.values()}
                if tuple(made) == look.statements and about == {(look.rows, complement(look.delta))}:
                    valid[look] = made
        return valid

    def keep_looks(self, made: Mapping[Due, Mapping[str, Certificate]]) -> None:
        """Keep the certificates of looks, so that none is computed twice."""
        for look, certificates in made.items():
            key = (look.stretch, look.number)
            content = json.dumps({name: certificate.to_dict() for name, certificate in certificates.items()})
            self._database.execute(
                "INSERT OR REPLACE INTO looks VALUES (?, ?, ?, ?)", (*key, content, digest(look.covered, key, content))
            )
            if look.stretch != EVERYTHING:
                # Nobody asks for earlier looks at a window.
                self._database.execute("DELETE FROM looks WHERE stretch = ? AND number < ?", key)

    def pool(self, batches: Sequence[Batch]) -> tuple[int, Summary]:
        """How many of the first batches are pooled, those up to the last look at all rows, and their rows together.

        Nothing is pooled where what was kept is not about the first of these batches.
        """
        kept = self._database.execute("SELECT batches, summary, digest FROM pool").fetchall()
        for size, packed, checksum in kept:
            if 0 < size <= len(batches) and checksum == digest(batches[size - 1].digest, packed):
                return size, Summary.from_bytes(packed)
        return 0, Summary.empty()

    def keep_pool(self, last: Batch, pool: Summary) -> None:
        """Keep the rows of all batches up to `last` together."""
        packed = pool.to_bytes()
        self._database.execute("DELETE FROM pool")
        self._database.execute("INSERT INTO pool VALUES (?, ?, ?)", (last.number, packed, digest(last.digest, packed)))

    def check(self) -> Checked:
        """Check every page, line, histogram and Summary, and that rows add up; raises where something is damaged."""
        pages = [says for (says,) in self._database.execute("PRAGMA integrity_check")]
        if pages != ["ok"]:
            raise self.damaged(f"SQLite says: {pages[0]}")
        batches = self.batches(self.tip())
        for _ in self.gains(batches):
            pass
        self.ids(batches)
        pooled, pool = self.pool(batches)
        together = Summary.empty()
        for batch in batches:
            rows = self.summary(batch)
            if (rows.n, rows.positives) != (batch.rows, batch.positives):
                raise self.damaged(f"batch {batch.number} has other rows than its line says")
            if batch.number <= pooled:
                together += rows
        if together != pool:
            raise self.damaged("the rows of all batches together are not those of the batches")
        if not batches:
            return Checked(0, 0, 0, 0)
        life = Life(self.chosen(), self.statement()).after(batches)
        return Checked(len(batches), life.rows, len(life.due), len(self.looks(life.due)))

    def damaged(self, what: str) -> DamagedState:
        """The error that says what is damaged."""
        return DamagedState(f"{self._path} is damaged: {what}. Nothing was changed; restore the file from a copy.")


def _certificates(content: str) -> dict[str, Certificate]:
    """Certificates by statement from what fits its checksum; none where another version wrote it in another form."""
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        return {name: Certificate(*[values[field] for field in FIELDS]) for name, values in json.loads(content).items()}
    return {}


@dataclass
class Remembered:
    """What this process has read of a state and checked: one that has lived for years costs what a young one does.

    Nothing is believed because it was read once. A digest stands for all lines up to its own: lines that were checked
    are those of the state as long as it has the digest of the last of them. A certificate is known by the digest of the
    last batch that it covers; an answer, without a limit, by the digest of the last batch there was.
    """

    life: Life | None = None
    certificates: Known = field(default_factory=dict)
    answers: dict[bytes, Status] = field(default_factory=dict)

    def read(self, state: State, tip: Tip) -> Life:
        """The life of the state, of which only lines that are not remembered are read."""
        life = self.life
        last = life.batches[-1] if life is not None and life.batches else None
        if life is None or last is None or not state.holds(last):
            life, last = Life(state.chosen(), state.statement()), None
        self.life = life.after(state.batches(tip, last))
        return self.life

    def known(self, state: State, life: Life) -> dict[Due, Mapping[str, Certificate]]:
        """The certificates of the looks of a life that are remembered, or kept in the state."""
        certificates = {due: self.certificates[due] for due in life.due if due in self.certificates}
        return certificates | state.looks([due for due in life.due if due not in certificates])


@lru_cache(maxsize=8)  # Five thousand batches take some megabytes.
def remembered(path: Path) -> Remembered:
    """What is remembered of the state at an absolute path; ``remembered.cache_clear()`` forgets everything."""
    return Remembered()
