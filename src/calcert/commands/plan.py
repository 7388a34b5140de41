"""``calcert plan``: about how many rows would certify a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from calcert.commands import options
from calcert.commands.check import about

if TYPE_CHECKING:
    from rich.console import RenderableType

    from calcert.reports.plan import Plan


@click.command(
    short_help="Estimate how many rows would certify a target.",
    epilog="""\b
Examples:
  calcert plan pilot.parquet --score p --label y --target 0.02
  calcert plan pilot.csv --target 0.05 --statement unmodified
""",
)
@options.rows
@click.option("--target", type=options.Probability(), required=True, help="The upper bound wanted, such as 0.02.")
@click.option(
    "--statement",
    type=click.Choice(options.STATEMENTS),
    default="perturbed",
    show_default=True,
    help="Which statement to certify.",
)
@options.parameters
@options.debug.option
def command(
    files: tuple[str, ...],
    score: str | None,
    label: str | None,
    target: float,
    statement: str,
    delta: float,
    bandwidth: float,
    variation: float,
    seed: int,
) -> None:
    """Estimate how many rows would certify a target, from rows that you have.

    An estimate, not a certificate: a law is fitted to the rows and rows drawn from it are certified. Certify with fresh
    rows, not with those that you planned with, if you choose anything after seeing the plan.
    """
    from calcert.commands.reading import summarize
    from calcert.commands.screen import show, working
    from calcert.reports.plan import plan

    summary = summarize(files, score, label)
    with working("estimating"):
        found = plan(
            summary,
            target,
            statement=statement,  # type: ignore[arg-type]
            bandwidth=bandwidth,
            variation=variation,
            delta=delta,
            seed=seed,
        )
    show(view(found))


def view(found: Plan) -> RenderableType:
    """The answer in a sentence, and the bounds to expect at some numbers of rows."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from calcert.show.text.report import number

    now = found.now
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("rows", "at least, about", "at most, about"):
        table.add_column(name, justify="right", no_wrap=True)
    for size, lower, upper in zip(found.sizes, found.lowers, found.uppers, strict=True):
        style = "bold" if upper <= found.target else ""
        table.add_row(f"{size:,}", number(lower), number(upper), style=style)
    if now.upper <= found.target:
        answer = f"the {now.n:,} rows at hand certify it already."
    elif found.rows is None:
        answer = f"no number of rows would do: with ever more of them the bound would end near {number(found.limit)}."
    else:
        answer = f"about {about(found.rows)} rows would certify at most {found.target:g}."
    return Group(
        Text(f"{now.quantity} of the classifier {now.subject}"),
        Text(f"Certified now, from {now.n:,} rows: at least {number(now.lower)}, at most {number(now.upper)}."),
        Text(f"Estimate, without guarantee: {answer}", style="bold"),
        Text(""),
        table,
    )
