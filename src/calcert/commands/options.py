"""Options of the commands: each is said once in a table, and commands get those that go together as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calcert.commands.input_and_output import Shown, named_files
from calcert.commands.option_values import Costs, Decimal, Names, Probability, Ratio, Written
from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import fraction
from calcert.perturbation.noise import DEFAULT, choose_noise
from calcert.reports.gate import OF, USUAL
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS

if TYPE_CHECKING:
    from calcert.sources.parsed_values import Reading

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., None]], Callable[..., None]]
Given = dict[str, Any]
"""Values by the name of the option."""

OPTIONS = "calcert.options"
"""What arguments are called as options of the command that runs: errors name them so."""

DEBUG = "calcert.debug"
"""Whether ``--debug`` was given, before or after the name of the command."""

debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, param, value: ctx.meta.update({DEBUG: True} if value else {}),
    help="Show the traceback of an error.",
)


class Command(click.Command):
    """A command with ``--debug`` that refuses an option given twice, unless it may be repeated or is a flag.

    Of one that is given twice, the first value would be passed over without a word.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        debug(self)

    def invoke(self, ctx: click.Context) -> Any:
        ctx.meta[OPTIONS] = {one.name: one.opts[0] for one in self.params if one.opts[0].startswith("-")}
        return super().invoke(ctx)

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            found = parse(args)
            for option in found[2]:
                single = isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
                if single and found[2].count(option) > 1 and not ctx.resilient_parsing:
                    raise click.UsageError(f"{option.opts[0]} must be given once; it was given twice, or more.", ctx)
            return found

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser


def command(short_help: str, examples: str, **how: Any) -> Callable[[Callable[..., None]], click.Command]:
    """A command with examples under its help."""
    return click.command(cls=Command, short_help=short_help, epilog=f"\b\nExamples:{examples}", **how)


statement = click.Choice(list(STATEMENTS))


def _said(help: str = "", **how: Any) -> Given:
    return {"help": help, **how}


READING: dict[str, Given] = {
    "decimal": _said("Decimal separator of the file.  [default: .]", type=click.Choice([".", ","]), default="."),
    "percent": _said("Scores are percentages, written 7.56 or 7.56%.", is_flag=True),
    "mixed_percent": _said("Scores are percentages and shares in one column: 95%, 95 and 0.95.", is_flag=True),
    "positive": _said("The label that means 1, such as J; all others mean 0.", metavar="LABEL"),
    "drop_missing": _said(
        "Leave out, and count, rows without a score or a label: empty, NA, N/A, #N/A, NaN, null or None.", is_flag=True
    ),
    "missing": _said("Another text that means a missing value; may be repeated.", metavar="TEXT", multiple=True),
    "skip_lines": _said(
        "Number of lines, such as titles, to skip above the column names.",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
    ),
    "filter": _said("The filter of a log of lm-evaluation-harness that has several.", metavar="NAME"),
    "sheet": _said("The sheet of an .xlsx workbook that has several.", metavar="NAME"),
    "encoding": _said("Text encoding of the file, such as cp1252 or utf-16.", metavar="NAME", default="utf-8"),
}
"""What ``calcert.Reading`` is told."""

SAMPLING: dict[str, Given] = {
    "clusters": _said("Column that says which rows belong together.", metavar="COLUMN"),
    "independent": _said("Answers to one question are independent, though the log repeats it.", is_flag=True),
    "weights": _said("Column of weights, whole multiples of --weight-unit.", metavar="COLUMN"),
    "largest_weight": _said(
        "Known bound on the weight of a row, or of a cluster: bounds then apply to the whole population.", type=Ratio()
    ),
    "largest_gain": _said("Known bound on the weight times |label - score| of a row, or of a cluster.", type=Ratio()),
    "weight_unit": _said("The unit that every weight is a whole multiple of. [default: 1]", type=Ratio()),
    "soft_labels": _said("Labels are shares between 0 and 1.", is_flag=True),
    "pair_sums": _said("Narrower bounds for clusters whose rows are nearly independent.", is_flag=True),
}
"""What ``calcert.Rows`` is told of rows in clusters, with weights or with shares for labels."""

COLUMNS: dict[str, Given] = {
    "score": _said("Column of scores in [0, 1].", metavar="COLUMN"),
    "label": _said("Column of labels, 0/1 or boolean.", metavar="COLUMN"),
}

