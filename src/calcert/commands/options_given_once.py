"""Options that are given once: of one that is given twice, the first value would be passed over without a word."""

from __future__ import annotations

from typing import Any

import click

OPTIONS = "calcert.options"
"""What arguments are called as options of the command that runs: errors name them so."""


class Once(click.Command):
    """A command that refuses an option given twice, unless it may be repeated or is a flag."""

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
