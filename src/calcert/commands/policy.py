"""A policy: what ``calcert check`` is to demand, in a file that has a version and an owner, fixed before the rows."""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from dataclasses import dataclass
from typing import Any

import click

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import rows_text

KEY = "calcert.policy"
OWN_ENTRIES = {"name": str, "version": str, "owner": str, "minimum_rows": int, "looks": list}
"""What only a policy says, beside the options of the command."""

WANTED = {
    str: "text in quotes",
    int: "a whole number, 1 or more",
    list: "the numbers of rows of all looks, such as [2000, 8000]",
}
"""How an entry must be written, by its type."""

NOT_IN_POLICIES = ("files", "policy", "junit", "html", "as_json", "debug")


@dataclass(frozen=True)
class Policy:
    """What a policy says of itself; its other entries are options of the command."""

    version: str  # Every outcome names it.
    name: str | None = None
    owner: str | None = None
    minimum_rows: int = 0  # Fewer do not pass.
    looks: tuple[int, ...] = ()  # Numbers of rows, those left out among them, at which all share delta.
    file: str = ""
    sha256: str = ""

    @property
    def words(self) -> str:
        """Which policy it is."""
        whose = f", owner {self.owner}" if self.owner is not None else ""
        looks = f" One of the looks at {listed(self.looks)} rows, which share delta." if self.looks else ""
        return f"Policy {self.name or self.file}, version {self.version}{whose}.{looks}"

    @property
    def shares(self) -> int:
        """By how much delta is divided."""
        return max(len(self.looks), 1)

    def check_look(self, rows: int) -> None:
        """Raise where the policy has no look at so many rows: a number that rows had a part in is not fixed."""
        if self.looks and rows not in self.looks:
            raise ValueError(
                f"rows must be as many as a look of {visible(self.file)} has, {listed(self.looks)}; got {rows:,}. "
                "Check that many of them, chosen without regard to scores and labels, such as those that came first."
            )

    def too_few(self, rows: int) -> str:
        """That rows are too few; nothing where they are not."""
        if rows >= self.minimum_rows:
            return ""
        return f"{rows_text(rows)}, and the policy asks for {self.minimum_rows:,}"


def option(command: Any) -> Any:
    """``--policy``: read before the other options, which it gives their values."""
    return click.option(
        "--policy",
        metavar="PATH",
        type=click.Path(exists=True, dir_okay=False),
        is_eager=True,
        expose_value=False,
        callback=_read_policy,
        help="Take --max, --statement and the other options from this TOML file, which has a version.",
    )(command)


def chosen(context: click.Context) -> Policy | None:
    """The policy of this call; options that it sets must not be given again."""
    found: Policy | None = context.meta.get(KEY)
    if found is None:
        return None
    for name in context.default_map or {}:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            shown = next(one.opts[0] for one in context.command.params if one.name == name)
            raise click.UsageError(f"{shown} must be said once; the policy {visible(found.file)} has it already.")
    return found


def _read_policy(context: click.Context, option: click.Parameter, path: str | None) -> None:
    """Options of the policy become defaults of the command, and what it says of itself is kept."""
    if path is None:
        return
    with open(path, "rb") as file:
        content = file.read()
    try:
        values = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{visible(path)} must be UTF-8; line {line} is not. Save it as UTF-8.") from error
    except RecursionError as error:
        raise ValueError(f"{visible(path)} must be a policy in TOML; got values nested too deeply.") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{visible(path)} must be a policy in TOML; {error}.") from error
    own = {name: values.pop(name) for name in OWN_ENTRIES if name in values}
    for name, value in own.items():
        if type(value) is not OWN_ENTRIES[name] or not all(_is_row_count(each) for each in _row_counts(value)):
            wanted = WANTED[OWN_ENTRIES[name]]
            raise ValueError(f"{name} must be {wanted}; got {value!r} in {visible(path)}.")
    if "looks" in own:
        own["looks"] = tuple(sorted(set(own["looks"])))
    if "version" not in own:
        raise ValueError(f'{visible(path)} must say which policy it is; write version = "1".')
    options = {parameter.name for parameter in context.command.params} - set(NOT_IN_POLICIES)
    for name in values:
        if name not in options:
            allowed = sorted({*OWN_ENTRIES, *(name for name in options if name)})
            near = difflib.get_close_matches(name, allowed, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" It may have {', '.join(allowed)}."
            raise ValueError(f"{visible(path)} must have entries that check knows; got {name!r}.{hint}")
    several = {parameter.name for parameter in context.command.params if getattr(parameter, "multiple", False)}
    for name in several & values.keys():
        if not isinstance(values[name], list):
            raise ValueError(
                f"{name} must be a list; got {values[name]!r} in {visible(path)}. Write {name} = {[values[name]]}."
            )
    context.default_map = values
    context.meta[KEY] = Policy(**own, file=path, sha256=hashlib.sha256(content).hexdigest())


def listed(looks: tuple[int, ...]) -> str:
    """Numbers of rows in words."""
    *most, last = (f"{rows:,}" for rows in looks)
    return f"{', '.join(most)} and {last}" if most else last


def _row_counts(value: Any) -> list[Any]:
    """What an entry says of rows; nothing where it is text."""
    return value or [0] if isinstance(value, list) else [value] if isinstance(value, int) else []


def _is_row_count(value: Any) -> bool:
    return type(value) is int and value >= 1
