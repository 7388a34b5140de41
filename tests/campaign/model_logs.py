"""Damaged logs of language models: an archive gives the rows that were written or is refused, and text ends in words.

Members of an ``.eval`` have checksums and the log counts its samples, so that no damage may change what is read. Lines
and ``.json`` have neither: there a digit may become another, and anything but words is a failure.
"""

from __future__ import annotations

import random
from pathlib import Path

import calcert
from tests.campaign import Counts
from tests.campaign.files import Kind, run_kinds
from tests.sources.test_model_logs import AS_JSON, CHOICES, EPOCHS


def run(budget: float, seed: int) -> Counts:
    """Try them for about `budget` seconds, each kind at least once."""
    return run_kinds(KINDS, budget, seed)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The bytes cut off, with some changed, with some left out, or with a bit of the last ones flipped."""
    found, place = bytearray(content), chance.randrange(len(content))
    way = chance.randrange(4)
    if way == 0:
        return content[: place + 1]
    if way == 1:
        for _ in range(chance.randrange(1, 4)):
            found[chance.randrange(len(found))] = chance.randrange(256)
    elif way == 2:
        del found[place : place + chance.randrange(1, 50)]
    else:
        found[chance.randrange(max(0, len(found) - 3000), len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def of_log(log: Path, kind: str, *, has_checksums: bool) -> Kind:
    """Read one log, damaged."""
    truth = calcert.Rows(log).summary()

    def attempt(chance: random.Random, folder: Path, counts: Counts) -> None:
        path = folder / f"damaged{log.suffix}"
        path.write_bytes(damaged(log.read_bytes(), chance))
        try:
            found = calcert.Rows(path).summary()
        except (ValueError, TypeError) as error:
            if path.name in str(error):
                counts.add(kind, "refused")
            else:
                counts.fail(kind, f"refused without naming the file: {error}")
        except Exception as error:
            counts.fail(kind, f"{type(error).__name__}: {error}")
        else:
            if found == truth:
                counts.add(kind, "as it is")
            elif has_checksums:
                counts.fail(kind, f"got {found!r}, expected {truth!r}")
            else:
                counts.add(kind, "another text")

    return attempt


KINDS: list[Kind] = [
    of_log(EPOCHS, "archive of inspect_ai", has_checksums=True),
    of_log(AS_JSON, "log of inspect_ai", has_checksums=False),
    of_log(CHOICES, "samples of lm-evaluation-harness", has_checksums=False),
]
