"""Options that several commands share, each said once."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calcert.foundation.number_text import fraction
from calcert.foundation.validation import LARGEST_DELTA, delta_hint
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.serving.noise import DEFAULT, Noise, choose_noise
from calcert.show import certificate_words as words

if TYPE_CHECKING:
    NumberType = click.ParamType[float]
else:  # Subscripts are younger than the click that is asked for.
    NumberType = click.ParamType

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


class Probability(NumberType):
    """A number strictly between 0 and 1, with a hint for those who think in percent."""

    name = "number"

    def number(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number. Write it as a decimal, such as 0.05 for 5%.", param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = self.number(value, param, ctx)
        if not 0 < number < 1:
            hint = f" For {number:g}% write {number / 100:g}." if 1 <= number < 100 else ""
            self.fail(f"{value!r} must lie strictly between 0 and 1.{hint}", param, ctx)
        return number


class Delta(Probability):
    """The probability with which a bound may fail, with a hint for those who give the confidence in its place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = self.number(value, param, ctx)
        if not 0 < number < LARGEST_DELTA:
            self.fail(f"{value!r} must lie strictly between 0 and 0.5.{delta_hint(number, 'write')}", param, ctx)
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

files = click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())

score = click.option("--score", metavar="COLUMN", help="Column of scores in [0, 1].")
label = click.option("--label", metavar="COLUMN", help="Column of labels, 0/1 or boolean.")

delta = click.option(
    "--delta",
    type=Delta(),
    default=0.05,
    show_default=True,
    help="Probability with which a bound may fail.",
)
odds = click.option(
    "--odds",
    type=Ratio(),
    help="How strongly serving moves the odds of scores: 1/16 (by about 7%), 2^-4 or a decimal. Fix it before you see "
    f"the rows.  [default: {fraction(DEFAULT.size)}]",
)
bandwidth = click.option(
    "--bandwidth",
    type=Ratio(),
    help="Instead of --odds: serving adds noise of this bandwidth to scores, such as 1/64.",
)
crossings = click.option(
    "--crossings",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Assumed bound on how often the calibration curve changes sides of the diagonal.",
)
variation = click.option(
    "--variation",
    type=Ratio(),
    default="1",
    show_default=True,
    help="Assumed bound on the total variation of the calibration function, for the classifier as it is.",
)
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Throws the rows for the lower bounds."
)


statement = click.Choice(list(STATEMENTS))


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


def refuse_of_many(many: str, smallest_group: int, workers: int | None) -> None:
    """Where there is but one of what could be many, there is no smallest, and nothing to spread."""
    if smallest_group != 1:
        raise click.UsageError(f"--smallest-group must come with --groups; got {smallest_group}, and no groups.")
    if workers is not None:
        raise click.UsageError(f"--workers must come with {many}; got {workers}, and none.")


def rows(command: Callable[..., None]) -> Callable[..., None]:
    """FILE..., ``--score`` and ``--label``: where the rows are, and how their values are written."""
    return files(score(label(spelling(command))))


def spelling(command: Callable[..., None], *, sheets: bool = True) -> Callable[..., None]:
    """How files write their values, which files then say themselves.

    Without `sheets` for a command that reads none.
    """

    @wraps(command)
    def with_spelling(
        files: tuple[str, ...] | str,
        decimal: str,
        percent: bool,
        positive: str | None,
        drop_missing: bool,
        missing: tuple[str, ...],
        skip_lines: int,
        sheet: str | None = None,
        **options: Any,
    ) -> None:
        from calcert.sources.files.reading_account import Files
        from calcert.sources.parsed_values import Reading

        if missing and not drop_missing:
            raise click.UsageError(f"--missing must come with --drop-missing; got --missing {missing[0]!r} alone.")
        texts = tuple(text.strip() for text in missing)
        label = positive if positive is None else positive.strip()
        paths = (files,) if isinstance(files, str) else files
        how = Reading(decimal, percent, label, drop_missing, texts, sheet, skip_lines)
        command(files=Files(paths, how), **options)

    for option in reversed((*SPELLING, sheet) if sheets else SPELLING):
        with_spelling = option(with_spelling)
    return with_spelling


