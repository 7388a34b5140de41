"""Segments: several columns from every kind of source, proven and large ones first, and what does not go with them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import calcert
from calcert.cli import main
from calcert.reports.segments import SegmentReport
from calcert.show import as_page
from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.groups import rows_by_group
from calcert.sources.groups.rows_by_group import RowsBySegment

RNG = np.random.default_rng(0)
N = 6_000
X = RNG.uniform(0.1, 0.9, N)
REGION, AGE = RNG.integers(0, 6, N), RNG.integers(0, 3, N)
ROWS = pd.DataFrame(
    {
        "p": X,
        "y": (RNG.random(N) < X + np.where(REGION == 2, 0.1, 0.0)).astype(int),
        "region": [f"r{k}" if k else None for k in REGION],
        "age": AGE,
    }
)
NAMED: dict[str, Any] = {"score": "p", "label": "y", "groups": ["region", "age"]}


@pytest.fixture(scope="module")
def report() -> SegmentReport:
    return calcert.certify(ROWS, **NAMED)


def test_all_values_and_pairs_are_there_and_proven_and_large_ones_first(report: SegmentReport) -> None:
    assert len(report.segments) == 6 + 3 + 18
    first, last = report.segments[0], report.segments[-1]
    assert (first.name, first.scores_are, first.proven) == ("region=r2", "too low", True)
    assert sum(s.rows for s in report.segments) == 3 * N
    assert last.rows == min(s.rows for s in report.segments if not s.proven)
    assert "region=missing" in {s.name for s in report.segments}
    assert report.worst == "region=r2"


def test_every_source_says_the_same(report: SegmentReport, tmp_path: Path) -> None:
    csv, parquet = str(tmp_path / "rows.csv"), str(tmp_path / "rows.parquet")
    ROWS.to_csv(csv, index=False)
    ROWS.to_parquet(parquet)
    relation = duckdb.sql(f"SELECT * FROM '{parquet}'")
    for source in (csv, parquet, relation, pl.read_parquet(parquet), pl.scan_parquet(parquet)):
        assert calcert.certify(source, **NAMED) == report, type(source)
    assert calcert.certify(ROWS["p"], ROWS["y"], groups=ROWS[["region", "age"]]) == report


def test_limits_are_those_of_the_level_of_their_partition(report: SegmentReport) -> None:
    from scipy.stats import beta

    from calcert.certificates.limits.strata_limits import Strata

    def level(name: str, values: int) -> float:
        """Columns have 0.8 of delta by the roots of 6 and 3 values, and their 18 pairs the rest; half for each side."""
        share = 0.2 if "," in name else 0.8 * math.sqrt(values) / (math.sqrt(6) + math.sqrt(3))
        return 0.05 * share / values / 2

    few, values = calcert.certify(ROWS[:600], **NAMED), {"region": 6, "age": 3}
    for segment in few.segments:
        at = level(segment.name, 18 if "," in segment.name else values[segment.name.split("=")[0]])
        exact = beta.isf(at, segment.observed + 1, segment.rows - segment.observed)
        if segment.rows < 180:
            assert segment.upper == pytest.approx(exact * segment.rows / segment.expected, rel=1e-6)
    assert sum(segment.rows < 180 for segment in few.segments) == 6 + 18
    r2 = ROWS[REGION == 2]
    strata, found = Strata.of(calcert.summarize(r2["p"], r2["y"])), report.segments[0]
    assert strata is not None
    assert found.lower == pytest.approx(strata.lower(level("region=r2", 6)) / r2["p"].mean())
    assert found.upper == pytest.approx((1 - strata.opposite.lower(level("region=r2", 6))) / r2["p"].mean())
    alone = beta.ppf(level("region=r2", 6), found.observed, found.rows - found.observed + 1) / r2["p"].mean()
    assert found.lower > alone


def test_it_is_told_in_every_way(report: SegmentReport) -> None:
    assert SegmentReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    text = str(report)
    assert max(map(len, text.splitlines())) <= 80
    assert "too low on average for region=r2" in " ".join(text.split())
    assert "17 more segments are in the frame" in " ".join(text.split())
    assert len(report.to_frame()) == 27
    assert report.plot().axes
    page = as_page(report)
    assert "Calibration by segment" in page
    assert "<summary>17 more segments</summary>" in page
    assert page.count('<th scope="row" class="name">') == 27, "the rest is folded, not left out"
    assert "17 more segments are in the frame and the JSON." in (report._repr_html_() or "")


def test_the_shell_takes_columns_with_commas_between_them(tmp_path: Path, report: SegmentReport) -> None:
    path = str(tmp_path / "rows.csv")
    ROWS.to_csv(path, index=False)
    words = [path, "--score", "p", "--label", "y", "--groups", "region,age"]
    ended = CliRunner().invoke(main, ["certify", *words])
    assert ended.exit_code == 0, ended.output
    assert "region=r2" in ended.output
    for most, code in (("0.05", 0), ("0.001", 1)):
        ended = CliRunner().invoke(main, ["check", *words, "--statement", "cutoff", "--max", most])
        assert ended.exit_code == code, ended.output
    named = CliRunner().invoke(main, ["check", *words, "--statement", "cutoff", "--max", "0.05"])
    ended = CliRunner().invoke(main, ["check", *words, "--max", "0.05"])
    assert (ended.exit_code, ended.output) == (0, named.output), "no other statement is certified of segments"
    ended = CliRunner().invoke(main, ["check", *words, "--max", "0.05", "--statement", "l1"])
    assert ended.exit_code == 2
    assert "statement must be 'cutoff' where several columns" in ended.output


def test_what_is_not_proved_together_is_refused() -> None:
    with pytest.raises(TypeError, match="weights must not come with several columns of groups: not proved together"):
        calcert.certify(calcert.Rows(ROWS, **NAMED, weights="age"))
    with pytest.raises(ValueError, match="none of them that of scores, labels or clusters"):
        calcert.certify(calcert.Rows(ROWS, **NAMED, clusters="age"))
    with pytest.raises(ValueError, match=r"groups must name different columns, .*; got \['age', 'age'\]"):
        calcert.certify(ROWS, score="p", label="y", groups=["age", "age"])
    with pytest.raises(ValueError, match="regoin"):
        calcert.certify(ROWS, score="p", label="y", groups=["regoin", "age"])


def test_a_thousand_segments_take_seconds() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(40_000)
    frame = pd.DataFrame({"a": rng.integers(0, 30, x.size), "b": rng.integers(0, 30, x.size)})
    found = calcert.certify(x, rng.random(x.size) < x, groups=frame)
    assert len(found.segments) == 960
    assert len(str(found).splitlines()) < 30


def test_clusters_make_limits_wider_and_arrays_say_what_tables_say(report: SegmentReport, tmp_path: Path) -> None:
    user = np.random.default_rng(3).integers(0, 1_500, N)
    found = calcert.certify(calcert.Rows(ROWS.assign(user=user), **NAMED, clusters="user"))
    assert calcert.certify(calcert.Rows(ROWS["p"], ROWS["y"], groups=ROWS[["region", "age"]], clusters=user)) == found
    plain = {segment.name: segment for segment in report.segments}
    assert {segment.name for segment in found.segments} == {*plain}
    assert all(s.lower < plain[s.name].lower < plain[s.name].upper < s.upper for s in found.segments)
    assert report.bound.upper < found.bound.upper < 0.07
    assert found.bound.theorem.startswith("Theorem 18 for clusters")
    assert f"6,000 rows in {len({*user.tolist()}):,} clusters" in str(found)
    assert SegmentReport.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    csv, parquet = str(tmp_path / "rows.csv"), str(tmp_path / "rows.parquet")
    ROWS.assign(user=user).to_csv(csv, index=False)
    ROWS.assign(user=user).to_parquet(parquet)
    for source in (csv, parquet, duckdb.sql(f"SELECT * FROM '{parquet}'"), pl.scan_parquet(parquet)):
        assert calcert.certify(calcert.Rows(source, **NAMED, clusters="user")) == found, type(source)


def test_clusters_that_have_rows_in_several_segments_are_cut_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    # Combinations that come up in a later batch, and groups whose rows are counted while others still wait.
    known: dict[str, int] = {}
    rng = np.random.default_rng(4)
    monkeypatch.setattr(rows_by_group, "WAITING", 64)
    monkeypatch.setattr(rows_by_group, "LARGE", 16)
    weighing = Weighing(clusters="user")
    sink = RowsBySegment(weighing, "at row {}".format, known, [(0,), (0, 1), ()])
    values, kept = [("a", "x"), ("a", "y"), ("b", "x")], []
    for batch in range(6):
        which = rng.integers(0, 2 if batch < 3 else 3, 40)
        for place in dict.fromkeys(which.tolist()):
            known.setdefault("\x1f".join(values[place]), len(known))
        number = np.array([known["\x1f".join(values[place])] for place in which])
        scores, labels, users = rng.random(40), rng.integers(0, 2, 40), rng.integers(0, 25, 40)
        sink.add(scores, labels, {"clusters": users}, number)
        kept.append((scores, labels, users, which))
    scores, labels, users, which = (np.concatenate(part) for part in zip(*kept, strict=True))
    first, both, everything = sink.summaries()
    for found, rows in ((first["a",], which < 2), (both["b", "x"], which == 2), (everything["",], which >= 0)):
        wanted = calcert.summarize(scores[rows], labels[rows], clusters=users[rows])
        assert found.to_bytes() == wanted.to_bytes()


def test_an_engine_is_asked_three_times_for_a_thousand_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ibis = pytest.importorskip("ibis")
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"p": rng.random(9_000), "a": rng.integers(0, 30, 9_000), "b": rng.integers(0, 30, 9_000)})
    rows["y"] = (rng.random(9_000) < rows["p"]).astype(int)
    path = str(tmp_path / "rows.parquet")
    rows.to_parquet(path)
    connection, asked = ibis.duckdb.connect(), []
    for name in ("to_pyarrow", "execute", "to_pyarrow_batches"):
        real = getattr(type(connection), name)

        def noted(*given, real=real, **named):
            asked.append(1)
            return real(*given, **named)

        monkeypatch.setattr(type(connection), name, noted)
    named: dict[str, Any] = {"score": "p", "label": "y", "groups": ["a", "b"]}
    found = calcert.certify(connection.read_parquet(path), **named)
    assert len(found.segments) > 950
    assert 1 <= len(asked) <= 3
    assert found == calcert.certify(rows, **named)


def test_values_that_look_like_pairs_are_segments_of_their_own() -> None:
    # A value "u, b=v" of column a was taken for the pair a=u, b=v, and left the certificate.
    rng = np.random.default_rng(5)
    x = rng.uniform(0.2, 0.8, 4_000)
    a = np.array(["u", "u, b=v", 'u"'])[rng.integers(0, 3, x.size)]
    b = np.array(["v", "w"])[rng.integers(0, 2, x.size)]
    y = rng.random(x.size) < np.where(a == "u, b=v", x + 0.2, x)
    odd = calcert.certify(x, y, groups=pd.DataFrame({"a": a, "b": b}))
    plain = calcert.certify(x, y, groups=pd.DataFrame({"a": np.where(a == "u, b=v", "z", a), "b": b}))
    assert len({segment.name for segment in odd.segments}) == len(odd.segments) == len(plain.segments)
    assert odd.bound.upper == plain.bound.upper > 0.06
    assert odd.worst == 'a="u, b=v"'
    # A pair of values and another pair, too.
    c = np.array(["x", "x, b=y"])[rng.integers(0, 2, x.size)]
    d = np.array(["y, b=z", "z"])[rng.integers(0, 2, x.size)]
    pairs = calcert.certify(x, y, groups=pd.DataFrame({"a": c, "b": d}))
    assert len({segment.name for segment in pairs.segments}) == 2 + 2 + 4


@pytest.mark.parametrize("confidence", [1 - 1e-9, 1 - 1e-15])
def test_limits_at_very_high_confidence_say_something(confidence: float) -> None:
    rng = np.random.default_rng(6)
    x = rng.random(20_000)
    frame = pd.DataFrame({"a": rng.integers(0, 3, x.size), "b": rng.integers(0, 5, x.size)})
    found = calcert.certify(x, rng.random(x.size) < x, groups=frame, confidence=confidence)
    assert all(0.6 < segment.lower < 1 < segment.upper < 1.5 for segment in found.segments)
