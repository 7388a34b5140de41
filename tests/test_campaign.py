"""Every campaign, for a few seconds; ``python -m tests.campaign`` takes minutes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import narwhals as nw
import pytest

from calcert.certificates.certificate import Certificate
from calcert.certificates.witnesses import random_splits
from calcert.monitoring.looks import Due
from calcert.monitoring.states.state_content import State
from calcert.perturbation.noise import Noise
from calcert.summary import saved
from tests.campaign import (
    Counts,
    campaigns,
    engine_statistics,
    monitor_states,
    names,
    perturbed_atoms,
    seeds,
    summaries,
)
from tests.campaign.__main__ import main as campaign_command
from tests.lab.distributions import Law


@pytest.mark.parametrize("name", campaigns())
def test_a_short_campaign_finds_nothing(name: str) -> None:
    counts: Counts = import_module(f"tests.campaign.{name}").run(budget=2.0, seed=1)
    assert not counts.failures, "\n".join(counts.failures)
    assert counts.tries > 10


def test_a_campaign_that_ends_with_an_error_hides_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(budget: float, seed: int) -> Counts:
        raise OverflowError("too large")

    def finding(budget: float, seed: int) -> Counts:
        counts = Counts()
        counts.fail("a kind", "a finding")
        return counts

    monkeypatch.setattr(summaries, "run", broken)
    monkeypatch.setattr(names, "run", finding)
    monkeypatch.setattr("sys.argv", ["campaign", "--short", "summaries", "names"])
    assert campaign_command() == 1
    said = capsys.readouterr()
    assert "summaries: ended by an error of its own, seed 0" in said.out
    assert "names: 1 tries, 1 wrong" in said.out
    assert "OverflowError: too large" in said.err


def test_a_check_that_statistics_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "calcert.sources.engines.query_plan.within",
        lambda value, most, above: nw.when((value >= 0) & (value <= most)).then(value).otherwise(nw.lit(float(above))),
    )
    assert engine_statistics.run(budget=1.0, seed=0).failures


def test_negative_control_looks_that_are_believed_as_they_are_kept_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def believing(self: State, due: Iterable[Due]) -> dict[Due, dict[str, Certificate]]:
        found = {}
        for one in due:
            kept = self._database.execute(
                "SELECT certificates FROM looks WHERE stretch = ? AND number = ?", (one.stretch, one.number)
            ).fetchone()
            if kept is not None:
                found[one] = {name: Certificate.from_dict(values) for name, values in json.loads(kept[0]).items()}
        return found

    field = monitor_states.Field(tmp_path, seed=0)
    monkeypatch.setattr(State, "looks", believing)
    for _ in range(6):
        monitor_states.caches(field)
    assert any("OTHER NUMBERS" in failure for failure in field.counts.failures)


def test_negative_control_arrays_that_are_not_checked_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    field = summaries.Field(seed=0)
    monkeypatch.setattr(saved, "checked", lambda arrays: arrays)
    for _ in range(40):
        summaries.values(field)
    assert any("ANOTHER SUMMARY" in failure for failure in field.counts.failures)


def test_negative_control_names_that_are_shown_as_they_are_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = names.Field(tmp_path, seed=0)
    monkeypatch.setattr("calcert.foundation.escaped_text.OBEYED", re.compile("nothing is obeyed"))
    monkeypatch.setattr(names, "PARTS", ["\x1b[2J"])
    names.files(field)
    assert any("would be obeyed" in failure for failure in field.counts.failures)


def test_negative_control_throws_that_mislead_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_splits, "OF_LIKELY", 2)
    counts, rows = Counts(), 132_677
    seeds.judge(counts, [Law((0.004,), (1.0,), (21 / rows,))], rows)
    assert [failure for failure in counts.failures if failure.startswith("perturbed: fails with 0.06")]


def test_negative_control_scores_that_are_rounded_to_an_end_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = perturbed_atoms.Field(tmp_path, seed=0)
    monkeypatch.setattr(Noise, "sample", lambda noise, x, uniform: noise._kernel.sample(x, noise.size, uniform))
    for _ in range(4):
        perturbed_atoms.arrays(field)
    assert any("is served as" in failure for failure in field.counts.failures)
