"""Options that several commands share, each said once."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calcert.commands import class_options, reading_options
from calcert.foundation.number_text import fraction
from calcert.foundation.validation import check_costs
from calcert.perturbation.noise import DEFAULT, choose_noise
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.show import certificate_words as words

if TYPE_CHECKING:
    NumberType = click.ParamType[float]
    CostsType = click.ParamType[tuple[float | str, ...]]
else:  # Subscripts are younger than the click that is asked for.
    NumberType = CostsType = click.ParamType

Function = TypeVar("Function", bound=Callable[..., Any])

POWER = re.compile(r"(?P<base>[0-9.]+)(?:\^|\*\*)(?P<exponent>[+-]?[0-9.]+)")


class Ratio(NumberType):
    """A positive number as people write it: 1/64, 2^-6, 2**-6, 0.015625."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        try:
            number = _written_ratio(value.replace(" ", ""))
        except (ValueError, ZeroDivisionError, OverflowError):
            self.fail(f"{value!r} is not a number. Write it as 1/64, 2^-6, 2**-6 or 0.015625.", param, ctx)
        if not 0 < number < float("inf"):
            self.fail(f"{value!r} must be positive and finite, such as 1/64.", param, ctx)
        return number


def _written_ratio(text: str) -> float:
    """A number, a power or a fraction of them, as text."""
    above, slash, below = text.partition("/")
    if slash:
        return _written_ratio(above) / _written_ratio(below)
    power = POWER.fullmatch(text)
    if power:
        return float(float(power["base"]) ** float(power["exponent"]))
    return float(text)


class Decimal(NumberType):
    """A number as a decimal, with a hint for those who think in percent."""

    name, example = "number", "0.95 for 95%"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number. Write it as a decimal, such as {self.example}.", param, ctx)


class Probability(Decimal):
    """A number strictly between 0 and 1."""

    example = "0.05 for 5%"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not 0 < number < 1:
            hint = f" For {number:g}% write {number / 100:g}." if 1 <= number < 100 else ""
            self.fail(f"{value!r} must lie strictly between 0 and 1.{hint}", param, ctx)
        return number


class DebugFlag:
    """``--debug``, before or after the name of the command."""

    KEY = "calcert.debug"

    def option(self, command: Function) -> Function:
        return click.option(
            "--debug",
            is_flag=True,
            expose_value=False,
            callback=self._remember,
            help="Show the traceback of an error.",
        )(command)

    def _remember(self, ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value:
            ctx.meta[self.KEY] = True


debug = DebugFlag()

files = click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(readable=False))

score = click.option("--score", metavar="COLUMN", help="Column of scores in [0, 1].")
label = click.option("--label", metavar="COLUMN", help="Column of labels, 0/1 or boolean.")

confidence = click.option(
    "--confidence",
    type=Decimal(),
    default=0.95,
    show_default=True,
    help="Confidence level of each bound.",
)
odds = click.option(
    "--odds",
    type=Ratio(),
    help="Scale of log-odds noise added to scores: 1/16 (odds change by about 7%), 2^-4 or a decimal. Fix it before "
    f"you see the rows.  [default where noise is asked for: {fraction(DEFAULT.size)}]",
)
bandwidth = click.option(
    "--bandwidth",
    type=Ratio(),
    help="Instead of --odds: noise of this bandwidth added to scores, such as 1/64.",
)
crossings = click.option(
    "--crossings",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="For l1: assumed bound on how often the calibration curve changes sides of the diagonal.",
)
variation = click.option(
    "--variation",
    type=Ratio(),
    help="For l1, instead of --crossings: assumed bound on the total variation of the calibration function.",
)
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random split of rows."
)


statement = click.Choice(list(STATEMENTS))

STATEMENT_HELP = (
    "Which statement is certified; `calcert certify --help` says what each bounds.  [default: l1; perturbed with "
    "--odds or --bandwidth]"
)


def statement_lines() -> str:
    """What each statement bounds and assumes, as a paragraph that click leaves as it is."""
    widest = max(map(len, STATEMENTS)) + 2
    wrapped = [
        textwrap.fill(f"{name:{widest}}{words.STATEMENTS[name].line}", 75, subsequent_indent=" " * widest)
        for name in STATEMENTS
    ]
    return "\n".join(["\b", *wrapped])


smallest_group = click.option(
    "--smallest-group",
    metavar="ROWS",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Groups with fewer rows do not count for the worst. Fix it before you see the rows.",
)


def workers(many: str) -> Callable[[Any], Any]:
    """``--workers``, of a command that certifies `many`."""
    return click.option(
        "--workers",
        metavar="NUMBER",
        type=click.IntRange(min=1),
        help=f"Processes for {many}, where they take more than a second; bounds do not depend on it.  "
        "[default: as many as there are free cores]",
    )


