"""``calcert check``: a gate that a build passes only if a calibration error is certified to be small."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from calcert.commands import class_options, options, policy
from calcert.commands.options_given_once import Once
from calcert.commands.output import Written
from calcert.foundation.escaped_text import visible
from calcert.show.certificate_words import verdict as _verdict

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.foundation.result import Result
    from calcert.reports.settings import Settings
    from calcert.sources.classes.class_rows import ClassRows
    from calcert.sources.files.reading_account import Files
    from calcert.summary.summary import Summary

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
  calcert check predictions.csv --max 0.05 --statement unmodified --variation 1
  calcert check predictions.csv --max 0.05 --statement distance --junit calibration.xml
  calcert check predictions.csv --max 0.05 --statement distance --groups region --smallest-group 500
  calcert check predictions.csv --max 0.05 --statement distance --class-columns 'p_*' --label animal --of worst
  calcert check predictions.csv --policy calibration.toml --json
""",
)
@options.rows
@options.weighing
@policy.option
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
@click.option("--groups", metavar="COLUMN", help="Pass only if no group that this column names is worse than --max.")
@options.smallest_group
@class_options.columns
@class_options.names
@class_options.of
@options.workers("groups or classes")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of words.")
@click.option(
    "--html", metavar="PATH", type=Written(), help="Also write the page of all statements; - is standard output."
)
@click.option("--junit", metavar="PATH", type=Written(), help="Also write the outcome as JUnit XML.")
@options.debug.option
def command(
    files: Files,
    score: str | None,
    label: str | None,
    weighing: dict[str, Any],
    largest: float,
    statement: str,
    settings: Settings,
    groups: str | None,
    smallest_group: int,
    class_columns: str | list[str] | None,
    class_names: str | list[str] | None,
    of: str | None,
    workers: int | None,
    as_json: bool,
    html: str | None,
    junit: str | None,
) -> None:
    """Pass if a calibration error is certified to be at most --max, and fail otherwise.

    A failure says how far off the bound is, and about how many fresh rows would do (an estimate). Fix --max,
    --statement, --groups, --delta and all other settings, and the number of rows, before you see the rows; trying
    values until one passes voids the guarantee. So does adding rows: that is a second look, unless a policy says
    beforehand at which numbers of rows there are looks, which share delta. With --groups the worst group must pass;
    their number costs nothing.
    """
    from calcert.commands.filed_facts import filed
    from calcert.commands.output import STANDARD_OUTPUT, refuse_overwriting, write_page
    from calcert.commands.reading import read_classes
    from calcert.commands.repeated_command import repeat
    from calcert.show.exports.junit import JUnitOutcome

    refuse_overwriting(files, {"--html": html, "--junit": junit, "--json": "-" if as_json else None})
    started = time.monotonic()
    about = statement if groups is None else f"{statement} of every group by {groups}"
    if class_columns is not None:
        about = f"{statement} of {class_options.OF[of or class_options.DEFAULT]}"
    demanded = policy.chosen(click.get_current_context())
    version = None if demanded is None else demanded.version
    outcome = JUnitOutcome(about, largest, policy=version)
    if groups is None and class_columns is None:
        options.refuse_of_many("groups or classes", smallest_group, workers)
    if demanded is not None:
        settings = settings.at(settings.delta / demanded.shares)
    try:
        rows = read_classes(files, score, label, class_columns, class_names, weighing, groups, smallest_group, of)
        if rows is not None:
            found = _check_classes(rows, of or class_options.DEFAULT, statement, settings, workers)
        elif groups is not None:
            found = _check_groups(files, score, label, groups, smallest_group, workers, statement, settings, weighing)
        else:
            found = _check_rows(files, score, label, statement, settings, weighing)
        if demanded is not None:
            # Given which rows lack something the others are independent draws: rows as they came decide, all of them.
            demanded.check_look(found.rows + sum(files.account.dropped.values()))
        few = "" if demanded is None else demanded.too_few(found.rows)
        passed = found.certificate.upper <= largest and not few
        words = _verdict(found.certificate, largest, few)
        if found.certificate.upper > largest:
            words += "\n" + _way_out(found, statement, largest, settings)
        if demanded is not None:
            words += f"\n{demanded.words}"
        if html is not None:
            said = {"verdict": words.split("\n")[0], "statement": about}
            said |= {} if demanded is None else {"policy": demanded.words}
            again = repeat(policy=demanded.file if demanded else None)
            write_page(filed(found.report(), said, files), html, again)
        outcome = JUnitOutcome(about, largest, found.certificate, words, passed, version)
    except Exception as error:
        outcome = JUnitOutcome(about, largest, words=str(error), policy=version)
        raise
    finally:
        if junit is not None:
            outcome.write(junit, time.monotonic() - started)
    if as_json:
        _write_json(found, passed, words, about, largest, demanded, files)
    else:
        click.echo(words, err=html == STANDARD_OUTPUT)
    if not passed:
        click.get_current_context().exit(NOT_CERTIFIED)


