"""Models on the same rows: what is proven of pairs follows from bounds at delta / (2 N - 2)."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import calcert
from calcert.cli import main
from calcert.reports.comparison import Comparison, Standing
from calcert.show import as_page
from tests.lab.distributions import too_many

RNG = np.random.default_rng(0)
CHANCE = RNG.random(6_000)
LABELS = RNG.random(6_000) < CHANCE
DISTANCE = calcert.Settings(statements="distance")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return calcert.compare({"bent": CHANCE**2, "true": CHANCE, "slightly": CHANCE**1.3}, LABELS)


def test_every_bound_of_n_models_is_computed_at_delta_over_2_n_minus_2(comparison: Comparison) -> None:
    for name, scores in (("bent", CHANCE**2), ("true", CHANCE)):
        assert comparison.models[name] == calcert.certify(scores, LABELS, settings=calcert.Settings().shared(4))
    two = calcert.compare({"a": CHANCE, "b": CHANCE**2}, LABELS, settings=DISTANCE)
    assert two.models["a"].distance.delta == 0.05 / 2


def test_the_better_calibrated_models_are_named(comparison: Comparison) -> None:
    standing = comparison.distance
    assert standing.order == ("true", "slightly", "bent")
    assert standing.no_worse == {"true": ("slightly", "bent"), "slightly": ("bent",), "bent": ()}
    assert standing.best == "true"
    assert "true is proven to be no worse calibrated than slightly and bent" in " ".join(str(comparison).split())
    assert json.loads(json.dumps(comparison.to_dict()))["standings"]["distance"]["best"] == "true"
    frame = comparison.to_frame()
    proven = frame[(frame["model"] == "true") & (frame["statement"] == "distance")]["no_worse_than"]
    assert proven.tolist() == ["slightly, bent"]
    assert Comparison.from_dict(json.loads(json.dumps(comparison.to_dict()))).standings == comparison.standings


def test_equal_models_cannot_be_told_apart() -> None:
    same = calcert.compare({"a": CHANCE, "b": CHANCE}, LABELS)
    assert all(not any(standing.no_worse.values()) for standing in same.standings.values())
    assert "do not show which model is better calibrated" in " ".join(str(same).split())


def test_no_word_of_the_table_is_cut_in_a_terminal(comparison: Comparison) -> None:
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)


def test_nothing_is_proven_where_intervals_meet(comparison: Comparison) -> None:
    one = comparison.models["bent"].distance
    low, high = replace(one, lower=0.0, upper=0.1), replace(one, lower=0.2, upper=0.3)
    touching = replace(one, lower=0.1, upper=0.3)
    assert Standing({"a": high, "b": low}).no_worse == {"b": ("a",), "a": ()}
    assert Standing({"a": low, "b": touching}).best is None
    some = Standing({"a": low, "b": touching, "c": high})
    assert (some.best, some.no_worse["a"]) == (None, ("c",))


# Two models with labels of their own. "exact" is wrong by 0.3 in every row, so that its lower bound is next to that;
# "noisy" is wrong by a hair more on average, and only its upper bound keeps it from being called no worse.
N_EXACT, DELTA = 100_000, 0.02
EXACT = calcert.Rows(np.full(N_EXACT, 0.3), np.zeros(N_EXACT, int))


def claimed(positives: int, statement: str, kept: float) -> bool:
    """If noisy is claimed to be no worse; `kept` is what is left of the distance from plug-in to each bound."""
    rows = {"noisy": calcert.Rows(np.full(N_EXACT, 0.80001), np.arange(N_EXACT) < positives), "exact": EXACT}
    settings = calcert.Settings(confidence=1 - DELTA, statements=statement)
    found = calcert.compare(rows, settings=settings).statement(statement).certificates
    seen = {"noisy": abs(0.80001 - positives / N_EXACT), "exact": 0.3}
    cut = {
        name: replace(
            c, lower=seen[name] - kept * (seen[name] - c.lower), upper=seen[name] + kept * (c.upper - seen[name])
        )
        for name, c in found.items()
    }
    return "exact" in Standing(cut).no_worse["noisy"]


def probability_of_a_false_claim(statement: str, kept: float) -> float:
    """Over all outcomes: the more of the noisy labels are positive, the better the model looks."""
    few, many = 50_000, 52_000
    assert not claimed(few, statement, kept)
    assert claimed(many, statement, kept)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if claimed(middle, statement, kept) else (middle, many)
    return float(binom.sf(few, N_EXACT, 0.5))


@pytest.mark.parametrize("statement", ["in_the_large", "cutoff"])
def test_false_claims_over_all_outcomes_are_likely_but_no_more_than_delta(statement: str) -> None:
    assert 0.2 * DELTA < probability_of_a_false_claim(statement, 1.0) <= DELTA


@pytest.mark.parametrize("statement", ["in_the_large", "cutoff"])
def test_negative_control_bounds_cut_by_a_quarter_are_caught(statement: str) -> None:
    assert probability_of_a_false_claim(statement, 0.75) > DELTA


def test_false_claims_in_400_sets_of_models_that_are_nearly_equally_wrong() -> None:
    rng, false, control = np.random.default_rng(1), 0, 0
    shift = {"above": 0.0501, "below": -0.0502, "far above": 0.0503}
    settings = calcert.Settings(confidence=0.8, statements="distance")
    for _ in range(400):
        x = rng.uniform(0.1, 0.9, 300)
        labels = rng.random(300) < x
        found = calcert.compare({name: x + s for name, s in shift.items()}, labels, settings=settings)
        seen = {name: abs(float(np.mean(x + s - labels))) for name, s in shift.items()}
        claims = [(a, b) for a, others in found.distance.no_worse.items() for b in others]
        false += any(abs(shift[a]) > abs(shift[b]) for a, b in claims)
        control += any(seen[a] < seen[b] and abs(shift[a]) > abs(shift[b]) for a in shift for b in shift)
    assert not too_many(false, 400, 0.2)
    assert too_many(control, 400, 0.2), "plug-ins alone are no verdict"


def test_five_models_take_less_than_three_calls_of_certify_each() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(20_000)
    labels = rng.random(20_000) < p
    calcert.certify(p, labels)
    started = time.process_time()
    for power in (1.01, 1.11, 1.21):
        calcert.certify(p**power, labels)
    one = (time.process_time() - started) / 3
    started = time.process_time()
    calcert.compare({f"model {k}": p ** (1 + k / 10) for k in range(5)}, labels)
    assert time.process_time() - started < 3 * 5 * one


def test_a_verdict_is_given_wherever_bounds_at_half_of_delta_are_apart() -> None:
    verdicts = 0
    for power in np.linspace(1.0, 1.4, 9):
        a, b = (calcert.certify(CHANCE**k, LABELS, settings=DISTANCE.shared(2)).distance for k in (1.0, power))
        found = calcert.compare({"a": CHANCE, "b": CHANCE**power}, LABELS, settings=DISTANCE).distance
        assert (found.best == "a") == (a.upper < b.lower)
        verdicts += found.best == "a"
    assert 2 <= verdicts <= 8


def test_summaries_may_be_compared_and_bring_their_labels() -> None:
    a, b = calcert.summarize(CHANCE**2, LABELS), calcert.summarize(CHANCE, LABELS)
    assert calcert.compare({"a": a, "b": b}, settings=DISTANCE).distance.best == "b"
    with pytest.raises(TypeError, match="a: labels must be left out where scores is a Summary"):
        calcert.compare({"a": a, "b": b}, LABELS)


def test_models_with_labels_of_their_own_are_compared_as_rows_and_that_is_said() -> None:
    own = np.random.default_rng(1).random(6_000) < CHANCE**2
    rows = {"gpt": calcert.Rows(CHANCE, LABELS), "llama": calcert.Rows(CHANCE**2, own)}
    found = calcert.compare(rows, settings=DISTANCE)
    assert found.models["llama"] == calcert.certify(CHANCE**2, own, settings=DISTANCE.shared(2))
    said = f"labels of its own. Share of label 1: {LABELS.mean():.4f} for gpt, {own.mean():.4f} for llama."
    assert said in found.own_labels
    for text in (str(found), as_page(found), found._repr_html_() or ""):
        assert "labels of its own" in " ".join(text.split())
    with pytest.raises(ValueError, match=r"the same labels; got a share .* of label 1 for 'gpt' and .* for 'llama'"):
        calcert.compare({name: one.summary() for name, one in rows.items()})


def test_different_and_misaligned_rows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"same rows, .*; got 6,000 rows for 'a' and 5,999 rows for 'b'"):
        calcert.compare({"a": calcert.Rows(CHANCE, LABELS), "b": calcert.Rows(CHANCE[1:], LABELS[1:])})
    with pytest.raises(ValueError, match="b: scores and labels must have the same length"):
        calcert.compare({"a": CHANCE, "b": CHANCE[1:]}, LABELS)
    sorted_scores, labels = pd.Series(CHANCE).sort_values(), pd.Series(LABELS)
    with pytest.raises(ValueError, match="b: scores and labels must have the same index"):
        calcert.compare({"a": pd.Series(CHANCE), "b": sorted_scores}, labels)


def test_what_looks_wrong_of_a_model_is_said_of_it(comparison: Comparison) -> None:
    assert comparison.own_labels == ""
    assert "Warning" not in str(comparison)
    found = calcert.compare({"a": CHANCE, "b": 1 - CHANCE}, LABELS)
    for text in (str(found), as_page(found)):
        assert "Warning: b: scores rank labels backwards" in " ".join(text.split())


def test_a_mistake_names_the_model_and_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"new: scores must lie in \[0, 1\]; got 2 at row 0"):
        calcert.compare({"old": [0.5, 0.5], "new": [2.0, 0.5]}, [0, 1])
    with pytest.raises(ValueError, match=r"confidence must lie strictly between 0\.5 and 1"):
        calcert.compare({"a": [0.5], "b": [0.5]}, [0], confidence=2)
    with pytest.raises(TypeError, match=r"models must be a mapping from names to scores; got list\. Pass"):
        calcert.compare([0.5], [0.5])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"models must be two or more, by name; got 1\."):
        calcert.compare({"a": [0.5]}, [1])


# Two models that are equally wrong: 0.06 above and 0.06 below a chance of 0.51; either claim is false for a hair more.
USER = np.repeat(np.arange(20), 300)
EQUALLY_WRONG = {"a": np.full(USER.size, 0.45), "b": np.full(USER.size, 0.57)}


def test_clusters_prove_nothing_where_plain_rows_make_false_claims() -> None:
    rng = np.random.default_rng(0)
    false = dict.fromkeys(["plain", "clusters"], 0)
    for _ in range(8):
        labels = (rng.random(20) < 0.51)[USER]
        for name, told in (("plain", None), ("clusters", USER)):
            rows = {model: calcert.Rows(scores, labels, clusters=told) for model, scores in EQUALLY_WRONG.items()}
            found = calcert.compare(rows)
            false[name] += any(standing.best is not None for standing in found.standings.values())
    assert not too_many(false["clusters"], 8, 0.05)
    assert too_many(false["plain"], 8, 0.05)


def test_models_are_told_apart_in_clusters_and_with_weights() -> None:
    weights = np.arange(6_000) % 2 + 1
    for told in ({"clusters": np.arange(6_000) // 3}, {"weights": weights, "largest_weight": 2}):
        both = {"a": CHANCE**2, "b": CHANCE}
        found = calcert.compare({name: calcert.Rows(scores, LABELS, **told) for name, scores in both.items()})
        assert found.distance.best == "b"
        assert f"6,000 rows {'in 2,000 clusters' if 'clusters' in told else 'with weights'}" in str(found)


def test_what_is_proved_for_one_model_alone_is_not_compared() -> None:
    told: dict[str, Any] = {"weights": np.ones(6_000), "largest_weight": 1}
    varies = calcert.Settings(variation=1.0)
    scores = {"rounded": np.round(CHANCE, 1), "fine": CHANCE}
    found = calcert.compare({name: calcert.Rows(p, LABELS, **told) for name, p in scores.items()}, settings=varies)
    assert set(found.models["rounded"].certificates) == set(found.models["fine"].certificates)
    alone = calcert.certify(calcert.Rows(scores["rounded"], LABELS, **told), settings=varies)
    assert set(found.models["fine"].certificates) < set(alone.certificates)


def test_models_on_other_clusters_are_not_compared() -> None:
    one, two = (calcert.summarize(CHANCE, LABELS, clusters=np.arange(6_000) // size) for size in (2, 3))
    for other in (two, calcert.summarize(CHANCE, LABELS)):
        with pytest.raises(ValueError, match="same clusters and with the same weights; got 6,000 rows in 3,000"):
            calcert.compare({"a": one, "b": other})


def shell(*words: str, code: int = 0) -> str:
    ended = CliRunner().invoke(main, ["compare", *words])
    assert ended.exit_code == code, ended.output
    return " ".join(ended.output.split())


def test_the_shell_compares_columns_and_files(tmp_path: Path) -> None:
    table = pd.DataFrame({"new": CHANCE, "old": CHANCE**2, "y": LABELS.astype(int)})
    table.to_csv(tmp_path / "both.csv", index=False)
    for name in ("new", "old"):
        table[[name, "y"]].rename(columns={name: "p"}).to_csv(tmp_path / f"{name}.csv", index=False)
    both, new, old = (str(tmp_path / f"{name}.csv") for name in ("both", "new", "old"))
    settled = ["--statement", "distance", "--label", "y"]
    columns = json.loads(shell(both, "--scores", "new,old", *settled, "--json"))
    files = json.loads(shell(new, old, "--score", "p", *settled, "--json"))
    assert columns["models"] == files["models"]
    assert "new is proven to be no worse calibrated than old" in shell(both, "--scores", "new,old", *settled)
    assert "two files or more, or columns of one" in shell(both, "--label", "y", code=2)
    assert "two columns or more, each once" in shell(both, "--scores", "new,new", code=2)
    table[["old", "y"]].assign(y=1 - table["y"]).rename(columns={"old": "p"}).to_csv(old, index=False)
    assert "models must have the same labels" in shell(new, old, "--score", "p", *settled, code=2)
    assert "labels of its own" in shell(new, old, "--score", "p", *settled, "--own-labels")
    page = tmp_path / "page.html"
    shell(both, "--scores", "new,old", *settled, "--html", str(page), "--plot", str(tmp_path / "models.png"))
    assert "Models compared" in page.read_text("utf-8")


def test_a_comparison_without_base_rates_is_refused_in_words() -> None:
    written = calcert.compare({"a": CHANCE, "b": CHANCE**2}, LABELS).to_dict()
    del written["models"]["a"]["estimates"]["base rate"]
    with pytest.raises(ValueError, match="models must have their base rates among the estimates; got none for 'a'"):
        calcert.Comparison.from_dict(written)
