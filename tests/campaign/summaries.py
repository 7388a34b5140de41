"""Saved Summaries and reports that are flipped, cut and crafted: refused in words, or what was saved, or some rows'.

A file with damage is refused or is the Summary that was saved. A file that was crafted, under a checksum that fits, is
refused or is the Summary of rows that exist: they are made here, and summarised. The JSON of a result is refused or
says what it was given, with bounds in order, and can be printed.
"""

from __future__ import annotations

import copy
import json
import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import calcert
from calcert.certificates.certificate import Certificate
from calcert.summary import cells, saved
from calcert.summary.summary import Summary
from tests.campaign import Counts
from tests.reports.test_results import results as results_of_every_kind
from tests.summary.crafted import altered, body_of, sealed, unlisted

ODD = [0, 1, -1, 2, 7, 1 << 26, 1 << 36, 1 << 40, 1 << 62, -(1 << 63), (1 << 63) - 1, cells.CELL_OF_ONE, cells.CELLS]
NO_VALUES: list[Any] = [None, True, -1, 0, 2, 1e300, math.nan, math.inf, "", "0.1", "inf", [], {}, [0.5], {"a": 1}]
NO_VALUES += [10**400, 1.5, "\x1b[2J", [[[]]], 1, 0.05]


class Field:
    """Where tries are made: sound Summaries and results, and what counts them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts = Counts()
        rng = np.random.default_rng(seed)
        scores = rng.beta(0.5, 0.5, 6000)
        rounded = scores.round(2)
        labels = rng.random(6000) < scores
        self.sound = [
            Summary.empty(),
            calcert.summarize([0.25, 1.0], [0, 1]),
            calcert.summarize(rounded, labels),
            calcert.summarize(scores, labels),
            calcert.summarize(rounded, labels, clusters=np.arange(6000) // 3),
        ]
        self.saved = [summary.to_bytes() for summary in self.sound]
        self.results = [(type(result), json.dumps(result.to_dict())) for result in results_of_every_kind().values()]

    def judge(self, kind: str, content: bytes, sound: Callable[[Summary], bool], what: str) -> None:
        """Load the content, and count what came of it."""
        try:
            found = Summary.from_bytes(content, "the file")
        except ValueError as error:
            if str(error).startswith("the file "):
                self.counts.add(kind, "refused")
            else:
                self.counts.fail(kind, f"refused without naming the file: {error}: {what}")
        except Exception as error:
            self.counts.fail(kind, f"not in words: {error!r}: {what}")
        else:
            if sound(found):
                self.counts.add(kind, "as it should be")
            else:
                self.counts.fail(kind, f"ANOTHER SUMMARY, cells {found.cell.tolist()[:9]}: {what}")


def flips(field: Field) -> None:
    """A few flipped bits anywhere, under the old checksum."""
    place = field.chance.randrange(len(field.saved))
    content, where = flipped(field.chance, field.saved[place])
    field.judge("flipped bits", content, field.sound[place].__eq__, f"Summary {place}, (byte, bit) {where}")


def sealed_flips(field: Field) -> None:
    """A few flipped bits of the content, under a checksum that fits them."""
    place = field.chance.randrange(len(field.saved))
    body, where = flipped(field.chance, body_of(field.saved[place]))
    kind = "flipped bits under a new checksum"
    field.judge(kind, sealed(body), is_of_rows, f"Summary {place}, (byte, bit) {where}")


def cuts(field: Field) -> None:
    """Bytes that are missing at the end, in the middle or at the beginning, doubled, or added."""
    place = field.chance.randrange(len(field.saved))
    body = body_of(field.saved[place])
    start, end = sorted(field.chance.randrange(len(body) + 1) for _ in range(2))
    how = field.chance.choice(("cut", "hole", "headless", "doubled", "more", "another"))
    found = {
        "cut": body[:start],
        "hole": body[:start] + body[end:],
        "headless": body[start:],
        "doubled": body + body,
        "more": body + field.chance.randbytes(field.chance.randrange(1, 99)),
        "another": body_of(field.chance.choice(field.saved)),
    }[how]
    what, digest = f"Summary {place}, {start} to {end}", field.saved[place][-saved.DIGEST :]
    old = sealed(found)[: -saved.DIGEST] + digest
    field.judge(f"{how}, under the old checksum", old, field.sound[place].__eq__, what)
    field.judge(f"{how}, under a new checksum", sealed(found), is_of_rows, what)


def flipped(chance: random.Random, content: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The content with a few bits turned, and which."""
    damaged, places = bytearray(content), []
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        # The beginning and the end are where structure is.
        edge = chance.choice((200, len(damaged)))
        place, bit = chance.choice((1, -1)) * chance.randrange(1, min(edge, len(damaged))), chance.randrange(8)
        damaged[place] ^= 1 << bit
        places.append((place, bit))
    return bytes(damaged), places


def values(field: Field) -> None:
    """Arrays with other numbers in them, and other lengths."""
    arrays = {name: np.array(array) for name, array in field.chance.choice((altered, unlisted))().items()}
    for _ in range(field.chance.choice((1, 1, 2, 3))):
        name = field.chance.choice(sorted(arrays))
        array = arrays[name]
        how = field.chance.randrange(6)
        if how <= 3 and array.size:
            entry = field.chance.randrange(array.size)
            odd = field.chance.choice((field.chance.choice(ODD), int(array.flat[entry]) + field.chance.choice((1, -1))))
            array.flat[entry] = max(min(odd, (1 << 63) - 1), -(1 << 63))
        elif how == 4 and name not in ("count", "offset"):
            arrays[name] = array[field.chance.randrange(2) :]
        else:
            arrays[name] = array[::-1]
    what = {name: (array.dtype, array.tolist()) for name, array in arrays.items()}
    try:
        content = saved.to_bytes(arrays)
    except (ValueError, IndexError):
        return  # Arrays that do not fit together cannot even be written.
    field.judge("other values under a fitting checksum", content, is_of_rows, str(what))