class Found(NamedTuple):
    """What is judged: the certificate, how many rows, a report on all of them, and whose bound decides.

    That is a Summary of rows, None for a mean over classes, and the name of the group or class that they are, if any.
    """

    certificate: Certificate
    rows: int
    report: Callable[[], Result]
    summary: Summary | None
    group: str | None = None
    class_: str | None = None


def _write_json(
    found: Found, passed: bool, words: str, about: str, largest: float, demanded: policy.Policy | None, files: Files
) -> None:
    """The outcome for programs."""
    import json

    from calcert.commands.filed_facts import facts_of
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
        "words": words.split("\n"),
        "policy": demanded,
        "facts": facts_of({}, files),
    }
    click.echo(json.dumps(plain(values), indent=2, allow_nan=False))


def _check_rows(
    files: Files, score: str | None, label: str | None, statement: str, settings: Settings, weighing: dict[str, Any]
) -> Found:
    from calcert.commands.reading import summarize
    from calcert.reports.report import certify_summary
    from calcert.reports.statements import STATEMENTS

    summary = summarize(files, score, label, **weighing)
    certificate = STATEMENTS[statement].certify(summary, settings)
    return Found(certificate, summary.rows, lambda: certify_summary(summary, settings), summary)


def _check_classes(rows: ClassRows, of: str, statement: str, settings: Settings, workers: int | None) -> Found:
    from calcert.reports.classes import certify_classes, certify_of, summary_of

    certificate, highest = certify_of(rows, of, statement, settings, workers)
    called = None if highest is None else str(highest) if rows.names is None else rows.names[highest]
    summary = None if of == "mean" else summary_of(rows, highest)
    number = rows.labels.size
    return Found(certificate, number, lambda: certify_classes(rows, settings, workers), summary, class_=called)


def _check_groups(
    files: Files,
    score: str | None,
    label: str | None,
    groups: str,
    smallest_group: int,
    workers: int | None,
    statement: str,
    settings: Settings,
    weighing: dict[str, Any],
) -> Found:
    from calcert.commands.reading import named_files
    from calcert.reports.groups import GroupRows
    from calcert.sources.units.weighing_options import Weighing

    with named_files(files) as paths:
        rows = GroupRows.read(paths, None, groups, score, label, smallest_group, Weighing(**weighing))
    certificate, highest = rows.certify_worst(statement, settings, workers)
    number, summary = sum(part.rows for part in rows.summaries.values()), rows.summaries[highest]
    return Found(certificate, number, lambda: rows.certify(settings, workers), summary, highest)


def _way_out(found: Found, statement: str, largest: float, settings: Settings) -> str:
    """What would make the check pass; of groups, or classes, that with the largest bound."""
    certificate, summary, of_group, for_class = found.certificate, found.summary, "", ""
    if found.group is not None:
        of_group = f" of the group {visible(found.group)}, which has the largest bound,"
    if found.class_ is not None:
        for_class = f" for the class {visible(found.class_)}, which has the largest bound"
    from calcert.commands.output import working
    from calcert.foundation.number_text import at_least, given, number, rows_about
    from calcert.reports.advice_and_warnings import decisions
    from calcert.reports.plan import plan

    if summary is not None and (said := decisions(summary)):
        return f"{said[0][:1].upper()}{said[0][1:]}"
    if certificate.lower > largest:
        return (
            f"It is at least {at_least(certificate.lower)}, with the same probability: more rows cannot help. "
            "Recalibrate the classifier."
        )
    if summary is None:
        return "More rows would tighten the bound. Take fresh ones."
    if summary.units is not None:
        return "More rows would tighten the bound: in more clusters, if they come in clusters. Take fresh ones."
    with working("estimating how many rows would do"):
        wanted = plan(summary, largest, statement=statement, **settings.to_dict())
    if wanted.rows is None:
        return (
            f"No number of rows{of_group} would do{for_class}, by an estimate: with ever more of them the bound ends "
            f"near {number(wanted.limit)}. That the error is above {given(largest)} is not certain: fresh rows would "
            "tell, and recalibrating may help."
        )
    enough = rows_about(max(wanted.rows, summary.n + 1))
    fresh = "Take fresh ones, as these chose their number."
    return f"About {enough} rows{of_group} would do{for_class}: an estimate. {fresh}"
