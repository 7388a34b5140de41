"""The command line that gives the same report again, as pages show it."""

from __future__ import annotations

import shlex

import click

ABOUT_OUTPUT = ("--json", "--html", "--junit", "--plot", "--curve", "--workers", "--debug")
"""Options that leave the report as it is."""


def repeat(**unseen: str | None) -> str:
    """The command that gives the same report again, with every setting that was given.

    What click does not tell of itself is `unseen`, by name.
    """
    context = click.get_current_context()
    values = unseen | context.params
    words = ["calcert", str(context.info_name), *values["files"]]
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        name = option.opts[0]
        if given and name.startswith("--") and name not in ABOUT_OUTPUT:
            value = values[option.name or ""]
            for one in value if isinstance(value, tuple) else (value,):
                words += [name] if one is True else [name, str(one)]
    return shlex.join(words)
