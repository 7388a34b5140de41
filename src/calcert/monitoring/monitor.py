"""Monitor: labelled batches arrive over months, and the bounds hold at any moment, however often one looks."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from calcert.foundation.refusal import Argument, NoRows, WrongValue
from calcert.foundation.validation import check_confidence, check_seed, check_variation
from calcert.monitoring.betting_strategies import latest_start
from calcert.monitoring.looks import Certifier, changes, window_key
from calcert.monitoring.new_batches import new_rows, refuse_mixture, refuse_repetition, rows_to_add
from calcert.monitoring.states import state_opening
from calcert.monitoring.states.checksummed_batches import Batch, moment, written
from calcert.monitoring.states.state_content import Checked, State, remembered
from calcert.monitoring.status import Added, Alarm, Status
from calcert.monitoring.watched_statements import USUAL, WATCHED
from calcert.reports.settings import Settings
from calcert.reports.statements import check_statement
from calcert.sources.rows_in_memory import IdentifiedRows
from calcert.summary.summary import Summary

LOG = logging.getLogger("calcert")


class Monitor:
    """Monitor a deployed classifier: add labelled batches as they come, and ask at any time.

    Guarantee
        Each of three kinds of bounds holds for the whole life of the state, at all moments together, with probability
        at least `confidence`, whenever and however often one looks:

        * ``lower`` and the alarm: some batch so far had an error of at least ``lower``. So the alarm, for any limit, is
          false with probability at most 1 - `confidence` over the whole life, however the distribution drifts, even
          in response to what was seen.
        * ``upper``: at each interim analysis ("look"), the error over all rows so far pooled is at most ``upper``.
          Distributions may drift, but not in response to rows seen. Opposite errors of different months may cancel in
          the pool; windows say more about today.
        * windows: for each statement, all its intervals in all windows, over the data and the random splits set by
          `seed`. Two that do not meet prove that calibration has changed.

        The error is what `statement` says: the distance from calibration; the cutoff calibration error;
        or the L1 calibration error, of perturbed scores for ``upper``, of unmodified ones for ``lower`` and the alarm,
        and of both for windows. Only the upper bounds ``l1`` of windows may assume something.
    Assumes
        Rows that were not used to train the classifier and are independent given what came before; within a window,
        draws from one distribution. Which rows get a label, and when, does not depend on the label. For ``upper`` and
        windows: neither the size nor the window of a batch responds to rows, to their labels or to their scores. Sizes
        that are fixed, or come from the calendar or the traffic, are fine.

    Parameters
    ----------
    path
        The file of the state, started by the first batch. A classifier that was retrained or recalibrated is another
        one: start another state for it.
    statement
        What to watch: "distance", "cutoff" or "perturbed"; fixed for life by the first batch. Left out, it is what the
        state watches, or "distance" for a new one.
    confidence, odds, bandwidth, variation, seed
        As in :class:`calcert.Settings` and fixed for life by the first batch; left out, they are what the state has, or
        the usual ones for a new one.

    Examples
    --------
    >>> import tempfile
    >>> monitor = calcert.Monitor(tempfile.mkdtemp() + "/state.calcert")
    >>> rng = np.random.default_rng(0)
    >>> for day in range(1, 9):
    ...     truth = rng.random(2_000)
    ...     scores = truth if day <= 4 else truth**0.7
    ...     _ = monitor.add(scores, rng.random(2_000) < truth, batch_id=f"day {day}", time=f"2026-03-{day:02d}")
    >>> status = monitor.status(alarm=0.02)
    >>> status.alarm.since, status.alarm.between
    ('2026-03-06T00:00:00', '2026-03-06T00:00:00')
    >>> print(f"some batch had an error of at least {status.lower:.3f}")
    some batch had an error of at least 0.067
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        statement: str | None = None,
        confidence: float | None = None,
        odds: float | None = None,
        bandwidth: float | None = None,
        variation: float | None = None,
        seed: int | None = None,
    ) -> None:
        self.path = Path(path)
        self._statement = None if statement is None else check_statement(statement, WATCHED)
        asked = Settings(odds=odds, bandwidth=bandwidth).noise
        noise = {} if odds is None and bandwidth is None else asked.parameters
        checks = {"confidence": check_confidence, "variation": check_variation, "seed": check_seed}
        given = {"confidence": confidence, "variation": variation, "seed": seed}
        self._given: dict[str, Any] = {name: checks[name](v) for name, v in given.items() if v is not None} | noise
        if seed is not None and float(seed) != seed:
            raise ValueError(f"seed must be at most 2^53 in a monitor, which keeps it as a double; got {seed}.")

    def add(
        self,
        scores: Any,
        labels: Any = None,
        *,
        batch_id: str,
        score: str | None = None,
        label: str | None = None,
        ids: Any = None,
        time: datetime | date | str | None = None,
        window: str | None = None,
        window_name: str | None = None,
        again: bool = False,
        allow_empty: bool = False,
    ) -> Added:
        """Add a batch: once this returns, it is safe on the disk.

        Parameters
        ----------
        scores, labels, score, label
            The rows: all that :func:`calcert.summarize` takes, or a :class:`calcert.Summary`.
        batch_id
            A name for the batch. Adding the same batch under the same id again changes nothing and says so, so that a
            failed job may simply run again; other rows under an id that is there are refused.
        ids
            An array, or a column of the table, that names each row: rows whose ids were added before are left out and
            counted. With every batch of a state or with none. Write them in one way: 7 and "7" are the same id, "007"
            is another. The state keeps a hash of every id, of at most 2^24 rows.
        time
            When the rows are from; now, if left out.
        window, window_name
            The window that the batch belongs to: "day", "week" or "month" for that of `time`; or a name of your own.
        again
            True to add a batch that contains an earlier one. Without it such a batch is refused: exports often hold
            all labels so far, and rows that count twice void every bound.
        allow_empty
            True to let a batch without new rows pass, such as a day without labels; nothing is changed then.
        """
        if not isinstance(batch_id, str) or not batch_id.strip():
            raise ValueError(f"batch_id must be a string that is not empty; got {batch_id!r}.")
        when = moment(time)
        at, key = written(when), window_key(window, window_name, when)
        way = ("For a day without labels pass ", Argument("allow_empty", True), "."), "Nothing was changed."
        try:
            added = self._add(batch_id, at, key, rows_to_add(scores, labels, score, label, ids), again)
        except NoRows as error:
            if not allow_empty:
                raise error.saying(*way) from None
            LOG.warning("%s", error.said)
            return Added(batch_id, None, 0, False, None)
        if added.number is None and not allow_empty:
            raise WrongValue(
                f"batch {batch_id!r}",
                f"must have new rows; all of its {added.known:,} were added before",
                None,
                "",
                *way,
            )
        return added

    def _add(self, name: str, time: str, window: str | None, given: Summary | IdentifiedRows, again: bool) -> Added:
        """Add what is new among the rows, in one transaction."""
        with state_opening.starting(self.path) as database:
            state = State(database, self.path)
            if not state.settings():
                watched = self._statement or USUAL
                named = (watched,) if watched == "perturbed" else ()
                state.set(Settings(**self._given, statements=named), watched)
            tip = state.tip()
            self._settings_checked(state)
            batches = remembered(self.path.absolute()).read(state, tip).batches
            existing = next((batch for batch in batches if batch.id == name), None)
            before = batches if existing is None else batches[: existing.number - 1]
            rows, ids, known = new_rows(given, state, before)
            if existing is None:
                if not rows.n:
                    return Added(name, None, 0, False, None, known)
                refuse_mixture(batches, name, identified=bool(ids))
                packed = rows.to_bytes()
                if not again:
                    refuse_repetition(state, batches, name, rows, packed, identified=bool(ids))
                new, _ = state.append(tip, name, time, window, rows, packed, ids)
            elif state.summary(existing) != rows:
                raise ValueError(
                    f"batch_id must be new, or the batch the same; {name!r} is there already as batch "
                    f"{existing.number:,} with {existing.rows:,} other rows. Nothing was changed; give these rows an "
                    "id of their own."
                )
        # Only now is the batch safe, and may be acknowledged.
        batch = existing or new
        return Added(name, batch.number, batch.rows, batch is existing, batch.lower, known)

    def status(self, *, alarm: float | None = None) -> Status:
        """What is certified now.

        Parameters
        ----------
        alarm
            The error above which the alarm is raised; any limit may be tried at any time.
        """
        limit = None if alarm is None else _check_limit(alarm)
        book = remembered(self.path.absolute())
        with state_opening.reading(self.path) as database:
            state = State(database, self.path)
            tip = state.tip()
            life = book.read(state, tip) if tip.number else None
            if life is None or not life.rows:
                raise ValueError(f"{self.path} must be the state of a monitor; it has no rows yet. Add a first batch.")
            settings = self._settings_checked(state)
            raised = None if limit is None else _first_alarm(state, life.batches, limit, settings.delta)
            answer = book.answers.get(tip.digest)
            known = {} if answer is not None else book.known(state, life)
        if answer is None:
            certifier = Certifier(life, known, self._rows_of, lambda: self._pool_kept(life.batches))
            certifier.certify()
            looks, windows = certifier.looks(), certifier.windows()
            answer = Status(
                statement=life.statement,
                confidence=settings.confidence,
                lower=life.lower,
                evidence=float(tip.wealth.evidence()[0]) / math.log(10),
                upper=looks[-1].certificate,
                limit=None,
                alarm=None,
                windows=tuple(windows),
                changes=changes(windows),
                history=life.history,
                looks=looks,
                state_fingerprint=tip.digest.hex()[:16],
            )
            self._keep_certificates(certifier)
            book.certificates, book.answers = certifier.known, {tip.digest: answer}
        return replace(answer, limit=limit, alarm=raised)

    def check(self) -> Checked:
        """Read and check everything that the state holds, which takes a while; a damaged one is refused.

        :meth:`add` and :meth:`status` check all that their numbers come from. What they have no need to read, above all
        the rows of old batches, is checked here.
        """
        with state_opening.reading(self.path) as database:
            state = State(database, self.path)
            checked = state.check()
            if checked.batches:
                self._settings_checked(state)
            return checked

    def _settings_checked(self, state: State) -> Settings:
        """The settings of the state, which must be those given, as must be what it watches."""
        watched = state.statement()
        if self._statement not in (None, watched):
            raise ValueError(
                f"statement is fixed for the life of a state; got {self._statement!r}, and {self.path} watches "
                f"{watched!r}. Leave it out, or start another state."
            )
        settings = state.settings()
        for name, value in self._given.items():
            if settings.get(name) != value:
                started = f"{settings[name]:g}" if name in settings else state.chosen().noise.shown
                raise ValueError(
                    f"{name} is fixed for the life of a state; got {value:g}, and {self.path} was started with "
                    f"{started}. Leave it out, or start another state."
                )
        return state.chosen()

    def _rows_of(self, batch: Batch) -> Summary:
        """The rows of one batch, read from the state, which must still be the same one."""
        # A transaction of its own for every batch, so that no writer waits for all of them to be read.
        with state_opening.reading(self.path) as database:
            state = State(database, self.path)
            if not state.holds(batch):
                raise ValueError(
                    f"{self.path} was replaced by another state while it was read. Nothing was changed; ask again."
                )
            return state.summary(batch)

    def _pool_kept(self, batches: Sequence[Batch]) -> tuple[int, Summary]:
        """What the state keeps of the first batches together: how many they are, and their rows."""
        with state_opening.reading(self.path) as database:
            return State(database, self.path).pool(batches)

    def _keep_certificates(self, certifier: Certifier) -> None:
        """Keep new certificates for the next time, if this user may write and the state is still the same one."""
        if certifier.fresh and os.access(self.path, os.W_OK) and os.access(self.path.absolute().parent, os.W_OK):
            # A full disk, or a file that has gone, costs no more than computing them again.
            with suppress(OSError, ValueError), state_opening.writing(self.path) as database:
                state, batches = State(database, self.path), certifier.life.batches
                if state.holds(batches[-1]):
                    state.keep_looks(certifier.fresh)
                    if certifier.pooled > certifier.kept:
                        state.keep_pool(batches[certifier.pooled - 1], certifier.pool)


def _first_alarm(state: State, batches: Sequence[Batch], limit: float, delta: float) -> Alarm | None:
    """The first batch after which the lower bound exceeded the limit, and the shortest stretch that proves it."""
    proof = next((batch for batch in batches if batch.lower > limit), None)
    if proof is None:
        return None
    start = batches[latest_start(proof.number, state.gains(batches[: proof.number]), limit, delta) - 1]
    below = WATCHED[state.statement()].below
    return Alarm(limit, proof.time, proof.id, proof.number, start.time, start.number, below)


def _check_limit(alarm: Any) -> float:
    """The error above which there is an alarm."""
    if isinstance(alarm, bool) or not isinstance(alarm, (int, float)) or not 0 <= alarm < 1:
        raise ValueError(f"alarm must be a calibration error, at least 0 and less than 1, such as 0.05; got {alarm!r}.")
    return float(alarm)