GROUPS: dict[str, Given] = {
    "groups": _said(metavar="COLUMN"),
    "smallest_group": _said(
        "Groups with fewer rows do not count for the worst. Fix it before you see the rows.",
        metavar="ROWS",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
    ),
}

CLASSES: dict[str, Given] = {
    "class_columns": _said(
        "A classifier with many classes: columns of their probabilities, as p_cat,p_dog,p_bird or as p_*, or "
        "one column that holds lists. --label then names classes, or numbers them from 0.",
        metavar="COLUMNS",
        type=Names(),
    ),
    "class_names": _said("Names of the classes, separated by commas.", metavar="NAMES", type=Names()),
}

ROWS = (*COLUMNS, *SAMPLING, *GROUPS, *CLASSES)
"""Options that are arguments of ``calcert.Rows``, by its names."""

SETTINGS: dict[str, Given] = {
    "confidence": _said("Confidence level of each bound.", type=Decimal(), default=0.95, show_default=True),
    "odds": _said(
        "Scale of log-odds noise added to scores: 1/16 (odds change by about 7%), 2^-4 or a decimal. Fix it "
        f"before you see the rows.  [default where noise is asked for: {fraction(DEFAULT.size)}]",
        type=Ratio(),
    ),
    "bandwidth": _said("Instead of --odds: noise of this bandwidth added to scores, such as 1/64.", type=Ratio()),
    "crossings": _said(
        "For l1: assumed bound on how often the calibration curve changes sides of the diagonal.",
        type=click.IntRange(min=0),
        default=3,
        show_default=True,
    ),
    "variation": _said(
        "For l1, instead of --crossings: assumed bound on the total variation of the calibration function.",
        type=Ratio(),
    ),
    "threshold": _said("Also certify regret: what acting on scores at or above this one loses.", type=Probability()),
    "costs": _said(
        "What a false positive and a false negative cost, such as 30,70,EUR; the threshold is then 30 / 100.",
        metavar="FP,FN[,CURRENCY]",
        type=Costs(),
    ),
    "seed": _said("Seed of the random split of rows.", type=click.IntRange(min=0), default=0, show_default=True),
}
"""What ``calcert.Settings`` is told."""

OTHER: dict[str, Given] = {
    "of": _said(
        "With --class-columns, whose error: that of the prediction (its probability against how often it is "
        f"right), of the worst class against the rest, or the mean over classes.  [default: {USUAL}]",
        type=click.Choice(list(OF)),
    ),
    "statement": _said(
        "Which statement is certified; `calcert certify --help` says what each bounds.  [default: l1; "
        "perturbed with --odds or --bandwidth]",
        type=statement,
    ),
    "workers": _said(
        "Processes for groups or classes, where they take more than a second; bounds do not depend on it.  "
        "[default: as many as there are free cores]",
        metavar="NUMBER",
        type=click.IntRange(min=1),
    ),
    "column": _said(metavar="NAME", show_default=True),
    "overwrite": _said("Replace OUT where it exists.", is_flag=True),
}
TABLE = COLUMNS | READING | SAMPLING | GROUPS | CLASSES | SETTINGS | OTHER


def option(name: str, **different: Any) -> Callable[[Decorated], Decorated]:
    """The option of the table, with what is different for one command."""
    return click.option(f"--{name.replace('_', '-')}", name, **TABLE[name] | different)


def statements(does: str) -> Callable[[Decorated], Decorated]:
    """``--statement``, which may be repeated."""
    words = f"{does} this statement only; may be given more than once."
    return click.option("--statement", "statements", type=statement, multiple=True, help=words)


def gathered(make: Callable[[Given], Given], asked: Iterable[Callable[..., Any]]) -> Decorator:
    """The options `asked`, out of which `make` takes some and gives the command what it makes of them."""
    in_order = [*asked]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def told(**given: Any) -> None:
            made = make(given)
            command(**made, **given)

        for one in reversed(in_order):
            told = one(told)
        return told

    return decorate


