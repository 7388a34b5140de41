"""Many classes on the command line: which columns hold their probabilities, and whose error a gate is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from calcert.sources.class_rows import ClassRows
    from calcert.sources.reading_account import Files

    NamesType = click.ParamType[str | list[str]]
else:  # Subscripts are younger than the click that is asked for.
    NamesType = click.ParamType

OF = {
    "prediction": "the prediction among classes",
    "worst": "every class",
    "mean": "the mean over classes",
}
"""Whose error it may be, and what an outcome calls it."""

DEFAULT = "prediction"


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
names = click.option(
    "--class-names", metavar="NAMES", type=Names(), help="What the classes are called, with commas between them."
)


of = click.option(
    "--of",
    type=click.Choice(list(OF)),
    help="With --class-columns, whose error: that of the prediction (its probability against how often it is right), "
    f"of the worst class against the rest, or the mean over classes.  [default: {DEFAULT}]",
)


def read(
    files: Files,
    score: str | None,
    label: str | None,
    class_columns: str | list[str] | None,
    class_names: str | list[str] | None,
    weighing: dict[str, Any],
    groups: str | None = None,
    smallest_group: int = 1,
    of: str | None = None,
) -> ClassRows | None:
    """The rows of a classifier with many classes; None where no columns of classes are named."""
    if class_columns is None:
        for option, value in (("--class-names", class_names), ("--of", of)):
            if value is not None:
                raise click.UsageError(f"{option} must come with --class-columns; got it alone.")
        return None
    from calcert.commands.reading import named_files
    from calcert.sources import rows_of_classes

    with named_files(files) as paths:
        return rows_of_classes(
            paths,
            None,
            groups=groups,
            smallest_group=smallest_group,
            score=score,
            label=label,
            class_columns=class_columns,
            class_names=class_names.split(",") if isinstance(class_names, str) else class_names,
            weighing=weighing,
        )