def refuse_of_many(workers: int | None) -> None:
    """Where there is but one of what could be many, there is nothing to spread."""
    if workers is not None:
        raise click.UsageError(f"--workers must come with groups or classes; got {workers}, and none.")


ROWS = (
    *("score", "label", "clusters", "weights", "largest_weight", "largest_gain", "weight_unit", "soft_labels"),
    *("independent", "pair_sums", "groups", "smallest_group", "class_columns", "class_names"),
)
"""Options that are arguments of ``calcert.Rows``, by its names."""


def rows(
    *, sampling: bool = False, groups: str | None = None, classes: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """FILE... and all that is said of the rows, as one ``calcert.Rows``; `groups` says what they are asked for."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_rows(files: tuple[str, ...], **options: Any) -> None:
            from calcert.commands.reading import named_files
            from calcert.sources.rows import Rows

            reading = reading_options.reading_of(options)
            said = {name: options.pop(name) for name in ROWS if name in options}
            if "class_names" in said and said["class_names"] is not None and said["class_columns"] is None:
                raise click.UsageError("--class-names must come with --class-columns; got it alone.")
            if isinstance(said.get("class_names"), str):
                said["class_names"] = said["class_names"].split(",")
            if isinstance(said.get("groups"), str) and "," in said["groups"]:
                said["groups"] = [name.strip() for name in said["groups"].split(",")]
            with named_files(files) as paths:
                rows = Rows(paths, reading=reading, **said)
                command(rows=rows, **options)

        several = [] if groups is None else [click.option("--groups", metavar="COLUMN", help=groups), smallest_group]
        asked = [files, score, label, *reading_options.ALL, *(WEIGHING if sampling else ()), *several]
        if classes:
            asked += [class_options.columns, class_options.names]
        for option in reversed(asked):
            with_rows = option(with_rows)
        return with_rows

    return decorate


WEIGHING = (
    click.option("--clusters", metavar="COLUMN", help="Column that says which rows belong together."),
    click.option(
        "--independent", is_flag=True, help="Answers to one question are independent, though the log repeats it."
    ),
    click.option("--weights", metavar="COLUMN", help="Column of weights, whole multiples of --weight-unit."),
    click.option(
        "--largest-weight",
        type=Ratio(),
        help="Known bound on the weight of a row, or of a cluster: bounds then apply to the whole population.",
    ),
    click.option(
        "--largest-gain",
        type=Ratio(),
        help="Known bound on the weight times |label - score| of a row, or of a cluster.",
    ),
    click.option("--weight-unit", type=Ratio(), help="The unit that every weight is a whole multiple of. [default: 1]"),
    click.option("--soft-labels", is_flag=True, help="Labels are shares between 0 and 1."),
    click.option("--pair-sums", is_flag=True, help="Narrower bounds for clusters whose rows are nearly independent."),
)
"""Options for rows in clusters, with weights or with shares for labels."""


class Costs(CostsType):
    """What a false positive and a false negative cost, and the currency: 30,70 or 30,70,EUR."""

    name = "costs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float | str, ...]:
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in value.split(",")]
        try:
            return check_costs((*map(float, parts[:2]), *parts[2:]))
        except (ValueError, TypeError):
            self.fail(f"{value!r} must be the costs of a false positive and a false negative: 30,70 or 30,70,EUR.")


threshold = click.option(
    "--threshold", type=Probability(), help="Also certify regret: what acting on scores at or above this one loses."
)
costs = click.option(
    "--costs",
    metavar="FP,FN[,CURRENCY]",
    type=Costs(),
    help="What a false positive and a false negative cost, such as 30,70,EUR; the threshold is then 30 / 100.",
)

SETTINGS = ("confidence", "odds", "bandwidth", "crossings", "variation", "seed", "threshold", "costs")


def settings(command: Callable[..., None]) -> Callable[..., None]:
    """What must be fixed before the rows are seen, as one :class:`Settings`."""

    @wraps(command)
    def with_settings(**options: Any) -> None:
        command(settings=Settings(**{name: options.pop(name) for name in SETTINGS}), **options)

    return confidence(odds(bandwidth(crossings(variation(threshold(costs(seed(with_settings))))))))


def noise(command: Callable[..., None]) -> Callable[..., None]:
    """``--odds`` and ``--bandwidth``, of which at most one may be given, as one :class:`Noise`."""

    @wraps(command)
    def with_noise(odds: float | None, bandwidth: float | None, **options: Any) -> None:
        command(noise=choose_noise(odds, bandwidth), **options)

    return odds(bandwidth(with_noise))
