"""``calcert certify``: rows in files become certified statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calcert.commands import class_options, options
from calcert.commands.filed_facts import facts, filed
from calcert.commands.options_given_once import Once
from calcert.commands.output import Written
from calcert.commands.repeated_command import repeat
from calcert.reports.statements import STATEMENTS

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport
    from calcert.reports.report import Report
    from calcert.reports.settings import Settings
    from calcert.sources.files.reading_account import Files


@click.command(
    cls=Once,
    help=f"""Certify how well calibrated a classifier is.

FILE is Parquet, CSV, TSV (.txt too), JSON lines or .xlsx; a glob; a folder; several files; - for CSV or JSON
lines on standard input; or the CSV that the query of `calcert sql` returned. Columns that are not named are found
if only one pair is plausible.

{options.statement_lines()}

Rows must be independent, or come in independent clusters that --cluster names, from the law of interest, and not
used to train or recalibrate the classifier.
""",
    epilog="""\b
Examples:
  calcert certify predictions.parquet --score p --label y
  calcert certify 'day-*.csv.gz' --odds 1/32 --delta 0.01
  calcert certify predictions.csv --statement distance --json
  calcert certify predictions.parquet --score p --label y --groups region
  calcert certify predictions.parquet --class-columns 'p_*' --label animal
  calcert certify predictions.parquet --score p --label y --cluster user_id
  calcert certify predictions.csv --html report.html --model 'PD 7' --owner Risk
  calcert certify portfolio.csv --score PD --label Ausfall --decimal , --percent --positive J --drop-missing
  head -5000 predictions.csv | calcert certify -
""",
)
@options.rows
@options.weighing
@options.settings
@click.option(
    "--statement",
    "statements",
    type=options.statement,
    multiple=True,
    help="Show this statement only; may be given more than once.",
)
@click.option("--groups", metavar="COLUMN", help="Certify every group that this column names, all together.")
@options.smallest_group
@class_options.columns
@class_options.names
@options.workers("groups or classes")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")
@click.option("--html", metavar="PATH", type=Written(), help="Also write a page; - is standard output.")
@click.option("--plot", "picture", metavar="PATH", type=Written(), help="Also draw a picture (.png, .svg, .pdf).")
@click.option(
    "--curve",
    type=click.Choice(["served", "as it is"]),
    help="Whose curve --plot draws: perturbed scores as served, or scores as they are. [default: served]",
)
@facts
@options.debug.option
def command(
    files: Files,
    score: str | None,
    label: str | None,
    weighing: dict[str, Any],
    settings: Settings,
    statements: tuple[str, ...],
    groups: str | None,
    smallest_group: int,
    class_columns: str | list[str] | None,
    class_names: str | list[str] | None,
    workers: int | None,
    as_json: bool,
    html: str | None,
    picture: str | None,
    curve: str | None,
    said: dict[str, str],
) -> None:
    """Rows in files become a report."""
    from calcert.commands.output import picture_path, refuse_overwriting, show, working, write_page, write_picture
    from calcert.commands.reading import named_files, read_classes, summarize
    from calcert.reports.groups import certify_groups
    from calcert.reports.report import certify_summary
    from calcert.sources.units.weighing_options import Weighing

    refuse_overwriting(files, {"--html": html, "--plot": picture, "--json": "-" if as_json else None})
    drawn = None if picture is None else picture_path(picture, "--plot")
    if curve is not None and (drawn is None or groups is not None):
        raise ValueError("--curve says what --plot draws of a report without groups; got --curve without it.")
    again = repeat("--statement")
    report: Report | GroupReport
    rows = read_classes(files, score, label, class_columns, class_names, weighing, groups, smallest_group)
    if rows is not None:
        from calcert.reports.classes import certify_classes

        report = filed(certify_classes(rows, settings, workers), said, files)
        values = json_asked_for(report.to_dict(), statements)
        values["classes"] = [json_asked_for(each, statements) for each in values["classes"]]
        values |= {name: json_asked_for(values[name], statements) for name in ("mean", "worst")}
    elif groups is None:
        options.refuse_of_many("groups or classes", smallest_group, workers)
        summary = summarize(files, score, label, **weighing)
        with working("certifying"):
            report = filed(certify_summary(summary, settings), said, files)
        values = json_asked_for(report.to_dict(), statements)
    else:
        with named_files(files) as paths:
            how = Weighing(**weighing)
            report = certify_groups(paths, None, groups, score, label, settings, smallest_group, how, workers)
        report = filed(report, said, files)
        values = report.to_dict()
        values["groups"] = {name: json_asked_for(group, statements) for name, group in values["groups"].items()}
        values["worst"] = json_asked_for(values["worst"], statements)
    if drawn is not None:
        chosen_curve: dict[str, Any] = {} if curve is None else {"curve": curve}
        write_picture(report.plot(**chosen_curve), drawn)
    # After the picture: a curve that was asked for is on the page as well.
    if html is not None and write_page(report, html, again):
        return
    if as_json:
        import json

        click.echo(json.dumps(values, indent=2, allow_nan=False))
    else:
        show(report, statements=statements)


def json_asked_for(values: dict[str, Any], statements: tuple[str, ...]) -> dict[str, Any]:
    """What --json prints of a report: without the statements that were not asked for; all of it where none was."""
    left_out = set(STATEMENTS) - set(statements) if statements else set()
    return {name: value for name, value in values.items() if name not in left_out}
