"""Values of options as people write them: numbers, costs, names, and files to be written."""

from __future__ import annotations

import os
import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from calcert.foundation.escaped_text import visible
from calcert.foundation.validation import check_costs

if TYPE_CHECKING:
    NumberType = click.ParamType[float]
    CostsType = click.ParamType[tuple[float | str, ...]]
    NamesType = click.ParamType[str | list[str]]
else:  # Subscripts are younger than the click that is asked for.
    NumberType = CostsType = NamesType = click.ParamType

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
    return float(float(power["base"]) ** float(power["exponent"])) if power else float(text)


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


class Names(NamesType):
    """Names with commas between them or, in a policy, a list."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | list[str]:
        return [str(each) for each in value] if isinstance(value, list) else str(value)


class Written(click.Path):
    """A file to be written: in a folder that is there, and no folder itself."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-" and (param is None or param.name not in ("html", "prometheus")):
            self.fail("'-' must be the path of a file: only pages and metrics go to standard output.", param, ctx)
        folder = os.path.dirname(value) or "."
        if os.path.isdir(value):
            own = "" if param is None or param.name is None else os.path.join(value, NAMES_OF_FILES[param.name])
            self.fail(f"{value!r} is a folder. Name a file in it{own and f', such as {visible(own)}'}.", param, ctx)
        if not os.path.isdir(folder):
            self.fail(f"{value!r} must lie in a folder that exists; there is no {visible(folder)}.", param, ctx)
        for library in NEEDS.get(param.name or "" if param else "", ()):
            if find_spec(library) is None:
                from calcert.foundation.refusal import needed_for_reports

                with needed_for_reports():
                    import_module(library)
        return super().convert(value, param, ctx)


NEEDS = {"html": ("jinja2", "matplotlib"), "picture": ("matplotlib",)}
"""What is asked for before rows are read, which may take long, by the option that needs it."""

NAMES_OF_FILES = {"html": "report.html", "picture": "report.png", "junit": "outcome.xml", "prometheus": "calcert.prom"}
"""What files might be called, by the option that names them."""
