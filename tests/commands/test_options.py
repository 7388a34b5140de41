"""Numbers as people write them."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from calcert.cli import main
from calcert.commands.option_values import Probability, Ratio


@pytest.mark.parametrize(
    "text", ["1/64", "2^-6", "2**-6", "0.015625", "1.5625e-2", " 1 / 64 ", "2^-5/2", "1/2^6", "4/256"]
)
def test_a_bandwidth_may_be_written_in_many_ways(text: str) -> None:
    assert Ratio().convert(text, None, None) == 1 / 64


@pytest.mark.parametrize("text", ["", "x", "1/", "/2", "1/0", "2^", "2^x", "--6", "1//2", "2^-1^2", "0x10"])
def test_what_is_no_number_is_refused_with_ways_to_write_one(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not a number. Write it as 1/64, 2\^-6"):
        Ratio().convert(text, None, None)


@pytest.mark.parametrize("text", ["0", "-1", "-1/64", "inf", "nan", "0/3", "10^999"])
def test_a_bandwidth_must_be_positive_and_finite(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Ratio().convert(text, None, None)


@pytest.mark.parametrize(("text", "hint"), [("5", "For 5% write 0.05."), ("1", "For 1% write 0.01."), ("0", "between")])
def test_a_percentage_for_a_probability_gets_the_number_that_was_meant(text: str, hint: str) -> None:
    with pytest.raises(click.BadParameter, match=hint):
        Probability().convert(text, None, None)
    assert Probability().convert("0.05", None, None) == 0.05


def leaves(command: click.Command) -> Iterator[click.Command]:
    if not isinstance(command, click.Group):
        yield command
        return
    for name in command.list_commands(click.Context(command)):
        yield from leaves(command.get_command(click.Context(command), name) or command)


def test_no_command_takes_one_of_two_values_without_a_word() -> None:
    seen = 0
    for command in leaves(main):
        single = [p for p in command.params if isinstance(p, click.Option) and not (p.multiple or p.is_flag)]
        for option in single:
            seen += 1
            with pytest.raises(click.UsageError, match=f"{option.opts[0]} must be given once; it was given twice"):
                command.make_context("command", [option.opts[0], "0.1", f"{option.opts[0]}=0.2"])
    assert seen > 100
    arguments = ["x.csv", "--json", "--json", "--statement", "cutoff", "--statement", "distance"]
    certify = next(leaves(main))
    assert certify.make_context("certify", arguments).params["statements"] == ("cutoff", "distance")
