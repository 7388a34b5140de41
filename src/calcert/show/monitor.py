"""The status of a monitor: as blocks (alarm, bounds, windows, changes, batches), as a picture, and for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import at_least, at_most, given, percent_sure, rows_text
from calcert.reports.statements import columns
from calcert.show.block import (
    Behind,
    Block,
    Bullets,
    Code,
    Column,
    Figure,
    Paragraph,
    Section,
    Table,
    Verdict,
    Warned,
)
from calcert.show.canvas import BLUE, FAINT, INK, RED, axes_for, figure_of
from calcert.show.certificate_words import MEASURE, STATEMENTS, assumed
from calcert.show.many import counted, limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

    from calcert.monitoring.status import BatchPoint, Look, Status

SHOWN = 12
"""Windows that are seen at once, the latest; all are in the JSON."""

WIDE, NARROW = (7.2, 4.2), (4.8, 4.6)
"""Inches: for a screen, and for a page whose figures are readable when they are 300 pixels wide."""

NEVER_PROMISED = (
    "Bounds are averages over rows. For a group of people, a range of scores or a single row the error can be larger.",
    "No alarm is no proof of calibration: a limit that is not proven to be exceeded may be exceeded.",
    "Bounds apply to one classifier. After retraining or recalibrating, start another state.",
    "Rows must not have been used to train the classifier, and must be independent given what came before. Whether and "
    "when a label arrives must not depend on it, nor sizes and windows of batches on rows.",
)

READING = (
    "Solid steps are the lower bound for the worst batch so far; they never fall. Dotted steps are the upper bound for "
    "all rows pooled, and may lie below them. Bars are the intervals of windows: where two do not overlap, calibration "
    "has changed. The alarm is raised where the solid steps cross the dashed limit."
)


def status_blocks(status: Status) -> list[Block]:
    """The alarm or what is proven, changes, bounds, windows, and how sure."""
    lower, upper, alarm = lower_sentence(status), upper_sentence(status), alarm_sentence(status)
    kind = "beyond" if status.alarm is not None else ""
    crossed = (
        "The lower bound exceeds the upper bound because they are about different rows: the worst batch, and all rows "
        "pooled."
    )
    sure = percent_sure(status.delta)
    said = [*([lower] if alarm else []), upper, *([crossed] if status.lower > status.upper.upper else [])]

    def draw() -> tuple[Any, str]:
        return status_picture(status, size=NARROW), f"{lower} {upper} {alarm}"

    return [
        Verdict(alarm or lower, reach(status), kind),
        *map(Warned, change_lines(status)),
        *map(Paragraph, said),
        *_windows(status),
        Paragraph(f"Each kind of bound holds at all times together with {sure} confidence, however often you look."),
        Figure("over-time", "Bounds over time", draw, READING),
        Behind(
            "Details: batches, what none of the bounds promises, how to make this page again", lambda: _behind(status)
        ),
    ]


def _windows(status: Status) -> list[Block]:
    if not status.windows:
        return []
    names = columns(status.of_windows)
    heads = [Column("window", of_words=True), Column("rows"), *(Column(STATEMENTS[name].short) for name in names)]
    shown = Table(heads, most=SHOWN, many="windows")
    for window in reversed(status.windows):
        found = [window.certificates[name] for name in names]
        shown.add(window.key, f"{window.rows:,}", *map(limits, found))
    assuming = [
        f"{STATEMENTS[name].short.capitalize()}, at most: assumes {assumed(assumption)}."
        for name in names
        for assumption in assumptions(status, name)
    ]
    unchanged = [] if status.changes else ["No change between windows is proven."]
    return [shown, *map(Paragraph, [*assuming, *unchanged])]


def _behind(status: Status) -> Sequence[Block]:
    heads = [
        Column("batch", of_words=True),
        Column("time", of_words=True),
        Column("rows"),
        Column("at least, after it"),
    ]
    batches = Table(heads, most=50, many="batches")
    # What was proven before stays proven.
    lowers = list(accumulate((point.lower for point in status.history), max))
    for point, lower in zip(reversed(status.history), reversed(lowers), strict=True):
        batches.add(point.batch_id, day(point.time), f"{point.rows:,}", at_least(lower))
    alarm = "" if status.limit is None else f"alarm={given(status.limit)}"
    stands = (
        f"Fingerprint of the state: {status.state_fingerprint}. It stands for all batches, with their rows, in order."
    )
    again = f'status = calcert.Monitor(STATE).status({alarm})\nstatus.to_html("monitor.html")'
    return [
        Section("Batches, latest first", [batches]),
        Section("What none of these promises", [Bullets(NEVER_PROMISED)]),
        Section("How to make this page again", [Code(again), Paragraph(stands)]),
    ]


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
                f"Calibration has changed ({subject}): from {change.earlier} to {change.later} the error has {verb} by "
                f"at least {at_least(change.by)}{assuming}."
            )
    return lines


def assumptions(status: Status, statement: str) -> list[str]:
    """What the intervals of windows assume of the calibration curve; nothing for most statements."""
    found = {window.certificates[statement].assumption for window in status.windows}
    return sorted(found - {"none"})


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


def reach(status: Status) -> str:
    """How many rows, and from when."""
    first, last = day(status.first), day(status.last)
    when = first if first == last else f"{first} to {last}"
    return f"{rows_text(status.rows)} in {counted(status.batches, 'batch')}, {when}"


def day(time: str) -> str:
    """A time without its clock where that says nothing."""
    return time.removesuffix("T00:00:00").replace("T", " ")


def status_picture(status: Status, ax: Axes | None = None, *, size: tuple[float, float] = WIDE) -> Drawn:
    """Bounds over time: the upper bound falls as rows come in, and a drift lifts the lower one.

    How to read it: solid steps are the lower bound for the worst batch so far, dotted steps the upper bound for all
    rows pooled. Bars are the intervals of windows. The alarm is raised where the solid steps cross the dashed limit.
    """
    with axes_for(ax, size) as axes:
        from matplotlib.dates import ConciseDateFormatter
        from matplotlib.transforms import offset_copy

        history, looks = status.history, status.looks
        lowers = list(accumulate((point.lower for point in history), max))
        uppers = [look.certificate.upper for look in looks]
        perturbed = " (perturbed)" if status.statement == "perturbed" else ""
        axes.step(_times(history), lowers, where="post", color=INK, lw=1.8, label="lower bound, worst batch so far")
        pooled = f"upper bound, all rows pooled{perturbed}"
        axes.step(_times(looks), uppers, where="post", color=FAINT, lw=1.8, ls=":", label=pooled)
        shown = [window.certificates[status.below] for window in status.windows]
        style: dict[str, Any] = {"color": BLUE, "lw": 4, "alpha": 0.6, "solid_capstyle": "butt"}
        for place, (window, c) in enumerate(zip(status.windows, shown, strict=True)):
            label = "interval of a window" if place == 0 else "_"
            first, last = datetime.fromisoformat(window.start), datetime.fromisoformat(window.end)
            middle: Any = first + (last - first) / 2
            axes.plot([middle, middle], [c.lower, c.upper], label=label, **style)
        if status.limit is not None:
            axes.axhline(status.limit, color=RED, ls="--", lw=1, label=f"limit {given(status.limit)}")
        if status.alarm is not None:
            since: Any = datetime.fromisoformat(status.alarm.since)
            axes.axvline(since, color=RED, lw=1)
            beside = offset_copy(axes.get_xaxis_transform(), figure_of(axes), x=0.05)
            axes.text(since, 0.98, "alarm", transform=beside, color=INK, va="top")
        tops = [*uppers[-3:], *(c.upper for c in shown)]
        highest = max(*lowers, status.limit or 0.0, *(top for top in tops if top < 1), 0.0)
        sure = f"Each kind of bound holds at all times\nwith {percent_sure(status.delta)} confidence"
        apart = "\nThe two may cross: worst batch, all rows pooled" if status.lower > status.upper.upper else ""
        axes.set(ylim=(0, min(1.0, 1.25 * highest + 1e-3)), ylabel=MEASURE[status.statement], title=sure + apart)
        concise: Any = ConciseDateFormatter
        axes.xaxis.set_major_formatter(concise(axes.xaxis.get_major_locator()))
        # Below the figure, where no bound can be hidden behind it; 0.3 inches are for the dates.
        below = offset_copy(axes.transAxes, figure_of(axes), y=-0.3)
        across = 2 if figure_of(axes).get_figwidth() > NARROW[0] else 1
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=across, frameon=False)
        return figure_of(axes)


def _times(points: Iterable[BatchPoint | Look]) -> list[Any]:
    """The latest time so far at each point: a batch that was added late takes no step back."""
    return list(accumulate((datetime.fromisoformat(point.time) for point in points), max))


def prometheus_text(status: Status, model: str | None = None) -> str:
    """Gauges with help lines, in the text format 0.0.4; the last window only, so that series do not pile up.

    `model` is a label of every series, which tells those of several monitors apart.
    """
    named = {} if model is None else {"model": model}
    below, perturbed = MEASURE[status.below], " of perturbed scores" if status.statement == "perturbed" else ""
    last = datetime.fromisoformat(status.last).replace(tzinfo=UTC).timestamp()
    gauges: list[tuple[str, str, list[tuple[dict[str, str], float]]]] = [
        ("rows", "Labelled rows added so far.", [({}, status.rows)]),
        ("batches", "Batches added so far.", [({}, len(status.history))]),
        ("last_batch_timestamp_seconds", "Latest time of any batch.", [({}, int(last))]),
        ("confidence", "Probability with which each kind of bound holds at all times.", [({}, status.confidence)]),
        (
            "error_lower",
            f"Certified: in the worst batch so far the {below} was at least this.",
            [({"statement": status.below}, status.lower)],
        ),
        (
            "error_upper",
            f"Certified: over all rows pooled the {MEASURE[status.statement]}{perturbed} is at most this.",
            [({"statement": status.statement}, status.upper.upper)],
        ),
    ]
    if status.limit is not None:
        raised = int(status.alarm is not None)
        gauges.append(
            (
                "alarm",
                f"1 if the {below} is proven to have exceeded the limit.",
                [({"limit": f"{given(status.limit)}", "statement": status.below}, raised)],
            )
        )
    if status.windows:
        window = status.windows[-1]
        for name, words in (("lower", "at least"), ("upper", "at most")):
            values = [
                ({"window": window.key, "statement": statement}, float(getattr(certificate, name)))
                for statement, certificate in window.certificates.items()
            ]
            told = f"Certified: error of the last window, {words}, by statement; l1 may assume something."
            gauges.append((f"window_error_{name}", told, values))
    lines = []
    for name, words, values in gauges:
        lines += [f"# HELP calcert_{name} {words}", f"# TYPE calcert_{name} gauge"]
        lines += [f"calcert_{name}{_labels(named | labels)} {value!r}" for labels, value in values]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    escaped = {k: visible(v).replace("\\", "\\\\").replace('"', '\\"') for k, v in labels.items()}
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
