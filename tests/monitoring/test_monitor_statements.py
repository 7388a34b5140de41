"""What a state watches: bounds for the distance and for ranges, exact at their own level and over whole lives."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import calcert
from calcert.certificates.certificate import Certificate
from calcert.certificates.drifting_pool import pooled_cutoff, pooled_distance
from calcert.monitoring import betting_strategies
from calcert.monitoring.betting_strategies import Wealth
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.status import Status
from calcert.monitoring.watched_statements import NODES, WATCHED, L1Memory, Memory, PairMemory, RangeMemory
from calcert.show.monitor import prometheus_text
from calcert.summary.summary import Summary
from tests.monitoring.lives import Law, finite_summary, life, overconfident, too_high
from tests.monitoring.test_monitor_betting import outcomes

DELTA, LIVES, LIMIT = 0.2, 400, 0.05
MEMORIES: dict[str, type[Memory]] = {"distance": PairMemory, "cutoff": RangeMemory}


def truth(law: Law, statement: str) -> float:
    return law.distance if statement == "distance" else law.miscount


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A few limits instead of hundreds, which makes lives cheap; wealth at one limit knows nothing of others."""

    def use(*values: float) -> None:
        monkeypatch.setattr(betting_strategies, "LIMITS", np.array(values))
        betting_strategies._growth.cache_clear()

    yield use
    betting_strategies._growth.cache_clear()


def expected_wealth(laws: list[Law], learned: type[Memory]) -> NDArray[np.float64]:
    """The exact expectation of the last M_k(c) for every c, over all outcomes of batches of two rows."""
    expected = np.zeros(betting_strategies.LIMITS.size)

    def walk(depth: int, probability: float, memory: Memory, wealth: Wealth) -> None:
        for chance, batch in outcomes(laws[depth], 2):
            after = wealth.after(memory.gains(batch))
            if depth + 1 < len(laws):
                walk(depth + 1, probability * chance, memory.after(batch), after)
            else:
                expected[:] += probability * chance * np.exp(after.evidence())

    walk(0, 1.0, learned.blank(), Wealth.blank())
    return expected


FIRST = Law(np.array([0.3, 0.8]), np.array([0.5, 0.5]), np.array([0.1, 0.9]))
SECOND = Law(np.array([0.3, 0.8]), np.array([0.9, 0.1]), np.array([0.25, 0.0]))
SWAPPED = Law(np.array([0.4, 0.6]), np.array([0.5, 0.5]), np.array([0.6, 0.4]))
"""Its L1 error is 0.2, but all scores at 1/2 would be calibrated: its distance is half of that."""


@pytest.mark.parametrize("statement", MEMORIES)
@pytest.mark.parametrize("laws", [[FIRST] * 3, [FIRST, SECOND, FIRST], [SWAPPED] * 3], ids=["one", "two", "swapped"])
def test_wealth_is_a_supermartingale_over_all_outcomes_of_small_laws(
    limits: Callable[..., None], laws: list[Law], statement: str
) -> None:
    largest = max(truth(law, statement) for law in laws)
    limits(largest, 1.1 * largest, 2 * largest)
    assert (expected_wealth(laws, MEMORIES[statement]) <= 1 + 1e-9).all()


@pytest.mark.parametrize("statement", MEMORIES)
def test_negative_control_wealth_grows_where_the_limit_is_below_the_error(
    limits: Callable[..., None], statement: str
) -> None:
    limits(0.0)
    law = Law(np.array([0.5, 0.9]), np.array([0.5, 0.5]), np.array([0.0, 0.1]))
    assert expected_wealth([law] * 3, MEMORIES[statement])[0] > 1.02


