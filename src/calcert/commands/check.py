"""``calcert check``: a gate that a build passes only if a calibration error is certified to be small."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from calcert.commands import options

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.reports.settings import Settings
    from calcert.summary.counts import Summary

NOT_CERTIFIED = 1


@click.command(
    short_help="Fail a build unless an error is certified small.",
    epilog="""\b
Exit codes: 0 certified, 1 not certified, 2 bad input.

\b
Examples:
  calcert check predictions.parquet --score p --label y --max 0.03 --statement perturbed
  calcert check predictions.csv --max 0.05 --statement unmodified --variation 1
  calcert check predictions.csv --max 0.05 --statement distance --junit calibration.xml
""",
)
@options.rows
@click.option(
    "--max", "largest", type=options.Probability(), required=True, help="The largest error that passes, such as 0.03."
)
@click.option(
    "--statement",
    type=options.statement,
    required=True,
    help="Which statement must hold; `calcert certify --help` says what each bounds.",
)
@options.settings
@click.option("--junit", metavar="PATH", type=click.Path(dir_okay=False), help="Also write the outcome as JUnit XML.")
@options.debug.option
def command(
    files: tuple[str, ...],
    score: str | None,
    label: str | None,
    largest: float,
    statement: str,
    settings: Settings,
    junit: str | None,
) -> None:
    """Pass if a calibration error is certified to be at most --max, and fail otherwise.

    A failure says how far off the bound is, and about how many fresh rows would do (an estimate). Fix --max, --delta,
    the noise, --variation and the number of rows before you see the rows; trying values, or adding rows, until one
    passes voids the guarantee.
    """
    from calcert.commands.reading import summarize
    from calcert.reports.statements import STATEMENTS
    from calcert.show.exports.junit import Outcome

    started = time.monotonic()
    outcome = Outcome(statement, largest)
    try:
        summary = summarize(files, score, label)
        certificate = STATEMENTS[statement].certify(summary, settings)
        passed = certificate.upper <= largest
        words = _verdict(certificate, largest)
        if not passed:
            words += "\n" + _way_out(summary, certificate, statement, largest, settings)
        outcome = Outcome(statement, largest, certificate, words)
    except Exception as error:
        outcome = Outcome(statement, largest, words=str(error))
        raise
    finally:
        if junit is not None:
            outcome.write(junit, time.monotonic() - started)
    click.echo(words)
    if not passed:
        click.get_current_context().exit(NOT_CERTIFIED)


def _verdict(c: Certificate, largest: float) -> str:
    from calcert.foundation.numbers import at_most, confidence, given, number

    condition = "assuming nothing" if c.assumption == "none" else f"assuming a {c.assumption}"
    about_what = (
        f"{c.quantity[:1].upper()}{c.quantity[1:]} of the classifier {c.subject}.\n"
        f"{c.n:,} rows, probability {confidence(c.delta)}, {condition}."
    )
    if c.upper <= largest:
        return f"Certified: at most {at_most(c.upper)}, within {given(largest)}.\n{about_what}"
    above = f"which is {number(c.upper - largest)} above {given(largest)}"
    return f"Not certified: at most {at_most(c.upper)}, {above}.\n{about_what}"


def _way_out(summary: Summary, certificate: Certificate, statement: str, largest: float, settings: Settings) -> str:
    """What would make the check pass."""
    from calcert.commands.screen import working
    from calcert.foundation.numbers import at_least, number, rows_about
    from calcert.reports.plan import plan

    if certificate.lower > largest:
        return (
            f"It is at least {at_least(certificate.lower)}, with the same probability: more rows cannot help. "
            "Recalibrate the classifier."
        )
    with working("estimating how many rows would do"):
        wanted = plan(summary, largest, statement=statement, **settings.to_dict())
    if wanted.rows is None:
        return (
            "No number of rows would do, by an estimate: with ever more of them the bound ends near "
            f"{number(wanted.limit)}. Recalibrate the classifier."
        )
    enough = rows_about(max(wanted.rows, summary.n + 1))
    return f"About {enough} rows would do: an estimate. Take fresh ones, as these chose their number."
