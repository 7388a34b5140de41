"""``calcert check``: a gate that a build passes only if a calibration error is certified to be small."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from calcert.commands import options, policy
from calcert.commands.input_and_output import (
    STANDARD_OUTPUT,
    facts_of,
    filed,
    refuse_overwriting,
    repeat,
    working,
    write_page,
)
from calcert.commands.option_values import Probability, Written
from calcert.foundation.number_text import given
from calcert.foundation.refusal import Refused
from calcert.reports.gate import check as gate
from calcert.reports.gate import demanded

if TYPE_CHECKING:
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows

NOT_CERTIFIED = 1
"""Exit code of rows that do not pass."""


@click.command(
    cls=options.Command,
    short_help="Fail a build unless an error is certified small.",
    epilog="""\b
Exit codes: 0 certified, 1 not certified, 2 bad input.

\b
Examples:
  calcert check predictions.parquet --score p --label y --max 0.03 --statement perturbed
  calcert check fraud.csv --score p --label y --statement in_the_large --max-ratio 1.25
  calcert check loans.csv --score pd --label default --max-observed 1 --groups grade
  calcert check predictions.csv --max 0.05 --junit calibration.xml
  calcert check predictions.csv --max 0.05 --groups region --smallest-group 500
  calcert check predictions.csv --max 0.05 --class-columns 'p_*' --label animal --of worst
  calcert check predictions.csv --policy calibration.toml --json
""",
)
@options.rows(sampling=True, groups="Pass only if no group that this column names is worse than --max.", classes=True)
@policy.option
@click.option("--max", type=Probability(), help="The largest error that passes, such as 0.03.")
@click.option(
    "--max-ratio",
    type=click.FloatRange(1.0, min_open=True),
    help="The largest observed / expected (in_the_large) that passes, and 1 over it the smallest, such as 1.25; for "
    "rare events.",
)
@click.option(
    "--max-observed",
    type=click.FloatRange(0.0, min_open=True),
    help="Largest observed / expected that passes, one-sided, such as 1: are PDs high enough? With --groups every "
    "grade must pass.",
)
@options.option("statement")
@options.settings
@options.option("of")
@click.option(
    "--fitted-on-other-rows",
    is_flag=True,
    help="Let rows pass that agree with the scores better than fresh rows can: no score was fitted on these rows.",
)
@options.option("workers")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@click.option(
    "--html", metavar="PATH", type=Written(), help="Also write the page of all statements; - is standard output."
)
@click.option("--junit", metavar="PATH", type=Written(), help="Also write the outcome as JUnit XML.")
@options.facts
def command(
    rows: Rows,
    settings: Settings,
    as_json: bool,
    html: str | None,
    junit: str | None,
    said: dict[str, str],
    **demand: Any,
) -> None:
    """Pass if a calibration error is certified to be at most --max, and fail otherwise.

    A failure says whether the error is proven to be larger, or about how many fresh rows would tell. For rare events
    use --max-ratio, which passes if observed / expected is certified to be near 1: a model that always says 0 has a
    small error. With --groups the worst group must pass; their number costs nothing.

    Fix all settings and the number of rows before you see the rows. Trying values until one passes voids the
    guarantee, and so does adding rows. Interim analyses ("looks") are fine if a --policy fixes them beforehand; they
    share the probability of failure.
    """
    from calcert.show.outcome import JUnitOutcome, outcome_dict, outcome_facts, outcome_words

    context, started = click.get_current_context(), time.monotonic()
    refuse_overwriting(rows.source.value, {"--html": html, "--junit": junit, "--json": "-" if as_json else None})
    about = demanded(
        rows, settings, *(demand[name] for name in ("max", "max_ratio", "statement", "of", "max_observed"))
    )
    limit = next(demand[name] for name in ("max", "max_ratio", "max_observed") if demand[name] is not None)
    fixed = policy.chosen(context)
    outcome = JUnitOutcome(f"{about} at most {given(limit)}", limit, policy=None if fixed is None else fixed.version)
    if rows.groups is None and not rows.has_classes:
        options.refuse_of_many(demand["workers"])
    if fixed is not None:
        settings = settings.at(settings.delta / fixed.shares)
    try:
        found = gate(rows, settings=settings, **demand)
        if fixed is not None:
            # Given which rows lack something the others are independent draws: rows as they came decide, all of them.
            fixed.check_look(found.rows + sum(rows.account.dropped.values()))
            found = replace(found, too_few=fixed.too_few(found.rows))
        with working("estimating how many rows would do"):
            words = outcome_words(found, context.meta[options.OPTIONS])
        by_policy = {} if fixed is None else {"policy": fixed.words}
        words = "\n".join([words, *by_policy.values()])
        if html is not None:
            again = repeat(policy=fixed.file if fixed else None)
            write_page(filed(found.report, said | outcome_facts(found, words) | by_policy, rows), html, again)
        outcome = replace(outcome, certificate=found.certificate, words=words, passed=found.passed)
    except Exception as error:
        outcome = replace(
            outcome, words=error.words(context.meta[options.OPTIONS]) if isinstance(error, Refused) else str(error)
        )
        raise
    finally:
        if junit is not None:
            outcome.write(junit, time.monotonic() - started)
    if as_json:
        import json

        values = outcome_dict(found, words, policy=fixed, facts=facts_of(said, rows))
        click.echo(json.dumps(values, indent=2, allow_nan=False))
    else:
        click.echo(words, err=html == STANDARD_OUTPUT)
    if not found.passed:
        context.exit(NOT_CERTIFIED)
