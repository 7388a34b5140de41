"""What a file of any format must have to get one more column: at least one row, and a column of scores in [0, 1].

Which columns these are is wanted by somebody; an error says in which row of the file there is no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from calcert.sources.parsed_values import PLAIN, Reader, Reading, ValueReaders
from calcert.sources.source_argument import Account


@dataclass(frozen=True)
class Wanted:
    """The column of scores (None to find it), the name of the new one, and how values are written.

    `label` names a column that rows must not lack either, where rows that lack something are left out; these are
    counted in the account.
    """

    score: str | None
    column: str
    spelling: Reading = PLAIN
    label: str | None = None
    account: Account = field(default_factory=Account)

    def score_reader(self, plain: Reader) -> Reader:
        """How to read the scores of one table."""
        return ValueReaders(self.spelling, plain, plain).score

    def stays(self, score: str, value: Any, label: Any) -> bool:
        """True for a row that is not to be left out for a gap."""
        missing = score if self.spelling.is_gap(value) else self.label if self.spelling.is_gap(label) else None
        if not self.spelling.drop_missing or missing is None:
            return True
        self.account.dropped[missing] += 1
        return False


def refuse_no_rows(rows: int, source: str) -> None:
    """Nothing can be added to no rows; `source` names the file."""
    if rows == 0:
        raise ValueError(f"{source} must hold at least one row; got none.")


def check_new_column(name: str, names: Sequence[str], source: str) -> None:
    """A column to be added must not be there already, not even in capitals."""
    for there in names:
        if there.lower() == name.lower():
            raise ValueError(
                f"the new column must have a name of its own; got {name!r}, and {source} has {there!r} already. "
                "Choose another."
            )
