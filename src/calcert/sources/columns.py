"""Columns of a table: what they hold, and which are meant, by name or as the only plausible ones."""

from __future__ import annotations

import difflib
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from calcert.foundation.refusal import Argument, WrongType, WrongValue, reading
from calcert.sources.parsed_values import BOOLEANS, is_gap, is_like_value, number_in_text, text_label_ways

LOG = logging.getLogger("calcert")

Kind = Literal["real", "integer", "boolean", "unknown"]
WORDS = {"real": "numbers", "integer": "whole numbers", "boolean": "true or false", "unknown": "text"}
"""What the kinds of columns are called in words."""

TITLES = 40
"""Lines among which names of columns are looked for where the first ones are none."""

SCORE_NAMES = (
    "score scores p prob probs proba probability probabilities pred preds prediction predictions predicted "
    "predicted_probability predicted_prob pred_proba pred_prob y_score y_prob y_proba y_hat yhat y_pred y_pred_proba "
    "p_hat phat p1 prob_1 proba_1 confidence conf forecast model_score pd"
)
LABEL_NAMES = (
    "label labels y y_true ytrue target targets outcome truth actual observed class is_positive positive correct "
    "is_correct event default clicked converted ground_truth"
)


@dataclass(frozen=True)
class Column:
    """A column: its name, what it holds ("unknown" is looked at as it is read), the engine's word for its type."""

    name: str
    kind: Literal["real", "integer", "boolean", "unknown", "other"]
    type: str


def kind_of(values: Sequence[Any], number: Callable[[str], float | None] = number_in_text) -> Kind:
    """What a column holds, as far as some of its values tell; those that are missing tell nothing.

    `number` reads a text that may be one.
    """
    there = [value for value in values if value is not None and value != ""]
    if there and all(isinstance(value, (str, bool)) and str(value).strip().lower() in BOOLEANS for value in there):
        return "boolean"
    numbers = [number(value) if isinstance(value, str) else value for value in there]
    if not there or any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in numbers):
        return "unknown"
    return "integer" if all(str(value).strip().lstrip("+-").isdigit() for value in there) else "real"


def choose_all(
    columns: Sequence[Column],
    score: str | None,
    label: str | None,
    others: Mapping[str, Any],
    source: str,
    example: Callable[[str], Any] = lambda name: None,
) -> tuple[Column, Column, dict[str, Column]]:
    """The columns of scores and labels, and those that `others` name, by their arguments.

    A name that is not given is found if exactly one pair of columns is plausible, none of them named by `others`, and
    announced through the logger ``calcert``. `source` names the table in errors; `example` fetches a value to show.
    """
    beside: dict[str, Column] = {}
    for argument, name in others.items():
        found = beside[argument] = named(columns, argument, name, source)
        check_alone(columns, argument, found.name, source)
        if argument != "clusters" and found.kind not in ("real", "integer"):
            got = f"{name!r} of {source}, of type {found.type}"
            raise TypeError(f"{argument} must name a column of numbers; got {got}.")
    taken = {column.name: argument for argument, column in reversed(beside.items())}
    for argument, name in (("score", score), ("label", label)):
        if isinstance(name, str) and name in taken:
            raise ValueError(f"{argument} and {taken[name]} must be two columns of {source}; got {name!r} for both.")
    columns = [column for column in columns if column.name not in taken]
    x = None if score is None else named(columns, "score", score, source)
    y = None if label is None else named(columns, "label", label, source)
    if x is not None and x == y:
        raise ValueError(f"score and label must be two columns; got {score!r} for both.")
    if x is None or y is None:
        x, y = _plausible_pair(columns, x, y, source)
        LOG.warning("%s: scores from column %r, labels from column %r", source, x.name, y.name)
    _check_usable(columns, "score", x, source, example)
    _check_usable(columns, "label", y, source, example)
    return x, y, beside


def _check_usable(
    columns: Sequence[Column], argument: str, column: Column, source: str, example: Callable[[str], Any]
) -> None:
    check_alone(columns, argument, column.name, source)
    if column.kind == "other":
        wanted, shown = {"score": "numbers in [0, 1]", "label": "0/1 or bool"}[argument], example(column.name)
        such = "" if shown is None else f", such as {shown!r}"
        got = f"{column.name!r} of {source}, which has type {column.type}{such}"
        hints = text_label_ways(shown) if argument == "label" else ()
        way = "Convert the column on purpose first."
        raise WrongType(Argument(argument), f"must name a column of {wanted}", got, "", way, *hints)


def check_alone(columns: Sequence[Column], argument: str, name: str, source: str) -> None:
    """No other column may have the name, not even in capitals: engines would take one of them without a word."""
    same = [column for column in columns if column.name.lower() == name.lower()]
    if len(same) > 1:
        shown = " and ".join(f"{column.name!r} ({column.type})" for column in same)
        raise ValueError(
            f"{argument} must name one column of {source} alone; got {name!r}, but it has {shown}, which not every "
            "engine can tell apart. Rename all but one."
        )


def refuse_same_names(frame: Any) -> None:
    """No two columns of a frame may have one name: engines take one without a word, or fail in strange ones."""
    if type(frame).__module__.startswith("polars"):
        # Has no such columns, and warns of the price of asking for them.
        return
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    twice = [name for name, times in Counter(names).items() if times > 1] if isinstance(names, Iterable) else []
    if twice:
        raise ValueError(f"every column must have a name of its own; got {twice[0]!r} more than once. Rename them.")