lines = click.IntRange(min=0)
skip_lines = click.option(
    "--skip-lines", metavar="N", type=lines, default=0, help="Pass over so many lines, such as titles, above the names."
)
sheet = click.option("--sheet", metavar="NAME", help="The sheet of an .xlsx workbook that has several.")
SPELLING = (
    click.option(
        "--decimal", type=click.Choice([".", ","]), default=".", help="What stands before decimals.  [default: .]"
    ),
    click.option("--percent", is_flag=True, help="Scores are percentages, written 7.56 or 7.56%."),
    click.option("--positive", metavar="LABEL", help="The label that means 1, such as J; all others mean 0."),
    click.option(
        "--drop-missing",
        is_flag=True,
        help="Leave out, and count, rows without a score or a label: empty, NA, N/A, #N/A, NaN, null or None.",
    ),
    click.option(
        "--missing", metavar="TEXT", multiple=True, help="Also this stands for a missing value; may be repeated."
    ),
    skip_lines,
)
"""Options for files as people keep them."""


def weighing(command: Callable[..., None]) -> Callable[..., None]:
    """Columns of rows that are not independent, or not equal, as one mapping of arguments of ``summarize``."""

    @wraps(command)
    def with_weighing(
        cluster: str | None,
        weight: str | None,
        largest_weight: float | None,
        largest_gain: float | None,
        weight_unit: float | None,
        soft_labels: bool,
        pair_sums: bool,
        **options: Any,
    ) -> None:
        given = {
            "clusters": cluster,
            "weights": weight,
            "largest_weight": largest_weight,
            "largest_gain": largest_gain,
            "weight_unit": weight_unit,
            "soft_labels": soft_labels or None,
            "pair_sums": pair_sums or None,
        }
        command(weighing={name: value for name, value in given.items() if value is not None}, **options)

    for option in reversed(WEIGHING):
        with_weighing = option(with_weighing)
    return with_weighing


WEIGHING = (
    click.option("--cluster", metavar="COLUMN", help="Column that says which rows belong together, such as a user."),
    click.option("--weight", metavar="COLUMN", help="Column of weights, whole multiples of --weight-unit."),
    click.option(
        "--largest-weight",
        type=Ratio(),
        help="Known bound on the weight of a row, or of a cluster: bounds then speak of the whole population.",
    ),
    click.option(
        "--largest-gain",
        type=Ratio(),
        help="Known bound on the weight times |label - score| of a row, or of a cluster.",
    ),
    click.option("--weight-unit", type=Ratio(), help="What all weights are whole multiples of. [default: 1]"),
    click.option("--soft-labels", is_flag=True, help="Labels are shares between 0 and 1."),
    click.option("--pair-sums", is_flag=True, help="Narrower bounds for clusters whose rows depend little."),
)
"""Options for rows in clusters, with weights or with shares for labels."""


def settings(command: Callable[..., None]) -> Callable[..., None]:
    """What must be fixed before the rows are seen, as one :class:`Settings`."""

    @wraps(command)
    def with_settings(delta: float, noise: Noise, crossings: int, variation: float, seed: int, **options: Any) -> None:
        command(settings=Settings(delta, noise, crossings, variation, seed), **options)

    return delta(noise(crossings(variation(seed(with_settings)))))


def noise(command: Callable[..., None]) -> Callable[..., None]:
    """``--odds`` and ``--bandwidth``, of which at most one may be given, as one :class:`Noise`."""

    @wraps(command)
    def with_noise(odds: float | None, bandwidth: float | None, **options: Any) -> None:
        command(noise=choose_noise(odds, bandwidth), **options)

    return odds(bandwidth(with_noise))
