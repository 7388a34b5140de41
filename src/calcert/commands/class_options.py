"""Many classes on the command line: which columns hold their probabilities, and whose error a gate is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calcert.reports.gate import OF, USUAL

if TYPE_CHECKING:
    NamesType = click.ParamType[str | list[str]]
else:  # Subscripts are younger than the click that is asked for.
    NamesType = click.ParamType


class Names(NamesType):
    """Names with commas between them or, in a policy, a list."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | list[str]:
        return [str(each) for each in value] if isinstance(value, list) else str(value)


columns = click.option(
    "--class-columns",
    metavar="COLUMNS",
    type=Names(),
    help="A classifier with many classes: columns of their probabilities, as p_cat,p_dog,p_bird or as p_*, or one "
    "column that holds lists. --label then names classes, or numbers them from 0.",
)
names = click.option("--class-names", metavar="NAMES", type=Names(), help="Names of the classes, separated by commas.")


of = click.option(
    "--of",
    type=click.Choice(list(OF)),
    help="With --class-columns, whose error: that of the prediction (its probability against how often it is right), "
    f"of the worst class against the rest, or the mean over classes.  [default: {USUAL}]",
)
