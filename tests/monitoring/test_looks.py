"""A life follows from the lines of its batches, and grows by one batch as it would be read at once."""

from __future__ import annotations

import numpy as np

from calcert.monitoring.looks import Life, Window, schedule, share
from calcert.monitoring.states.checksummed_batches import Batch
from calcert.reports.settings import Settings

SETTINGS = Settings(confidence=0.95)


def batch(number: int, rows: int, window: str | None, lower: float = 0.0) -> Batch:
    digest = number.to_bytes(16)
    return Batch(
        number, str(number), rows, 0, f"2026-03-{number % 28 + 1:02d}T00:00:00", window, lower, b"", b"", b"", digest
    )


def test_windows_are_numbered_as_they_appear_and_may_overlap_in_time() -> None:
    batches = [batch(1, 10, "b"), batch(2, 10, "a"), batch(3, 10, None), batch(4, 20, "b")]
    found = [window for window, _ in Life(SETTINGS, "perturbed").after(batches).windows.values()]
    assert [(window.key, window.number, window.rows) for window in found] == [("b", 1, 30), ("a", 2, 10)]


def told(life: Life) -> tuple[object, ...]:
    windows = [(one.key, one.number, one.batches, due) for one, due in life.windows.values()]
    return (life.batches, life.history, life.rows, life.lower, life.looks, windows)


def test_a_life_that_grew_in_any_steps_is_the_life_read_at_once() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        sizes, keys = rng.integers(1, 400, 60).tolist(), rng.choice(["a", "b", "c", None], 60).tolist()  # type: ignore[arg-type]
        batches = [batch(k + 1, sizes[k], keys[k], float(rng.random())) for k in range(60)]
        at_once, grown = Life(SETTINGS, "perturbed").after(batches), Life(SETTINGS, "perturbed")
        for stretch in np.split(np.arange(60), np.sort(rng.integers(0, 60, 15))):
            grown = grown.after([batches[place] for place in stretch])
        assert told(grown) == told(at_once)
        assert at_once.rows == sum(sizes)
        assert at_once.lower == max(one.lower for one in batches)


def test_what_is_due_names_its_rows_its_share_and_the_last_batch_that_it_covers() -> None:
    sizes = [100, 30, 10, 80, 300, 20, 500]
    batches = [batch(k + 1, size, "ab"[k % 2]) for k, size in enumerate(sizes)]
    life = Life(SETTINGS, "perturbed").after(batches)
    for number, (place, (last, due)) in enumerate(zip(schedule(sizes), life.looks, strict=True), start=1):
        assert last is batches[place]
        assert (due.stretch, due.number, due.statements) == ("all rows", number, ("perturbed",))
        assert (due.covered, due.rows) == (batches[place].digest, sum(sizes[: place + 1]))
        assert due.delta == 0.05 * share(number)
    for number, (window, due) in enumerate(life.windows.values(), start=1):
        members = batches[number - 1 :: 2]
        assert window.batches == tuple(members)
        places = schedule([one.rows for one in members])
        assert (due.number, due.covered) == (len(places), members[places[-1]].digest)
        assert due.rows == sum(one.rows for one in members[: places[-1] + 1])
        assert due.delta == 0.05 / 2 * share(number) * share(len(places))


def test_windows_that_have_not_grown_are_the_same_objects() -> None:
    life = Life(SETTINGS, "perturbed").after([batch(1, 10, "a"), batch(2, 10, "b")])
    longer = life.after([batch(3, 10, "b")])
    before, after = ({key: one for key, (one, _) in some.windows.items()} for some in (life, longer))
    assert after["a"] is before["a"]
    assert after["b"] is not before["b"]
    assert isinstance(after["b"], Window)
    assert longer.after([]) is longer
