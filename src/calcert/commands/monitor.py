"""``calcert monitor``: keep watch over a classifier whose labels arrive batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options
from calcert.commands.input_and_output import STANDARD_OUTPUT, Shown, note, say
from calcert.commands.option_values import Probability, Written

if TYPE_CHECKING:
    from calcert.monitoring.status import Status
    from calcert.sources.rows import Rows

ALARMED = 1
"""Exit code of ``status --alarm`` where the alarm is raised."""


class Limit(Probability):
    """A calibration error to raise the alarm above: a number below 1, and 0 as well."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if str(value).strip("0") in ("", "."):
            return 0.0
        return super().convert(value, param, ctx)


NEW = "For a new state."
FIXED = ("statement", "confidence", "odds", "bandwidth", "variation")
"""What the first batch fixes for the life of a state."""

state = click.argument("state", metavar="STATE", type=click.Path(dir_okay=False))


@click.group(
    epilog="""\b
Examples:
  calcert monitor add churn.state monday.parquet --batch-id 2026-03-02 --window week
  calcert monitor status churn.state --alarm 0.05 --html churn.html
  calcert monitor status churn.state --alarm 0.05 --plot churn.svg --prometheus churn.prom
  calcert monitor check churn.state
"""
)
def command() -> None:
    """Monitor a deployed classifier, batch by batch.

    Add labelled batches as they come, and look as often as you like.

    STATE is one file, started by the first batch. Adding is safe against crashes, and the same batch twice counts once.
    Bounds hold at all times simultaneously, if batches are independent given the past and their sizes do not respond to
    rows. Over its whole life the alarm is false with probability at most 1 - confidence.
    """


command.command_class = options.Command


@command.command()
@state
@options.rows()
@click.option("--batch-id", required=True, help="A name for the batch; the same batch under the same name counts once.")
@click.option(
    "--time", metavar="TIME", help="When the rows are from, as 2026-03-02 or 2026-03-02T12:00; now if left out."
)
@click.option("--window", metavar="PERIOD", help="day, week or month of the time: windows are certified apart.")
@click.option("--window-name", metavar="TEXT", help="A window of your own, instead of --window.")
@click.option(
    "--id",
    "ids",
    metavar="COLUMN",
    help="Names each row: rows added before are left out. 7 and '7' are the same, '007' is not.",
)
@click.option("--again", is_flag=True, help="Add the batch although it holds the rows of an earlier one.")
@click.option("--allow-empty", is_flag=True, help="A batch without new rows changes nothing, and is no error.")
@options.option(
    "statement",
    metavar="NAME",
    type=str,
    help="For a new state, what to watch: distance, cutoff or perturbed. [default: distance]",
)
@options.option("confidence", default=None, show_default=False, help=f"{NEW} [default: 0.95]")
@options.option("odds", help=f"{NEW} [default: 1/16]")
@options.option("bandwidth", help="For a new state, instead of --odds.")
@options.option("variation", help=NEW)
def add(state: str, rows: Rows, **batch: Any) -> None:
    """Add the rows of FILE as one batch, and save it safely to disk."""
    from calcert.monitoring.monitor import Monitor

    monitor = Monitor(state, **{name: batch.pop(name) for name in FIXED})
    say(str(monitor.add(rows, **batch)))


@command.command()
@state
@click.option(
    "--alarm", metavar="LIMIT", type=Limit(), help="Raise the alarm once the error is proven to have exceeded this."
)
@options.shown()
@click.option(
    "--prometheus",
    metavar="PATH",
    type=Written(),
    help="Also write metrics that Prometheus reads, with --fact model=NAME as a label; - is standard output.",
)
@options.facts
def status(state: str, alarm: float | None, shown: Shown, prometheus: str | None, said: dict[str, str]) -> None:
    """Say what is certified now. With --alarm, exit code 1 means that the alarm is raised."""
    import shlex

    from calcert.foundation.number_text import given
    from calcert.monitoring.monitor import Monitor

    shown.refuse([state], prometheus=prometheus)
    found = Monitor(state).status(alarm=alarm)
    if said:
        found = found.with_facts(said)
    limit = [] if alarm is None else ["--alarm", given(alarm)]
    filed = [word for name, value in said.items() for word in ("--fact", f"{name}={value}")]
    again = shlex.join(["calcert", "monitor", "status", state, *limit, *filed, "--html", shown.html or ""])
    metrics = prometheus is not None and _write_metrics(found, prometheus, said.get("model"))
    shown.deliver(found, again, "" if metrics and not shown.as_json else None)
    if found.alarm is not None:
        click.get_current_context().exit(ALARMED)


def _write_metrics(status: Status, path: str, model: str | None) -> bool:
    """Write metrics, and say where; True where they went to standard output."""
    from pathlib import Path

    from calcert.foundation.whole_regular_file import replacing
    from calcert.show.monitor import prometheus_text

    text = prometheus_text(status, model)
    if path == STANDARD_OUTPUT:
        click.echo(text, nl=False)
        return True
    # A collector never reads half a file.
    with replacing(Path(path)) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    note(f"metrics written to {path}")
    return False


@command.command()
@state
def check(state: str) -> None:
    """Read and check all that STATE holds.

    The other commands check what their numbers come from. A damaged state is an error, with exit code 2.
    """
    from calcert.monitoring.monitor import Monitor

    click.echo(Monitor(state).check())
