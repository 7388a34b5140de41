"""The status of a monitor as text for people."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.monitoring.status import Status
from calcert.show.text import WIDTH, number, plain

WINDOWS_SHOWN = 12
"""The last windows, in a table; all are in the JSON."""


def status_text(status: Status, width: int = WIDTH) -> str:
    """The status as plain text."""
    return plain(status_view(status), width)


def status_view(status: Status) -> RenderableType:
    """The status for a rich console."""
    first, last = status.history[0], status.history[-1]
    upper = status.upper
    lines: list[RenderableType] = [
        Text(f"{status.rows:,} rows in {len(status.history):,} batches, {_day(first.time)} to {_day(last.time)}"),
        Text(""),
        *_alarm_lines(status),
        Text(
            f"At least {number(status.lower)}: some batch so far had an L1 calibration error, of the classifier as it "
            "is, of at least that. Assumes nothing, however the data drifted."
        ),
        Text(
            f"At most {number(upper.upper)}: the L1 calibration error of the classifier {upper.subject}, over the "
            f"first {upper.n:,} rows pooled. Assumes nothing but that drift does not react to labels."
        ),
    ]
    if status.windows:
        lines += [Text(""), _window_table(status)]
        lines += [Text(words, style="yellow") for words in change_lines(status)]
        if not status.changes:
            lines.append(Text("No change between windows is proven."))
    always = (
        f"Each statement holds at all times together with probability {1 - status.delta:.4g}, however often you look."
    )
    return Group(*lines, Text(""), Text(always))


def change_lines(status: Status) -> list[str]:
    """One sentence a statement: the last window for which a change is proven."""
    lines = []
    for statement, subject in (("unmodified", "as it is"), ("perturbed", "with perturbed scores")):
        found = [change for change in status.changes if change.statement == statement]
        if found:
            change = found[-1]
            verb = "grown" if change.grown else "fallen"
            lines.append(
                f"Calibration has changed ({subject}): from {change.earlier} to {change.later} the error has {verb} "
                f"by at least {number(change.by)}."
            )
    return lines


def _alarm_lines(status: Status) -> list[RenderableType]:
    if status.limit is None:
        return []
    if status.alarm is None:
        return [Text(f"No alarm: it is not proven that the error ever exceeded {status.limit:g}."), Text("")]
    alarm = status.alarm
    first, last = _day(alarm.between), _day(alarm.since)
    where = f"the batch of {last}" if first == last else f"some batch from {first} to {last}"
    words = f"ALARM since {last} (batch {alarm.batch_id!r}): the error exceeded {alarm.limit:g} in {where}."
    return [Text(words, style="bold red"), Text("")]


def _window_table(status: Status) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("window")
    table.add_column("rows", justify="right")
    for subject in ("as it is", "perturbed"):
        table.add_column(f"{subject}: at least", justify="right")
        table.add_column("at most", justify="right")
    for window in status.windows[-WINDOWS_SHOWN:]:
        bounds = [number(b) for c in (window.unmodified, window.perturbed) for b in (c.lower, c.upper)]
        table.add_row(window.key, f"{window.rows:,}", *bounds)
    if len(status.windows) > WINDOWS_SHOWN:
        table.caption = f"{len(status.windows) - WINDOWS_SHOWN} earlier windows are not shown"
    return table


def _day(time: str) -> str:
    """A time without its clock where that says nothing."""
    return time.removesuffix("T00:00:00").replace("T", " ")
