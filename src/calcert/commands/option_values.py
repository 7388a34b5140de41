"""Values of options as people write them: numbers, costs and names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

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