def is_of_rows(summary: Summary) -> bool:
    """True where rows are found of which this is the Summary; nobody looks for those of clusters."""
    if summary.clusters is not None:
        return True
    try:
        return _is_of_rows(summary)
    except Exception:  # Arrays that do not even fit together may raise anything.
        return False


def _is_of_rows(summary: Summary) -> bool:
    scores: list[float] = []
    labels: list[int] = []
    if summary.n > 1_000_000:
        # Too many to be written down: at least all numbers are possible ones.
        most = summary.count * np.maximum(cells.bounds(summary.cell)[1] - 1, 0)[:, None]
        return bool((summary.offset <= most).all() and (summary.offset >= 0).all())
    if summary.distinct is not None and summary.distinct_count is not None:
        for score, rows in zip(summary.distinct.view(np.float64), summary.distinct_count, strict=True):
            for label in (0, 1):
                scores += [float(score)] * int(rows[label])
                labels += [label] * int(rows[label])
        return calcert.summarize(scores, labels) == summary if scores else summary == Summary.empty()
    for left, rows, offsets in zip(cells.bounds(summary.cell)[0], summary.count, summary.offset, strict=True):
        for label in (0, 1):
            n, total = int(rows[label]), int(offsets[label])
            # So much that the offsets add up to the sum, as evenly as whole numbers can.
            inside = [total // n + (k < total % n) for k in range(n)] if n else []
            scores += [(int(left) + offset) / cells.UNIT for offset in inside]
            labels += [label] * n
    found = calcert.summarize(scores, labels) if scores else Summary.empty()
    return all(np.array_equal(getattr(found, name), getattr(summary, name)) for name in ("cell", "count", "offset"))


def results(field: Field) -> None:
    """The JSON of a result with fields gone, added, of other types, out of range or in each other's place."""
    reader, text = field.chance.choice(field.results)
    values = json.loads(text)
    for _ in range(field.chance.choice((1, 1, 2))):
        owner, key = field.chance.choice(list(places(values)))
        how = field.chance.randrange(5)
        if how == 0 and isinstance(owner, dict):
            del owner[key]
        elif how == 1 and isinstance(owner, dict):
            owner[field.chance.choice(("more", "lower", "n", "kind", "\x1b"))] = field.chance.choice(NO_VALUES)
        elif how == 2 and isinstance(owner, dict) and {"lower", "upper"} <= owner.keys():
            owner["lower"], owner["upper"] = owner["upper"], owner["lower"]
        else:
            owner[key] = copy.deepcopy(field.chance.choice(NO_VALUES))
    if values == json.loads(text):
        return None
    kind = f"{reader.__name__} of changed JSON"
    try:
        found = reader.from_dict(values)
        said = found.to_dict()
        str(found)
    except ValueError:
        return field.counts.add(kind, "refused")
    except Exception as error:
        return field.counts.fail(kind, f"not in words: {error!r}: {changes(json.loads(text), values)}")
    wrong = [c for c in certificates_in(found) if not 0 <= c.lower <= c.upper <= 1 or not c.n >= 1]
    if wrong or not repeated(values, said):
        return field.counts.fail(kind, f"says something else: {changes(values, said)}: {wrong}")
    return field.counts.add(kind, "says what it was given")


def places(values: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list in the JSON, with each of its keys."""
    for key, value in list(values.items() if isinstance(values, dict) else enumerate(values)):
        yield values, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def certificates_in(value: Any) -> Iterator[Certificate]:
    """All certificates that a result holds."""
    if isinstance(value, Certificate):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from certificates_in(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from certificates_in(entry)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from certificates_in(getattr(value, name))


def repeated(given: Any, said: Any) -> bool:
    """True where what was given is said, and nothing else."""
    if isinstance(given, dict) and isinstance(said, dict):
        return given.keys() == said.keys() and all(repeated(value, said[name]) for name, value in given.items())
    if isinstance(given, list) and isinstance(said, list):
        return len(given) == len(said) and all(map(repeated, given, said))
    if isinstance(given, float) and not math.isfinite(given):
        return said in (None, str(given))
    return bool(given == said)


def changes(before: Any, after: Any, where: str = "") -> list[str]:
    """Where two JSON values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        return [
            line for name in names for line in changes(before.get(name, "-"), after.get(name, "-"), f"{where}/{name}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            line for k, pair in enumerate(zip(before, after, strict=True)) for line in changes(*pair, f"{where}/{k}")
        ]
    same = before == after or (before != before and after != after)
    return [] if same else [f"{where}: {str(before)[:60]} -> {str(after)[:60]}"]


KINDS = (flips, sealed_flips, sealed_flips, cuts, values, values, results, results)


def run(budget: float, seed: int) -> Counts:
    """Try to make a saved Summary or a result say something else; see :mod:`tests.campaign`."""
    end = time.monotonic() + budget
    field = Field(seed)
    while field.counts.tries < 3 * len(KINDS) or time.monotonic() < end:
        for kind in KINDS:
            kind(field)
    return field.counts