def rows(*, sampling: bool = False, groups: str | None = None, classes: bool = False) -> Decorator:
    """FILE... and all that is said of the rows, as one ``calcert.Rows``; `groups` says what they are asked for."""
    files = click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(readable=False))
    named = [*COLUMNS, *READING, *(SAMPLING if sampling else ())]
    several = [] if groups is None else [option("groups", help=groups), option("smallest_group")]
    return gathered(_rows, [files, *map(option, named), *several, *map(option, CLASSES if classes else ())])


def _rows(given: Given) -> Given:
    from calcert.sources.rows import Rows

    reading = reading_of(given)
    said = {name: given.pop(name) for name in ROWS if name in given}
    if said.get("class_names") is not None and said["class_columns"] is None:
        raise click.UsageError("--class-names must come with --class-columns; got it alone.")
    if isinstance(said.get("class_names"), str):
        said["class_names"] = said["class_names"].split(",")
    if isinstance(said.get("groups"), str) and "," in said["groups"]:
        said["groups"] = [name.strip() for name in said["groups"].split(",")]
    paths = click.get_current_context().with_resource(named_files(given.pop("files")))
    rows = Rows(paths, reading=reading, **said)
    if "facts" in given:
        rows.source.value.digests = {}  # They are taken while rows are read.
    return {"rows": rows}


def reading_of(given: Given) -> Reading:
    """How files write their values, taken out of the options."""
    from calcert.sources.parsed_values import Reading

    said = {name: given.pop(name) for name in READING if name in given}
    if said.get("missing") and not said["drop_missing"]:
        raise click.UsageError(f"--missing must come with --drop-missing; got --missing {said['missing'][0]!r} alone.")
    if said.get("positive") is not None:
        said["positive"] = said["positive"].strip()
    return Reading(**said | {"missing": tuple(text.strip() for text in said.get("missing", ()))})


reading = gathered(
    lambda given: {"reading": reading_of(given)},
    map(option, [name for name in READING if name not in ("filter", "sheet")]),
)
"""How text writes its values, as one ``calcert.Reading``."""

settings = gathered(
    lambda given: {"settings": Settings(**{name: given.pop(name) for name in SETTINGS})}, map(option, [*SETTINGS])
)
"""What must be fixed before the rows are seen, as one :class:`Settings`."""

noise = gathered(
    lambda given: {"noise": choose_noise(given.pop("odds"), given.pop("bandwidth"))}, map(option, ["odds", "bandwidth"])
)
"""``--odds`` and ``--bandwidth``, of which at most one may be given, as one :class:`Noise`."""


def _said_facts(given: Given) -> Given:
    """What ``--fact NAME=TEXT`` said, by name."""
    said: dict[str, str] = {}
    for fact in given.pop("facts"):
        name, equals, text = fact.partition("=")
        if not (equals and name.strip() and text.strip()):
            raise click.UsageError(f"--fact must be NAME=TEXT, such as model='PD 7'; got {visible(fact)!r}.")
        if name.strip() in said:
            raise click.UsageError(f"--fact must name each fact once; got {visible(name.strip())} twice.")
        said[name.strip()] = text.strip()
    return {"said": said}


facts = gathered(
    _said_facts,
    [
        click.option(
            "--fact",
            "facts",
            metavar="NAME=TEXT",
            multiple=True,
            help="For the record, such as model='PD 7', version, period, population, owner or note; title is the "
            "heading of the page. May be given more than once.",
        )
    ],
)
"""``--fact NAME=TEXT``, as often as wanted, as one mapping of what was said."""


def refuse_of_many(workers: int | None) -> None:
    """Where there is but one of what could be many, there is nothing to spread."""
    if workers is not None:
        raise click.UsageError(f"--workers must come with groups or classes; got {workers}, and none.")


def shown(*, files: bool = True) -> Decorator:
    """``--json`` and, where `files` are written, ``--html`` and ``--plot``, as one :class:`Shown`."""
    names = ("as_json", "html", "picture") if files else ("as_json",)
    asked = [click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")]
    if files:
        page, drawn = "Also write a page; - is standard output.", "Also draw a figure (.png, .svg, .pdf)."
        asked.append(click.option("--html", metavar="PATH", type=Written(), help=page))
        asked.append(click.option("--plot", "picture", metavar="PATH", type=Written(), help=drawn))
    return gathered(lambda given: {"shown": Shown(**{name: given.pop(name) for name in names})}, asked)
