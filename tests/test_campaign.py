"""Every campaign, for a few seconds; ``python -m tests.campaign`` takes minutes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest

from calcert.certificates.certificate import Certificate
from calcert.certificates.witnesses import thrown_batches
from calcert.monitoring.looks import Due
from calcert.monitoring.states.state_content import State
from calcert.summary import saved
from tests.campaign import Counts, campaigns, monitor_states, names, seeds, summaries
from tests.lab.laws import Law


@pytest.mark.parametrize("name", campaigns())
def test_a_short_campaign_finds_nothing(name: str) -> None:
    counts: Counts = import_module(f"tests.campaign.{name}").run(budget=2.0, seed=1)
    assert not counts.failures, "\n".join(counts.failures)
    assert counts.tries > 10


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
    monkeypatch.setattr(thrown_batches, "OF_LIKELY", 2)
    counts, rows = Counts(), 132_677
    seeds.judge(counts, [Law((0.004,), (1.0,), (21 / rows,))], rows)
    assert [failure for failure in counts.failures if failure.startswith("perturbed: fails with 0.06")]
