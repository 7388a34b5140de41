"""``calcert check``: a gate that a build passes only if a calibration error is certified to be small."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from calcert.commands import class_options, options, policy
from calcert.commands.filed_facts import facts, facts_of, filed
from calcert.commands.options_given_once import Once
from calcert.commands.output import Written
from calcert.foundation.number_text import given
from calcert.reports.gate import USUAL, Outcome, judged, judged_ratio
from calcert.reports.statements import judged_by, statements_of
from calcert.show import certificate_words

if TYPE_CHECKING:
    from calcert.foundation.facts import Facts
    from calcert.reports.settings import Settings
    from calcert.sources.rows import Rows

NOT_CERTIFIED = 1
"""Exit code of rows that do not pass."""


@click.command(
    cls=Once,
    short_help="Fail a build unless an error is certified small.",
    epilog="""\b
Exit codes: 0 certified, 1 not certified, 2 bad input.

\b
Examples:
  calcert check predictions.parquet --score p --label y --max 0.03 --statement perturbed
  calcert check fraud.csv --score p --label y --max-ratio 1.25
  calcert check predictions.csv --max 0.05 --junit calibration.xml
  calcert check predictions.csv --max 0.05 --groups region --smallest-group 500
  calcert check predictions.csv --max 0.05 --class-columns 'p_*' --label animal --of worst
  calcert check predictions.csv --policy calibration.toml --json
