"""The command line: one group that loads a command only when it is asked for."""

from __future__ import annotations

import atexit
import difflib
import gc
import importlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

import click

import calcert
from calcert.commands.options import DEBUG, OPTIONS, debug
from calcert.foundation.escaped_text import visible
from calcert.foundation.long_work import heard
from calcert.foundation.refusal import Refused

COMMANDS = (
    "certify",
    "check",
    "compare",
    "plan",
    "recalibrate",
    "apply",
    "choose",
    "perturb",
    "monitor",
    "sql",
    "demo",
    "research",
)

COPIES = ("apply", "choose", "perturb")
"""Commands that one file has; every other has a file of its own."""

BAD_INPUT = 2
BUG = 70
INTERRUPTED = 128 + 2
CLOSED_PIPE = 128 + 13

USER_ERRORS = (ValueError, TypeError, OSError, OverflowError, MemoryError, ModuleNotFoundError)
"""What the library raises for bad input, with words meant for people; anything else is a bug."""


class UserError(click.ClickException):
    """Bad input, told without a traceback."""

    exit_code = BAD_INPUT


class CommandGroup(click.Group):
    """Commands in the order of first use, each imported from ``calcert.commands`` on demand.

    Exit codes other than 0 and 1 are made here, so that 1 can only mean what ``calcert check`` says it means.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *(name for name in sorted(self.commands) if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return super().get_command(ctx, name)
        file, attribute = ("copies", name) if name in COPIES else (name, "command")
        command: click.Command = getattr(importlib.import_module(f"calcert.commands.{file}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            nearest = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not nearest:
                raise
            raise click.UsageError(f"{error.message} Did you mean {nearest[0]!r}?", ctx) from None

    def main(self, *args: Any, **options: Any) -> Any:
        if args or options.get("args") is not None:
            return super().main(*args, **options)
        # Started as a program, which lives for a second: collecting garbage and taking everything apart at the end
        # would be a tenth of it.
        gc.set_threshold(100_000, 50, 50)
        try:
            super().main(**options)
        except SystemExit as end:
            _leave(end.code if isinstance(end.code, int) else int(end.code is not None))
        except Exception:
            # Outside of any command, as while help is made; inside one, `invoke` has dealt with it.
            traceback.print_exc()
            _leave(BUG)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            _standard_output()
            with heard(), _logged_visibly():
                result = super().invoke(ctx)
                sys.stdout.flush()
        except click.ClickException as error:
            error.message = visible(error.message, keep="\n")  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _flush()
            ctx.exit(CLOSED_PIPE)
        except KeyboardInterrupt:
            click.echo("\nInterrupted; nothing was left half-written.", err=True)
            ctx.exit(INTERRUPTED)
        except USER_ERRORS as error:
            if ctx.meta.get(DEBUG):
                traceback.print_exc()
                ctx.exit(BAD_INPUT)
            raise UserError(visible(_words(error, ctx.meta.get(OPTIONS, {})), keep="\n")) from error
        except Exception:
            traceback.print_exc()
            click.echo("\nThis is a bug in calcert, not in your input. Please report the lines above.", err=True)
            ctx.exit(BUG)
        return result


@contextmanager
def _logged_visibly() -> Iterator[None]:
    """What the library logs meanwhile, it logs to a terminal."""

    def escape(record: logging.LogRecord) -> bool:
        record.msg, record.args = visible(record.getMessage(), keep="\n"), ()
        return True

    log = logging.getLogger("calcert")
    log.addFilter(escape)
    try:
        yield
    finally:
        log.removeFilter(escape)


def _words(error: Exception, options: Mapping[str, str]) -> str:
    """What an error says, one of the operating system without its number, in characters that can be seen."""
    words = error.words(options) if isinstance(error, Refused) else str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror and error.filename:
        words = f"{visible(str(error.filename))}: {error.strerror}."
    return "\n".join(map(visible, words.split("\n")))


def _standard_output() -> TextIO:
    """Standard output, or nowhere for a process that was started without one."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    return sys.stdout


def _leave(code: int) -> NoReturn:
    # Handlers first: other libraries remove their temporary files so.
    atexit._run_exitfuncs()
    _flush()
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)


def _flush() -> None:
    try:
        _standard_output().flush()
    except OSError:
        # The reader has gone or the disk is full, which was said already; Python would say it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
First steps:
  calcert demo --save demo.csv
  calcert certify demo.csv --score score --label label

\b
Tab completion in bash (zsh and fish likewise):
  eval "$(_CALCERT_COMPLETE=bash_source calcert)"
""",
)
@click.version_option(calcert.__version__, prog_name="calcert")
@debug
def main() -> None:
    """Certificates for the calibration error of a classifier.

    A certificate is a bound that holds at a stated confidence level, for any distribution and any number of rows.
    Where a bound needs an assumption, the output names it. Each command reads files of scores and labels;
    - stands for standard input.
    """