def named(columns: Sequence[Column], argument: str, name: Any, source: str) -> Column:
    """The column of that name."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be the name of a column; got {name!r} of type {type(name).__name__}.")
    by_name = {column.name: column for column in columns}
    if name in by_name:
        return by_name[name]
    nearest = difflib.get_close_matches(name.lower(), [known.lower() for known in by_name], n=1, cutoff=0.65)
    meant = next((known for known in by_name if nearest and known.lower() == nearest[0]), None)
    hint = "" if meant is None else f"Did you mean {meant!r}?"
    has = f"It has {_column_list(columns)}."
    raise WrongValue(Argument(argument), f"must be a column of {source}", repr(name), "", has, hint)


def _plausible_pair(
    columns: Sequence[Column], score: Column | None, label: Column | None, source: str
) -> tuple[Column, Column]:
    scores = _plausible(columns, SCORE_NAMES, ("real",), label) if score is None else [score]
    labels = _plausible(columns, LABEL_NAMES, ("integer", "boolean"), score) if label is None else [label]
    if len(scores) == 1:
        labels = [column for column in labels if column != scores[0]]
    if len(scores) != 1 or len(labels) != 1:
        raise _implausible("score and label", "two columns", "one pair", columns, source)
    return scores[0], labels[0]


def _plausible(columns: Sequence[Column], names: str, kinds: tuple[str, ...], taken: Column | None) -> list[Column]:
    """Columns with a telling name, those of numbers before others; where there are none, columns of a telling type."""
    free = [column for column in columns if column != taken and column.kind != "other"]
    telling = [column for column in free if column.name.strip().lower() in names.split()]
    numbers = [column for column in telling if column.kind != "unknown"]
    return numbers or telling or [column for column in free if column.kind in kinds]


def _column_list(columns: Sequence[Column]) -> str:
    shown = [f"{column.name!r} ({column.type})" for column in columns[:20]]
    more = f" and {len(columns) - 20} more" if len(columns) > 20 else ""
    return f"the columns {', '.join(shown)}{more}" if shown else "no columns"


def _implausible(arguments: str, wanted: str, plausible: str, columns: Sequence[Column], source: str) -> WrongValue:
    because = f"must name {wanted} of {source}, because more or fewer than {plausible} is plausible"
    scores, labels = Argument("score", ...), (" and ", Argument("label", ...)) if "label" in arguments else ()
    way = ("Pass ", scores, *labels, ".")
    return WrongValue(arguments, f"{because}; it has {_column_list(columns)}", None, "", way)


def choose_score(columns: Sequence[Column], score: str | None, source: str) -> Column:
    """The column of scores alone, for what needs no labels; found and announced as :func:`choose_all` does."""
    if score is None:
        found = _plausible(columns, SCORE_NAMES, ("real",), None)
        if len(found) != 1:
            raise _implausible("score", "a column", "one", columns, source)
        LOG.warning("%s: scores from column %r", source, found[0].name)
    chosen = found[0] if score is None else named(columns, "score", score, source)
    _check_usable(columns, "score", chosen, source, lambda name: None)
    return chosen


def check_groups(groups: Any, columns: Sequence[Column], source: str, argument: str = "groups") -> None:
    """The name of the column of groups, or of what `argument` says, must be one that is there, alone."""
    if not isinstance(groups, str):
        raise TypeError(f"{argument} must name a column of the table; got {type(groups).__name__}.")
    named(columns, argument, groups, source)
    check_alone(columns, argument, groups, source)


def no_names(source: str, got: str, way: str = "", line: str = "line") -> ValueError:
    """That a file does not begin with the names of its columns."""
    return ValueError(f"{source} must begin with a {line} of column names; got {got}.{way and ' '}{way}")


def title_above(
    names: Sequence[Any], place: int, rows: Iterable[tuple[int, Sequence[Any]]], line: str, source: str
) -> WrongValue | None:
    """That names at `place` are none, and which row looks like them, with values below it; None where none does.

    `rows` are the first rows of the file with their numbers, and `line` says what these count.
    """
    before: tuple[int, Sequence[Any]] = (0, ())
    for number, values in rows:
        if not any(str(value).strip() for value in values if value is not None):
            continue
        if len(values) == len(before[1]) and _are_names(before[1]) and any(map(is_like_value, values)):
            odd = len(names) != len(values) or not _are_names(names)
            if before[0] == place or not odd:
                return None
            begun, shown = ", ".join(str(name) for name in names if name), ", ".join(map(str, before[1]))
            got = f"{begun[:40]!r} on {line} {place}, and {line} {before[0]} looks like them: {shown[:40]!r}"
            way = ("Delete what stands above it, or pass ", reading("skip_lines", before[0] - 1), ".")
            return WrongValue(source, f"must begin with a {line} of column names", got, "", way)
        before = number, values
    return None


def _are_names(values: Sequence[Any]) -> bool:
    known = {str(value).strip() for value in values if isinstance(value, str)}
    return 1 < len(known) == len(values) and not any(is_gap(name) or is_like_value(name) for name in known)