""",
)
@options.rows(sampling=True, groups="Pass only if no group that this column names is worse than --max.", classes=True)
@policy.option
@click.option("--max", "largest", type=options.Probability(), help="The largest error that passes, such as 0.03.")
@click.option(
    "--max-ratio",
    type=click.FloatRange(1.0, min_open=True),
    help="The largest observed / expected that passes, and 1 over it the smallest, such as 1.25; for rare events.",
)
@click.option(
    "--statement",
    type=options.statement,
    help=options.STATEMENT_HELP,
)
@options.settings
@class_options.of
@click.option(
    "--fitted-on-other-rows",
    is_flag=True,
    help="Let rows pass that agree with the scores better than fresh rows can: no score was fitted on these rows.",
)
@options.workers("groups or classes")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of words.")
@click.option(
    "--html", metavar="PATH", type=Written(), help="Also write the page of all statements; - is standard output."
)
@click.option("--junit", metavar="PATH", type=Written(), help="Also write the outcome as JUnit XML.")
@facts
@options.debug.option
def command(
    rows: Rows,
    largest: float | None,
    max_ratio: float | None,
    statement: str | None,
    settings: Settings,
    of: str | None,
    fitted_on_other_rows: bool,
    workers: int | None,
    as_json: bool,
    html: str | None,
    junit: str | None,
    said: dict[str, str],
) -> None:
    """Pass if a calibration error is certified to be at most --max, and fail otherwise.

    With --max-ratio, pass if observed / expected is certified to be near 1: the limit for rare events, where every
    model that says 0 has a small error. A failure says whether the error is certainly larger, or about how many fresh
    rows would tell (an estimate). Fix --max,
    --statement, --groups, --confidence and all other settings, and the number of rows, before you see the rows; trying
    values until one passes voids the guarantee. So does adding rows: that is a second look, unless a policy says
    beforehand at which numbers of rows there are looks, which share the probability of failure. With --groups the worst
    group must pass; their number costs nothing.
    """
    from calcert.commands.output import STANDARD_OUTPUT, refuse_overwriting, write_page
    from calcert.commands.repeated_command import repeat
    from calcert.show.exports.junit import JUnitOutcome

    refuse_overwriting(rows.source.value, {"--html": html, "--junit": junit, "--json": "-" if as_json else None})
    started = time.monotonic()
    if (largest is None) == (max_ratio is None):
        given_now = "none" if largest is None else "both"
        raise click.UsageError(f"one of --max and --max-ratio must be given; got {given_now}.")
    if max_ratio is not None and statement is not None:
        raise click.UsageError("--statement must come with --max; got it with --max-ratio.")
    statement = statement or judged_by(statements_of(settings))
    limit = max_ratio if largest is None else largest
    assert limit is not None
    about = statement if rows.groups is None else f"{statement} of every group by {rows.groups}"
    if max_ratio is not None:
        about = "observed / expected"
    elif rows.has_classes:
        about = f"{statement} of {class_options.OF[of or USUAL]}"
    elif of is not None:
        raise click.UsageError("--of must come with --class-columns; got it alone.")
    demanded = policy.chosen(click.get_current_context())
    version = None if demanded is None else demanded.version
    outcome = JUnitOutcome(f"{about} at most {given(limit)}", limit, policy=version)
    if rows.groups is None and not rows.has_classes:
        options.refuse_of_many(workers)
    if demanded is not None:
        settings = settings.at(settings.delta / demanded.shares)
    try:
        if max_ratio is not None:
            found = judged_ratio(rows, limit, settings)
        else:
            found = judged(rows, limit, statement, settings, of, workers)
        found = replace(found, fitted_on_other_rows=fitted_on_other_rows)
        if demanded is not None:
            # Given which rows lack something the others are independent draws: rows as they came decide, all of them.
            demanded.check_look(found.rows + sum(rows.account.dropped.values()))
        few = "" if demanded is None else demanded.too_few(found.rows)
        passed = found.passed and not few
        words = _words(found, few)
        if demanded is not None:
            words += f"\n{demanded.words}"
        if html is not None:
            beside = {"verdict": words.split("\n")[0], "statement": about}
            beside |= {} if demanded is None else {"policy": demanded.words}
            again = repeat(policy=demanded.file if demanded else None)
            write_page(filed(found.report, said | beside, rows), html, again)
        outcome = replace(outcome, certificate=found.certificate, words=words, passed=passed)
    except Exception as error:
        outcome = replace(outcome, words=str(error))
        raise
    finally:
        if junit is not None:
            outcome.write(junit, time.monotonic() - started)
    if as_json:
        _write_json(found, passed, words, about, demanded, facts_of(said, rows))
    else:
        click.echo(words, err=html == STANDARD_OUTPUT)
    if not passed:
        click.get_current_context().exit(NOT_CERTIFIED)


def _words(found: Outcome, few: str) -> str:
    """The outcome for people: the verdict, or why rows do not count, what was judged, and what to do next."""
    from calcert.commands.output import working

    doubt = found.refused_as
    with working("estimating how many rows would do"):
        verdict = found.verdict
    why_not = doubt.removesuffix(".") or few
    lines = [f"Not certified: {why_not}." if found.is_small and why_not else verdict.sentence]
    lines.append(certificate_words.judged(found.certificate))
    if doubt:
        lines += [] if found.is_small else [f"Warning: {doubt}"]
        lines.append("If no score was fitted on these rows, say --fitted-on-other-rows.")
    elif found.doubt:
        lines.append(f"--fitted-on-other-rows overrules a warning: {found.doubt}")
    return "\n".join([*lines, *([] if found.is_small else [f"Next: {verdict.next}"])])


def _write_json(
    found: Outcome, passed: bool, words: str, about: str, demanded: policy.Policy | None, filed: Facts
) -> None:
    """The outcome for programs."""
    import json

    from calcert.foundation.plain_types import plain

    values = {
        "kind": "check",
        "schema": 1,
        "passed": passed,
        "verdict": found.verdict,
        "statement": about,
        "max" if found.max < 1 else "max_ratio": found.max,
        "certificate": found.certificate,
        "rows": found.rows,
        "group": found.group,
        "class": found.class_,
        "warnings": [found.doubt] if found.doubt else [],
        "words": words.split("\n"),
        "policy": demanded,
        "facts": filed,
    }
    click.echo(json.dumps(plain(values), indent=2, allow_nan=False))
