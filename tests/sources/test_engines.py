"""Every engine returns the Summary that the array kernel does, to the last bit, and refuses what it refuses."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calcert
from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.engines.query_plan import table_summaries
from calcert.sources.engines.tables import chosen_columns
from calcert.sources.groups.grouped import summarize_groups
from calcert.sources.source_argument import source_of
from calcert.summary import cells

Build = Callable[[pa.Table], Any]

EDGES = [piece.start for piece in cells.PIECES] + [0.5, 1.0]
AWKWARD = [-0.0, 5e-324, 2.0**-1022, 1e-300, 2.0**-41, 2.0**-40, 0.1, 1 / 3, 1 - 2.0**-53] + [
    value for edge in EDGES for value in (edge, np.nextafter(edge, 0), np.nextafter(edge, 1)) if 0 <= value <= 1
]


def by_query(native: Any) -> calcert.Summary:
    """By the engine's own GROUP BY, also where `summarize` would take the array kernel."""
    frame = source_of(native).value.lazy()
    return table_summaries(frame, chosen_columns(frame, "p", "y"))[None]


def table(scores: Any, labels: Any) -> pa.Table:
    return pa.table({"p": scores, "y": labels})


def awkward_rows(seed: int = 0, rows: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Scores in every tier of cells, at all their edges, and crowded at both ends."""
    rng = np.random.default_rng(seed)
    u = rng.random((4, rows))
    scores = np.concatenate([u[0], u[1] ** 20, 1 - u[2] ** 20, np.repeat(AWKWARD, 3), np.round(u[3], 2)])
    return scores, rng.random(scores.size) < 0.3


@pytest.fixture(scope="module")
def million() -> tuple[pa.Table, calcert.Summary]:
    rng = np.random.default_rng(1)
    scores = np.where(rng.random(1_000_000) < 0.5, rng.random(1_000_000), rng.random(1_000_000) ** 9)
    labels = (rng.random(1_000_000) < scores).astype(np.int8)
    return table(scores, labels), calcert.summarize(scores, labels)


def test_a_million_rows_give_the_same_summary_everywhere(
    build_anywhere: Build, million: tuple[pa.Table, calcert.Summary]
) -> None:
    assert by_query(build_anywhere(million[0])) == million[1]


@pytest.mark.parametrize("label_type", [pa.bool_(), pa.int8(), pa.int64(), pa.float64()])
def test_scores_in_every_kind_of_cell_agree_for_every_type_of_label(build_anywhere: Build, label_type: Any) -> None:
    scores, labels = awkward_rows()
    rows = table(scores, pa.array(labels).cast(pa.int8()).cast(label_type))
    assert by_query(build_anywhere(rows)) == calcert.summarize(scores, labels)


def test_single_precision_scores_are_read_exactly(build_anywhere: Build) -> None:
    scores, labels = awkward_rows(2)
    single = scores.astype(np.float32)
    assert by_query(build_anywhere(table(single, labels))) == calcert.summarize(single, labels)


@pytest.mark.parametrize("digits", [2, 6, 15, 30])
def test_decimals_are_read_as_the_nearest_double(build_anywhere: Build, digits: int) -> None:
    rng = np.random.default_rng(digits)
    with decimal.localcontext(prec=60):
        parts = [int(rng.integers(2**62)) * int(rng.integers(2**62)) % (10**digits + 1) for _ in range(500)]
        exact = [decimal.Decimal(part).scaleb(-digits) for part in [0, 1, 10**digits, *parts]]
    labels = rng.random(len(exact)) < 0.5
    native = build_anywhere(table(pa.array(exact, pa.decimal128(38, digits)), labels))
    expected = calcert.summarize([float(value) for value in exact], labels)
    assert calcert.summarize(native, score="p", label="y") == expected


def test_decimal_and_integer_columns_serve_as_labels_and_scores(build_anywhere: Build) -> None:
    labels = np.arange(10) % 2
    exact = pa.array([decimal.Decimal(int(value)) for value in labels], pa.decimal128(5, 2))
    native = build_anywhere(table(pa.array(labels), exact))
    assert calcert.summarize(native, score="p", label="y") == calcert.summarize(labels, labels)


def test_booleans_serve_as_scores(build_anywhere: Build) -> None:
    truth, labels = np.arange(10) % 2 == 0, np.arange(10) % 3 == 0
    assert by_query(build_anywhere(table(truth, labels))) == calcert.summarize(truth.astype(float), labels)


def test_a_name_with_a_dot_is_that_of_a_column_not_of_a_field(build_anywhere: Build) -> None:
    names = ["m.score", "y", "a.group", "a`unit", "m"]
    columns = [[0.25, 0.5], [0, 1], ["a", "b"], [1, 2], [{"score": 0.75}, {"score": 1.0}]]
    try:
        native = build_anywhere(pa.table(columns, names))
    except Exception:
        pytest.skip("such a table cannot be made")
    given: Any = {"score": "m.score", "label": "y"}
    assert calcert.summarize(native, **given) == calcert.summarize([0.25, 0.5], [0, 1])
    assert "in 2 clusters" in repr(calcert.summarize(native, **given, clusters="a`unit"))
    assert {part.n for part in summarize_groups(native, None, "a.group", **given).values()} == {1}


@settings(max_examples=8)
@given(rows=st.lists(st.tuples(st.floats(0, 1) | st.sampled_from(AWKWARD), st.booleans()), min_size=1, max_size=40))
def test_any_few_rows_agree(build: Build, rows: list[tuple[float, bool]]) -> None:
    scores, labels = map(np.array, zip(*rows, strict=True))
    expected = calcert.summarize(scores, labels)
    native = build(table(scores, labels))
    assert by_query(native) == expected
    assert calcert.summarize(native, score="p", label="y") == expected


@pytest.mark.parametrize("distinct", [4095, 4096, 4097])
def test_distinct_scores_are_listed_up_to_the_same_number(build: Build, distinct: int) -> None:
    scores = np.concatenate([np.arange(distinct) / 2**21 + 0.25, [0.25]])
    labels = np.arange(scores.size) % 2
    summary = by_query(build(table(scores, labels)))
    assert summary == calcert.summarize(scores, labels)
    assert summary.is_finite == (distinct <= 4096)


def test_two_zeros_are_one_score(build_anywhere: Build) -> None:
    summary = by_query(build_anywhere(table([0.0, -0.0, 0.5], [0, 1, 1])))
    assert summary.values.tolist() == [0.0, 0.5]
    assert not np.signbit(summary.values).any()


BAD = {
    "logits": (table([0.5, -3.2, 1.73], [0, 1, 1]), r"lie in \[0, 1\]; got (-3.2|1.73) in column 'p' \(2 of 3 rows\)"),
    "percentages": (table([50.0, 99.0, 0.5], [0, 1, 1]), r"pass scores / 100"),
    "NaN": (table([0.5, np.nan, 0.3], [0, 1, 1]), r"missing value.* in column 'p' \(1 of 3 rows\)"),
    "infinity": (table([0.5, np.inf, 0.3], [0, 1, 1]), r"got inf in column 'p' \(1 of 3 rows\)"),
    "no score": (table([0.5, None, 0.3], [0, 1, 1]), r"missing values; got one in column 'p' \(1 of 3 rows\)"),
    "class 2": (table([0.5, 0.1, 0.3], [1, 2, 2]), r"got 2 in column 'y' \(2 of 3 rows\). For classes 1 and 2"),
    "-1 and 1": (table([0.5, 0.1, 0.3], [1, -1, 1]), r"For -1/\+1 labels pass labels > 0"),
    "half": (table([0.5, 0.1, 0.3], [1, 0.5, 1]), r"0 or 1 \(or bool\); got 0.5 in column 'y' \(1 of 3 rows\)"),
    "swapped": (table([0, 1, 1], [0.5, 0.1, 0.3]), r"are the two arguments swapped"),
    "no label": (table([0.5, 0.1, 0.3], [1, None, 0]), r"missing values; got one in column 'y' \(1 of 3 rows\)"),
    # pandas keeps such a column as Python objects.
    "no bool": (table([0.5, 0.1], pa.array([True, None])), r"got one in column 'y' \(1 of 2 rows\)|'y' .* type Object"),
    "no rows": (table(pa.array([], pa.float64()), pa.array([], pa.int64())), r"at least one row; got none"),
    "strings": (table(["a", "b"], [0, 1]), r"column of numbers in \[0, 1\]; got 'p' .* type String, such as '[ab]'"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_bad_rows_are_counted_and_shown(build_anywhere: Build, mistake: str) -> None:
    rows, words = BAD[mistake]
    with pytest.raises((ValueError, TypeError), match=words):
        by_query(build_anywhere(rows))


@pytest.mark.parametrize("mistake", BAD)
def test_frames_in_memory_say_what_arrays_say(mistake: str) -> None:
    rows = BAD[mistake][0]
    with pytest.raises((ValueError, TypeError)) as by_frame:
        calcert.summarize(rows, score="p", label="y")
    if mistake == "strings":
        return
    with pytest.raises((ValueError, TypeError)) as by_arrays:
        calcert.summarize(rows["p"], rows["y"])
    assert str(by_frame.value) == str(by_arrays.value)


def test_a_table_that_changes_between_two_reads_is_refused() -> None:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    once = pa.RecordBatchReader.from_batches(
        pa.schema({"p": pa.float64(), "y": pa.int64()}), iter(table([0.5, 0.25], [0, 1]).to_batches())
    )
    database.register("once", once)
    with pytest.raises((ValueError, duckdb.Error), match=r"same rows|once"):
        calcert.summarize(database.table("once"), score="p", label="y")


def test_columns_are_found_in_a_frame_as_in_a_file(build: Build, caplog: pytest.LogCaptureFixture) -> None:
    rows = pa.table({"id": [1, 2], "p": [0.25, 0.5], "y": [0, 1]})
    assert calcert.summarize(build(rows)) == calcert.summarize([0.25, 0.5], [0, 1])
    assert "scores from column 'p', labels from column 'y'" in caplog.text


def test_arrays_and_tables_do_not_mix() -> None:
    rows = table([0.5], [1])
    with pytest.raises(TypeError, match="labels must be left out"):
        calcert.summarize(rows, [1])
    with pytest.raises(TypeError, match="score and label must name columns"):
        calcert.summarize([0.5], [1], score="p")
    with pytest.raises(TypeError, match="labels must be"):
        calcert.summarize([0.5])


WEIGHINGS: dict[str, dict[str, Any]] = {
    "clusters": {"clusters": "cluster"},
    "weights": {"weights": "w"},
    "counts": {"counts": "w"},
    "shares": {"soft_labels": True},
    "all": {"clusters": "cluster", "weights": "w", "soft_labels": True, "weight_unit": 0.25},
}


@pytest.mark.parametrize("weighing", WEIGHINGS)
def test_clusters_and_weights_agree(build_anywhere: Build, weighing: str) -> None:
    scores, labels = awkward_rows(5)
    rng = np.random.default_rng(6)
    # Weights whose fourth powers need more than 64 bits, and that sums of doubles would lose.
    columns = {"cluster": rng.integers(0, 1000, scores.size), "w": rng.integers(0, 200_000, scores.size)}
    options = WEIGHINGS[weighing]
    labels = rng.integers(0, 5, scores.size) / 4 if "soft_labels" in options else labels.astype(np.int64)
    rows = pa.table({"p": scores, "y": labels, **columns})
    given: dict[str, Any] = {name: columns.get(column, column) for name, column in options.items()}
    wanted = calcert.summarize(scores, labels, **given)
    assert calcert.summarize(build_anywhere(rows), score="p", label="y", **options) == wanted


def parquet(path: Path, written: dict[str, Any], true: dict[str, float], engine: str) -> Any:
    """A table over a Parquet file whose last values are others than its statistics are of."""
    pq.write_table(pa.table(written), path, use_dictionary=False, compression="none")
    content = path.read_bytes()
    for name, value in true.items():
        column = np.asarray(written[name])
        old = column.tobytes()
        assert content.count(old) == 1
        content = content.replace(old, np.append(column[:-1], value).astype(column.dtype).tobytes())
    path.write_bytes(content)
    if engine == "duckdb":
        return pytest.importorskip("duckdb").connect().read_parquet(str(path))
    if engine == "polars":
        return pytest.importorskip("polars").scan_parquet(path)
    return pytest.importorskip("ibis").duckdb.connect().read_parquet(path)


FILE: dict[str, Any] = {
    "p": [0.25, 0.5, 0.375],
    "y": [0.0, 0.0, 1.0],
    "w": [1.0, 3.0, 2.0],
    "u": [7.0, 8.0, 9.0],
    "g": ["a", None, "a"],
}
ASKED: dict[str, dict[str, Any]] = {
    "plain": {},
    "groups": {"groups": "g"},
    "clusters": {"clusters": "u"},
    "weights": {"weights": "w", "largest_weight": 4.0},
    "all": {"groups": "g", "clusters": "u", "weights": "w", "largest_weight": 7.0},
}


WRONG = [
    ("p", np.nan, r"missing value \(NaN\) in column 'p' \(1 of 3 rows\)"),
    ("p", 1.5, r"scores must lie in \[0, 1\]; got 1.5 in column 'p' \(1 of 3 rows\)"),
    ("p", -1e-300, r"scores must lie in \[0, 1\]; got -1e-300 in column 'p'"),
    ("p", np.nextafter(1, 2), r"scores must lie in \[0, 1\]; got 1.0000000000000002 in column 'p'"),
    ("p", -np.inf, r"got -inf in column 'p'"),
    ("y", np.nan, r"labels must be 0 or 1 .* got a missing value \(NaN\) in column 'y' \(1 of 3 rows\)"),
    ("y", 0.75, r"labels must be 0 or 1 \(or bool\); got 0.75 in column 'y' \(1 of 3 rows\)"),
    ("y", np.inf, r"labels must be 0 or 1 \(or bool\); got inf in column 'y'"),
    ("w", np.nan, "weights must be whole multiples .* finite and not negative; got 1 others in column 'w'"),
    ("w", -1.0, "weights must be whole multiples .* finite and not negative; got 1 others in column 'w'"),
    ("w", 1.25, "weights must be whole multiples .* finite and not negative; got 1 others in column 'w'"),
    ("u", np.nan, "clusters must have no missing values, and be told apart; got 1 without a value, NaN"),
    ("u", 2.0**53, "clusters must have no missing values, and be told apart; got 1 without a value, NaN or floats"),
]


@pytest.mark.parametrize("engine", ["duckdb", "ibis", "polars"])
@pytest.mark.parametrize(
    ("asked", "column", "value", "words"),
    [(asked, *wrong) for asked, named in ASKED.items() for wrong in WRONG if wrong[0] in {"p", "y", *named.values()}],
)
def test_no_statistics_of_a_file_answer_whether_a_value_is_one(
    tmp_path: Path, engine: str, asked: str, column: str, value: float, words: str
) -> None:
    frame = source_of(parquet(tmp_path / "rows.parquet", FILE, {column: value}, engine)).value
    weighing = Weighing(**{key: value for key, value in ASKED[asked].items() if key != "groups"})
    chosen = chosen_columns(frame, "p", "y", weighing, ASKED[asked].get("groups"))
    with pytest.raises(ValueError, match=words):
        table_summaries(frame, chosen, weighing)


@pytest.mark.parametrize("engine", ["duckdb", "ibis", "polars"])
@pytest.mark.parametrize("score", [0.0, 1e-9, 0.01, 0.97, 1.0])
def test_scores_are_where_they_are_and_not_where_statistics_have_them(
    tmp_path: Path, engine: str, score: float
) -> None:
    rows = parquet(tmp_path / "rows.parquet", FILE, {"p": score}, engine)
    assert calcert.summarize(rows, score="p", label="y") == calcert.summarize([0.25, 0.5, score], [0, 0, 1])


@pytest.mark.parametrize("other", ["ann ", " ann", "\tann", "ann\u00a0"])
def test_clusters_that_differ_by_blanks_alone_are_refused(build_anywhere: Build, other: str) -> None:
    rows = pa.table({"p": [0.5, 0.25, 0.5, 0.75], "y": [0, 1, 1, 0], "u": ["ann", "bob", other, "ann"]})
    with pytest.raises(ValueError, match=r"clusters must differ by more than blanks; got '.*ann.*' .* another one"):
        calcert.summarize(build_anywhere(rows), score="p", label="y", clusters="u")


def test_clusters_that_all_have_blanks_are_told_apart(build_anywhere: Build) -> None:
    names = ["ann ", "bob ", "ann ", "an"]
    rows = pa.table({"p": [0.5, 0.25, 0.5, 0.75], "y": [0, 1, 1, 0], "u": names})
    wanted = calcert.summarize([0.5, 0.25, 0.5, 0.75], [0, 1, 1, 0], clusters=names)
    assert calcert.summarize(build_anywhere(rows), score="p", label="y", clusters="u") == wanted


def test_a_cluster_of_blanks_has_no_name(build_anywhere: Build) -> None:
    rows = pa.table({"p": [0.5, 0.25], "y": [0, 1], "u": ["ann", "  "]})
    with pytest.raises(ValueError, match="clusters must have no missing values"):
        calcert.summarize(build_anywhere(rows), score="p", label="y", clusters="u")


@pytest.mark.parametrize("engine", ["duckdb", "ibis", "polars"])
@pytest.mark.parametrize("asked", [{"clusters": "u"}, {"groups": "g"}, {"groups": "g", "clusters": "u"}])
@pytest.mark.parametrize("column", ["u", "g"])
@pytest.mark.parametrize("value", [-5, 64, 300, 2**60])
def test_integers_beyond_the_statistics_of_a_file_are_clusters_and_groups_too(
    tmp_path: Path, engine: str, asked: dict[str, Any], column: str, value: int
) -> None:
    rng = np.random.default_rng(4)
    written = {
        "p": rng.random(100),
        "y": rng.integers(0, 2, 100),
        "u": rng.integers(0, 50, 100),
        "g": np.arange(100) % 3,
    }
    true = {name: np.append(values[:-1], value) if name == column else values for name, values in written.items()}
    frame = parquet(tmp_path / "rows.parquet", written, {column: value}, engine)
    rows = calcert.Rows(frame, score="p", label="y", **asked)
    named: dict[str, Any] = {name: true[column] for name, column in asked.items()}
    wanted = calcert.Rows(true["p"], true["y"], **named)
    if "groups" in asked:
        assert dict(rows.by_group().summaries) == dict(wanted.by_group().summaries)
    else:
        assert rows.summary() == wanted.summary()