def test_negative_control_witnesses_of_the_l1_error_are_no_witnesses_of_the_distance(
    limits: Callable[..., None],
) -> None:
    law = Law(np.array([0.45, 0.55]), np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    assert law.distance < 0.6 * law.error
    limits(law.distance, 1.02 * law.distance)
    # Beyond the distance, but below the L1 error, strategies of the L1 error win, and those of the distance may not.
    assert expected_wealth([law] * 3, L1Memory).max() > 1.02
    assert expected_wealth([law] * 3, PairMemory).max() <= 1 + 1e-9


@pytest.mark.parametrize("statement", MEMORIES)
def test_no_row_gains_more_than_its_witness_promises_whatever_its_place_in_the_cell(statement: str) -> None:
    low, high = 0.5, 0.5 + 2**-14
    law, rng = overconfident(0.1), np.random.default_rng(0)
    memory = MEMORIES[statement].blank().after(law.batch(rng, 3_000))
    exact = [finite_summary(np.array([x]), np.array([[1, 1]])) for x in (low, high - 2**-40)]
    hidden = Summary(exact[0].cell, exact[0].count, exact[0].offset, None, None)
    smallest = np.min([memory.gains(batch) @ NODES for batch in exact], axis=0)
    promised = memory.gains(hidden) @ NODES
    assert (promised <= smallest + 1e-12).all()
    assert (promised >= smallest - 2 * 2**-14 - 1e-9).all()


@pytest.mark.parametrize("statement", WATCHED)
def test_what_was_learned_comes_back_from_a_state_as_it_was(statement: str) -> None:
    rng, law = np.random.default_rng(1), overconfident(0.05)
    learned = WATCHED[statement].memory
    memory = learned.blank().after(law.batch(rng, 1_000)).after(law.batch(rng, 500))
    batch = law.batch(rng, 700)
    assert np.array_equal(learned.unpacked(memory.packed()).gains(batch), memory.gains(batch))


def rejections(laws: list[Law], lives: int, learned: type[Memory]) -> int:
    """In how many lives the limit was rejected at any time, when looked at after every batch."""
    found = 0
    for number in range(lives):
        rng = np.random.default_rng((1, number))
        lived = life((law.batch(rng, 250) for law in laws), learned)
        found += any(wealth.evidence()[0] >= math.log(1 / DELTA) for wealth in lived)
    return found


@pytest.mark.parametrize("statement", MEMORIES)
def test_false_alarms_over_400_lives_looked_at_after_every_batch(limits: Callable[..., None], statement: str) -> None:
    limits(LIMIT)
    worst, calm = too_high(LIMIT), too_high(0.0)
    # Scores that are too high throughout are as far from calibration, and as far off in a range, as they are too high.
    assert truth(worst, statement) == pytest.approx(LIMIT, abs=1e-9)
    laws = [worst] * 3 + [calm] * 2 + [worst] * 4
    assert rejections(laws, LIVES, MEMORIES[statement]) <= binom.isf(1e-6, LIVES, DELTA)


@pytest.mark.parametrize("statement", MEMORIES)
def test_negative_control_lives_with_a_larger_error_are_rejected(limits: Callable[..., None], statement: str) -> None:
    limits(LIMIT)
    assert rejections([too_high(2 * LIMIT)] * 9, 60, MEMORIES[statement]) > binom.isf(1e-6, 60, DELTA)


@pytest.mark.parametrize("statement", MEMORIES)
def test_a_change_from_0_to_5_per_cent_is_flagged_within_15000_rows(statement: str) -> None:
    before, after = overconfident(0.0), overconfident(0.05)
    assert truth(after, statement) > 0.015
    flagged, lives = 0, 20
    for number in range(lives):
        rng = np.random.default_rng((2, number))
        laws = [before] * 10 + [after] * 8
        for place, wealth in enumerate(life((law.batch(rng, 2_000) for law in laws), MEMORIES[statement])):
            if wealth.lower(0.05) > 0.005:
                assert place >= 10, "a false alarm, before the change"
                flagged += 1
                break
    assert flagged >= 0.9 * lives


POOLED = {"distance": pooled_distance, "cutoff": pooled_cutoff}
SCORE, ROWS = 0.9, 120


@cache
def pooled(statement: str, positives: int) -> Certificate:
    rows = finite_summary(np.array([SCORE]), np.array([[ROWS - positives, positives]]))
    return POOLED[statement](rows, 0.1)


def missed(statement: str, chances: tuple[float, float], shrink: float = 0.0) -> float:
    """The exact probability that the bound is below the pooled error, half the rows having each chance of label 1."""
    error = abs(SCORE - (chances[0] + chances[1]) / 2)
    law = np.convolve(*(binom.pmf(np.arange(ROWS // 2 + 1), ROWS // 2, chance) for chance in chances))
    found = [pooled(statement, positives) for positives in range(ROWS + 1)]
    below = [one.upper - shrink * one.terms["sampling"] < error - 1e-9 for one in found]
    return float(law[below].sum())


@pytest.mark.parametrize("statement", POOLED)
def test_pooled_bounds_cover_laws_that_change_half_way(statement: str) -> None:
    chances = (0.0, 0.05, 0.2, 0.3, 0.6, 0.9, 1.0)
    for first, second in itertools.product(chances, chances):
        assert missed(statement, (first, second)) <= 0.1


@pytest.mark.parametrize("statement", POOLED)
def test_negative_control_a_pooled_bound_with_a_third_of_its_sampling_term_is_caught(statement: str) -> None:
    assert missed(statement, (0.3, 0.3), shrink=2 / 3) > 0.1


def watched(path: Path, statement: str | None = None) -> Status:
    monitor, rng = Monitor(path, statement=statement), np.random.default_rng(3)
    for day in range(1, 6):
        chance = rng.random(2_000)
        scores = chance if day < 3 else chance**0.6
        monitor.add(
            scores, rng.random(2_000) < chance, batch_id=str(day), time=f"2026-03-0{day}", window_name=f"{day // 3}"
        )
    return monitor.status(alarm=0.02)


def test_a_state_started_now_watches_the_distance(tmp_path: Path) -> None:
    status = watched(tmp_path / "state")
    assert (status.statement, status.below) == ("distance", "distance")


@pytest.mark.parametrize(
    ("statement", "below", "measure"),
    [
        ("distance", "distance", "distance from calibration"),
        ("cutoff", "cutoff", "cutoff calibration error"),
        ("perturbed", "l1", "L1 calibration error"),
    ],
)
def test_upper_windows_and_alarm_say_which_statement_they_are_about(
    tmp_path: Path, statement: str, below: str, measure: str
) -> None:
    status = watched(tmp_path / "state", statement)
    assert status.alarm is not None
    assert status.alarm.statement == status.below == below
    text, exported = " ".join(str(status).split()), prometheus_text(status)
    assert f"the {measure} exceeded 0.02" in text
    assert f"All rows pooled: {measure}{' of perturbed scores' if statement == 'perturbed' else ''} at most" in text
    assert f'calcert_error_lower{{statement="{below}"}}' in exported
    assert f'calcert_error_upper{{statement="{statement}"}}' in exported
    assert f'calcert_alarm{{limit="0.02",statement="{below}"}} 1' in exported
    assert f'calcert_window_error_upper{{window="1",statement="{statement}"}}' in exported
    values = json.loads(json.dumps(status.to_dict()))
    assert (values["statement"], values["below"], values["alarm"]["statement"]) == (statement, below, below)
    assert statement in values["windows"][0]
    assert Status.from_dict(values) == status
    pytest.importorskip("matplotlib")
    axes = status.plot().axes[0]
    assert axes.get_ylabel() == measure
    page = status.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"the {measure} exceeded 0.02" in page


def test_a_statement_is_fixed_for_life_and_must_be_one_that_can_be_watched(tmp_path: Path) -> None:
    path = tmp_path / "state"
    Monitor(path, statement="cutoff").add([0.2, 0.8], [0, 1], batch_id="1")
    assert Monitor(path).status().statement == "cutoff"
    with pytest.raises(ValueError, match=r"got 'distance', and .* watches 'cutoff'\. Leave it out"):
        Monitor(path, statement="distance").add([0.2, 0.8], [0, 1], batch_id="2")
    with pytest.raises(ValueError, match="statement must be one of 'distance', 'cutoff', 'perturbed'; got 'crossings'"):
        Monitor(path, statement="crossings")


def test_what_is_watched_is_bound_to_the_batches(tmp_path: Path) -> None:
    import sqlite3

    for change in (
        "UPDATE watched SET statement = 'cutoff'",
        "DELETE FROM watched",
        "INSERT INTO watched VALUES ('x')",
    ):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        Monitor(path).add([0.2, 0.8] * 50, [0, 1] * 50, batch_id="1")
        with sqlite3.connect(path) as database:
            database.execute(change)
        database.close()
        with pytest.raises(ValueError, match="is damaged"):
            Monitor(path).status()


def test_windows_bound_the_distance_of_their_own_law(tmp_path: Path) -> None:
    law, rng = overconfident(0.08), np.random.default_rng(4)
    monitor = Monitor(tmp_path / "state")
    for number in range(4):
        monitor.add(law.batch(rng, 5_000), batch_id=str(number), window_name="w")
    (window,) = monitor.status().windows
    assert window.distance.lower <= law.distance <= window.distance.upper < 0.08
    assert window.distance.delta == calcert.Monitor(monitor.path).status().windows[0].distance.delta < 0.05 / 4


def test_bounds_and_changes_of_windows_say_what_they_assume(tmp_path: Path) -> None:
    monitor, rng = calcert.Monitor(tmp_path / "state", statement="perturbed"), np.random.default_rng(0)
    for week, power in (("a", 1.0), ("b", 3.0)):
        x = rng.random(20_000)
        monitor.add(
            x, rng.random(20_000) < x**power, batch_id=week, time=f"2026-03-0{1 + (week == 'b')}", window_name=week
        )
    shown = " ".join(str(monitor.status()).split())
    assumed = "the true curve changes sides of the diagonal at most 3 times"
    assert f"L1, at most: assumes {assumed}." in shown
    changed = shown.partition("Calibration has changed (L1)")[2].partition("Calibration has changed")[0]
    assert f", if in both windows: {assumed}." in changed
    unconditional = shown.partition("Calibration has changed (perturbed)")[2].partition("Calibration has changed")[0]
    assert "grown by at least" in unconditional
    assert "if in both windows" not in unconditional


def test_a_lower_bound_above_an_upper_one_is_said_to_be_of_other_rows(tmp_path: Path) -> None:
    monitor, rng, seen = Monitor(tmp_path / "state"), np.random.default_rng(0), []
    for day in range(1, 9):
        truth = rng.random(4_000)
        scores = truth if day < 6 else truth**3
        monitor.add(scores, rng.random(4_000) < truth, batch_id=str(day), time=f"2026-03-0{day}")
        status = monitor.status()
        words = "they are about different rows: the worst batch, and all rows pooled"
        crossed = status.lower > status.upper.upper
        assert (words in " ".join(str(status).split())) == crossed
        (title,) = [axes.get_title(loc="left") for axes in status.plot().axes]
        assert ("The two may cross: worst batch, all rows pooled" in title) == crossed
        assert (words in Path(status.to_html(tmp_path / "page.html")).read_text()) == crossed
        seen.append(crossed)
    assert (seen[0], seen[-1]) == (False, True)
