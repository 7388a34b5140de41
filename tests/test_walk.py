"""The corridor plan: somebody who follows a call through the code seldom has to change rooms.

The walk reads every file once, where it is first needed. A change of rooms is a step from a file of one folder to a
file of another. The foundation is the floor of every room, so that standing on it is no change.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert.cli import main

HOUSE = Path(calcert.__file__).parent
rng = np.random.default_rng(0)
SCORES = rng.random(5_000)
LABELS = rng.random(5_000) < SCORES


def visited(call: Callable[[], object]) -> list[Path]:
    """The files of ours that are entered, in order, when a call that has been made before is made again."""
    call()
    files: dict[str, None] = {}

    def step(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files.setdefault(frame.f_code.co_filename)

    gc.collect()
    gc.disable()  # What earlier tests left behind might be taken apart on the way.
    sys.setprofile(step)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    paths = [Path(file) for file in files if file.endswith(".py")]
    return [path.relative_to(HOUSE) for path in paths if HOUSE in path.parents]


def walked(call: Callable[[], object]) -> list[str]:
    """The rooms entered, one after the other."""
    rooms = [path.parts[0] for path in visited(call)]
    above = [room for room in rooms if room not in ("foundation", "__init__.py")]
    return [room for room, before in zip(above, [None, *above], strict=False) if room != before]


def test_certifying_arrays_changes_rooms_at_most_twelve_times() -> None:
    rooms = walked(lambda: calcert.certify(SCORES, LABELS))
    assert {"sources", "summary", "perturbation", "certificates", "reports"} <= set(rooms)
    assert len(rooms) - 1 <= 12, rooms


def test_a_page_from_a_file_changes_rooms_at_most_twenty_four_times(tmp_path: Path) -> None:
    pq.write_table(pa.table({"p": SCORES, "y": LABELS}), tmp_path / "f.parquet")
    command = [
        "certify",
        str(tmp_path / "f.parquet"),
        "--score",
        "p",
        "--label",
        "y",
        "--html",
        str(tmp_path / "r.html"),
    ]
    rooms = walked(lambda: main.main(args=command, standalone_mode=False))
    assert {"commands", "sources", "certificates", "show"} <= set(rooms)
    assert len(rooms) - 1 <= 24, rooms


def test_a_page_from_csv_is_made_by_sixty_files(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("p,y\n" + "".join(f"{x},{int(y)}\n" for x, y in zip(SCORES.tolist(), LABELS.tolist(), strict=True)))
    command = ["certify", str(path), "--score", "p", "--label", "y", "--html", str(tmp_path / "r.html")]
    files = visited(lambda: main.main(args=command, standalone_mode=False))
    assert len(files) <= 60, files


@pytest.mark.parametrize("copies", [1, 40])
def test_a_page_from_csv_opens_the_file_twice(tmp_path: Path, copies: int) -> None:
    """To look at its first rows, and to read them all: the checksum that the page shows is taken meanwhile."""
    path, seen = tmp_path / "rows.csv", []
    rows = "".join(f"{x},{int(y)}\n" for x, y in zip(SCORES.tolist(), LABELS.tolist(), strict=True))
    path.write_text("p,y\n" + copies * rows)
    command = ["certify", str(path), "--score", "p", "--label", "y", "--html", str(tmp_path / "r.html")]
    sys.addaudithook(lambda event, given: seen.append(given[0]) if event == "open" and given[0] == str(path) else None)
    main.main(args=command, standalone_mode=False)
    assert len(seen) == 2
    assert hashlib.sha256(path.read_bytes()).hexdigest() in (tmp_path / "r.html").read_text()
