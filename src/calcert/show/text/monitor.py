"""The status of a monitor as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import at_least, at_most, given, percent_sure, rows_text
from calcert.reports.statements import columns
from calcert.show.certificate_words import MEASURE, STATEMENTS, assumed
from calcert.show.interval_lines import window_lines
from calcert.show.text.tables import interval_table

if TYPE_CHECKING:
    from calcert.monitoring.status import Status

WINDOWS_SHOWN = 12
"""The last windows, in a table; all are in the JSON."""


def status_view(status: Status) -> RenderableType:
    """The status for a rich console."""
    lines: list[RenderableType] = [Text(reach(status)), Text("")]
    if status.limit is not None:
        lines += [Text(alarm_sentence(status), style="bold red" if status.alarm is not None else ""), Text("")]
    sentences = (lower_sentence(status), upper_sentence(status), crossed(status))
    lines += [Text(sentence) for sentence in sentences if sentence]
    if status.windows:
        lines += [Text(""), _window_table(status), *map(Text, assumption_lines(status))]
        lines += [Text(words, style="yellow") for words in change_lines(status)]
        if not status.changes:
            lines.append(Text("No change between windows is proven."))
    return Group(*lines, Text(""), Text(always(status)))


def change_lines(status: Status) -> list[str]:
    """One sentence per statement: the last window for which a change is proven."""
    lines = []
    for statement in columns(status.of_windows):
        found = [change for change in status.changes if change.statement == statement]
        if found:
            change = found[-1]
            verb, subject = "grown" if change.grown else "fallen", STATEMENTS[statement].short
            assuming = "".join(f", if in both windows: {assumption}" for assumption in assumptions(status, statement))
            lines.append(
                f"Calibration has changed ({subject}): from {visible(change.earlier)} to {visible(change.later)} the "
                f"error has {verb} by at least {at_least(change.by)}{assuming}."
            )
    return lines


def assumptions(status: Status, statement: str) -> list[str]:
    """What the intervals of windows assume of the calibration curve; nothing for most statements."""
    found = {window.certificates[statement].assumption for window in status.windows}
    return sorted(found - {"none"})


def assumption_lines(status: Status) -> list[str]:
    """One sentence for each statement whose upper bounds assume something in some window."""
    return [
        f"{STATEMENTS[statement].short.capitalize()}, at most: assumes {assumed(assumption)}."
        for statement in columns(status.of_windows)
        for assumption in assumptions(status, statement)
    ]


def alarm_sentence(status: Status) -> str:
    """Whether the alarm is raised, and since when; empty where no limit was given."""
    if status.limit is None:
        return ""
    if status.alarm is None:
        return f"No alarm: no {MEASURE[status.below]} above {given(status.limit)} is proven for any batch."
    alarm = status.alarm
    # Batches may have been added late: the stretch is one of numbers, and its times need not be in order.
    times = [point.time for point in status.history if alarm.between_number <= point.number <= alarm.number]
    first, last = day(min(times)), day(max(times))
    where = f"the batch of {last}" if first == last else f"some batch from {first} to {last}"
    exceeded = f"the {MEASURE[status.below]} exceeded {given(alarm.limit)}"
    return f"ALARM since {day(alarm.since)} (batch {alarm.batch_id!r}): {exceeded} in {where}."


def lower_sentence(status: Status) -> str:
    """What the lower bound says."""
    if not status.lower:
        return f"Worst batch so far: no {MEASURE[status.below]} is proven."
    return (
        f"Worst batch so far: {MEASURE[status.below]} at least {at_least(status.lower)}, whatever the drift. It may "
        "have been any batch."
    )


def upper_sentence(status: Status) -> str:
    """What the upper bound says."""
    perturbed = " of perturbed scores" if status.statement == "perturbed" else ""
    return (
        f"All rows pooled: {MEASURE[status.statement]}{perturbed} at most {at_most(status.upper.upper)}, over the "
        f"first {rows_text(status.upper.n)}. Assumes that neither drift nor batch sizes respond to rows seen."
    )


def crossed(status: Status) -> str:
    """Why the lower bound exceeds the upper one, where it does."""
    if status.lower <= status.upper.upper:
        return ""
    return (
        "The lower bound exceeds the upper bound because they are about different rows: the worst batch, and all rows "
        "pooled."
    )


def always(status: Status) -> str:
    """How sure, and for how long."""
    sure = percent_sure(status.delta)
    return f"Each kind of bound holds at all times together with {sure} confidence, however often you look."


def reach(status: Status) -> str:
    """How many rows, and from when."""
    return f"{rows_text(status.rows)} in {status.batches:,} batches, {day(status.first)} to {day(status.last)}"


def _window_table(status: Status) -> Table:
    shown = columns(status.of_windows)
    table = interval_table("window", shown, window_lines(status, shown)[-WINDOWS_SHOWN:])
    if len(status.windows) > WINDOWS_SHOWN:
        table.caption = f"{len(status.windows) - WINDOWS_SHOWN} earlier windows are not shown"
    return table


def day(time: str) -> str:
    """A time without its clock where that says nothing."""
    return time.removesuffix("T00:00:00").replace("T", " ")
