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
from calcert.foundation.escaped_text import visible
from calcert.reports.gate import USUAL, Outcome, judged
from calcert.reports.statements import LEADING
from calcert.show.certificate_words import verdict as _verdict

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
  calcert check predictions.csv --max 0.05 --statement l1 --variation 1
  calcert check predictions.csv --max 0.05 --junit calibration.xml
  calcert check predictions.csv --max 0.05 --groups region --smallest-group 500
  calcert check predictions.csv --max 0.05 --class-columns 'p_*' --label animal --of worst
  calcert check predictions.csv --policy calibration.toml --json
""",
)
@options.rows(sampling=True, groups="Pass only if no group that this column names is worse than --max.", classes=True)
@policy.option
@click.option(
    "--max", "largest", type=options.Probability(), required=True, help="The largest error that passes, such as 0.03."
)
@click.option(
    "--statement",
    type=options.statement,
    default=LEADING,
    show_default=True,
    help="Which statement must hold; `calcert certify --help` says what each bounds.",
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
    largest: float,
    statement: str,
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

    A failure says how far off the bound is, and about how many fresh rows would do (an estimate). Fix --max,
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
    about = statement if rows.groups is None else f"{statement} of every group by {rows.groups}"
    if rows.has_classes:
        about = f"{statement} of {class_options.OF[of or USUAL]}"
    elif of is not None:
        raise click.UsageError("--of must come with --class-columns; got it alone.")
    demanded = policy.chosen(click.get_current_context())
    version = None if demanded is None else demanded.version
    outcome = JUnitOutcome(about, largest, policy=version)
    if rows.groups is None and not rows.has_classes:
        options.refuse_of_many(workers)
    if demanded is not None:
        settings = settings.at(settings.delta / demanded.shares)
    try:
        found = judged(rows, largest, statement, settings, of, workers)
        found = replace(found, fitted_on_other_rows=fitted_on_other_rows)
        if demanded is not None:
            # Given which rows lack something the others are independent draws: rows as they came decide, all of them.
            demanded.check_look(found.rows + sum(rows.account.dropped.values()))
        few = "" if demanded is None else demanded.too_few(found.rows)
        doubt = found.refused_as
        passed = found.passed and not few
        words = _verdict(found.certificate, largest, doubt.removesuffix(".") or few)
        if doubt:
            words += "" if found.is_small else f"\nWarning: {doubt}"
            words += "\nIf no score was fitted on these rows, say --fitted-on-other-rows."
        elif found.doubt:
            words += f"\n--fitted-on-other-rows overrules a warning: {found.doubt}"
        if not found.is_small:
            words += "\n" + _way_out(found, statement, largest, settings)
        if demanded is not None:
            words += f"\n{demanded.words}"
        if html is not None:
            beside = {"verdict": words.split("\n")[0], "statement": about}
            beside |= {} if demanded is None else {"policy": demanded.words}
            again = repeat(policy=demanded.file if demanded else None)
            write_page(filed(found.report, said | beside, rows), html, again)
        outcome = JUnitOutcome(about, largest, found.certificate, words, passed, version)
    except Exception as error:
        outcome = JUnitOutcome(about, largest, words=str(error), policy=version)
        raise
    finally:
        if junit is not None:
            outcome.write(junit, time.monotonic() - started)
    if as_json:
        _write_json(found, passed, words, about, largest, demanded, facts_of(said, rows))
    else:
        click.echo(words, err=html == STANDARD_OUTPUT)
    if not passed:
        click.get_current_context().exit(NOT_CERTIFIED)


def _write_json(
    found: Outcome, passed: bool, words: str, about: str, largest: float, demanded: policy.Policy | None, filed: Facts
) -> None:
    """The outcome for programs."""
    import json

    from calcert.foundation.plain_types import plain

    values = {
        "kind": "check",
        "schema": 1,
        "passed": passed,
        "statement": about,
        "max": largest,
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


def _way_out(found: Outcome, statement: str, largest: float, settings: Settings) -> str:
    """What would make the check pass; of groups, or classes, that with the largest bound."""
    summary, whose = found.summary, ""
    if found.group is not None:
        whose = f" of the group {visible(found.group)} (the largest bound)"
    if found.class_ is not None:
        whose = f" for the class {visible(found.class_)} (the largest bound)"
    from calcert.commands.output import working
    from calcert.reports.advice_and_warnings import what_now
    from calcert.reports.plan import plan

    said = what_now(found.certificate, largest, summary)
    if said or summary is None or (summary.units is not None and summary.units.design.soft):
        return said or "More rows would tighten the bound. Take fresh ones."
    with working("estimating how many rows would do"):
        wanted = plan(summary, largest, statement=statement, settings=settings)
    return f"{wanted.answer(whose)} Take fresh ones, as these chose their number."
